"""What documents name is there, and their examples are accepted as they are printed; the reference and the trusted base say what is so now;
who wants to join, cite or report finds what they need."""

from __future__ import annotations

import argparse
import json
import math
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

import dpsynth_core
from docs import figures, generate, project_files, schemas, trusted
from dpsynth_core.claims.criteria import registry as criteria
from dpsynth_core.cli import command_line
from dpsynth_core.privacy import attacker, meaning
from dpsynth_core.privacy.accountant import GDP, ZCDP
from dpsynth_core.vocabulary.domain import Domain
from tests.additions import is_gone

ROOT = Path(__file__).resolve().parents[1]
CHECKS = ROOT / "docs" / "expert-checks.md"
GUIDE = ROOT / "docs" / "guide"
OTHERS = ROOT / "docs" / "explanation" / "other-programs.md"
FOLDERS = ROOT / "docs", ROOT / "assets" / "guide"
PAGES = sorted([*ROOT.glob("*.md"), *(page for folder in FOLDERS for page in folder.rglob("*.md")), ROOT / "benchmarks" / "README.md"])
TYPED = [ROOT / "README.md", ROOT / "SECURITY.md", *sorted(GUIDE.glob("*.md")), *sorted((ROOT / "docs" / "tutorials").glob("*.md"))]
"""Where commands are printed for people to type."""
VERDICTS = {"pass", "pass with a condition", "not"}


def rows(document: Path) -> list[list[str]]:
    """The cells of every row of every table whose first cell is a number or a letter with a number."""
    lines = document.read_text(encoding="utf-8").splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines if re.match(r"\| [A-Z]?\d+[a-z]? \|", line)]
    return [[cell.strip(" |") for cell in row] for row in cells]


def quoted(document: Path) -> list[str]:
    """Everything between backticks, once."""
    return sorted(set(re.findall(r"`([^`\n]+)`", document.read_text(encoding="utf-8"))))


def nodes_in(text: str) -> list[str]:
    return re.findall(r"`(tests/[\w/]+\.py::\w+)`", text)


