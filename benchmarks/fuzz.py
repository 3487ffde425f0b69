"""Look for bytes that break a reader's promise, led by coverage: ``python -m benchmarks fuzz [TARGET ...] [--seconds S] [--times N]``.

The targets are those of `tests.hostile.targets`: each reader of tables, domains, DDI codebooks, specs, criteria, transcripts, release.json
and bundles. Each begins with the files of `tests/hostile/corpus` and works in a process of its own, for so many seconds or tries. A promise
is broken by an exception other than InputError, by a death, and by more than 10 s of processor time for 1 MB (or 2 s in all). What breaks
one is kept below `--found`, to be added to the corpus once it is mended. Prints a table as Markdown.

Atheris is needed beside the development packages, which do not hold it, because nothing else takes its 35 MB:
`.venv/bin/python -m pip install atheris==3.0.0`. It sees our code and none of the libraries in C. What reads with these is tried without
its process with limits, and what fails there is tried again with it: only then it is a broken promise.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks import record

ONE = """
import sys, json, time, hashlib, atexit
from pathlib import Path
target, seconds, times, seed, found, new, report = json.loads(sys.argv[1])
sys.argv[1:] = []
import atheris
with atheris.instrument_imports(include=["dpsynth_core"]):
    from tests.hostile import targets
count, wrong, last = 0, {}, ""
def kept():
    Path(report).write_text(json.dumps([count, wrong]))
def one(content):
    global count
    count += 1
    with targets.unconfined():
        problem = targets.broken(target, content)
    problem = problem and targets.broken(target, content)
    if problem and problem.partition(":")[0] not in wrong:
        name = hashlib.sha256(content).hexdigest()[:12]
        Path(found).mkdir(parents=True, exist_ok=True)
        Path(found, target + "-" + name).write_bytes(content)
        wrong[problem.partition(":")[0]] = problem + " (" + name + ")"
    if count % 50 == 0 or problem:
        kept()
corpus = targets.CORPUS[target]
options = ["-seed=%d" % (seed or 1), "-max_len=65536", "-rss_limit_mb=2048", "-timeout=60", "-detect_leaks=0", "-verbosity=0"]
options += ["-max_total_time=%d" % seconds] if seconds else []
options += ["-runs=%d" % times, "-artifact_prefix=" + found + "/" + target + "-"]
Path(found).mkdir(parents=True, exist_ok=True)
atexit.register(kept)
atheris.Setup([sys.argv[0], *options, new, str(corpus)], one)
atheris.Fuzz()
"""


def main() -> int:
    temporary = Path(tempfile.gettempdir())
    parser = record.parser(__doc__, times=10**9, seconds=60, seed=0, found=temporary / "fuzz-found", reached=temporary / "fuzz-reached")
    parser.add_argument("targets", nargs="*", metavar="TARGET", help="default: all, one after the other")
    options = parser.parse_args()
    if subprocess.run([sys.executable, "-c", "import atheris"], capture_output=True, check=False).returncode:
        raise SystemExit("Atheris is not installed: .venv/bin/python -m pip install atheris==3.0.0")
    from tests.hostile.targets import TARGETS

    place, rows = options.results / "fuzz", []
    runs = record.earlier(place)
    for target in options.targets or TARGETS:
        run = fuzzed(target, options.seconds, options.times, options.seed, options.found, options.reached / target)
        runs = record.instead(runs, run, "target", "seed")  # beside what other seeds came to
        rows = [_row(name, [one for one in runs if one["target"] == name]) for name in dict.fromkeys(one["target"] for one in runs)]
        record.write(place, runs, record.table(("reader", "tries", "seconds", "broken promises"), rows))
    return 1 if any(run["wrong"] for run in runs) else 0


def _row(target: str, runs: list[dict[str, Any]]) -> list[object]:
    """Of the table, with what all seeds came to."""
    wrong = [one for run in runs for one in run["wrong"]]
    return [target, f"{sum(run['tries'] for run in runs):,}", sum(run["seconds"] for run in runs), "; ".join(wrong) or "none"]


def fuzzed(target: str, seconds: int, times: int, seed: int, found: Path, reached: Path) -> dict[str, object]:
    """What processes that fuzz it came to: one after the other, where a library in C ends them."""
    began, count, died, broken = time.monotonic(), 0, 0, list[str]()
    while not broken and count < times and (left := seconds - (time.monotonic() - began)) > 1:
        tries, broken, code = _process(target, int(left), times - count, seed + died, found, reached)
        count, died = count + tries, died + bool(code)
    seconds = round(time.monotonic() - began)
    return {"target": target, "tries": count, "seconds": seconds, "died": died, "seed": seed, **record.machine(), "wrong": broken}


def _process(target: str, seconds: int, times: int, seed: int, found: Path, reached: Path) -> tuple[int, list[str], int]:
    """Tries, broken promises, and the code with which it ended."""
    from tests.hostile import targets

    with tempfile.TemporaryDirectory() as folder:
        program, report = Path(folder, "one.py"), Path(folder, "report.json")
        program.write_text(ONE)
        reached.mkdir(parents=True, exist_ok=True)
        asked = json.dumps([target, seconds, times, seed, str(found), str(reached), str(report)])
        paths = os.pathsep.join(filter(None, [str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")]))
        ended = subprocess.run(
            [sys.executable, str(program), asked],
            env={**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"},
            capture_output=True,
            check=False,
        )
        count, wrong = json.loads(report.read_text()) if report.exists() else (0, {})
        broken = list(wrong.values())
        if ended.returncode:
            ends = [path for how in ("crash", "oom", "timeout") for path in found.glob(f"{target}-{how}-*")]
            broken += filter(None, (targets.broken(target, path.read_bytes()) for path in ends))
            broken += [] if ends else [f"it ended with {ended.returncode}: {ended.stderr.decode(errors='replace')[-300:]}"]
    return count, broken, ended.returncode
