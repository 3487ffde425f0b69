"""Does every mechanism's release of a column of many codes verify, or is the plan refused before anything is charged?

    python -m benchmarks many_codes
    python -m benchmarks many_codes --mechanisms gem fem --widths 1000

Invents few people with a code, as frequent as a power law says, and a column of two values. For each mechanism and number of codes the
command line makes a release of both columns, charged to a ledger of its own, and verifies the bundle; mechanisms that use a public table
get one of other people. A release is refused if the command names a field and a remedy, and the ledger has no charge. All else is a
finding, and ends the program with 1; only a command that takes more than `--longest` processor seconds is given up.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks import record
from dpsynth_core import cli
from dpsynth_core.mechanisms.mechanism import UsesPublic
from dpsynth_core.mechanisms.registry import MECHANISMS

VERIFIED, REFUSED, STOPPED = "verified", "refused", "stopped"
"""Outcomes that are not findings."""
_FINDINGS = {"charged": "CHARGED AND NOT RELEASED", "failed": "FAILED", "inconsistent": "NOT VERIFIED"}


def main(arguments: Sequence[str] | None = None) -> int:
    defaults = {"mechanisms": list(MECHANISMS), "widths": [1_000, 5_000, 20_000], "people": 300, "epsilon": 1.0, "longest": 240}
    parser = record.parser(__doc__, {"mechanisms": MECHANISMS}, **defaults)
    options = parser.parse_args(arguments)
    place = options.results / "many_codes"
    with tempfile.TemporaryDirectory() as folder:
        for codes in options.widths:
            write(Path(folder), codes, options.people)
            for mechanism in options.mechanisms:
                with tempfile.TemporaryDirectory(dir=folder) as home:
                    run = {"mechanism": mechanism, "codes": codes, "people": options.people, "epsilon": options.epsilon}
                    run |= outcome(Path(folder), Path(home), mechanism, options.epsilon, options.longest)
                print(run, file=sys.stderr, flush=True)
                record.write(place, record.instead(record.earlier(place), run, "mechanism", "codes", "people", "epsilon"))
    runs = record.earlier(place)
    record.write(place, runs, lines(runs))
    return int(any(run["outcome"] in _FINDINGS for run in runs))


def write(folder: Path, codes: int, people: int) -> None:
    """Write the table of invented people, another one of other people, and the domain of both."""
    rng, names = np.random.default_rng(codes), [f"I{number:05d}" for number in range(codes)]
    shares = 1 / np.arange(1, codes + 1) ** 1.1
    for name in ("people", "public"):
        drawn = np.array(names)[rng.choice(codes, people, p=shares / shares.sum())]
        pd.DataFrame({"code": drawn, "sex": rng.choice(["f", "m"], people)}).to_csv(folder / f"{name}.csv", index=False)
    columns = {"code": names, "sex": ["f", "m"]}
    listed = [{"name": name, "kind": "categorical", "categories": values} for name, values in columns.items()]
    (folder / "domain.json").write_text(json.dumps({"version": 1, "attributes": listed}), encoding="utf-8")


def outcome(folder: Path, home: Path, mechanism: str, epsilon: float, longest: int) -> dict[str, Any]:
    """Make and verify one release in a process of its own; return the outcome, the processor seconds and, of a refusal, the message."""
    process = multiprocessing.get_context("fork").Process(target=_work, args=(folder, home, mechanism, epsilon, longest))
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    process.start()
    process.join()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cost = round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 1)
    seconds = {"cpu_seconds": cost, "seconds": round(time.perf_counter() - start, 1)}
    if process.exitcode in (-signal.SIGXCPU, -signal.SIGKILL) and cost >= longest:
        return {"outcome": STOPPED, **seconds}
    done = dict(line.split("=", 1) for line in (home / "codes.txt").read_text(encoding="utf-8").splitlines())
    said, ledger = (_last(home / f"{step}.txt") for step in ("synthesize", "check"))
    charged = "charged by" in ledger
    match done.get("synthesize"), done.get("verify"):
        case "0", "0":
            return {"outcome": VERIFIED, **seconds}
        case "0", _:
            return {"outcome": "inconsistent", **seconds, "said": _last(home / "verify.txt")}
        case code, _ if code == str(cli.BAD_INPUT) and not charged and said.count(": ") > 1 and "; " in said:
            return {"outcome": REFUSED, **seconds, "said": said}
    return {"outcome": "charged" if charged else "failed", **seconds, "said": said}


def _work(folder: Path, home: Path, mechanism: str, epsilon: float, longest: int) -> None:
    """Call the commands, each with what it prints in a file, and write their exit codes."""
    resource.setrlimit(resource.RLIMIT_CPU, (longest, longest + 5))
    os.environ["DPSYNTH_HOME"] = str(home / "home")
    public = ["--public", str(folder / "public.csv")] if isinstance(MECHANISMS[mechanism], UsesPublic) else []
    commands = {
        "synthesize": [
            *("synthesize", str(folder / "people.csv"), "--domain", str(folder / "domain.json"), "--workload", "all-2way"),
            *("--mechanism", mechanism, "--epsilon", str(epsilon), "--population", "people", "--out", str(home / "out"), *public),
        ],
        "check": ["ledger", "check"],
        "verify": ["verify", str(home / "out" / "release.zip"), *("--memory", "4096", "--seconds", str(longest)), *public],
    }
    codes = dict[str, int]()
    for name, command in commands.items():
        if name == "verify" and codes["synthesize"]:
            break
        with (home / f"{name}.txt").open("w", encoding="utf-8") as file:
            os.dup2(file.fileno(), sys.stdout.fileno())
            os.dup2(file.fileno(), sys.stderr.fileno())
            codes[name] = cli.main(command)
            sys.stdout.flush()
            sys.stderr.flush()
    (home / "codes.txt").write_text("".join(f"{name}={code}\n" for name, code in codes.items()), encoding="utf-8")


def _last(file: Path) -> str:
    """Return the last line that a command printed, or of a ledger, all lines."""
    text = file.read_text(encoding="utf-8").strip() if file.exists() else ""
    return text if file.stem == "check" else text.rsplit("\n", 1)[-1]


def lines(runs: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the table of outcomes, and below it each message of a refusal or finding once."""
    widths = sorted({run["codes"] for run in runs})
    cells = {(run["mechanism"], run["codes"]): run for run in runs}
    names = [name for name in MECHANISMS if any(run["mechanism"] == name for run in runs)]
    rows = [(name, *(_cell(cells.get((name, codes))) for codes in widths)) for name in names]
    said = [f"- {run['mechanism']}, {run['codes']:,} codes: {run['said']}" for run in runs if "said" in run]
    return [*record.table(("mechanism", *(f"{codes:,} codes" for codes in widths)), rows), "", *said]


def _cell(run: Mapping[str, Any] | None) -> str:
    if run is None:
        return ""
    return f"{_FINDINGS.get(run['outcome'], run['outcome'])}, {run['cpu_seconds']:,.0f} s"
