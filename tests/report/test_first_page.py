"""A head of department reads one page: five answers, in few words, whatever was released and whatever its columns are called."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dpsynth_core import report
from dpsynth_core.evaluation.verdict import PARTLY, Purpose
from dpsynth_core.release.release import Brand, Release
from dpsynth_core.release.statement import NOT_PRIVATE
from dpsynth_core.report import first_page
from dpsynth_core.report.facts import byline, sentence
from tests.bundle.bundles import made, run, spec
from tests.report import wizard


def page_of(release: Release) -> list[first_page.Part]:
    judged = report.quality_of(release).value
    return first_page.first_page(release, judged.headline, judged.verdict)


def text_in(parts: list[first_page.Part]) -> str:
    return " ".join(f"{part.title} {part.lead} {part.text}" for part in parts)


def text_of(release: Release) -> str:
    return text_in(page_of(release))


@pytest.mark.parametrize("kind", wizard.RELEASES)
def test_the_first_page_is_short_for_every_kind_of_release(kind: str) -> None:
    assert len(text_of(wizard.RELEASES[kind]()).split()) <= first_page.MOST_WORDS


def test_the_first_page_is_short_when_the_noise_of_many_tables_can_be_stated() -> None:
    # The noise of each run decides which of two sentences a release of the hospital gets: this is the long one.
    hospital, known = wizard.RELEASES["hospital"](), report.quality_of(wizard.RELEASES["by default"]()).value.headline
    verdict = report.quality_of(hospital).value.verdict
    assert verdict is not None
    stated = replace(verdict, sizes=(Purpose(26, 0, size=1, error=0.4, at_most=0.8),))
    parts = first_page.first_page(replace(hospital, brands=(Brand("x", "y"),) * 12), known, stated)
    assert len(text_in(parts).split()) <= first_page.MOST_WORDS


def test_the_first_page_is_short_with_many_purposes_of_long_names() -> None:
    judged = report.quality_of(made()).value
    assert judged.verdict is not None
    purposes = tuple(Purpose(3, 3, name=f"{place} a name of very many words " * 20) for place in range(30))
    verdict = replace(judged.verdict, kind=PARTLY, columns=purposes)
    parts = first_page.first_page(made(), replace(judged.headline, worst_table="a b c " * 300), verdict)
    assert len(text_in(parts).split()) <= first_page.MOST_WORDS


def test_it_answers_what_this_is_whether_to_publish_how_far_off_who_is_protected_and_what_not_to_do() -> None:
    what, may, error, protected, misuse = page_of(made())
    judged = report.quality_of(made()).value
    assert judged.verdict is not None
    assert byline(made()) in what.text
    assert may.lead == report.ruling(judged.verdict)
    assert sentence(judged.headline) in error.text
    assert "50:50" in protected.text
    assert "ε\u00a0=\u00a02" in protected.text
    assert "single person" in misuse.text
    assert ("not good enough" in misuse.text) == (judged.verdict.within < judged.verdict.tables)


def test_warnings_and_a_curators_reason_are_pointed_at_and_never_left_out() -> None:
    without = replace(made(), brands=(), measurements=())
    assert "warning" not in text_of(without)
    assert "its warning " in text_of(replace(without, brands=(Brand("x", "y"),)))
    assert "its 2 warnings " in text_of(replace(without, brands=(Brand("x", "y"),) * 2))
    assert "its warning " in text_of(replace(made(), brands=()))  # that a part of a column is not declared
    judged = report.quality_of(made()).value
    assert judged.verdict is not None
    parts = first_page.first_page(made(), judged.headline, replace(judged.verdict, despite="for a reason"))
    assert first_page.REASON in parts[1].text


def test_what_is_not_private_is_said_to_be_so() -> None:
    assert NOT_PRIVATE in text_of(replace(made(), private=False))
    assert dict(first_page.lines(replace(made(), private=False), None))["Protection"] == NOT_PRIVATE


def test_one_table_is_not_called_an_average_nor_the_worst_of_several() -> None:
    alone = replace(report.quality_of(made()).value.headline, tables=1)
    assert alone.worst_table in sentence(alone)
    assert "average" not in sentence(alone)
    assert "worst one" not in sentence(alone)


def test_four_lines_say_who_how_protected_which_tables_and_when() -> None:
    release = made()
    lines = dict(first_page.lines(release, report.quality_of(release).value.verdict))
    assert list(lines) == ["About", "Protection", "Tables", "Made"]
    assert " ± " in lines["About"], "how many people is a noisy number"
    assert release.created in lines["Made"]
    public = run(spec(unit={"relation": "replace"}, mechanism={"name": "independent"}))
    assert " ± " not in dict(first_page.lines(public, None))["About"], "it is public"
    several = wizard.of_a_hospital()
    assert "records, at most 5 of a person" in dict(first_page.lines(several, None))["About"]
