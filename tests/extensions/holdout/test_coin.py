"""A coin for each person: it falls by the name alone, the same in each pass and after a crash, and no neighbour changes another's."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from html import unescape
from itertools import chain, combinations_with_replacement, product
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

import dpsynth_core as dps
from dpsynth_core.bundle.verdicts import FAILED
from dpsynth_core.extensions.holdout import coin
from dpsynth_core.extensions.holdout.coin import Coin
from dpsynth_core.extensions.holdout.statement import lines
from dpsynth_core.planning.spec import DataSpec, StandinSpec
from dpsynth_core.privacy.events import Gaussian
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.seeded_noise import SeededNoise
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.privacy.view import Integers
from dpsynth_core.release import synthesis, transcript
from dpsynth_core.sources.arrow import ArrowSource
from dpsynth_core.sources.formats import TableFormat
from dpsynth_core.sources.parts import Sizes
from dpsynth_core.store import home, spools
from dpsynth_core.vocabulary.domain import Attribute, Domain
from dpsynth_core.vocabulary.workload import all_kway
from tests.privacy.tables import GlassNoise
from tests.refusals import refused
from tests.tiers import examples

DOMAIN = Domain((Attribute.categorical("a", ["x", "y"]), Attribute.categorical("b", ["0", "1", "2"])))
CELLS = tuple(product("xy", "012"))
CLIQUES = (*all_kway(DOMAIN, 1).cliques, *all_kway(DOMAIN, 2).cliques)
KEY = bytes(range(32))
HALF = Coin(KEY, 50)
IN = [name for name in map(str, range(40)) if HALF(name)]
OUT = [name for name in map(str, range(40)) if not HALF(name)]
NAMES = (*IN[:2], *OUT[:2])
"""Two people who take part, and two who are left out."""

Rows = tuple[tuple[str, str], ...]
People = dict[str, Rows]
UNITS = [Unit(relation, rows, True) for relation in ("add-remove", "replace") for rows in (1, 2)]


@pytest.fixture(autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPSYNTH_HOME", str(tmp_path_factory.mktemp("home")))


def source(people: People, rows: int = 1, chosen: Callable[[str], bool] | None = None, sizes: Sizes | None = None) -> ArrowSource:
    table = pd.DataFrame([(name, *row) for name, owned in people.items() for row in owned], columns=["person", "a", "b"], dtype=object)
    made = ArrowSource(DOMAIN, table, TableFormat(), "person", rows, *([sizes] if sizes else []))
    return made if chosen is None else made.of_chosen(chosen)


def test_it_falls_by_key_and_name_and_each_name_once() -> None:
    names = [f"person {i}" for i in range(2_000)]
    fallen = [HALF(name) for name in names]
    assert fallen == [Coin(KEY, 50)(name) for name in names]
    assert [Coin(KEY, 50, out=True)(name) for name in names] == [not one for one in fallen]
    assert fallen != [Coin(bytes(32), 50)(name) for name in names]


@pytest.mark.parametrize("percent", [1, 5, 50])
def test_it_leaves_out_as_many_as_it_says(percent: int) -> None:
    """The number is binomial; a key that was drawn anew would fail once in 1e9."""
    people, one = 50_000, Coin(KEY, percent)
    left_out = sum(not one(f"{i}") for i in range(people))
    assert binom.ppf(5e-10, people, percent / 100) <= left_out <= binom.isf(5e-10, people, percent / 100)


def test_whoever_is_left_out_at_a_smaller_share_is_left_out_at_a_larger_one() -> None:
    few, many = Coin(KEY, 5), Coin(KEY, 50)
    assert all(few(name) or not many(name) for name in map(str, range(2_000)))


def belongings(rows: int) -> tuple[Rows, ...]:
    return tuple(chain.from_iterable(combinations_with_replacement(CELLS, k) for k in range(1, rows + 1)))


def tables(unit: Unit) -> st.SearchStrategy[People]:
    return st.dictionaries(st.sampled_from(NAMES), st.sampled_from(belongings(unit.max_rows_per_person)), max_size=4)


def neighbours(people: People, unit: Unit) -> Iterator[tuple[str, People]]:
    """All tables with one person's rows added, taken away or replaced, with the person's name. Under "replace", also under another name."""
    for name in people:
        others = {other: owned for other, owned in people.items() if other != name}
        if unit.relation == "add-remove":
            yield name, others
            continue
        for owned in belongings(unit.max_rows_per_person):
            yield name, others | {name: owned}
            yield from ((name, others | {new: owned}) for new in NAMES if new not in people)
    if unit.relation == "add-remove":
        new = [name for name in NAMES if name not in people]
        yield from ((name, people | {name: owned}) for name in new for owned in belongings(unit.max_rows_per_person))


def groups(people: People, unit: Unit) -> tuple[Integers, Integers, Gaussian]:
    """The exact tables of those who take part and of those left out, as the kernel would protect them, and what it charges."""
    found, event = [], None
    for out in (False, True):
        glass = GlassNoise()
        kernel = PrivacyKernel(source(people, unit.max_rows_per_person, Coin(KEY, 50, out)), unit, 1e3, glass)
        kernel.measure_marginals(list(CLIQUES), 1.0)
        found.append(glass.seen[0][0].ravel())
        (event,) = kernel.events
    assert isinstance(event, Gaussian)
    return found[0], found[1], event


@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_no_neighbour_in_either_group_is_further_than_is_charged_for(unit: Unit) -> None:
    """One person changes the group of their coin alone. Replaced by another name they may change both, each by what a removal costs."""

    @given(tables(unit))
    @examples(6)
    def check(people: People) -> None:
        here = groups(people, unit)
        for name, other in neighbours(people, unit):
            there = groups(other, unit)
            moved = [float(((one - another) ** 2).sum()) for one, another in zip(here[:2], there[:2], strict=True)]
            most = here[2].l2 ** 2 * (1 + 1e-12)
            assert max(moved) <= most
            assert sum(moved) <= most
            if name in other or unit.relation == "add-remove":
                assert moved[HALF(name)] == 0

    check()


def test_a_person_who_is_left_out_changes_no_answer() -> None:
    """With the same noise all answers are the same, also those to questions that follow from earlier answers."""

    def answers(people: People) -> list[Any]:
        kernel = PrivacyKernel(source(people, 2, HALF), Unit("add-remove", 2, True), 1e3, SeededNoise(3))
        first = kernel.measure_marginals([("a",)], 2.0)[0].values
        second = kernel.measure_marginals([("b",) if first[0] > first[1] else ("a", "b")], 2.0)[0].values
        return [first.tolist(), second.tolist(), kernel.measure_total(1.0)]

    few = {IN[0]: (CELLS[0],), IN[1]: (CELLS[1], CELLS[2])}
    assert answers(few) == answers(few | {OUT[0]: (CELLS[5], CELLS[5])}) == answers({OUT[1]: (CELLS[3],)} | few)
    assert answers(few) != answers(few | {IN[2]: (CELLS[5], CELLS[5])})


def many(people: int = 400, rows: int = 3) -> pd.DataFrame:
    rng = np.random.default_rng(8)
    owners = rng.permutation(np.repeat(np.arange(people), rows))
    return pd.DataFrame({"person": owners, "a": rng.choice(["x", "y"], len(owners)), "b": rng.choice(["0", "1", "2"], len(owners))})


def test_both_groups_together_are_everybody_in_each_pass_and_in_any_parts(tmp_path: Path) -> None:
    many().to_csv(tmp_path / "people.csv", index=False)
    table = many()
    table["person"] = table["person"].astype(str)
    kept = table.groupby("person").head(2)
    for sizes in (None, Sizes(500, 500)):
        both = []
        for out in (False, True):
            one = ArrowSource(DOMAIN, tmp_path / "people.csv", TableFormat(), "person", 2, *([sizes] if sizes else []))
            some = one.of_chosen(Coin(KEY, 30, out))
            wanted = kept[[Coin(KEY, 30, out)(name) for name in kept["person"]]]
            for _ in range(2):
                counts = some.counts([("a", "b")])[("a", "b")]
                assert counts.tolist() == pd.crosstab(wanted["a"], wanted["b"]).to_numpy().tolist()
            assert len(some.sample(10_000)) == len(wanted)
            values = Counter[str]()
            for part in some.values("b"):
                values.update(part)
            assert values == Counter(wanted["b"])
            both.append(counts)
        assert (
            sum(both) == ArrowSource(DOMAIN, tmp_path / "people.csv", TableFormat(), "person", 2).counts([("a", "b")])[("a", "b")]
        ).all()


def test_without_a_person_column_nobody_is_chosen() -> None:
    table = pd.DataFrame({"a": ["x"], "b": ["0"]})
    refused(ArrowSource(DOMAIN, table).of_chosen, HALF, kind=ValueError)


COLUMNS = {"a": ["x", "y"], "b": ["0", "1", "2"]}


def planned(data: Any = None, **options: Any) -> dps.Plan:
    fixed: dict[str, Any] = {"epsilon": 3, "mechanism": "independent", "population": "Patients", "person": "person", "rows_per_person": 3}
    return dps.plan(many() if data is None else data, COLUMNS, **fixed | {"holdout": 30} | options)


def texts_of(release: dps.Release, folder: Path) -> dict[str, str]:
    """The files of a release's bundle, by name."""
    release.save(folder / "release.zip")
    with ZipFile(folder / "release.zip") as bundle:
        return {name: bundle.read(name).decode("utf-8", "replace") for name in bundle.namelist()}