def heading_links(document: Path) -> set[str]:
    """The anchors of a document's headings, as GitHub makes them."""
    text = re.sub(r"^```.*?^```", "", document.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    titles = re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_every_check_is_there_once_with_a_verdict_a_place_and_a_test() -> None:
    listed = rows(CHECKS)
    assert [row[0] for row in listed] == [str(number) for number in range(1, 35)]
    for number, check, verdict, place, shown in listed:
        assert check, number
        assert verdict in VERDICTS, number
        assert "`" in place, number
        assert nodes_in(shown) or verdict == "not", number


def test_every_check_that_does_not_simply_pass_says_why() -> None:
    text = CHECKS.read_text(encoding="utf-8")
    open_checks = {row[0] for row in rows(CHECKS) if row[2] != "pass"}
    explained = re.findall(r"^- \*\*(\d+)\*\*: \S.{20,}", text, flags=re.MULTILINE)
    assert sorted(explained, key=int) == sorted(open_checks, key=int)


def test_every_named_test_exists() -> None:
    missing = []
    for node in nodes_in(CHECKS.read_text(encoding="utf-8")):
        path, _, name = node.partition("::")
        if is_gone(path):
            continue
        if not (ROOT / path).exists() or not re.search(rf"^def {name}\(", (ROOT / path).read_text(encoding="utf-8"), flags=re.MULTILINE):
            missing.append(node)
    assert missing == []


@pytest.mark.parametrize("document", [CHECKS, ROOT / "ARCHITECTURE.md"], ids=lambda path: path.name)
def test_every_named_file_exists(document: Path) -> None:
    """Files of the program from `dpsynth_core/` (`privacy/kernel.py`), all others from the root."""
    named = [name for name in quoted(document) if re.fullmatch(r"[\w./-]+\.(py|md|toml|json)|\.importlinter|Dockerfile|Makefile", name)]
    assert named
    assert [name for name in named if not (ROOT / name).exists() and not (ROOT / "dpsynth_core" / name).exists()] == []


@pytest.mark.parametrize("document", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_between_files_and_headings_resolve(document: Path) -> None:
    missing = []
    for link in re.findall(r"\]\(([^)\s]+)\)", document.read_text(encoding="utf-8")):
        if "://" in link:
            continue
        name, _, heading = link.partition("#")
        target = (document.parent / name).resolve() if name else document
        if not target.exists() or (heading and heading not in heading_links(target)):
            missing.append(link)
    assert missing == []


def test_what_is_said_of_this_and_other_programs_names_its_evidence() -> None:
    """A test of ours, or a page of theirs; what is not there needs none."""
    compared = OTHERS.read_text(encoding="utf-8").partition("\n## ")[0]
    heads, _, *lines = [line for line in compared.splitlines() if line.startswith("|")]
    assert lines
    for line in lines:
        question, ours, *theirs = (cell.strip() for cell in line.strip("|").split("|"))
        assert len(theirs) == heads.count("|") - 3, question
        assert ours == "no" or re.match(r"\[(yes|partly)\]\(\.\./\.\./tests/[\w/]+\.py\)", ours), question
        assert all(cell == "not found" or re.match(r"\[(yes|partly|no)\]\(https://", cell) for cell in theirs), question


def test_what_is_printed_of_measured_peers_is_in_their_record() -> None:
    """Errors of one run to three digits, and costs as the page rounds them."""
    runs = json.loads((ROOT / "benchmarks" / "results" / "peers.json").read_text(encoding="utf-8"))["runs"]
    measured = OTHERS.read_text(encoding="utf-8").partition("## Measured")[2]
    lines = {
        "mst": "MST, this program",
        "dpsynth-mst": "MST of dpsynth",
        "smartnoise-mst": "MST of SmartNoise",
        "mostlyai": "MOSTLY AI's SDK, on this machine",
    }
    for name, title in lines.items():
        done = [run for run in runs if run["peer"] == name and "error" in run]
        (line,) = [line for line in measured.splitlines() if line.startswith(f"| {title} |")]
        _, _, count, error, seconds, memory, *_ = (cell.strip() for cell in line.split("|"))
        assert int(count) == len(done)
        assert float(error.split()[0]) == pytest.approx(sum(run["error"] for run in done) / len(done), abs=6e-4)
        assert float(seconds) == pytest.approx(sum(run["cpu_seconds"] for run in done) / len(done), abs=0.6)
        assert float(memory.split()[0]) == pytest.approx(sum(run["peak_mb"] for run in done) / len(done) / 1000, rel=0.1)


# Commands and examples as they are printed


def options_by_command() -> dict[str, set[str]]:
    """Every command of the command line (`ledger check`) with its options."""

    def below(parser: argparse.ArgumentParser, name: str) -> dict[str, set[str]]:
        found = {name: {option for action in parser._actions for option in action.option_strings}}
        for action in parser._actions:
            for command, child in (action.choices or {}).items() if isinstance(action, argparse._SubParsersAction) else ():
                found |= below(child, f"{name} {command}".strip())
        return found

    return below(command_line.parser(), "")


@pytest.mark.parametrize("document", TYPED, ids=lambda path: path.name)
def test_commands_and_options_exist(document: Path) -> None:
    known = options_by_command()
    text = document.read_text(encoding="utf-8")
    for line in re.findall(r"python -m dpsynth_core ([a-z][^\n`#]*)", text):
        words = line.split()
        command = next(name for name in (" ".join(words[:2]), words[0]) if name in known)
        assert {word for word in words if word.startswith("--")} <= known[command], line
    ours = {option for options in known.values() for option in options}
    others = {"--cases", "--disk", "--seed", "--tries", "--times"}  # of programs in benchmarks/ and tests/
    typed = {match for span in re.findall(r"`([^`\n]+)`", text) if "docker" not in span for match in re.findall(r"(?<!\S)--[a-z-]+", span)}
    assert typed - {"--memory"} <= ours | others


def test_every_environment_variable_is_in_the_list_of_settings() -> None:
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "dpsynth_core").rglob("*.py")]
    used = {name for text in texts for name in re.findall(r"DPSYNTH_[A-Z_]+", text)}
    listed = re.findall(r"^\| `(DPSYNTH_[A-Z_]+)` \|", (GUIDE / "operations.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert used == set(listed)


def documents_in(page: str) -> list[str]:
    """The examples of a page in JSON."""
    return re.findall(r"```json\n(.*?)```", (GUIDE / page).read_text(encoding="utf-8"), flags=re.DOTALL)


def test_the_odds_of_the_guide_are_those_of_the_accountants() -> None:
    text = (GUIDE / "budget.md").read_text(encoding="utf-8")
    lines = re.findall(r"^\| ([\d.]+) \| ([\d.]+) % \| ([\d.]+) % \| ([\d.]+) % \|$", text, flags=re.MULTILINE)
    assert len(lines) == 4
    for epsilon, *stated in (map(float, line) for line in lines):
        runs = [meaning.reading(one, one.rho_from(epsilon, 1e-9)).guess for one in (ZCDP, GDP)]
        guesses = [attacker.posterior_odds(epsilon, 1e-9), *runs]
        assert stated == [math.ceil(1000 * guess) / 10 for guess in guesses], epsilon


def domain_of(*columns: dict[str, Any], impossible: tuple[dict[str, Any], ...] = ()) -> Domain:
    return Domain.from_json({"version": 1, "attributes": list(columns), "impossible": list(impossible)})


def test_the_columns_of_the_guide_are_read() -> None:
    whole, kinds, _, discovered = documents_in("describe-a-table.md")
    assert Domain.from_json(json.loads(whole)).names == ("age", "sex", "region")
    beside = {"name": "beside", "kind": "categorical", "categories": ["a"]}
    for line in kinds.splitlines():
        column = json.loads(line)
        assert column["name"] in domain_of(beside, column).column_names
    learnt = json.loads(discovered)
    assert domain_of(beside, learnt).unknown


def test_the_rules_of_the_guide_are_read() -> None:
    rules = tuple(json.loads(line) for line in documents_in("describe-a-table.md")[2].splitlines())
    days = {"kind": "date", "lower": "2024-01-01", "upper": "2024-12-31", "width": "month"}
    columns = (
        {"name": "age", "kind": "integer", "lower": 0, "upper": 99, "edges": [5, 10, 15]},
        {"name": "marital", "kind": "categorical", "categories": ["single", "married", "widowed"]},
        {"name": "role", "kind": "categorical", "categories": ["husband", "wife"]},
        {"name": "sex", "kind": "categorical", "categories": ["f", "m"]},
        {"name": "education", "kind": "categorical", "categories": ["bachelor", "master"], "other": False, "missing": False},
        {"name": "years", "kind": "categorical", "categories": ["13", "14"]},
        {"name": "admission", **days},
        {"name": "discharge", **days},
    )
    assert len(domain_of(*columns, impossible=rules).impossible) == len(rules) == 5


def test_the_criteria_of_the_guide_are_of_every_kind() -> None:
    (listed,) = documents_in("criteria.md")
    kinds = [entry["kind"] for entry in json.loads(listed)]
    assert set(kinds) == set(criteria.KINDS)
    described = re.findall(r"^\| `([a-z-]+)` \|", (GUIDE / "criteria.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert set(described) == set(kinds)


@pytest.mark.parametrize(("document", "most"), [("README.md", 6_000), ("ARCHITECTURE.md", 12_000), ("SECURITY.md", 10_000)])
def test_what_a_stranger_reads_first_stays_short(document: str, most: int) -> None:
    """In bytes. What has no room there has a page of its own in docs/."""
    assert len((ROOT / document).read_bytes()) <= most


TESTS = Path(__file__).parent


def test_the_trusted_base_stays_within_its_limit() -> None:
    assert trusted.total() <= trusted.LIMIT


def test_what_is_trusted_imports_nothing_else() -> None:
    assert trusted.trespasses() == []


def test_each_door_is_used_and_is_not_trusted_too() -> None:
    used = set().union(*(trusted.imported(trusted.CORE / file) for file in trusted.BASE))
    assert set(trusted.DOORS) <= used
    assert not set(trusted.DOORS) & set(trusted.BASE)


@pytest.mark.parametrize("test", sorted({test for _, test in trusted.BASE.values()}))
def test_what_tries_to_break_it_is_there(test: str) -> None:
    assert (TESTS / test).exists()


def test_the_page_is_what_the_program_writes() -> None:
    assert trusted.PAGE.read_text(encoding="utf-8") == trusted.page(), f"write it anew: {trusted.COMMAND}"


def test_the_reference_is_what_the_program_generates() -> None:
    """Fails for every mechanism, parameter, option, field, kind or event that was added, changed or removed since."""
    made = generate.pages()
    stored = {path.relative_to(generate.FOLDER).as_posix(): path.read_text(encoding="utf-8") for path in generate.FOLDER.rglob("*.md")}
    stale = sorted(name for name in made.keys() | stored.keys() if made.get(name) != stored.get(name))
    assert stale == [], f"write docs/reference anew: {generate.COMMAND}"


@pytest.mark.parametrize("name", figures.FIGURES)
def test_the_figures_are_drawn_from_what_was_recorded(name: str) -> None:
    stored = (figures.FOLDER / f"{name}.svg").read_text(encoding="utf-8")
    assert stored == figures.drawn(figures.FIGURES[name]), f"draw them anew: {figures.COMMAND}"
    assert all(title in stored for title in figures.FIGURES[name].lines.values())


def test_the_schemas_are_those_that_the_program_generates() -> None:
    stored = {path.name: path.read_text(encoding="utf-8") for path in generate.SCHEMAS.glob("*")}
    assert stored == schemas.files(), f"write docs/reference anew: {generate.COMMAND}"


@pytest.mark.parametrize("name", project_files.files())
def test_what_catalogues_read_is_what_the_project_says_of_itself(name: str) -> None:
    stored = (ROOT / name).read_text(encoding="utf-8")
    assert stored == project_files.files()[name], f"write it anew: {project_files.COMMAND}"
    if name.endswith(".json"):
        assert json.loads(stored)["version"] == dpsynth_core.__version__


def test_every_page_that_the_list_of_pages_links_to_is_there() -> None:
    linked = re.findall(r"^- \[.+\]\((.+?)\)", (ROOT / "llms.txt").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert len(linked) > 30
    assert [path for path in linked if not (ROOT / path).is_file()] == []


def test_forges_run_what_continuous_integration_runs_with_few_rights() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8"))
    assert workflow["permissions"] == {"contents": "read"}
    assert ".ci/run" in [step.get("run") for step in workflow["jobs"]["tests"]["steps"]]
    assert all("run" in step or re.fullmatch(r"actions/[a-z-]+@v\d+", step["uses"]) for step in workflow["jobs"]["tests"]["steps"])


@pytest.mark.parametrize("path", sorted((ROOT / ".github" / "workflows").glob("*.yml")), ids=lambda path: path.stem)
def test_workflows_read_alone_but_for_jobs_that_say_otherwise(path: Path) -> None:
    workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert workflow["permissions"] == {"contents": "read"}
    for name, job in workflow["jobs"].items():
        assert job["timeout-minutes"] <= 120
        written = {right for right, level in job.get("permissions", {}).items() if level == "write"}
        assert written <= {"publish": {"attestations", "id-token"}, "scorecard": {"id-token", "security-events"}}.get(name, set())
        steps = [step for step in job["steps"] if step.get("uses", "").startswith("actions/checkout@")]
        assert all(step["with"] == {"persist-credentials": False} for step in steps)
    secrets = re.findall(r"secrets\.|password", path.read_text(encoding="utf-8").replace("without a stored\n# password", ""))
    assert secrets == []


def test_versions_of_python_that_are_named_are_those_that_are_tried() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = {text.rpartition(" ")[2] for text in project["classifiers"] if re.search(r"Python :: 3\.\d+$", text)}
    tried = {"3.11", *workflow["jobs"]["versions"]["strategy"]["matrix"]["python"]}
    assert named <= tried
    assert project["requires-python"] == f">={min(tried)}"


def test_hooks_before_a_commit_run_the_checks_of_the_makefile() -> None:
    (local,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"]
    commands = [hook["entry"].replace(".venv/bin/", "") for hook in local["hooks"]]
    lint = (ROOT / "Makefile").read_text(encoding="utf-8").split("\nlint:")[1].split("\n\n")[0]
    lint = lint.replace("$(VENV)/bin/", "").replace("$(PY)", "python")
    assert [command for command in commands if command not in lint] == []


FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("[fw]*.yml"))


def test_the_citation_is_of_this_program_and_version() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert cited["cff-version"] == "1.2.0"
    assert {"message", "title", "authors"} <= set(cited)
    assert cited["version"] == dpsynth_core.__version__
    assert cited["license"] == "Apache-2.0"


@pytest.mark.parametrize("form", FORMS, ids=lambda path: path.stem)
def test_a_form_for_reports_asks_for_no_records(form: Path) -> None:
    asked = yaml.safe_load(form.read_text(encoding="utf-8"))
    assert {"name", "description", "body"} <= set(asked)
    assert len({part["id"] for part in asked["body"] if "id" in part}) == sum("id" in part for part in asked["body"])
    assert "private records" in form.read_text(encoding="utf-8")


def test_there_are_forms() -> None:
    assert [form.stem for form in FORMS] == ["fault", "wish"]
