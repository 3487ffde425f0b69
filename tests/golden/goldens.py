"""Seeded releases, kept whole: what a refactoring may not change.

    python -m tests.golden.goldens NAME ...        write what a change was meant to change, of some of them

Each is a folder with `spec.json`, `release.json`, the rows and `pins.json`: the digest of the spec, that of its charge, and the SHA-256 of
every file of its bundle. What differs from build to build (versions, dates) is left out. The goldens of an extension's mechanisms are with
the extension's tests, in `golden/`.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from hashlib import sha256
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from dpsynth_core.foundation import build
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.planning.spec import Spec, load_spec
from dpsynth_core.release import document as releases
from dpsynth_core.release import synthesis
from dpsynth_core.release.release import Release
from dpsynth_core.store import charging
from tests.additions import added
from tests.bundle import pack

FOLDER = Path(__file__).resolve().parent
PEOPLE = "people.csv"
IDENTITY, CREATED = "golden", "2026-01-01"
TOLERANCE = 1e-7
"""Relative difference of two numbers that were worked out on different processors, where sums are added in another order."""
RUN, FINGERPRINT = "golden-run", "golden-fingerprint"

_NEVER = {"other": False, "missing": False}
_THREE = {
    "attributes": [
        {"name": "age", "kind": "integer", "lower": 0, "upper": 99, "bins": 4, **_NEVER},
        {"name": "sex", "kind": "categorical", "categories": ["f", "m"], "other": False, "missing": True},
        {"name": "work", "kind": "categorical", "categories": ["no", "part", "full"], **_NEVER},
    ],
    "impossible": [{"never": {"age": ["0 to 24"], "work": ["part", "full"]}, "note": "no child works"}],
}
BINARY = {"smoker": 2, "active": 2, "ill": 2, "old": 2}


SEVERAL_ROWS = {"relation": "add-remove", "person_column": "person", "max_rows_per_person": 2}


def specs() -> dict[str, dict[str, Any]]:
    """The documents. Together: both relations, several rows a person, a certificate, zeros, thresholds, every kind of output."""
    core = {
        "aim": spec("aim", epsilon=2.0, certificate=0.05),
        "gaussian": spec("gaussian", unit={"relation": "replace"}, certificate=0.1),
    }
    return core | {name: document for module in added("golden.specs") for name, document in module.specs().items()}


def folder(name: str) -> Path:
    """Where a golden is kept."""
    beside = (Path(str(module.__file__)).parent for module in added("golden.specs") if name in module.specs())
    return next(beside, FOLDER) / name


def spec(
    mechanism: str,
    *,
    domain: Mapping[str, Any] = _THREE,
    workload: Mapping[str, Any] | None = None,
    unit: Mapping[str, Any] | None = None,
    settings: Mapping[str, Any] | None = None,
    epsilon: float = 1.0,
    certificate: float = 0.0,
) -> dict[str, Any]:
    return {
        "name": f"golden {mechanism}",
        "population": "golden people",
        "data": {"path": PEOPLE},
        "domain": dict(domain),
        "domain_origin": "codebook",
        "workload": dict(workload or {"kind": "all", "k": 2}),
        "unit": dict(unit or {}),
        "budget": {"epsilon": epsilon, "delta": 1e-6, "certificate": certificate},
        "mechanism": {"name": mechanism, "settings": dict(settings or {})},
        "output": {"seed": 7},
    }


def people() -> str:
    """A table of 300 invented people as CSV: every column of the domains, and two rows for every second person."""
    rng = np.random.default_rng(20261122)
    lines = ["person,age,sex,work,smoker,active,ill,old"]
    for i in range(300):
        age = int(rng.integers(0, 100))
        work = "no" if age < 25 else str(rng.choice(["no", "part", "full"]))
        smoker, active, old = int(rng.integers(2)), int(rng.integers(2)), int(age >= 65)
        ill = int(smoker and old) if rng.random() < 0.9 else int(rng.integers(2))
        lines.append(f"{i * 2 // 3},{age},{rng.choice(['f', 'm', ''])},{work},{smoker},{active},{ill},{old}")
    return "\n".join(lines) + "\n"


def run(name: str) -> Release:
    """Make the release of a golden again."""
    return _made(load_spec(folder(name) / "spec.json"))


def like(name: str, **fields: Any) -> Release:
    """The release of a plan that differs from a golden's in these fields."""
    return _made(Spec.from_json(specs()[name] | {"data": {"path": str(FOLDER / PEOPLE)}} | fields))


