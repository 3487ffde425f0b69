"""Two linked tables from the command line: two files whose keys hold, one charge, a bundle that is consistent and can be made again."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import dpsynth_core as dps
from dpsynth_core import cli
from dpsynth_core.bundle.verdicts import CONSISTENT
from dpsynth_core.planning.plan import Plan
from dpsynth_core.planning.spec import MAX_UNSTATED_ROWS, Spec, load_spec
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.release import document as releases
from dpsynth_core.release.statement import row_policy
from dpsynth_core.release.synthesis import row_count
from dpsynth_core.store import chain, in_process, projects, runs, spools
from dpsynth_core.store.home import LOCAL_OWNER
from tests.additions import listed
from tests.bundle import pack
from tests.bundle.bundles import failed, files
from tests.homes import HOUSEHOLDS, MOST, PEOPLE, tables
from tests.refusals import refused
from tests.vocabulary.test_foreign_domains import LINKED_GOOGLE, LINKED_SDV


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two tables: regions 0 and 1; couples of one sex each, whose children are young; and rows that do not count."""
    folder = tmp_path_factory.mktemp("linked")
    tables(folder)
    (folder / "homes.json").write_text('{"region": 2}')
    (folder / "people.json").write_text(json.dumps(PEOPLE))
    return folder


def synthesize(home: Path, out: str, *extra: str) -> int:
    given = [str(home / "homes.csv"), "--domain", str(home / "homes.json"), "--members", str(home / "people.csv")]
    given += ["--members-domain", str(home / "people.json"), "--key", "id", "--max-members", str(MOST)]
    return cli.main(["synthesize", *given, "--epsilon", "4", "--out", str(home / out), *extra])


def charged() -> list[str]:
    return [entry.run for entry in chain.entries() if entry.kind == "reserve"]


def stop_soon(patch: pytest.MonkeyPatch) -> None:
    """Runs are interrupted after three answers."""
    left, ask = iter(range(3)), PrivacyKernel._ask

    def stopping(kernel: PrivacyKernel, *arguments: Any, **options: Any) -> Any:
        if next(left, None) is None:
            raise KeyboardInterrupt
        return ask(kernel, *arguments, **options)

    patch.setattr(PrivacyKernel, "_ask", stopping)


@pytest.fixture(scope="module")
def released(home: Path) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DPSYNTH_HOME", str(home / "books"))
        assert synthesize(home, "out", "--population", "homes") == 0
        (entry,) = [entry for entry in chain.entries() if entry.kind == "reserve"]
    assert entry.population == "homes"
    return home / "out"