def test_a_release_is_about_those_who_take_part_and_says_so(tmp_path: Path) -> None:
    plan = planned(many(2_000, 1), rows_per_person=1)
    release = plan.run(progress=False)
    taking_part = sum(map(coin.of(plan.sealed), map(str, range(2_000))))
    assert 1_250 < taking_part < 1_550
    assert abs(release.made.total - taking_part) < 40
    assert [check.question for check in release.verify().checks if check.verdict == FAILED] == []
    said = [name for name, content in texts_of(release, tmp_path).items() if "left out with a probability of 30" in content]
    assert {"report.html", "DATA_CARD.md"} <= {*said}


def test_whatever_gives_numbers_says_whom_they_are_about(tmp_path: Path) -> None:
    plan = planned()
    release = plan.run(progress=False)
    questions = [
        release.ask("count"),
        release.ask("share", of={"a": "x"}),
        release.ask("count", by="a"),
        release.ask("table", of=["a", "b"]),
    ]
    said = [*map(str, [*questions, plan, release]), plan._repr_html_(), release._repr_html_()]
    files = texts_of(release, tmp_path)
    said += [files[name] for name in ("explore.html", "analysis.ipynb", "analysis.R", "analysis.do", "report.html")]
    for text in said:
        assert "were not left out" in text, text[:200]
        assert re.search(r"by 0\.70? to estimate", text.replace("\\", "")), text[:200]
    assert "No value was left out" not in unescape(files["report.html"])
    without = dps.plan(many(), COLUMNS, epsilon=3, mechanism="independent", person="person", rows_per_person=3)
    assert "left out" not in f"{without} {(other := without.run(progress=False))} {other.ask('count')}"