def _made(spec: Spec) -> Release:
    plan = synthesis.plan(spec)
    made = synthesis.synthesize(plan, synthesis.open_source(plan), synthesis.noise_for(plan.spec), lambda _: None)
    return replace(made, created=CREATED, versions={"dpsynth_core": IDENTITY})


def kept(name: str) -> Release:
    """The release of a golden as it is kept."""
    return releases.load(folder(name))


def document(release: Release) -> dict[str, Any]:
    """release.json, read again."""
    obj: dict[str, Any] = json.loads(releases.document(release))
    return obj


def assert_same(got: Any, expected: Any, where: str) -> None:
    """Equal to the letter but for the last digits of fractions."""
    if isinstance(expected, float) and isinstance(got, int | float):
        assert math.isclose(got, expected, rel_tol=TOLERANCE, abs_tol=TOLERANCE), f"{where}: {got} instead of {expected}"
    elif isinstance(expected, dict) and isinstance(got, dict):
        assert list(got) == list(expected), where
        for key, value in expected.items():
            assert_same(got[key], value, f"{where}.{key}")
    elif isinstance(expected, list) and isinstance(got, list):
        assert len(got) == len(expected), where
        for number, (a, b) in enumerate(zip(got, expected, strict=True)):
            assert_same(a, b, f"{where}[{number}]")
    else:
        assert got == expected, where


def assert_same_release(made: Release, kept: Release, where: str) -> None:
    """The same rows, and documents that are equal but for the last digits of fractions."""
    assert_same(document(made), document(kept), where)
    if kept.codes is None:
        assert made.codes is None, where
    else:
        assert np.array_equal(made.codes, kept.codes), where
        assert made.table.equals(kept.table), where


def pins(spec: Spec, release: Release) -> dict[str, Any]:
    """What is pinned as a hash."""
    charge = charging.charge_of(synthesis.plan(spec), RUN, FINGERPRINT)
    charged = json.dumps({**asdict(charge), "unit": charge.unit.model_dump()}, sort_keys=True)
    with fixed_identity():
        parts = {part: sha256(content).hexdigest() for part, content in pack.contents(release).items()}
        archive = sha256(pack.pack(release)).hexdigest()
    return {"spec": spec.digest(), "charge": sha256(charged.encode()).hexdigest(), "bundle": archive, "parts": parts}


@contextmanager
def fixed_identity() -> Iterator[None]:
    """While a bundle is packed, this program calls itself the same at every revision."""
    with patch.object(build, "identity", lambda: IDENTITY):
        yield


def write(name: str) -> None:
    """Write one golden anew."""
    place = folder(name)
    place.mkdir(exist_ok=True)
    (place.parent / PEOPLE).write_text(people(), encoding="utf-8")
    obj = specs()[name]
    obj["data"] = {"path": f"../{PEOPLE}"}
    (place / "spec.json").write_text(json.dumps(obj, indent=1) + "\n", encoding="utf-8")
    _keep(name, run(name))
    (place / "pins.json").write_text(json.dumps(pins(load_spec(place / "spec.json"), kept(name)), indent=1) + "\n", encoding="utf-8")


def _keep(name: str, made: Release) -> None:
    """Unless it is the one that is kept: another processor would change its last digits and nothing else."""
    place = folder(name)
    if (place / releases.DOCUMENT).exists():
        try:
            assert_same_release(made, kept(name), name)
        except (AssertionError, InputError):
            pass
        else:
            return
    for old in (releases.CODES, releases.ROWS_PARQUET, releases.DOCUMENT):
        (place / old).unlink(missing_ok=True)
    releases.save(made, place)


if __name__ == "__main__":
    for chosen in sys.argv[1:] or specs():
        write(chosen)
