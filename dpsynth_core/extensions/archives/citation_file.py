"""CITATION.cff: the citation of a release in the Citation File Format 1.2.0, which software of archives reads."""

from __future__ import annotations

import json
from collections.abc import Iterator

from dpsynth_core.planning.about_spec import person
from dpsynth_core.release.release import Release
from dpsynth_core.report.citation import sentence, version

CITATION = "CITATION.cff"


def cff(release: Release) -> bytes:
    """Return CITATION.cff, as UTF-8, of a release that states creators.

    The format requires at least one author. Without creators the result is not a valid citation file, and
    nothing is raised. Texts are in double quotes and escaped as in JSON; characters above U+FFFF are written
    as YAML escapes them.
    """
    return "".join(f"{line}\n" for line in _lines(release)).encode()


def _lines(release: Release) -> Iterator[str]:
    stated = release.about.stated
    yield "cff-version: 1.2.0"
    yield f"message: {_text(f'To cite these synthetic rows: {sentence(release)}')}"
    yield "type: dataset"
    yield f"title: {_text(release.spec.name)}"
    yield "authors:"
    for creator in stated.creators:
        if (names := person(creator)) is None:
            yield f"  - name: {_text(creator)}"
        else:
            yield f"  - family-names: {_text(names[0])}"
            yield f"    given-names: {_text(names[1])}"
    if stated.contact:
        yield "contact:"
        yield f"  - name: {_text(stated.contact)}"
        if stated.email:
            yield f"    email: {_text(stated.email)}"
    if stated.licence_address:
        yield f"license-url: {_text(stated.licence_address)}"
    yield f"version: {_text(version(release))}"
    yield f"date-released: {_text(release.created)}"
    yield "identifiers:"
    yield "  - type: other"
    yield f"    value: {_text(f'sha256:{release.seal}')}"
    yield '    description: "SHA-256 of the plan, which release.json names too"'
    yield 'keywords: ["synthetic data", "differential privacy"]'


def _text(text: str) -> str:
    letters = (f"\\U{ord(letter):08x}" if ord(letter) > 0xFFFF else json.dumps(letter)[1:-1] for letter in text)
    return f'"{"".join(letters)}"'
