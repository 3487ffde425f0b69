"""Tables that hold next to nothing, for every mechanism."""

from __future__ import annotations

import json
import random
from pathlib import Path

from dpsynth_core.mechanisms.registry import MECHANISMS
from tests.hostile import people
from tests.hostile.attempts import ANY, Attempt, of_group

_QUICK = {
    "fem": ("rounds=2", "records=2", "solve_seconds=0.05"),
    "sepfem": ("rounds=2", "records=2", "solve_seconds=0.05"),
    "dualquery": ("rounds=2", "samples=2", "solve_seconds=0.05"),
    "dqrs": ("rounds=2", "samples=2", "solve_seconds=0.05"),
    "oraclequery": ("rounds=2", "records=2"),
    "rap": ("relaxed_rows=20", "rounds=2"),
    "gem": ("batch=20", "rounds=2"),
    "mwem": ("rounds=2",),
    "pmwpub": ("rounds=2",),
    "aim": ("rounds_per_attribute=2", "max_size_mb=1"),
    "aim_public": ("rounds_per_attribute=2", "max_size_mb=1"),
}
_DOMAINS = (
    {"a": 1},
    {"a": 2},
    {"a": 1, "b": 1},
    {"a": 2, "b": 2, "c": 2},
    {"a": 2, "b": 1, "c": 2, "d": 2},
    {"a": 40, "b": 2},
    {f"c{i}": 2 for i in range(8)},
)


@of_group("degenerate")
def mechanisms(rng: random.Random, place: Path) -> Attempt:
    """One row, none, all the same, all missing; one column, columns of one value; any epsilon."""
    name = rng.choice(list(MECHANISMS))
    domain = rng.choice(_DOMAINS)
    rows = rng.choice([0, 1, 2, 50])
    kind = rng.choice(["same", "missing", "canary", "random"])
    cell = {
        "same": lambda _: "0",
        "missing": lambda _: "",
        "canary": lambda _: people.CANARIES[0],
        "random": lambda size: str(rng.randrange(size)),
    }[kind]
    lines = [",".join(["id", *domain])] + [",".join([str(i % 7), *(cell(size) for size in domain.values())]) for i in range(rows)]
    (place / "people.csv").write_text("\n".join(lines) + "\n")
    (place / "domain.json").write_text(json.dumps(domain))
    public = [",".join(domain)] + [",".join(str(rng.randrange(size)) for size in domain.values()) for _ in range(30)]
    (place / "public.csv").write_text("\n".join(public) + "\n")
    options = {
        "mechanism": name,
        "epsilon": rng.choice(["0.001", "1", "100", "1e-6"]),
        "workload": rng.choice(["all-1way", "all-2way", "target:a:1", "threshold:1-of-1:all", "ranges:all"]),
        "relation": rng.choice(["add-remove", "replace"]),
        "certificate": rng.choice(["0", "0.05", "0.5"]),
        "person_column": rng.choice([None, None, "id"]),
        "public": "public.csv" if "public" in name or name in ("pmwpub", "mixture") else None,
        "rows": rng.choice([None, None, "1", "5"]),
    }
    arguments = people.synthesize(**options)
    return Attempt((*arguments, *(part for knob in _QUICK.get(name, ()) for part in ("--set", knob))), ANY, charges=True, seconds=60)
