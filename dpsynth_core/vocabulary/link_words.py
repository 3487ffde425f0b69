"""The words of pages, files and errors for the owners and the rows of two linked tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class LinkWords:
    """Nouns, phrases and sentences about two linked tables; the defaults are for households and their members.

    Attributes:
        household: Noun for the one who owns rows of the second table.
        households: The same for several, who count once each in errors, bounds and noisy tables.
        everybody: All of them.
        member: Noun for one row of the second table.
        members: The same for several.
        which: The relative pronoun for them.
        counted: How answers about members call them.
        all_counted: All of these.
        some: Key of a question, before cells of a row that somebody has.
        none: The same for cells that no row of somebody has.
        later: The same for cells of a row after the one of `some`; "" where rows have no order.
        two: What is not answered of two rows of one owner.
        pairs: What a criterion counts that names two members of one household.
        unit: What one guarantee covers, after "the guarantee is for".
        owned: What the release protects, after "what".
        changed: Whose rows neighbouring tables differ by; a number of rows and "at most" follow.
        person: Who a person is, with the places `column` (the key) and `most` (rows that count).
        protects: What a plan protects, with the place `most`, for programs.
        key: What the key says, as sentences with the place `column`.
        used: Which rows are used, as sentences with the place `most`.
        made: How rows of the first table are called.
        records: How they are called that the first table has in reality.
        held: How rows of the second table are called beside these.
        title: Name of the fact on the second table.
        order: A sentence on how its rows lie in their file, with a space before it, or "".
        tables: How often each one counts in tables, as sentences with the place `each` (records).
        once: The same on the page where tables are chosen, as sentences.
        unbounded: Which tables nothing bounds, where noise is large and there is no certificate; as a sentence.
        beyond: What happens to larger ones in answers about their size, as a sentence with the place `most`.
        counting: Which members answers about them count, as a sentence with the place `most`.
        most_of: What a release lacks where many have as many members as count, as a sentence with the places `share` (text) and
            `most`; "" where no warning says so.
        elsewhere: What to do instead where a question is not answered.
        page: What a page of questions says first of whom it counts, as a sentence, or "".
        explore: Who is meant in answers about members, as a sentence with the place `most`.
        computed: What a column is that no file of rows has, as a sentence.
        columns: The same by name of a column.
        kinds: Title and description of each kind of table (`inference.households.KINDS`), in this order.
        number: The same for tables with the number of rows, where they are named apart; () where they are among the others.
    """

    household: str = "household"
    households: str = "households"
    everybody: str = "all households"
    member: str = "member"
    members: str = "members"
    which: str = "whom"
    counted: str = "people"
    all_counted: str = "everybody"
    some: str = "some member"
    none: str = "no member"
    later: str = ""
    two: str = "questions about two members are not answered yet"
    pairs: str = "pairs of members (each household counts once)"
    unit: str = "one household with all its members (see neighbouring tables), not for several households together"
    owned: str = "the row of a household and those of its members say"
    changed: str = "one household in both tables, of its members"
    person: str = (
        "a person is a household, a value of the column {column!r} with all its rows in both tables; at most {most} members of it are used"
    )
    protects: str = "one household with its row and those of at most {most} member{s}"
    key: str = "The column “{column}” of both tables names the household of a row. A household counts as one person here."
    used: str = "Only one row of the first table and at most {most:,} of the second were used for each household."
    made: str = "rows"
    records: str = "records"
    held: str = "members"
    title: str = "Members"
    order: str = ""
    tables: str = (
        "Errors, bounds and noisy tables are of the rows of the first table, also where they say people: each counts once, divided"
        ' evenly among its members, or among ordered pairs of them where a column is "of another". So that this is in whole numbers, noisy'
        " tables count {each:,} for each row of the first table."
    )
    once: str = (
        "A household is a row of the first table with its members. It counts once in each table, divided evenly among its members or their "
        "ordered pairs: large households do not cost more than small ones."
    )
    unbounded: str = "Where noise is large, most tables of members have none: sums of roots are measured, from which none follows."
    beyond: str = "A household of more than {most} members counts as one of {most}."
    counting: str = "At most {most} members of a household count; others are not in this release."
    most_of: str = ""
    elsewhere: str = "count in synthetic.csv and members.csv, or in rows and members in Python"
    page: str = ""
    explore: str = "People are the members that count, each with the columns of their household."
    computed: str = "Counted among the members of a household, for the noisy tables; no file of rows has this column."
    columns: Mapping[str, str] = field(default_factory=dict)
    kinds: tuple[tuple[str, str], ...] = (
        ("Of households", "Two columns of the first table, or one with the number of members."),
        ("Of members", "Two columns of the second table."),
        ("Across both tables", "A column of the first table by one of a member."),
        ("Within households", "A column of one member by one of another member of the same household."),
    )
    number: tuple[str, ...] = ()


HOUSEHOLDS = LinkWords()
