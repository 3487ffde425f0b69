"""Parts of the Data page: the table and its format, the people in it, and further settings with defaults."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from dpsynth_core.foundation import extension
from dpsynth_core.foundation.zones import Zone
from dpsynth_core.planning import about_spec
from dpsynth_core.planning.spec import DEMO
from dpsynth_core.privacy.unit import ADD_REMOVE, REPLACE
from dpsynth_core.sources import demo, demo_households
from dpsynth_core.sources.registry import KINDS, LINKED_DEMO
from dpsynth_core.store import balance, projects
from dpsynth_core.store.population_names import mixed_scripts
from dpsynth_core.vocabulary import usual
from dpsynth_core.web.data import members_view, project_table, public_view, reading_view
from dpsynth_core.web.data.project_table import Table
from dpsynth_core.web.shell import additions, curator, document, fields, frame, kept_rules, numbers, plan_first, refusals, session
from dpsynth_core.web.shell.session import Current
from dpsynth_core.web.shell.text import code, literal, names

UPLOAD, PATH, PLAN = "upload", "path", "plan"
WAYS = {
    UPLOAD: ":material/upload_file: Upload",
    PATH: ":material/folder_open: By path",
    **{kind: place.title for kind, place in extension.places().items()},
    PLAN: ":material/edit_note: Plan first",
}
_REMOVING = {
    UPLOAD: "This deletes the uploaded file from this machine.",
    **{kind: place.removing for kind, place in extension.places().items()},
}
_RELATIONS = {ADD_REMOVE: "Whether a person was added or removed", REPLACE: "Whether a person's record was replaced"}
_HIDDEN = (
    "This hides even whether someone is in the table. The number of rows stays secret.",
    "This hides the content of a record, but not that the person is in the table. If every row is a different person, the number of rows "
    "is public. It needs 40% more noise.",
)
_COPIES_HELP = (
    "Name other releases, totals, previews, and copies without names: they can show what noise hides here, and no ledger counts them. "
    "Your answer is published with the release."
)
_ABOUT = "licence: CC-BY-4.0\ncreator: Statistics Office\ncontact: data@office.example\nperiod: 2024\nplace: Norway"
_ABOUT_HELP = (
    "Write one line each for what an archive asks: licence, creator (several are allowed; people as Family, Given), contact, citation, "
    "period and place. The report shows it, and other programs read it."
)
NEW, _SIMULATED = "A new population…", "_simulated"
TABLE = "data"
"""The place of errors about a table, and its name in a refusal."""


def source(project: Current, beginning: Callable[[Current], None]) -> None:
    """Draw the choice of the table; for a chosen table, its format and the button that removes it.

    The chosen table is stored in the draft. After a choice of simulated people, the page Domain opens at once if
    the page Data has no error; nothing after the call runs then.

    Args:
        project: The open project.
        beginning: Draws the start of a plan without a table; called while the curator wants to plan first.
    """
    if st.session_state.pop(_SIMULATED, False) and document.problem(project.draft, "data") is None:
        frame.forward("data", "domain")  # all that this page asks is known of invented people
    with frame.card("The sensitive table", help="The table stays on this machine. Nothing on this page spends privacy budget."):
        if "data" not in project.draft:
            _choosing(project, beginning)
        frame.refused_at(TABLE)
        if "data" in project.draft:
            _chosen(project)
            _recognised(project)
            if (there := plan_first.differences(project.draft)) is not None:
                for sentence in there.sentences:
                    (st.warning if there.missing else st.info)(literal(sentence, 1000), icon=":material/compare:")
                if there.missing:
                    st.caption("The plan leaves out what the table lacks.")
            if document.has_second(project.draft):
                members_view.chosen(project)
            records(project)


def _recognised(project: Current) -> None:
    """Warn if a table says of itself that its rows are not of people."""
    paths = [table["data"].get("path") for table in document.tables(project.draft)]
    for sentence in extension.recognised(*filter(None, paths)):
        st.warning(literal(sentence, 1000), icon=":material/science:")


def _choosing(project: Current, beginning: Callable[[Current], None]) -> None:
    places = extension.places()
    ways = tuple(way for way in WAYS if way not in places or session.only_this_machine())  # others would use this person's accounts
    way = fields.choice("Where is it?", "wizard.way", ways, WAYS, kind="segmented", label_visibility="collapsed")
    if way in places:
        extension.load(places[way].choosing)(project, TABLE, _take)
    elif way == PLAN:
        beginning(project)
    elif way == PATH:
        example = "/data/stays.parquet, a folder, or s3://bucket/stays"
        fields.text("File or folder on this machine, or address", "wizard.path", placeholder=example)
        take = partial(_take, lambda: project_table.from_path(fields.value("wizard.path", ""), session.only_this_machine()))
        st.button("Open", icon=":material/folder_open:", key="open_path", on_click=take)
    else:
        help = "Larger than the limit? Choose “By path” and leave the file where it is."
        fields.table_file("upload", lambda file: _take(lambda: project_table.from_upload(project.owner, project.id, file.name, file)), help)
    what = f"{demo.ROWS:,} invented people, 12 columns that depend on each other. You may look at everything: no privacy is at stake."
    look = {"icon": ":material/groups:", "type": "tertiary", "help": what}
    st.button("Or try it with simulated people", key="use_demo", on_click=_take_invented, args=(DEMO,), **look)
    if not (demos := extension.demos()):
        _linked_demo("Or with simulated households and their members", type="tertiary")
        return
    who = " or ".join(("households", *(one.who for one in demos.values())))
    with st.popover(f"Or with simulated {who}", icon=":material/account_tree:", type="tertiary", key="more_demos"):
        _linked_demo("Households and their members")
        for kind, one in demos.items():
            what = f"{one.people:,} invented {one.who}, each with several rows."
            st.button(one.title, icon=":material/groups:", key=f"use_{kind}", help=what, on_click=_take_invented, args=(kind,))


def _linked_demo(label: str, **look: Any) -> None:
    what = f"Two linked tables: {demo_households.ROWS:,} invented households and the people in them."
    look |= {"icon": ":material/account_tree:", "help": what, "key": "use_linked_demo"}
    st.button(label, on_click=_take_invented, args=LINKED_DEMO, **look)


def _take_invented(kind: str, second: str = "") -> None:
    _take(partial(project_table.simulated, kind))
    if second:
        members_view.take(partial(project_table.simulated, second))
    st.session_state[_SIMULATED] = True


def _take(look_at: Callable[[], Table]) -> None:
    with refusals.attempted(TABLE):
        session.check_idle(TABLE)
        table, project = look_at(), session.current()
        if table.source != UPLOAD:
            projects.remove_uploads(project.owner, project.id)
        if not KINDS[table.section["kind"]].is_file:  # such a table has no second one
            projects.remove_uploads(project.owner, project.id, shelf=members_view.SHELF)
        session.edit(lambda draft: project_table.adopt(draft, table), TABLE)


def _chosen(project: Current) -> None:
    columns, kind = document.columns(project.draft), KINDS[project.draft["data"]["kind"]]
    label, about = project.draft["wizard"]["label"], f"{kind.label}, {len(columns)} columns"
    help = _REMOVING.get(project.draft["wizard"]["source"], "The file stays where it is.")
    fields.taken_file(label, about, "remove_table", TABLE, ("uploads", members_view.SHELF), project_table.disown, help=help)
    if kind.is_file:
        reading_view.doubts(project, partial(_again, project_table.reread), TABLE)
        reading_view.panel(project, partial(_again, project_table.reread))
    elif project_table.place_of(project.draft) is not None:
        reading_view.texts_panel(project, partial(_again, project_table.restated))


def _again(read: Callable[..., Table], **changes: Any) -> None:
    _take(lambda: read(session.current().draft, **changes))


def _person(project: Current) -> None:
    grows = not document.is_linked(project.draft)
    left, right = st.columns([3, 2])
    with left:
        columns, help = [None, *document.columns(project.draft)], "It only limits the rows per person; you need not release it."
        fields.choice("Column that tells people apart", "unit.person_column", columns, {None: "Choose a column…"}, help=help)
    with right:
        parse = partial(numbers.whole, field="unit.max_rows_per_person", low=1, high=1_000_000)
        help = "Further rows of a person are left out." + " Noise grows in proportion." * grows
        most = fields.number("Most rows per person", "unit.max_rows_per_person", parse, placeholder="such as 3", help=help)
    members_view.left_out(most, "rows", grows)
    if project.draft["unit"]["person_column"] is not None:
        additions.draw("person", project)


@session.edits
def _forget_person(draft: document.Draft) -> None:
    """Reset the person column and the limit of rows per person.

    The limit is 1 if every row is a different person, and otherwise empty: 1 would leave out what
    the curator just spoke of.
    """
    draft["unit"].update(person_column=None, max_rows_per_person=None if draft["wizard"]["several"] else 1)
    draft["wizard"].setdefault("typed", {}).pop("unit.max_rows_per_person", None)
    document.forget_layout(draft)
    kept_rules.take_over(draft)


def people(project: Current) -> None:
    """Draw the population, the approximate number of people, and the limit of rows per person.

    All three are saved in the draft; the number of people is the curator's statement and never counted.
    For two linked tables the limit is asked for beside the second table, and a sentence is drawn here
    instead.

    Args:
        project: The open project.
    """
    help = "The privacy losses of all releases about the same people add up, also those of other curators. The ledger keeps the sum."
    with frame.card("Who is in the table?", Zone.PUBLIC, help):
        _population(project)
        parse, example = partial(numbers.optional, field="number of people", high=10**10), "such as 32,000"
        fields.number("About how many people?", "wizard.people", parse, "{:,}".format, placeholder=example, help=_PEOPLE_HELP)
        if document.has_second(project.draft):
            st.caption(_LINKED)
            return
        ways = {False: "Every row is a different person", True: "A person may have several rows"}
        look: dict[str, Any] = {"kind": "radio", "on_change": _forget_person, "label_visibility": "collapsed"}
        if fields.choice("Rows", "wizard.several", (False, True), ways, **look):
            _person(project)
        elif numbered := [name for name in document.columns(project.draft) if usual.role(name) is usual.Role.IDENTIFIER]:
            st.caption(f":orange[:material/help:] Can {names(numbered, 2)} be the same in two rows? Then a person may have several.")


_LINKED = (
    ":material/account_tree: A person here is a row of the first table with all its rows in the second, such as a household. Say how many "
    "there are."
)
_PEOPLE_HELP = (
    "State what is publicly known, or guess; never count the private table. The noise does not depend on this number: the pages use it to "
    "say what to expect. Without it there is no light. A run that learns values fills in the number that it counted with noise."
)


def _population(project: Current) -> None:
    populations, chosen = balance.populations(), project.draft.get("population", "")
    if populations:
        known, choose = chosen if chosen in populations else NEW, lambda name: fields.store("population", "" if name == NEW else name)
        fields.linked("population_known", known, choose, st.selectbox, "Population", [*populations, NEW])
    if chosen in populations:
        spent = balance.spent(chosen)
        releases = f"{spent.releases} release{'s' * (spent.releases != 1)}"
        st.progress(spent.share, text=f"ε {spent.epsilon:.2f} of {numbers.short(spent.cap_epsilon)} spent in {releases}")
        if spent.unit is not None:
            st.caption(f"All its releases must protect the same: {literal(spent.unit.words)}.")
    else:
        fields.text("Name of the population", "population", placeholder="Patients of County Hospital, 2024", max_chars=200)
        if doubt := mixed_scripts(chosen):
            st.warning(f"Check {literal(doubt)}.", icon=":material/spellcheck:")


def more(project: Current) -> None:
    """Draw further settings, whose defaults are right for most releases; each change is stored in the draft.

    They are the second table, the limit of a new population, the neighbouring relation, other publications, licence
    and creators, the public table, and what counts a file. They are in an expander whose title states their present
    values.
    """
    draft, relation = project.draft, project.draft["unit"]["relation"]
    (epsilon, _), known = document.cap(draft), draft.get("population", "") in balance.populations()
    limit = "" if known else f"limit ε {'?' if epsilon is None else numbers.short(epsilon)}, "
    copies = "" if str(draft.get("other_copies") or "").strip() else "other publications not named, "
    hidden = "presence is hidden" if relation == ADD_REMOVE else "records are hidden"
    public = "with a public table" if "public" in draft else "no public table"
    alone = not document.is_linked(draft)
    second = ", no second table" if not document.has_second(draft) and "data" in draft and KINDS[draft["data"]["kind"]].is_file else ""
    with st.expander(f"More settings: {limit}{copies}{hidden}, {public}{second}", icon=":material/tune:", key=f"{project.id}:more"):
        if second:
            members_view.part(project)
        if limit:
            left, right = st.columns(2, vertical_alignment="bottom")
            with left:
                title, help = "Limit for all releases about these people: ε", "A run that would exceed this sum does not start."
                read = partial(numbers.positive, field="limit", example="10")
                fields.number(title, "wizard.cap.epsilon", read, numbers.short, help=help)
            with right:
                fields.number("and δ", "wizard.cap.delta", partial(numbers.positive, field="limit", example="1e-9"), numbers.short)
        title = "What an outsider must not be able to tell"
        help = "This is the neighbouring relation: the two tables that must look alike to any attacker."
        fields.choice(title, "unit.relation", (ADD_REMOVE, REPLACE), _RELATIONS, kind="radio", captions=_HIDDEN, help=help)
        title = "What else is published about these people? (optional)"
        example = "Totals in the annual report of 2024; a release by the ministry in 2019. Or: I looked and know of nothing."
        fields.paragraph(title, "other_copies", placeholder=example, max_chars=10_000, help=_COPIES_HELP)
        title, look = "Licence, creators, contact, citation (optional)", {"placeholder": _ABOUT, "help": _ABOUT_HELP, "height": 150}
        fields.typed(st.text_area, title, "about", about_spec.read, about_spec.written, **look)
        if "data" in draft:  # two linked tables have neither of these; one that is chosen can be let go of
            if alone or "public" in draft:
                public_view.part(project)
            if KINDS[draft["data"]["kind"]].is_file and (alone or draft["data"].get("engine")):
                reading_view.engine(project)


def records(project: Current) -> None:
    """Draw switches with which the curator looks at private records.

    Nothing that is read is stored, but a look at rows or keys is recorded for the project. Without a switch,
    lines that cannot be read are reported for files of at most 20 MB. Values are curator-only, unless the
    people are simulated.

    Args:
        project: The open project, with a table.
    """
    simulated = project_table.is_simulated(project.draft)
    zone = Zone.PUBLIC if simulated else Zone.CURATOR
    tables = [replace(project, draft=dict(table)) for table in document.tables(project.draft)]
    for table in tables:
        if not simulated and project_table.is_small(table.draft):
            _lines(table, silent=True)
    with st.expander("Look at the records", icon=":material/table_rows:", key=f"{project.id}:records"):
        frame.zone_badge(zone)
        if (there := project_table.place_of(project.draft)) is not None:
            st.caption(there.unchecked)
        elif not simulated and st.toggle("Can every line be read?", key=f"{project.id}:survey"):
            for table in tables:
                _lines(table)
        if len(tables) > 1 and not simulated and st.toggle("Do their keys fit?", key=f"{project.id}:keys", help=_KEYS_HELP):
            _keys(project)
        st.caption("These people are invented." if simulated else "These are real records of real people: let no one else see this screen.")
        if st.toggle("Show the first rows", key=f"{project.id}:preview"):
            for number, table in enumerate(tables, start=1):
                _preview(table, zone, f"rows_{number}")


@refusals.explained()
def _lines(project: Current, silent: bool = False) -> None:
    """Draw how many lines of a file cannot be read in the stated format.

    The counts are exact, and so for the curator only. If all lines can be read, a sentence says so,
    unless `silent`.

    Args:
        project: The open project, with the draft of one table.
        silent: Whether to draw problems only.
    """
    sentences = project_table.survey(project.draft).value.sentences()
    if sentences:
        frame.zone_badge(Zone.CURATOR)
    of = f"{code(project.draft['wizard']['label'])}: " if "place" in project.draft["wizard"] else ""
    for sentence in sentences:
        st.warning(f"{of}{literal(sentence)}", icon=":material/report:")
    if not sentences and not silent:
        st.caption(f":green[:material/check_circle:] {of}Every line has a value for each column.")


_KEYS_HELP = "You will see how many rows would not count, exactly. The release says that you looked before you chose."


@refusals.explained()
def _keys(project: Current) -> None:
    """Draw how many rows of two linked tables do not count because of their keys.

    The counts are exact, and so for the curator only. The look is recorded. If all rows count, a
    sentence says so; if the draft's tables are not valid, their error is drawn.
    """
    if (unclear := document.problem(project.draft, "data")) is not None:
        raise unclear
    curator.note("truth")
    sentences = project_table.keys(project.draft).value.sentences()
    for sentence in sentences:
        st.warning(literal(sentence), icon=":material/key:")
    if not sentences:
        st.caption(":green[:material/check_circle:] Every row of both tables counts.")


@refusals.explained()
def _preview(project: Current, zone: Zone, part: str) -> None:
    if zone is Zone.CURATOR:
        curator.note("rows")
    with frame.watermark(zone, part):
        st.dataframe(project_table.preview(project.draft).value, hide_index=True, alt="First rows of the table")