def test_the_card_counts_records_where_persons_have_several(tmp_path: Path) -> None:
    card = texts_of(planned().run(progress=False), tmp_path)["report.html"].partition("</svg>")[0]
    assert "records in a wrong group on average" in card
    assert "people in a wrong group" not in card


def test_sentences_name_the_share_and_the_factor() -> None:
    told = " ".join(lines(5))
    assert "probability of 5 %" in told
    assert "divide numbers of people by 0.95" in told


def secrets_of(plan: Any) -> list[bytes]:
    key = coin.of(plan).key
    return [key, key.hex().encode(), home.key_file().read_bytes(), home.key_file().read_bytes().hex().encode()]


def test_neither_key_nor_names_are_in_the_bundle_or_in_what_a_run_keeps(tmp_path: Path) -> None:
    people = many(300, 1)
    people["person"] = [f"somebody-{one}" for one in people["person"]]
    plan = planned(people, rows_per_person=1)
    spool: list[bytes] = []

    def finish(*_: Any, **__: Any) -> Any:
        spool.extend(path.read_bytes() for path in (home.home() / "spools").glob("*"))
        return original(*_, **__)

    original = synthesis.carry_out
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(synthesis, "carry_out", finish)
        release = plan.run(progress=False)
    written = [*map(str.encode, texts_of(release, tmp_path).values()), *spool, plan.sealed.spec.model_dump_json().encode()]
    assert spool
    for content in written:
        assert b"somebody-" not in content
        assert not [secret for secret in secrets_of(plan.sealed) if secret in content]


