"""The lessons of docs/tutorials work as they are printed, one after the other in one folder, and say what they show."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from docs import mechanism_pages
from docs.generate import FOLDER
from dpsynth_core import cli
from dpsynth_core.mechanisms.registry import MECHANISMS

ROOT = Path(__file__).resolve().parents[2]
TUTORIALS = ROOT / "docs" / "tutorials"
LANGUAGES = {"sh": (("bash", "-e", "-c"), "printf '\\f\\n'"), "python": ((sys.executable, "-c"), "print('\\f')")}
"""How a lesson's steps are run, in one process, and what marks the end of each."""
NUMBER = r"\b[0-9a-f]{64}\b|\d+(?:[.,\\]+\d+)*(?:e-\d+)?"
"""With a backslash before the point where a card is Markdown."""


def lessons() -> list[Path]:
    """In the order of the contents page."""
    return [TUTORIALS / name for name in re.findall(r"^- \[.+?\]\((.+?\.md)\)", (TUTORIALS / "README.md").read_text(), flags=re.MULTILINE)]


def steps(lesson: Path, language: str) -> list[tuple[str, str]]:
    """What is typed, and what is shown before anything else is typed: nothing where the page shows nothing."""
    blocks = re.findall(r"^```(\w+)\n(.*?)^```", lesson.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    typed = [at for at, (kind, _) in enumerate(blocks) if kind == language]
    return [(blocks[at][1], "".join(text for kind, text in blocks[at + 1 : at + 2] if kind == "text")) for at in typed]


def alike(shown: str, printed: str) -> bool:
    """Whether words are the same, line for line. Numbers and hashes come from noise and may be others; `...` is any text, or none, and
    alone in a line any lines."""
    words = (re.escape(part).replace("\\\n", "\n").replace(r"\.\.\.", "...") for part in re.split(NUMBER, shown.strip()))
    pattern = re.sub(r"(\\ )+", " +", f"(?:{NUMBER})".join(words)).replace("\n...\n", "\n(?:.*\n)?").replace("...", ".*")
    return re.search(pattern, printed, flags=re.DOTALL) is not None


@pytest.mark.slow  # makes and checks releases, in processes of their own, as people do
def test_the_lessons_work_as_they_are_printed(tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "PYTHONUNBUFFERED": "1",
        "DPSYNTH_HOME": str(tmp_path / "home"),
        "LC_ALL": "C.UTF-8",
    }
    (folder := tmp_path / "folder").mkdir()
    for lesson in lessons():
        for language, (command, end) in LANGUAGES.items():
            if there := steps(lesson, language):
                script = "".join(f"{typed}\n{end}\n" for typed, _ in there)
                streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
                done = subprocess.run([*command, script], cwd=folder, env=environment, check=False, **streams)
                assert done.returncode == 0, f"{lesson.name}\n{done.stdout}"
                for (typed, shown), printed in zip(there, done.stdout.split("\f\n")[:-1], strict=True):
                    assert alike(shown, printed), f"{lesson.name}: {typed}\nshows\n{shown}\nbut printed\n{printed}"


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        ("done: 50015 rows, written\n", "note\ndone: 49987 rows, written\n"),
        ("entry 2, hash " + "a1" * 32, "entry 4, hash " + "0f" * 32),
        ("head\n...\ntail 1e-09", "head\nbetween\nand more\ntail 1e-09"),
        ("0\\.62% of 1,000", "0\\.7% of 999"),
        ("first\n...\nlast", "first\nlast"),
        ("a   1\n...", "a 20\nb"),
    ],
)
def test_numbers_may_differ_between_runs(shown: str, printed: str) -> None:
    assert alike(shown, printed)


@pytest.mark.parametrize(
    ("shown", "printed"),
    [("done: 5 rows", "done: many rows"), ("first\nsecond", "second\nfirst"), ("passed: a\npassed: b", "passed: a\nfailed: c\npassed: b")],
)
def test_words_may_not(shown: str, printed: str) -> None:
    assert not alike(shown, printed)


PEOPLE = "sex,region\n" + "f,north\nm,south\nf,south\n" * 100
CLOSED = {"kind": "categorical", "other": False, "missing": False}
COLUMNS = [{"name": "sex", "categories": ["f", "m"], **CLOSED}, {"name": "region", "categories": ["north", "south"], **CLOSED}]


@pytest.mark.slow  # some mechanisms take tens of seconds
@pytest.mark.parametrize("name", MECHANISMS)
def test_the_example_of_a_mechanism_makes_a_release(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DPSYNTH_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    page = (FOLDER / "mechanisms" / f"{name}.md").read_text(encoding="utf-8")
    ((language, text),) = re.findall(r"## Example\n\n```(\w+)\n(.*?)\n```", page, flags=re.DOTALL)
    assert (language, text) == mechanism_pages.example(MECHANISMS[name])
    if language == "python":
        exec(text, names := {})
        assert names["plan"].sealed.mechanism.card.name == name
        assert capsys.readouterr().out.startswith("Release: ")
        return
    Path("people.csv").write_text(PEOPLE)
    Path("public.csv").write_text(PEOPLE + "m,north\n" * 50)
    Path("domain.json").write_text(json.dumps({"version": 1, "attributes": COLUMNS}))
    command = shlex.split(text.replace("\\\n", ""))
    assert command[:3] == ["python", "-m", "dpsynth_core"]
    assert cli.main(command[3:]) == 0
    assert json.loads(Path("release/release.json").read_text())["spec"]["mechanism"]["name"] == name
