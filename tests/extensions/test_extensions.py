"""The core works without extensions, and loads none: what it knows of them are their manifests (`foundation.extension`)."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest

import dpsynth_core
from dpsynth_core import report
from dpsynth_core.cli import command_line, options
from dpsynth_core.cli.options import Commands
from dpsynth_core.extensions import BUILT_IN
from dpsynth_core.foundation import extension
from dpsynth_core.foundation.extension import Deferred, Engine, Extension, Offer, Setting
from dpsynth_core.mechanisms import registry
from dpsynth_core.planning.plan import Plan
from dpsynth_core.planning.spec import DataSpec, Spec
from dpsynth_core.privacy.registry import everything
from dpsynth_core.report import sections
from dpsynth_core.report.section import Section
from dpsynth_core.web.shell import additions
from tests.bundle.bundles import made
from tests.patience import SECONDS
from tests.refusals import refused
from tests.specs import usual

ROOT = Path(__file__).resolve().parents[2]
HERE = "dpsynth_core.extensions"
ALONE = """
import pkgutil, sys
from importlib import import_module
import dpsynth_core
import dpsynth_core.extensions
dpsynth_core.extensions.BUILT_IN = ()
rooms = [room.name for room in pkgutil.iter_modules(dpsynth_core.__path__, "dpsynth_core.") if room.name != "dpsynth_core.extensions"]
for room in (import_module(name) for name in rooms if not name.endswith("__main__")):
    for module in pkgutil.walk_packages(room.__path__, f"{room.__name__}."):
        import_module(module.name)