@pytest.mark.parametrize("changed", [None, "homes.csv", "people.csv"])
def test_an_interrupted_run_goes_on_with_the_same_two_tables_and_no_others(
    changed: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DPSYNTH_HOME", str(tmp_path / "books"))
    tables(tmp_path, 100)
    (tmp_path / "homes.json").write_text('{"region": 2}')
    (tmp_path / "people.json").write_text(json.dumps(PEOPLE))
    with pytest.MonkeyPatch.context() as patch:
        stop_soon(patch)
        assert synthesize(tmp_path, "out", "--population", "homes") == cli.INTERRUPTED
    begun = charged()
    assert spools.unfinished() == (*begun,)
    if changed:
        with (tmp_path / changed).open("a") as file:
            file.write("200,0\n" if changed == "homes.csv" else "0,0,0\n")
    assert synthesize(tmp_path, "out", "--population", "homes") == 0
    assert len(charged()) == (2 if changed else 1)
    assert spools.unfinished() == ((*begun,) if changed else ())


def test_keys_hold(released: Path) -> None:
    homes, people = pd.read_csv(released / "synthetic.csv"), pd.read_csv(released / "members.csv")
    assert homes["id"].tolist() == list(range(1, len(homes) + 1))
    assert list(homes.columns) == ["id", "region"]
    assert list(people.columns) == ["id", "sex", "adult"]
    assert people["id"].isin(homes["id"]).all()
    assert people["id"].is_monotonic_increasing
    assert people.groupby("id").size().max() <= MOST
    assert set(people["sex"]) == {0, 1}
    document = json.loads((released / "release.json").read_text())
    assert (document["rows"]["count"], document["rows"]["members"]) == (len(homes), len(people))


def test_members_belong_together(home: Path) -> None:
    """No household of the data has three adults; 15 % would have if members knew nothing of each other. Measured with this seed: 7 %."""
    assert synthesize(home, "seeded", "--epsilon", "10", "--seed", "1") == 0
    people = pd.read_csv(home / "seeded" / "members.csv")
    assert people.groupby("id")["adult"].sum().gt(2).mean() < 0.1


def test_rules_hold_in_every_household(home: Path) -> None:
    """Rules that the data break: two in five couples of the data have no man, and families of the data live in region 0 too."""
    alone = {"if": {"members": ["1"]}, "then": {"region": ["1"]}}
    couple = {"never": {"sex": ["woman"], "adult": ["1"], "sex of another": ["woman"], "adult of another": ["1"]}}
    woman = {"if": {"members": ["1"]}, "then": {"sex": ["woman"]}}
    rules = [{"members_with": {"adult": ["1"]}, "exactly": 2, "note": "two adults"}, alone, couple, woman]
    (home / "rules.json").write_text(json.dumps(rules))
    assert synthesize(home, "ruled", "--rules", str(home / "rules.json")) == 0
    homes, people = pd.read_csv(home / "ruled" / "synthetic.csv"), pd.read_csv(home / "ruled" / "members.csv")
    sizes = people.groupby("id").size()
    assert (people.groupby("id")["adult"].sum() == sizes.clip(upper=2)).all()
    assert set(homes.set_index("id")["region"][sizes.index[sizes == 1]]) <= {1}
    assert set(people["sex"][people["id"].map(sizes) == 1]) <= {0}
    assert people[(people["adult"] == 1) & (people["sex"] == 0)].groupby("id").size().max() == 1
    assert cli.main(["verify", str(home / "ruled" / "release.zip")]) == 0
    assert json.loads((home / "ruled" / "release.json").read_text())["spec"]["members"]["rules"] == rules
    held = files((home / "ruled" / "release.zip").read_bytes())
    held["members.csv"] = people.assign(adult=0).to_csv(index=False).encode()
    assert "Are impossible combinations absent?" in failed(pack.sealed(held))


def test_households_are_weighed_with_their_members(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """From options to rows, and on the recipient's side; seed 3."""
    homes = pd.read_csv(home / "homes.csv")
    homes.assign(w=1.0 + homes["region"]).to_csv(home / "weighed.csv", index=False)
    weight = {"name": "w", "kind": "numeric", "lower": 0, "upper": 4, "bins": 4, "other": False, "missing": False}
    domain = {"version": 1, "attributes": [{"name": "region", "kind": "coded", "size": 2}, weight]}
    (home / "weighed.json").write_text(json.dumps(domain))
    given = ["synthesize", str(home / "weighed.csv"), "--domain", str(home / "weighed.json"), "--members", str(home / "people.csv")]
    given += ["--members-domain", str(home / "people.json"), "--key", "id", "--max-members", str(MOST), "--epsilon", "4", "--seed", "3"]
    out = home / "weighed"
    assert cli.main([*given, "--weight", "w", "--weight-tables", "region,sex; sex, adult", "--out", str(out)]) == 0
    assert "weighted: A member weighs what its household weighs" in capsys.readouterr().err
    stated = json.loads((out / "release.json").read_text())
    assert stated["spec"]["weight"] == {"column": "w", "totals": {}, "tables": [["region", "sex"], ["sex", "adult"]]}
    tables = [one["attributes"] for one in stated["weighted"]["members"]["certificate"]["marginals"]]
    assert tables == [["sex"], ["adult"], ["region", "sex"], ["sex", "adult"]]
    homes, people = pd.read_csv(out / "synthetic.csv"), pd.read_csv(out / "members.csv")
    assert (people["w_calibrated"] == people["id"].map(homes.set_index("id")["w_calibrated"])).all()
    with zipfile.ZipFile(out / "release.zip") as bundle:
        assert b"w_calibrated" in bundle.read("codebook.csv")
    again = home / "weighed again"
    assert cli.main(["reproduce", str(out / "release.zip"), "--out", str(again)]) == 0
    assert "to the last bit" in capsys.readouterr().err
    assert cli.main([*given[:-2], "--weight-tables", "sex,adult", "--out", str(out)]) == cli.BAD_INPUT
    assert "no column is the weight" in capsys.readouterr().err


def test_a_criterion_that_is_not_measured_of_members_says_so(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for kind in ("ranges", "mean"):
        (home / "criteria.json").write_text(json.dumps([{"kind": kind, "column": "adult", "limit": 0.1}]))
        assert synthesize(home, "judged", "--criteria", str(home / "criteria.json")) == cli.BAD_INPUT
        assert "it is of members, of whom no ranges, means or quantiles are measured" in capsys.readouterr().err


def test_ranges_are_not_measured_of_two_tables(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert synthesize(home, "ranged", "--ranges-share", "0.02") == cli.BAD_INPUT
    assert "--ranges-share: two linked tables do not go with it yet" in capsys.readouterr().err


@pytest.mark.parametrize(("name", "share"), [("ranges", 0.02), ("inside", 0.1), ("means", 0.03), ("discovery", 0.2)])
def test_a_new_run_states_no_share_that_two_tables_do_not_use_and_an_older_one_goes_on(
    name: str, share: float, home: Path, released: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DPSYNTH_HOME", str(tmp_path / "books"))
    spec = json.loads((released / "release.json").read_text())["spec"]
    spec |= {"budget": spec["budget"] | {name: share}, "data": spec["data"] | {"path": str(home / "homes.csv")}}
    (tmp_path / "plan.json").write_text(json.dumps(spec | {"members": spec["members"] | {"path": str(home / "people.csv")}}))
    run = ["run", str(tmp_path / "plan.json"), "--out"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(in_process, "check_used", lambda _: None)  # as a version that accepted it
        stop_soon(patch)
        assert cli.main([*run, str(tmp_path / "out"), "--population", "homes"]) == cli.INTERRUPTED
    assert cli.main([*run, str(tmp_path / "out"), "--population", "homes"]) == 0
    assert cli.main(["verify", str(tmp_path / "out" / "release.zip")]) == 0
    entries, problem = chain.entries(), f"budget.{name}: two linked tables do not go with it yet; leave it out"
    for charge in ([], ["--population", "homes"]):
        assert cli.main([*run, str(tmp_path / "other"), *charge]) == cli.BAD_INPUT
        assert f"error: {problem}" in capsys.readouterr().err
    sealed, project = load_spec(tmp_path / "plan.json"), projects.create(LOCAL_OWNER, "homes").id
    refused(runs.submit, LOCAL_OWNER, project, sealed, saying=problem)
    assert chain.entries() == entries


def test_questions_are_of_households_or_of_members(released: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = dps.open(released / "release.zip")
    some, no = {"sex": "0", "adult": "1"}, {"adult": "0"}
    pairs: list[tuple[list[str], Any]] = [
        (["share", "--of", "region=0"], made.ask("share", {"region": "0"})),
        (["share", "--of", "sex=0", "--among", "region=1"], made.ask("share", {"sex": "0"}, among={"region": "1"})),
        (["mean", "--of", "members", "--by", "region"], made.ask("mean", "members", by="region")),
        (
            ["share", "--of", "some member sex=0", "--of", "some member adult=1", "--of", "no member adult=0", "--among", "members=2..3"],
            made.ask("share", {"some member": some, "no member": no}, among={"members": ["2", "3"]}),
        ),
    ]
    for options, answer in pairs:
        capsys.readouterr()
        assert cli.main(["ask", str(released / "release.zip"), *options]) == 0
        assert capsys.readouterr().out.splitlines() == str(answer).splitlines(), options


def test_errors_are_said_of_households(released: Path) -> None:
    assert "of the households counted in the wrong group" in dps.open(released / "release.zip").verdict

def test_documents_describe_columns_that_a_file_has(released: Path) -> None:
    """A table of how members are alike is one of the noisy tables, of which nobody stated what is empty."""
    with zipfile.ZipFile(released / "release.zip") as bundle:
        codebook = pd.read_csv(bundle.open("codebook.csv"))
        card, page = (bundle.read(name).decode() for name in ("DATA_CARD.md", "report.html"))
    lines = codebook[codebook["column"] == "members alike in sex"]
    assert lines.iloc[0, -2] == "Counted among the members of a household, for the noisy tables; no file of rows has this column."
    assert "members alike in adult of another" not in set(codebook["column"])
    columns = card[card.index("## Columns") :]
    assert [line.split("\\")[0] for line in columns.splitlines() if line.startswith("- ")][:3] == ["- region", "- sex", "- adult"]
    assert "of another" not in columns
    assert "<td>adult" in page
    assert "<td>sex of another" not in page.split("First cells")[1]


def test_the_release_says_what_was_protected(released: Path) -> None:
    document = json.loads((released / "release.json").read_text())
    assert "a person is a household, a value of the column 'id' with all its rows in both tables" in document["statement"]
    assert document["spec"]["members"]["path"] == "people.csv"
    assert document["budget"]["max_rows_per_person"] == MOST
    assert "means of columns" not in document["statement"]
    assert str(released.parent) not in json.dumps(document)


def test_a_bundle_is_consistent_and_made_again(released: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["verify", str(released / "release.zip")]) == 0
    again = released.parent / "again"
    assert cli.main(["reproduce", str(released / "release.zip"), "--out", str(again)]) == 0
    assert "to the last bit" in capsys.readouterr().err
    for file in ("synthetic.csv", "members.csv"):
        assert (again / file).read_bytes() == (released / file).read_bytes()


@pytest.mark.skipif("datapackage.json" not in listed("BUNDLE_FILES"), reason="the extension that writes it was deleted")
def test_the_data_package_says_which_key_links_the_tables(released: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the validator of the format; and one who forges the key is found by verify, which writes the package anew."""
    frictionless = pytest.importorskip("frictionless", reason="it is not installed; `make check` installs what requirements-dev.txt names")
    held = files((released / "release.zip").read_bytes())
    for name in ("datapackage.json", "synthetic.csv", "members.csv", "errors.csv"):
        (tmp_path / name).write_bytes(held[name])
    members, homes, _ = json.loads(held["datapackage.json"])["resources"]
    assert members["schema"]["foreignKeys"] == [{"fields": ["id"], "reference": {"resource": "synthetic", "fields": ["id"]}}]
    assert homes["schema"]["primaryKey"] == ["id"]
    monkeypatch.chdir(tmp_path)
    assert frictionless.validate("datapackage.json").valid
    lost = held["members.csv"].decode().splitlines()
    (tmp_path / "members.csv").write_text("\n".join([*lost, "1000000," + lost[1].split(",", 1)[1]]) + "\n")
    assert ["foreign-key"] in frictionless.validate("datapackage.json").flatten(["type"])
    held["datapackage.json"] = held["datapackage.json"].replace(b'"resource": "synthetic"', b'"resource": "members"')
    assert "Do report, cards and tables agree?" in failed(pack.sealed(held))


@pytest.mark.parametrize("most", ["1", "2", "3"])
def test_few_households_without_members_are_released(most: str, tmp_path: Path) -> None:
    """The only member has a key that no household has; with noise beyond all of them, rows still keep to both domains."""
    (tmp_path / "homes.csv").write_text("id,region\n1,0\n2,1\n3,0\n")
    (tmp_path / "people.csv").write_text("id,sex\n9,0\n")
    (tmp_path / "homes.json").write_text('{"region": 2}')
    (tmp_path / "people.json").write_text('{"sex": 2}')
    assert synthesize(tmp_path, "out", "--max-members", most, "--epsilon", "0.01", "--rows", "3") == 0
    assert failed((tmp_path / "out" / "release.zip").read_bytes()) == []


def test_no_more_rows_are_drawn_of_it_yet(released: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["sample", str(released / "release.zip"), "--rows", "5", "--output", str(released / "more.csv")]) == cli.BAD_INPUT
    assert "two linked tables" in capsys.readouterr().err


def test_both_tables_are_in_a_program_and_can_be_asked(released: Path) -> None:
    """Of members where a column of theirs is named, else of households; in natural numbers, and with intervals."""
    opened = dps.open(released / "release.zip")
    pd.testing.assert_frame_equal(opened.members.astype("int64"), pd.read_csv(released / "members.csv"))
    assert len(opened.rows) == len(pd.read_csv(released / "synthetic.csv"))
    homes = opened.rows.astype("int64")
    people = opened.members.astype("int64").merge(homes, on="id")
    of_homes = opened.ask("share", {"region": 0})
    assert of_homes.kind == "measured"
    assert of_homes.low <= (homes["region"] == 0).mean() <= of_homes.high  # intervals hold what the rows say
    assert "of all households have region “0”" in str(of_homes)
    assert "of everybody have sex “woman”" in str(opened.ask("share", {"sex": "woman"}))
    guess = opened.ask("share", {"adult": 1}, among={"region": 0})
    assert (guess.kind, guess.value) == ("guess", pytest.approx(people.loc[people["region"] == 0, "adult"].mean()))
    assert opened.ask("share", {"members": "2"}, by="region").frame["low"].notna().all()
    some = opened.ask("share", {"some member": {"adult": 0}, "no member": {"adult": 1, "sex": "man"}}, among={"region": 0})
    by_home = people[people["region"] == 0].groupby("id")
    meets = by_home["adult"].min().eq(0) & ~by_home.apply(lambda one: ((one["adult"] == 1) & (one["sex"] == 1)).any())
    assert (some.kind, some.value) == ("guess", pytest.approx(meets.sum() / (homes["region"] == 0).sum()))
    both = opened.ask("count", {"some member": [{"adult": 0}, {"adult": 1}]}).value
    ages = people.groupby("id")["adult"].nunique()
    assert both / opened.ask("count").value == pytest.approx(ages.eq(2).sum() / len(homes))
    assert "have some member with adult “0”." in str(opened.ask("share", {"some member": {"adult": 0}}))
    assert "households with no member with adult “0”" in str(opened.ask("count", {"no member": {"adult": 0}}))
    assert opened.ask("mean", "members").value == pytest.approx(people.groupby("id").size().sum() / len(homes), abs=0.3)
    said = str(opened.ask("mean", "members"))
    assert said.endswith(f"A household of more than {MOST} members counts as one of {MOST}.")
    assert "without a number" not in said
    sex = {"sex": "man"}
    for wrong in ({"some member": {}}, {"some member": {"region": 0}}, {"some member": sex, "no member": sex}, {**sex, "no member": sex}):
        with pytest.raises(dps.InputError):
            opened.ask("share", wrong)
    for wrong in ({"sex of another": "man"}, {"members": "2", "sex": "man"}):
        with pytest.raises(dps.InputError, match="or in rows and members in Python"):
            opened.ask("share", wrong)


def test_both_tables_are_written_in_every_format(home: Path) -> None:
    assert synthesize(home, "formats", "--format", "parquet,feather,jsonl") == 0
    written, people = home / "formats", pd.read_csv(home / "formats" / "members.csv")
    read = [pd.read_parquet(written / "members.parquet"), pd.read_json(written / "members.jsonl", lines=True)]
    for rows in (*read, pd.read_feather(written / "members.feather")):
        pd.testing.assert_frame_equal(rows.astype("int64"), people)


def test_a_noisy_number_of_households_writes_no_more_rows_than_one_table_would_have(home: Path) -> None:
    """Of both tables together: at a small epsilon, noise alone would otherwise write millions, which verify has no memory for."""
    plan, stated = (Plan.of(Spec.from_json(planned(home, rows=rows).spec)) for rows in (None, 500_000))
    beyond = 1e9 * plan.records_each
    assert row_count(plan, beyond) == plan.most_unstated_rows == MAX_UNSTATED_ROWS // (1 + MOST)
    assert row_count(stated, beyond) == 500_000
    assert "the most that are written" in row_policy(plan, plan.most_unstated_rows + 1.0)
    assert "noisy estimate" in row_policy(plan, float(plan.most_unstated_rows))


@pytest.mark.parametrize("file", ["members.csv", "members.parquet"])
def test_a_folder_in_the_place_of_a_file_is_refused_before_anything_is_charged(
    home: Path, file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "out" / file).mkdir(parents=True)
    assert synthesize(home, str(tmp_path / "out"), "--format", "parquet") == cli.BAD_INPUT
    error = capsys.readouterr().err.splitlines()[-1]
    assert "is a folder" in error
    assert "charged" not in error


def test_a_missing_key_names_its_table(home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "people.csv").write_text("home,sex,adult\n1,0,1\n")
    assert synthesize(home, "refused", "--members", str(tmp_path / "people.csv")) == cli.BAD_INPUT
    assert "the table of members has no column 'id'" in capsys.readouterr().err


def test_numbers_of_people_are_of_households(released: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A household is six records of pairs. Noise at epsilon 4 is at most some 20 households; six times 500 are 3,000."""
    bundle = str(released / "release.zip")
    assert cli.main(["compare", bundle, bundle, "--report", str(tmp_path / "page.html")]) == 0
    found = re.search(r"About ([\d,]+) people before", "".join(capsys.readouterr()))
    assert found is not None
    assert abs(int(found[1].replace(",", "")) - HOUSEHOLDS) < 100


def test_a_verdict_counts_households(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Noise at epsilon 0.01 is ten times the table and more, so that certificate and verdict say of how many they know nothing: a sixth of
    the noisy number of records, each household being six of them. None of it is luck but that number."""
    assert synthesize(home, "noisy", "--epsilon", "0.01") == 0
    made = dps.open(home / "noisy" / "release.zip").made
    assert made.certificate is not None
    counted = re.findall(r"about ([\d,]+) households, and (?:noise of|the noise of each error is) ± ([\d,]+)", capsys.readouterr().err)
    noise = f"{made.certificate.noise / 6:,.0f}"
    assert counted == [(f"{total / 6:,.0f}", noise) for total in (made.certificate.total.value, made.final.released.total)]


def _orphan(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.assign(id=rows["id"].where(rows.index < len(rows) - 1, 10**6))


def _crowd(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.assign(id=rows["id"].iloc[0])


def _stranger(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.assign(adult=7)


def _fewer(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.iloc[:-1]


@pytest.mark.parametrize("forged", [_orphan, _crowd, _stranger, _fewer, lambda rows: rows.iloc[::-1]])
def test_members_that_are_not_what_the_release_says_are_found(released: Path, forged: Callable[[pd.DataFrame], pd.DataFrame]) -> None:
    held = files((released / "release.zip").read_bytes())
    rows = pd.read_csv(released / "members.csv")
    held["members.csv"] = forged(rows).to_csv(index=False).encode()
    assert "Do the rows keep to the domain?" in failed(pack.sealed(held))


@pytest.mark.parametrize("each", [1, None])
def test_what_a_row_counts_for_must_be_stated(released: Path, each: int | None) -> None:
    held = files((released / "release.zip").read_bytes())
    document = json.loads(held["release.json"])
    document["rows"]["records_each"] = each
    held["release.json"] = json.dumps(document).encode()
    assert "Do the rows keep to the domain?" in failed(pack.sealed(held))


def test_a_changed_value_is_found_by_running_the_mechanism_again(released: Path) -> None:
    held = files((released / "release.zip").read_bytes())
    rows = pd.read_csv(released / "members.csv")
    rows.loc[0, "sex"] = 1 - rows.loc[0, "sex"]
    held["members.csv"] = rows.to_csv(index=False).encode()
    assert failed(pack.sealed(held))


def test_no_budget_is_set_aside_for_what_two_tables_do_not_have(released: Path) -> None:
    """Whatever a spec says: means are of one table's columns of numbers."""
    spec = json.loads((released / "release.json").read_text())["spec"]
    spec["budget"]["means"] = 0.2
    assert set(dict(Plan.of(Spec.from_json(spec)).shares.aside)) == {"certificate"}


def planned(home: Path, **options: Any) -> dps.Plan:
    fixed = {"members": (home / "people.csv", PEOPLE), "person": "id", "rows_per_person": MOST}
    return dps.plan(home / "homes.csv", {"region": 2}, epsilon=4, **{**fixed, **options})


def test_a_program_plans_what_the_command_line_makes_and_makes_it(
    released: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DPSYNTH_HOME", str(tmp_path))
    _, people = tables(tmp_path)
    plan = planned(tmp_path, population="homes")
    assert plan.spec == json.loads((released / "release.json").read_text())["spec"]
    made = plan.run(progress=False)
    assert plan.run(progress=False).members.equals(made.members)
    assert len(charged()) == 1
    people.write_text(people.read_text() + "0,0,0\n")
    plan.run(progress=False)
    assert len(charged()) == 2
    assert made.members["id"].isin(made.rows["id"]).all()
    assert made.verify().verdict == CONSISTENT


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"members": None, "rules": [{}]}, "rules"),
        ({"members": "people.csv"}, "members"),
        ({"members": (pd.DataFrame(), PEOPLE)}, "members"),
        ({"tables": 2}, "tables"),
        ({"tables": 3}, "tables"),
        ({"mechanism": "aim"}, "mechanism"),
        ({"means": 0.1}, "means"),
        ({"person": None}, "unit.max_rows_per_person"),
        ({"rows_per_person": None}, "rows_per_person"),
        ({"rows_per_person": 11}, "unit.max_rows_per_person"),
    ],
)
def test_what_two_tables_do_not_go_with_is_refused_to_programs(home: Path, wrong: dict[str, Any], field: str) -> None:
    refused(planned, home, **wrong, saying=f"^{field}: ")


def test_what_the_budget_goes_to_and_what_no_certificate_means_is_said_before_the_run(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert synthesize(home, "bare", "--certificate", "0") == 0
    told, plan = capsys.readouterr().err, str(planned(home, certificate=0))
    for said in (told[: told.index("measured")], plan):
        assert re.search(r"as planned: single columns .*, tables asked for .*, choosing what to ask .*, chosen tables [0-9.]+%", said)
        assert "Where noise is large, most tables of members have none" in said
    assert "no bound" not in str(planned(home))
    assert f"Protects: one household with its row and those of at most {MOST} members, added or removed" in plan


def test_a_kept_release_is_read_back(released: Path, tmp_path: Path) -> None:
    from dpsynth_core.bundle import unpack
    from dpsynth_core.bundle.checks.opened import Opened

    bundle = unpack.read_bytes((released / "release.zip").read_bytes())
    whole = Opened(bundle, releases.from_json(bundle.document)).with_rows
    releases.save(whole, tmp_path)
    read = releases.load(tmp_path)
    assert releases.row_writers(read).keys() == releases.row_writers(whole).keys()
    assert releases.document(read) == releases.document(whole)


@pytest.mark.parametrize(
    ("extra", "field"),
    [
        (["--max-members", "11"], "max_rows_per_person"),
        (["--max-members", "0"], "max_rows_per_person"),
        (["--key", "region"], "region"),
        (["--key", "nothing"], "nothing"),
        (["--person-column", "id"], "--person-column"),
        (["--workload", "all-2way"], "--workload"),
        (["--workload", "all-3way"], "--workload"),
        (["--mechanism", "aim"], "--mechanism"),
        (["--tables", "2"], "output.tables"),
        (["--max-rows-per-person", "3"], "--max-rows-per-person"),
        (["--members", "missing.csv"], "--members"),
        (["--means", "0.1"], "--means"),
        (["--inside", "0.2"], "--inside"),
        (["--max-members", "10", "--rows", "20000000"], "let fewer members count"),  # 250 GB of pairs
        (["--members-domain", "missing.json"], "--members-domain"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_read(
    home: Path, extra: list[str], field: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert synthesize(home, "refused", *extra) == cli.BAD_INPUT
    assert field in capsys.readouterr().err.splitlines()[-1]
    assert not (home / "refused" / "release.json").exists()


def test_lines_of_members_that_cannot_be_read_are_told_before_anything_is_charged(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "people.csv").write_text((home / "people.csv").read_text() + "1,0\n")
    assert synthesize(home, str(tmp_path / "out"), "--members", str(tmp_path / "people.csv"), "--private-notes") == 0
    told = capsys.readouterr().err
    assert 0 < told.index("1 line is malformed") < told.index("measured")


def test_another_program_s_document_about_two_tables_becomes_two_domains(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    metadata, first, second = (tmp_path / name for name in ("sdv.json", "homes.json", "people.json"))
    metadata.write_text(json.dumps(LINKED_SDV), encoding="utf-8")
    assert cli.main(["domain", str(metadata), "--out", str(first)]) == 2
    assert "the document is about two linked tables; name a file for the second one's domain" in capsys.readouterr().err
    assert cli.main(["domain", str(metadata), "--out", str(first), "--members-out", str(second)]) == 0
    assert "linked by 'home', which" in capsys.readouterr().err
    columns = [[one["name"] for one in json.loads(file.read_text(encoding="utf-8"))["attributes"]] for file in (first, second)]
    assert columns == [["warm"], ["age", "sex"]]
    (yaml := tmp_path / "google.yaml").write_text(LINKED_GOOGLE, encoding="utf-8")
    assert cli.main(["domain", str(yaml), "--out", str(tmp_path / "new.json"), "--members-out", str(second)]) == 2
    assert "is there already" in capsys.readouterr().err
    assert not (tmp_path / "new.json").exists()
    assert cli.main(["domain", str(yaml), "--out", str(tmp_path / "a.json"), "--members-out", str(tmp_path / "b.json")]) == 0
    assert "at most 5 members each" in capsys.readouterr().err


def test_a_second_domain_takes_a_document_about_two_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["domain", "demo", "--out", str(tmp_path / "a.json"), "--members-out", str(tmp_path / "b.json")]) == 2
    assert "about one table; leave it out" in capsys.readouterr().err


def test_the_note_on_values_without_a_cell_names_columns_of_both_tables(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    unstated = json.loads((home / "people.json").read_text(encoding="utf-8"))
    for entry in unstated["attributes"]:
        del entry["missing"]
    (home / "unstated.json").write_text(json.dumps(unstated), encoding="utf-8")
    assert synthesize(home, "unstated", "--members-domain", str(home / "unstated.json")) == 0
    assert "get cells of their own in 'sex', 'adult' (" in capsys.readouterr().err


def test_conditions_on_members_that_are_called_alike_stay_two(tmp_path: Path) -> None:
    """A phrase names six values. Members are aged 0 to 9, one of each household."""
    homes, people = ["id,region"], ["id,age"]
    for key in range(300):
        homes.append(f"{key},{key % 2}")
        people.append(f"{key},{key % 10}")
    for name, lines, domain in (("homes", homes, {"region": 2}), ("people", people, {"age": 10})):
        (tmp_path / f"{name}.csv").write_text("\n".join(lines) + "\n")
        (tmp_path / f"{name}.json").write_text(json.dumps(domain))
    assert synthesize(tmp_path, "out", "--max-members", "1") == 0
    made = dps.open(tmp_path / "out" / "release.zip")
    ages = made.members.astype("int64")["age"]
    first, second = [0, 1, 2, 3, 4, 5, 6], [0, 1, 2, 3, 4, 5, 7]
    both = made.ask("share", {"some member": [{"age": first}, {"age": second}]}).value
    assert both == pytest.approx(ages.le(5).sum() / len(made.rows))
