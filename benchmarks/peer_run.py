"""One run of another program, as `peers` starts it, in that program's own environment: coded table in, coded rows out.

    /tmp/peers/smartnoise/bin/python benchmarks/peer_run.py smartnoise-mst codes.csv domain.json --epsilon 1 --delta 1e-9 --out rows.csv

It imports nothing of this project, and each program by its name, for none of them is in a lock. Each is told the columns and, where it
asks, their values and all triples of columns; everything else is its default. With --versions it prints those of its environment.
"""

from __future__ import annotations

import argparse
import itertools
import json
import platform
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

_NAMED = (
    "dpmm",
    "smartnoise-synth",
    "dpsynth",
    "mbi",
    "mostlyai",
    "mostlyai-engine",
    "opendp",
    "dp-accounting",
    "jax",
    "torch",
    "opacus",
    "numpy",
)
_MAX_CELLS = 1_000_000
"""Of a table that an AIM may be asked for: all triples of Adult have fewer."""


def main() -> None:
    options = _parser().parse_args()
    if options.versions:
        print(json.dumps(_versions()))
        return
    frames = import_module("pandas")
    sizes = json.loads(options.domain.read_text(encoding="utf-8"))
    table = frames.read_csv(options.table, dtype=int)[list(sizes)]
    rows = PROGRAMS[options.program](table, sizes, options.epsilon, options.delta)
    frames.DataFrame(rows)[list(sizes)].astype(int).to_csv(options.out, index=False)


def _smartnoise(mechanism: str, **more: Any) -> Callable[..., Any]:
    """SmartNoise reads the values of a column from the table, at no charge, and makes as many rows as the table has."""

    def rows(table: Any, sizes: dict[str, int], epsilon: float, delta: float) -> Any:
        synthesizer = import_module("snsynth").Synthesizer.create(mechanism, epsilon=epsilon, delta=delta, **more)
        return synthesizer.fit_sample(table, categorical_columns=list(sizes), preprocessor_eps=0.0)

    return rows


def _dpsynth(config: str, asked: bool) -> Callable[..., Any]:
    """Google's dpsynth is given the values of each column. asked: its mechanism takes the tables that it is asked for."""

    def rows(table: Any, sizes: dict[str, int], epsilon: float, delta: float) -> Any:
        program, random = import_module("dpsynth"), import_module("numpy.random")
        domains = {name: program.CategoricalAttribute(list(range(size))) for name, size in sizes.items()}
        triples = {"workload": list(itertools.combinations(sizes, 3)), "max_marginal_size": _MAX_CELLS} if asked else {}
        mechanism = getattr(program.discrete_mechanisms, config)(**triples)
        made = program.TabularSynthesizer(domains=domains, discrete_mechanism=mechanism).calibrate(epsilon=epsilon, delta=delta)
        return made(random.default_rng(), table).synthetic_data

    return rows


def _mostlyai(table: Any, sizes: dict[str, int], epsilon: float, delta: float) -> Any:
    """MOSTLY AI's SDK on this machine. Half of epsilon is for the values of columns, which it learns, and half for training."""
    frames = import_module("pandas")
    sdk = import_module("mostlyai.sdk").MostlyAI(local=True, quiet=True)
    words = table.astype(str).apply(lambda column: "v" + column)  # numbers it would take for quantities
    privacy = {"max_epsilon": epsilon / 2, "value_protection_epsilon": epsilon / 2, "delta": delta}
    model = {"differential_privacy": privacy, "enable_model_report": False}
    columns = [{"name": name, "model_encoding_type": "TABULAR_CATEGORICAL"} for name in sizes]
    generator = sdk.train(
        config={"name": "peers", "tables": [{"name": "people", "data": words, "columns": columns, "tabular_model_configuration": model}]},
        progress_bar=False,
    )
    made = sdk.probe(generator, size=len(table)).astype(str)
    known = {name: made[name].str.fullmatch(r"v\d+") for name in sizes}  # what is rare may come back as one word for all of it
    return frames.DataFrame({name: made[name].where(known[name], "v0").str[1:].astype(int) for name in sizes})


PROGRAMS: dict[str, Callable[..., Any]] = {
    "smartnoise-mst": _smartnoise("mst"),
    "smartnoise-aim": _smartnoise("aim", degree=3, max_cells=_MAX_CELLS),
    "dpsynth-mst": _dpsynth("MSTConfig", asked=False),
    "dpsynth-swift": _dpsynth("SWIFTConfig", asked=False),
    "dpsynth-aim-gdp": _dpsynth("AIMGDPConfig", asked=True),
    "dpsynth-aim": _dpsynth("AIMConfig", asked=True),
    "mostlyai": _mostlyai,
}


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in _NAMED:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="One run of another program on a table of codes.")
    parser.add_argument("program", choices=[*PROGRAMS, "any"])
    parser.add_argument("table", type=Path, nargs="?", help="CSV of codes 0, 1, 2, ...")
    parser.add_argument("domain", type=Path, nargs="?", help='JSON such as {"age": 32, "sex": 2}')
    parser.add_argument("--epsilon", type=float)
    parser.add_argument("--delta", type=float)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--versions", action="store_true", help="print those of this environment")
    return parser


if __name__ == "__main__":
    main()