from dpsynth_core.mechanisms.registry import MECHANISMS, PURPOSES
from dpsynth_core.privacy.registry import everything
print(*MECHANISMS)
print(*everything())
print(sum(name.startswith("dpsynth_core.extensions.") for name in sys.modules))
"""
LISTING = """
import sys
from dpsynth_core.mechanisms import registry
print(len(registry.MECHANISMS), len(registry.PUBLISHED), len(registry.PURPOSES))
print(*sorted(name for name in sys.modules if name.startswith(("dpsynth_core.extensions.", "dpsynth_core.mechanisms.graphical"))))
"""


@pytest.mark.slow  # loads the whole core in a fresh interpreter
def test_the_core_loads_without_the_wing_and_keeps_its_own_mechanisms_and_operations() -> None:
    done = subprocess.run([sys.executable, "-c", ALONE], cwd=ROOT, capture_output=True, text=True, timeout=SECONDS, check=True)
    mechanisms, operations, loaded = done.stdout.splitlines()[-3:]
    assert loaded == "0"
    assert mechanisms.split()[0] == "aim"
    assert set(mechanisms.split()) < set(registry.MECHANISMS)
    assert not {"rap", "learn", "mixture", "fem", "mwem"} & set(mechanisms.split())
    assert [name for name in operations.split() if everything()[name].event is None] == ["seed", "residual_l2"]
    assert len(operations.split()) == 15, "thirteen operations that are charged, and two that are free"


@pytest.mark.slow  # loads the core in a fresh interpreter
def test_reading_the_manifests_and_the_lists_of_mechanisms_loads_no_feature() -> None:
    done = subprocess.run([sys.executable, "-c", LISTING], cwd=ROOT, capture_output=True, text=True, timeout=SECONDS, check=True)
    assert done.stdout.splitlines()[-1].split() == [f"dpsynth_core.extensions.{name}" for name in sorted(BUILT_IN)]


def test_every_manifest_names_what_exists() -> None:
    for one in extension.built_in():
        assert all(registry.get(offer.name).card.name == offer.name for offer in one.mechanisms)
        assert {name for name, _ in one.parts} <= set(BUILT_IN)
    assert all(one.card.name == name for name, one in registry.PUBLISHED.items())
    for one in extension.built_in():
        loaded = [*one.commands, *one.sections, *filter(None, (one.files, one.row_files)), *(setting.check for setting in one.settings)]
        assert all(callable(extension.load(path)) for path in loaded)
    assert all(callable(extension.load(path)) for place in extension.PLACES for path in extension.views(place))
    assert {place for one in extension.built_in() for place, _ in one.views} <= set(extension.PLACES)
    assert {place for one in extension.built_in() for place, _ in one.sentences} <= set(extension.SENTENCES)
    assert all(callable(extension.load(page.draw)) for page in extension.pages())
    assert all(callable(extension.load(kind.begin)) for kind in extension.jobs().values())
    assert all(callable(extension.load(kind.check)) for kind in extension.bundle_kinds().values())
    for there in extension.places().values():
        assert all(callable(extension.load(path)) for path in (there.read, there.table, there.choosing))
        assert {entry.name for entry in there.entries} <= set(DataSpec.model_fields)
    for engine in extension.engines().values():
        assert all(callable(extension.load(path)) for path in (engine.source, engine.check, engine.settings))
        assert {entry.name for entry in engine.entries} <= set(DataSpec.model_fields)
    for form in extension.row_formats():
        assert all(callable(extension.load(one.path)) for one in (form.write, form.notes) if isinstance(one, Deferred))
    assert all(import_module(kind.reader) for kind in extension.file_kinds())
    assert all(getattr(dpsynth_core, name) is extension.load(path) for name, path in extension.names().items())
    assert len(extension.operations()) == sum(bool(one.operations) for one in extension.built_in())


@pytest.mark.parametrize("name", BUILT_IN)
def test_an_extension_imports_no_other_but_in_its_parts_for_it(name: str) -> None:
    others = [other for other in BUILT_IN if other != name]
    files = list((ROOT / "dpsynth_core" / "extensions" / name).rglob("*.py"))
    parts = {(other, ROOT / f"{module.replace('.', '/')}.py") for other, module in import_module(f"{HERE}.{name}").EXTENSION.parts}
    assert files
    assert {file for _, file in parts} <= set(files)
    texts = {file: file.read_text(encoding="utf-8") for file in files}
    named = {(other, file) for other in others for file, text in texts.items() if re.search(rf"{re.escape(HERE)}\.{other}\b", text)}
    assert named == parts


ADDED = Extension(
    summary="Adds a command, a part of two pages and a name.",
    commands=("tests.extensions.test_extensions:add_command",),
    views=(("data", "tests.extensions.test_extensions:draw"),),
    sections=("tests.extensions.test_extensions:said",),
    names=(("added_number", "tests.extensions.test_extensions:NUMBER"),),
)
NUMBER = 7
drawn: list[object] = []
SAID = Section("added", "A title", "How to read it.", ["A line."])


def add_command(commands: Commands) -> None:
    options.add_command(commands, "added", lambda _: NUMBER, "a command of an extension")


def said(_: object) -> Iterator[Section]:
    yield SAID


def draw(subject: object) -> None:
    drawn.append(subject)


@pytest.fixture
def with_one_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extension, "built_in", lambda: (ADDED,))


@pytest.mark.usefixtures("with_one_more")
def test_a_manifest_adds_a_command_a_part_of_a_page_and_a_name_for_programs() -> None:
    assert command_line.main(["added"]) == NUMBER
    drawn.clear()
    additions.draw("data", "the project")
    additions.draw("results", "the run")
    assert drawn == ["the project"]
    assert getattr(dpsynth_core, "added_number") == NUMBER  # noqa: B009
    assert "added_number" in dir(dpsynth_core)


@pytest.mark.usefixtures("with_one_more")
def test_a_manifest_adds_a_section_to_report_and_data_card() -> None:
    release = made()
    assert sections.sections(release)[-1] == SAID
    parts = report.parts(release)
    for name in ("report.html", "DATA_CARD.md"):
        assert all(text in parts[name].value for text in (b"A title", b"How to read it", b"A line"))


def test_files_and_sections_of_an_extension_with_settings_are_for_releases_that_state_one(monkeypatch: pytest.MonkeyPatch) -> None:
    setting = Setting("asked_for", "N", "a number", 1, 9, "tests.extensions.test_extensions:said")
    monkeypatch.setattr(extension, "built_in", lambda: (replace(ADDED, settings=(setting,), row_names=r"added-[1-9]\.csv"),))
    assert extension.sections({}) == ()
    assert extension.sections({"asked_for": 3}) == ADDED.sections
    assert extension.is_row_file("added-3.csv")
    assert not extension.is_row_file("added-3.csv.exe")
    assert SAID not in sections.sections(made())


@pytest.mark.parametrize("there", [True, False])
def test_an_entry_of_an_engine_that_is_not_stated_is_refused_with_a_remedy_that_works(there: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine("afar", "Afar", "afar, elsewhere", (), "", "", "")
    monkeypatch.setattr(extension, "built_in", lambda: (replace(ADDED, engines=(engine,) if there else ()),))
    spec = Spec.from_json(usual({"kind": "csv", "path": "people.csv", "scheduler": "tls://host:8786"}, {"a": 2, "b": 3}, k=1))
    refused(Plan.of, spec, saying='state "engine": "afar", or leave it out' if there else "none is here; leave it out")


def test_a_name_that_nothing_adds_is_missing() -> None:
    with pytest.raises(AttributeError, match="added_number"):
        getattr(dpsynth_core, "added_number")  # noqa: B009


def test_an_added_entry_stands_behind_the_one_it_names_and_at_the_end_otherwise() -> None:
    listed = tuple(Offer(name, "default", "") for name in ("a", "b"))
    added = (Offer("c", "default", "", after="a"), Offer("d", "default", ""), Offer("e", "default", "", after="a deleted one"))
    assert [one.name for one in extension.ordered(listed, added)] == ["a", "c", "b", "d", "e"]
