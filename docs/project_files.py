"""Writes what catalogues and programs read about the project: `python -m docs.project_files`. A test compares it with what is there.

    codemeta.json    for software catalogues, in the terms of CodeMeta 3.0
    .zenodo.json     what Zenodo states of a version when it archives one
    llms.txt         the documentation as one list of links, for language models and search programs

All of it follows from pyproject.toml, CITATION.cff and the contents pages of the documentation.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]
COMMAND = "python -m docs.project_files"
_CONTENTS = ("docs/tutorials/README.md", "docs/guide/README.md", "docs/explanation/README.md", "docs/reference/README.md")
_LINK = re.compile(r"^- (?:\*\*)?(?:The )?\[(.+?)\]\((.+?)\)(?:: (.*))?", re.MULTILINE)


def files() -> dict[str, str]:
    """Return the text of each file by its path in the project."""
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return {
        "codemeta.json": _written(_codemeta(cited, project)),
        ".zenodo.json": _written(_zenodo(cited)),
        "llms.txt": "\n".join(_links(cited)).rstrip() + "\n",
    }


def _written(content: Mapping[str, Any]) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _codemeta(cited: Mapping[str, Any], project: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "@context": "https://w3id.org/codemeta/3.0",
        "type": "SoftwareSourceCode",
        "name": cited["title"],
        "identifier": project["name"],
        "description": cited["abstract"],
        "version": cited["version"],
        "license": f"https://spdx.org/licenses/{cited['license']}",
        "author": [{"type": "Organization", "name": author["name"]} for author in cited["authors"]],
        "programmingLanguage": "Python",
        "runtimePlatform": f"Python {project['requires-python']}",
        "operatingSystem": "Linux",
        "keywords": cited["keywords"],
        "softwareRequirements": project["dependencies"],
        "referencePublication": [
            {"type": "ScholarlyArticle", "name": paper["title"], "datePublished": str(paper["year"])} for paper in cited["references"]
        ],
    }


def _zenodo(cited: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "upload_type": "software",
        "title": cited["title"],
        "description": cited["abstract"],
        "version": cited["version"],
        "license": cited["license"],
        "creators": [{"name": author["name"]} for author in cited["authors"]],
        "keywords": cited["keywords"],
        "access_right": "open",
    }


def _links(cited: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of llms.txt: what the project is, then every page of each contents page."""
    yield from (f"# {cited['title']}", "", f"> {cited['abstract']}", "")
    for contents in _CONTENTS:
        page = ROOT / contents
        text = page.read_text(encoding="utf-8")
        title = re.search(r"^# (.+)$", text, re.MULTILINE)
        yield from (f"## {title[1] if title else page.parent.name}", "")
        for name, target, about in _LINK.findall(text):
            path = (page.parent / target).resolve().relative_to(ROOT).as_posix()
            yield f"- [{name}]({path})" + (f": {about}" if about else "")
        yield ""


def main() -> None:
    for name, text in files().items():
        (ROOT / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
