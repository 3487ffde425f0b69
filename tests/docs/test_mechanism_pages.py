"""The example on each mechanism's page makes a release, as it is printed."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from docs import mechanism_pages
from docs.generate import FOLDER
from dpsynth_core import cli
from dpsynth_core.mechanisms.registry import MECHANISMS

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