def test_coins_survive_the_process_and_other_plans_have_others(tmp_path: Path) -> None:
    many().to_csv(tmp_path / "people.csv", index=False)
    plan = planned(tmp_path / "people.csv")
    here = [coin.of(plan.sealed)(str(i)) for i in range(400)]
    (tmp_path / "spec.json").write_text(plan.sealed.spec.model_dump_json())
    program = (
        "import sys\n"
        "from pathlib import Path\n"
        "from dpsynth_core.extensions.holdout import coin\n"
        "from dpsynth_core.planning.plan import Plan\n"
        "from dpsynth_core.planning.spec import load_spec\n"
        "one = coin.of(Plan.of(load_spec(Path(sys.argv[1]))))\n"
        "print(''.join(str(int(one(str(i)))) for i in range(400)))"
    )
    there = subprocess.run([sys.executable, "-c", program, tmp_path / "spec.json"], capture_output=True, text=True, check=True).stdout
    assert there.strip() == "".join(str(int(one)) for one in here)
    other = planned(tmp_path / "people.csv", epsilon=2.5)
    assert [coin.of(other.sealed)(str(i)) for i in range(400)] != here


class OneStream(SeededNoise):
    """Noise that a run and the one that goes on draw from together, as if it had never stopped."""

    private = True


def test_a_run_that_was_interrupted_goes_on_with_the_same_people(monkeypatch: pytest.MonkeyPatch) -> None:
    def begin() -> None:
        noise = OneStream(11)
        monkeypatch.setattr(synthesis, "noise_for", lambda _: noise)

    begin()
    plan = planned(certificate=0.1)
    asked = PrivacyKernel._ask
    left = iter(range(1))

    def ask(kernel: PrivacyKernel, *arguments: Any, **options: Any) -> object:
        if next(left, None) is None:
            raise KeyboardInterrupt
        return asked(kernel, *arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(PrivacyKernel, "_ask", ask)
        with pytest.raises(KeyboardInterrupt):
            plan.run(progress=False)
    assert len(spools.unfinished()) == 1
    ended = plan.run(progress=False)
    assert spools.unfinished() == ()
    begin()
    whole = planned(certificate=0.1).run(progress=False, again=True)
    assert len(ended.made.transcript) == 4, "three of them were asked after the interruption"
    assert transcript.to_json(ended.made.transcript, []) == transcript.to_json(whole.made.transcript, [])


def test_plans_that_cannot_leave_people_out_are_refused() -> None:
    refused(planned, person=None, rows_per_person=1, saying="names no column with it")
    members = (many(), {"b": ["0", "1", "2"]})
    refused(
        dps.plan,
        many(),
        {"a": ["x", "y"]},
        epsilon=1,
        person="person",
        rows_per_person=3,
        members=members,
        holdout=5,
        saying="linked tables",
    )
    refused(planned, published=[(pd.DataFrame({"a": ["x", "y"], "count": [1, 2]}), "Census")], rows_per_person=1, saying="count everybody")
    refused(planned, holdout=60, saying="whole number from 1 to 50", kind=(dps.InputError, ValueError))


def test_a_trial_on_a_stand_in_leaves_nobody_out() -> None:
    """Trials of a plan take invented rows, which have no names, in place of its table."""
    of_table = planned().sealed.spec
    spec = of_table.model_copy(update={"data": DataSpec(kind="standin", standin=StandinSpec(rows=300))})
    plan = synthesis.plan(spec)
    assert synthesis.open_source(plan).counts([()])[()] == 300
