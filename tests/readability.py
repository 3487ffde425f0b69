"""Measure how hard a text is to read: Flesch-Kincaid grade, words, sentences without a verb, and phrases whose noun is missing.

    python -m tests.readability [FILE ...]      measure Markdown and HTML files; without names: the Guide, its documents and a report

The rules are rough, and the same before and after a change:

- Sentences are those of paragraphs, list items and captions. Headings (bold ones at the beginning of a paragraph too), code, charts and
  symbols are not sentences; a cell of a table is one if it ends with a full stop.
- A sentence ends at a full stop, a question mark or an exclamation mark before a space and a capital letter, a digit or a quotation mark.
- A word has a letter or a digit. Inline code is one word of one syllable.
- A syllable is a run of vowels (a, e, i, o, u, y). A silent e at the end of a word counts for none, except in "-le" after a consonant; nor
  does the e of "-es" and "-ed", except after the consonants that make it heard. Each word has at least one syllable.
- A sentence has a verb if it has a form of "be", "have", "do" or a modal verb, a form of a verb of `VERBS`, or begins with a word of
  `NOUNS_TOO`, which is a noun elsewhere.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

from tests.test_language import MISSING_NOUN

ROOT = Path(__file__).resolve().parents[1]
GUIDE = sorted((ROOT / "assets" / "guide").glob("*.md"))
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs" / "guide").glob("*.md")), *sorted((ROOT / "docs" / "tutorials").glob("*.md"))]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


SURE = _words(
    "is are was were be been being am has have had having does do did done doing can could may might must shall should will would"
    " cannot isn't aren't wasn't doesn't don't didn't can't won't couldn't wouldn't"
)
VERBS = _words(
    "accept accuse add adjust admit advise agree allow answer append apply arrive ask assume avoid become begin belong break bring"
    " build buy calculate call carry cause cease charge check choose claim come compare compute conclude confirm connect consider"
    " contain continue contribute copy correspond cost cover create cut decide declare define delete depend describe differ discover"
    " divide download draw drop drown dump edit enable end ensure enter equal exceed exclude exist expect explain export fail fall"
    " feed fill find finish fit fix follow forbid forget generate get give go grow guess hang happen help hide hold hope ignore imply"
    " import include increase infer install invent invite join keep know lack lead learn leave let lie list load lock look lose lower"
    " make match matter mean measure meet mend merge miss move name need notice object obtain occur offer omit open operate overwrite"
    " own pass pay pick place point prefer prepare press prevent print produce promise propose protect prove provide publish put raise"
    " reach read receive record reduce refuse remain remember remove repeat replace reproduce require resemble rest restore return"
    " reveal rewrite rise round run satisfy save say score search see seem select sell send separate serve set share shift show sign"
    " solve sort speak specify spend split stand start state stay stop store suffice suggest sum supply support survive take tell tend"
    " think total train treat trust try turn understand undo unpack update upload use vary verify wait want warn weigh weight withhold"
    " work write yield"
)
NOUNS_TOO = _words("count plan release report bound limit table sample noise group sum clamp seed test trial budget file rank filter")
IRREGULAR = _words(
    "began begun bought broke broken brought built came chose chosen drew drawn fell fallen found forbade forbidden forgot forgotten"
    " gave given gone went got grew grown heard held hid hidden kept knew known laid lain lay led left lost made meant met paid proved"
    " proven ran read rose risen said sat saw seen sent set shown sold sought spent spoke stood stated told took taken taught thought"
    " understood undid undone withheld won wrote written"
)
_SILENT_ENDS = tuple(
    (re.compile(end), re.compile(heard))
    for end, heard in ((r"[^aeiouy]e$", r"[^aeiouy]le$"), (r"[^aeiouy]ed$", r"[td]ed$"), (r"[^aeiouy]es$", r"(?:[sxzcgh]|[^aeiouy]l)es$"))
)
"""Endings with an e that is not heard, and among them the endings in which it is heard."""
_VOWELS = re.compile(r"[aeiouy]+")
_WORD = re.compile(r"[^\W_](?:[\w'’^.,]*[^\W_])?")
_END = re.compile(r"(?<=[.!?])[\"”’*)]*\s+(?=[\"“*(]*[A-Z0-9\u0370-\u03ff])")


@dataclass(frozen=True)
class Reading:
    """The measurements of a text.

    Attributes:
        grade: Flesch-Kincaid grade: years of school that its reader needs.
        verbless: The sentences without a verb.
        riddles: The phrases whose noun is missing.
    """

    words: int
    sentences: int
    grade: float
    verbless: tuple[str, ...]
    riddles: tuple[str, ...]


def read(sentences: Iterable[str]) -> Reading:
    """Measure sentences of plain text."""
    every = [one for one in sentences if _WORD.search(one)]
    words = [word for one in every for word in _WORD.findall(one)]
    each, syllables_each = len(words) / max(1, len(every)), sum(map(syllables, words)) / max(1, len(words))
    return Reading(
        len(words),
        len(every),
        0.39 * each + 11.8 * syllables_each - 15.59,
        tuple(one for one in every if not has_verb(one)),
        tuple(found for one in every for found in MISSING_NOUN.findall(one)),
    )


def syllables(word: str) -> int:
    """Count the syllables of a word by the rule above."""
    word = word.lower()
    count = len(_VOWELS.findall(word))
    silent = any(end.search(word) and not heard.search(word) for end, heard in _SILENT_ENDS)
    return max(1, count - silent)


def has_verb(sentence: str) -> bool:
    """Return whether a sentence has a verb, as far as this list of verbs knows."""
    words = [word.lower().replace("’", "'") for word in _WORD.findall(sentence)]
    if words and words[0] in NOUNS_TOO:
        return True
    return any(word in SURE or word in IRREGULAR or _base(word) & VERBS for word in words) or bool(
        re.search(rf"\b(?:you|we|it|they|that|which|who|and|to|this|ledger|durations|nothing) (?:{'|'.join(NOUNS_TOO)})s?\b", sentence)
    )


def _base(word: str) -> set[str]:
    """Return the base forms that an inflected verb may have."""
    forms = {word}
    for ending in ("s", "es", "d", "ed"):
        if word.endswith(ending):
            forms.add(word.removesuffix(ending))
    if word.endswith(("ies", "ied")):
        forms.add(word[:-3] + "y")
    if re.search(r"(.)\1ed$", word):
        forms.add(word[:-3])
    return forms


def split(text: str) -> list[str]:
    """Split a paragraph into its sentences."""
    return [one for one in (part.strip() for part in _END.split(" ".join(text.split()))) if one]


def of_markdown(text: str) -> list[str]:
    """Return the sentences of a Markdown text, without marks."""
    text = re.sub(r"^[ ]*(```|~~~).*?^[ ]*\1[^\n]*$", "\n", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"^:::.*$|<[^>\n]+>", "", text, flags=re.MULTILINE)
    text = re.sub(r"^(\s*(?:[-*] )?)\*\*[^*\n]*[.?]\*\*", r"\1", text, flags=re.MULTILINE)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"`[^`]+`", "code", text).replace("**", "").replace("*", "")
    found: list[str] = []
    for block in re.split(r"\n\s*\n|\n(?=\s*(?:[-*>|]|\d+\.) )", text):
        if re.fullmatch(r"(?:    [^\n]*\n?)+", block.strip("\n")):  # code
            continue
        stripped = re.sub(r"^\s*(?:[-*>]|\d+\.) +", "", block.strip())
        if stripped.startswith("|"):
            found += [one for cell in stripped.split("|") if cell.strip().endswith(".") for one in split(cell)]
        elif not stripped.startswith("#"):
            found += split(stripped)
    return found


class _Page(HTMLParser):
    """Collects the sentences and the words of an HTML page."""

    BLOCKS = ("p", "li", "figcaption", "td", "th", "h1", "h2", "h3")
    SILENT = ("style", "script", "svg", "title", "code")

    def __init__(self) -> None:
        super().__init__()
        self.blocks: list[tuple[str, str]] = []
        self._open: list[str] = []
        self._symbols = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in self.SILENT or tag in self.BLOCKS or tag == "div":
            self._open.append("symbols" if ("class", "symbols") in attrs else tag)
            if tag in self.BLOCKS and not self._silent:
                self.blocks.append((tag, ""))

    def handle_endtag(self, tag: str) -> None:
        if self._open and (self._open[-1] == tag or (tag == "div" and self._open[-1] == "symbols")):
            self._open.pop()

    def handle_data(self, data: str) -> None:
        if not self._silent and self.blocks and self._open and self._open[-1] in self.BLOCKS:
            tag, text = self.blocks[-1]
            self.blocks[-1] = tag, text + data

    @property
    def _silent(self) -> bool:
        return any(one in self.SILENT or one == "symbols" for one in self._open)


def blocks_of_html(text: str) -> list[str]:
    """Return the text of each heading, paragraph, list item, caption and cell of an HTML page."""
    page = _Page()
    page.feed(text)
    return [" ".join(block.split()) for _, block in page.blocks if block.strip()]


def of_html(text: str) -> list[str]:
    """Return the sentences of an HTML page."""
    page = _Page()
    page.feed(text)
    kept = (block for tag, block in page.blocks if tag in ("p", "li", "figcaption") or (tag == "td" and block.rstrip().endswith(".")))
    return [one for block in kept for one in split(block)]


def report() -> str:
    """Return the report of the golden release of AIM as HTML."""
    from dpsynth_core.report import report_page
    from tests.golden import goldens

    return report_page(goldens.kept("aim")).value.decode()


def _measured(names: list[str]) -> Iterator[tuple[str, Reading]]:
    if names:
        for path in map(Path, names):
            text = path.read_text(encoding="utf-8")
            yield path.name, read((of_html if path.suffix == ".html" else of_markdown)(text))
        return
    for title, files in (("Guide", GUIDE), ("documents", DOCUMENTS)):
        for path in files:
            yield str(path.relative_to(ROOT)), read(of_markdown(path.read_text(encoding="utf-8")))
        yield f"{title}, all", read(one for path in files for one in of_markdown(path.read_text(encoding="utf-8")))
    yield "report", read(of_html(report()))


if __name__ == "__main__":
    for name, measured in _measured(sys.argv[1:]):
        print(
            f"{name:40} grade {measured.grade:4.1f}  words {measured.words:6,}"
            f"  a sentence {measured.words / max(1, measured.sentences):4.1f}"
            f"  without a verb {len(measured.verbless):3}  riddles {len(measured.riddles):3}"
        )
        if sys.argv[1:]:
            print("\n".join([*(f"  no verb: {one}" for one in measured.verbless), *(f"  riddle: {one}" for one in measured.riddles)]))
