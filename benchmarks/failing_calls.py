"""Let each call fail once that changes a file, and see what is lost: ``python -m benchmarks failing_calls [--times N] [--seconds S]``.

Four commands work on books of their own: a run, `recover`, `ledger restore` and the wizard's worker. A library between them and the C
library (`failing_calls.c`, built by the compiler of this machine) counts every write, fsync, rename, link, new file, new folder and
deletion below their folder, and lets one of them fail: with an input/output error, on a full disk (once, or from then on), halfway through
a write, or by the death of the process. A file system of another machine fails in two more ways: a call is done and its answer is lost, and
locks are refused, one or all from one on. Other tries let one allocation of memory fail, at a place drawn at random. Then the books are
examined.

Undercharged: an answer of the kernel is on disk, or was, and the ledger holds less than the charge of a run that nothing disturbs. Lost:
neither a complete release nor one that can be recovered has as many answers as are on disk, or as were synced before. Not whole: a charge
of before is gone, or a ledger or release is called whole and is not. Wrong: a traceback, another exit code than those that are promised,
or 0 without the work done.

A try is one command with one fault, forked from a process that has imported everything, in folders in memory where there are such; one pass
over all calls of all commands, with each fault, comes before any repetition. Prints a table of all seeds that the record has as Markdown.
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import record, traces
from benchmarks.ledger_damage import IN_MEMORY
from dpsynth_core import cli
from dpsynth_core.bundle import pack, unpack, verdicts, verify
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.planning.spec import Spec
from dpsynth_core.release import synthesis
from dpsynth_core.release.spool import parsed
from dpsynth_core.store import auditing, balance, chain, database, dispatch, folders, jobs, projects, roles, runs, worker
from dpsynth_core.store.home import LOCAL_OWNER

SOURCE = Path(__file__).with_suffix(".c")
LONGEST = 120
"""Seconds after which a process hangs."""
PEOPLE, REASON = "people", "a test of the books on a machine of its own"
MAKE = (
    *("synthesize", "people.csv", "--domain", "domain.json", "--epsilon", "1", "--population", PEOPLE, "--mechanism", "hdmm_pgm"),
    *("--rows", "50", "--out", "out", "--workload"),
)
ANSWERS = {"run": 6, "recover": 6, "ledger restore": 0, "worker": 3}
"""Of the kernel, that each works on."""
RESULTS = ("tried", "went on", "undercharged", "lost", "not whole", "wrong end")
OFTEN = 500
"""Tries after which the record is written."""


@dataclass(frozen=True)
class Fault:
    """at: which call, from 1; 0 for none. how: as the library has it. for_good: so do all after it. memory_at: which allocation."""

    how: int = 0
    for_good: bool = False
    at: int = 0
    memory_at: int = 0


LOST, LOCKS = 5, 6
"""How a call is done and fails all the same, and how only calls that lock are counted, and fail."""
FAULTS = {
    "input/output error": Fault(1),
    "disk full once": Fault(2),
    "disk full from then on": Fault(2, for_good=True),
    "half a write": Fault(3),
    "death": Fault(4),
    "done, answer lost": Fault(LOST),
    "a lock refused": Fault(LOCKS),
    "locks refused from then on": Fault(LOCKS, for_good=True),
}
NO_MEMORY = "no memory"
ALL_FAULTS = (*FAULTS, NO_MEMORY)


@dataclass(frozen=True)
class Ended:
    """How a process ended, negative for a signal. calls, allocations: that it came to."""

    code: int
    said: str
    calls: int = 0
    allocations: int = 0


@dataclass(frozen=True)
class Due:
    """What must be left. before, after: rho charged at any time, and once there is an answer. answers: kept for good."""

    before: float
    after: float
    answers: int


# What is disturbed: each works in the folder of its case, and returns its exit code


def run() -> int:
    return cli.main((*MAKE, "all-1way"))


def recover() -> int:
    return cli.main(["recover", "--out", "again"])


def restore() -> int:
    return cli.main(["ledger", "restore", "export.json", "--reason", REASON])


def work_off() -> int:
    worker.main(waiting())
    return 0


def waiting() -> str:
    """The run of the wizard's project."""
    return Path("run").read_text()


SUBJECTS: dict[str, Callable[[], int]] = {"run": run, "recover": recover, "ledger restore": restore, "worker": work_off}


def prepare(subject: str, place: Path) -> None:
    """Files and books that it works on."""
    rows = np.random.default_rng(0).integers(0, [2, 3, 4], (300, 3))
    np.savetxt(place / "people.csv", rows, fmt="%d", delimiter=",", header="a,b,c", comments="")
    (place / "domain.json").write_text(json.dumps({"a": 2, "b": 3, "c": 4}))
    if subject == "recover":
        # the last call of a run deletes what it kept; before it, all answers are there
        calls = forked(place, run).calls
        _remove(place / "home", place / "out")
        for back in count(12, 12):
            forked(place, run, replace(FAULTS["death"], at=calls - back))
            if any((place / "home" / "spools").glob("*.jsonl")) and not (place / "out" / "release.zip").exists():
                return
            _remove(place / "home", place / "out")
    if subject == "ledger restore":
        forked(place, run)
        shutil.copytree(place / "home", place / "earlier")
        shutil.rmtree(place / "out")
        forked(place, partial(cli.main, (*MAKE, "all-2way")))
        (place / "export.json").write_text(forked(place, partial(cli.main, ["ledger", "export"])).said)
        (place / "home" / "dpsynth.sqlite").unlink()
        shutil.copy(place / "earlier" / "dpsynth.sqlite", place / "home")
        _remove(place / "earlier", place / "out")
    if subject == "worker":
        forked(place, _submit)


def _remove(*folders: Path) -> None:
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


def _submit() -> int:
    spec = {
        "name": "test", "population": PEOPLE, "data": {"path": str(Path("people.csv").absolute())}, "domain": {"a": 2, "b": 3, "c": 4},
        "workload": {"kind": "all", "k": 1}, "budget": {"epsilon": 1.0, "delta": 1e-9}, "mechanism": {"name": "hdmm_pgm"},
        "output": {"rows": 50},
    }  # fmt: skip
    project = projects.create(LOCAL_OWNER, "census").id
    Path("run").write_text(runs.submit(LOCAL_OWNER, project, Spec.from_json(spec)))
    Path("folder").write_text(str(folders.run_folder(project, waiting()).relative_to(Path.cwd())))
    return 0


def forked(place: Path, act: Callable[[], int], fault: Fault = Fault(), killed: Callable[[int], object] = lambda _: None) -> Ended:
    """Do it in a process of its own, in this folder, whose `home` is its DPSYNTH_HOME. What it did to files is in `trace` beside that.
    killed: what is done to the process meanwhile."""
    said, counted, loaded = (place.parent / name for name in ("said", "counted", "loaded"))
    counted.unlink(missing_ok=True)
    loaded.unlink(missing_ok=True)
    if (child := os.fork()) == 0:
        with suppress(BaseException):
            _child(place, act, fault, said, counted, loaded)
        os._exit(1)
    killed(child)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if fault == Fault() and loaded.exists():
        _load(loaded.read_text().split())
    numbers = json.loads(counted.read_text()) if counted.exists() else (0, 0)
    return Ended(code, said.read_text(errors="replace"), *numbers)


def _load(modules: list[str]) -> None:
    """Import what a process imported that nothing disturbed, so that no later one has to: it was more than half of the time of a try."""
    for name in modules:
        if name not in sys.modules:
            with suppress(ImportError):
                importlib.import_module(name)


def _child(place: Path, act: Callable[[], int], fault: Fault, said: Path, counted: Path, loaded: Path) -> None:
    os.setsid()
    signal.alarm(LONGEST)
    os.chdir(place)
    os.environ["DPSYNTH_HOME"] = str(place / "home")
    jobs.HEARTBEAT_SECONDS = 1000.0  # its writes would make the calls' numbers depend on time
    jobs.SILENCE_SECONDS = -1.0
    database.BUSY_SECONDS = 1.0  # where every lock is refused it is waited for in vain
    dispatch.launch_worker = lambda *_: None
    roles.of = lambda *_: roles.EVERY
    output = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(output, 1)
    os.dup2(output, 2)
    library = ctypes.CDLL(None)
    trace = os.open(place.parent / "trace", os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND)
    at, memory_at = map(ctypes.c_long, (fault.at, fault.memory_at))
    library.faults_begin(str(place).encode(), at, fault.how, fault.for_good, memory_at, trace)
    try:
        code = act()
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 1
    except Exception:  # noqa: BLE001 (a worker ends so where the books cannot be written)
        traceback.print_exc()
        code = 1
    finally:
        library.faults_end()
        sys.stdout.flush()
    for count_of in (library.faults_seen, library.faults_allocated):
        count_of.restype = ctypes.c_long
    counted.write_text(json.dumps([library.faults_seen(), library.faults_allocated()]))
    if fault == Fault():
        loaded.write_text(" ".join(sys.modules))
    os._exit(code)


# What is left behind


def examine(subject: str, place: Path, code: int, due: Due) -> list[str]:
    """What is wrong, of RESULTS, with what a process left that ended so; in a process of its own."""
    ended = forked(place, partial(_examine, subject, code, due))
    if ended.code != 0 or "Traceback" in ended.said:
        return [f"wrong end: examining it ended with {ended.code}: {_end(ended.said)}"]
    found: list[str] = json.loads(ended.said.strip().splitlines()[-1])
    return found


def _end(said: str) -> str:
    """Its last line, without the places of files before it."""
    return said.strip().splitlines()[-1][:200] if said.strip() else "nothing said"


def _examine(subject: str, code: int, due: Due) -> int:
    found: list[str] = []
    before = _contents(Path("home"), Path("again"))
    if subject == "ledger restore":
        if auditing.audit().problem and code == 0:
            found.append("not whole")
        if auditing.audit().problem and cli.main(["ledger", "restore", "export.json", "--reason", REASON]) != 0:
            found.append("lost: it cannot be restored any more")
    if auditing.audit().problem:
        found.append(f"lost: {auditing.audit().problem}")
    elif _charged() < due.before:
        found.append("not whole: charges are gone")
    if subject != "ledger restore":
        dispatch.pump()
        least = max(due.answers, kept(Path()))
        whole = _released(found, least)
        if (whole or least) and _charged() < due.after:
            found.append("undercharged")
        if subject == "worker":
            if (runs.get(LOCAL_OWNER, waiting()).state == "done") != whole:
                found.append("wrong end: called done without a release, or not done with one")
        elif code == 0 and not whole:
            found.append("wrong end: 0 without a release")
        if least and not whole:
            found += _once(f"{least} ".encode() + before, partial(_recovered, subject, least))
    print(json.dumps(found))
    return 0


def _charged() -> float:
    """What the books say that was spent, not less by a rounding; nothing where they are not whole, which is a finding already."""
    return 0.0 if auditing.audit().problem else balance.spent(PEOPLE).rho * (1 + 1e-9)


def kept(place: Path) -> int:
    """Answers that are whole on disk."""
    return sum(map(_whole, [line for file in (place / "home" / "spools").glob("*.jsonl") for line in file.read_bytes().split(b"\n")[1:-1]]))


def _whole(line: bytes) -> bool:
    try:
        return bool(parsed(line))
    except ValueError:
        return False


def _released(found: list[str], least: int) -> bool:
    """Whether there is a complete release; a release that is there and is not complete, or has fewer answers than that, is a finding."""
    if Path("folder").exists():
        if not Path(Path("folder").read_text(), jobs.RESULT).exists():
            return False
        if runs.get(LOCAL_OWNER, waiting()).state != "done":
            return True  # which is a finding, and it cannot be packed
        content, read = _contents(Path(Path("folder").read_text())), lambda: unpack.read_bytes(_packed())
    else:
        place = next((one for one in (Path("out", "release.zip"), Path("again", "release.zip")) if one.exists()), None)
        if place is None:
            return False
        content, read = _contents(place), partial(unpack.read, place)
    found += _once(f"{least} ".encode() + content, lambda: _judged(read(), least))
    return True


def _judged(bundle: unpack.Bundle, least: int) -> list[str]:
    found, has = ["not whole: its release"] * (verify.verify(bundle).verdict == verdicts.INCONSISTENT), len(bundle.document["transcript"])
    return found + [f"lost: its release has {has} of {least} answers"] * (has < least)


def _once(content: bytes, judge: Callable[[], list[str]]) -> list[str]:
    """What is wrong, as it was found of the very same bytes before: many a disk after a power cut has the release of another."""
    kept = Path("..", "judged", hashlib.sha256(content).hexdigest())
    if not kept.exists():
        found = judge()
        kept.parent.mkdir(exist_ok=True)
        kept.write_text(json.dumps(found))
    wrong: list[str] = json.loads(kept.read_text())
    return wrong


def _contents(*places: Path) -> bytes:
    """Names and bytes of all files."""
    files = sorted(path for place in places for path in (place, *place.rglob("*")) if path.is_file())
    return b"".join(f"{path} {path.stat().st_size} ".encode() + path.read_bytes() for path in files)


def _packed() -> bytes:
    place = Path("packed.zip")
    with place.open("wb") as stream:
        pack.pack(runs.release(LOCAL_OWNER, waiting()), stream, Path.cwd())
    return place.read_bytes()


def _recovered(subject: str, least: int) -> list[str]:
    found: list[str] = []
    if subject == "worker":
        try:
            runs.keep(LOCAL_OWNER, waiting())
        except InputError as error:
            return [f"lost: {error.problem}"]
    ended = work_off() if subject == "worker" else cli.main(["recover", "--out", "again"])
    return found if ended == 0 and _released(found, least) else [*found, "lost"]


# All of it


@dataclass(frozen=True)
class Size:
    """What an undisturbed command comes to."""

    calls: int
    allocations: int
    locks: int


def cases(sizes: Mapping[str, Size], seed: int, names: Sequence[str]) -> Iterator[tuple[str, str, Fault]]:
    """Each call of each command with each of these faults and as many allocations, in an order of chance; then all again."""
    choose = random.Random(seed)
    while True:
        once = list[tuple[str, str, Fault]]()
        for subject, size in sizes.items():
            for name, fault in FAULTS.items():
                once += [(subject, name, replace(fault, at=at + 1)) for at in range(size.locks if fault.how == LOCKS else size.calls)]
            once += [(subject, NO_MEMORY, Fault(memory_at=choose.randint(1, size.allocations))) for _ in range(max(200, size.calls))]
        once = [one for one in once if one[1] in names]
        choose.shuffle(once)
        yield from once


def disturbed(subject: str, name: str, fault: Fault, prepared: Path, due: Due) -> tuple[bool, list[str]]:
    """Whether it went on, and what is wrong."""
    place = Path(shutil.copytree(prepared, prepared.parent / "hurt"))
    try:
        ended = forked(place, SUBJECTS[subject], fault)
        synced = traces.answers(traces.steps(place.parent / "trace"))
        found = examine(subject, place, ended.code, replace(due, answers=max(synced, kept(prepared))))
    finally:
        shutil.rmtree(place, ignore_errors=True)
    died = ended.code < 0 and (name in ("death", NO_MEMORY)) and ended.code != -signal.SIGALRM
    shown = "Traceback" in ended.said and subject != "worker"  # which nobody looks at: its state says what people are told
    if shown or not (died or ended.code in (0, 1, 2, 130)):
        found.append(f"wrong end: {ended.code}: {_end(ended.said)}")
    return ended.code == 0, found


def undisturbed(subject: str, prepared: Path, place: Path) -> tuple[Ended, list[traces.Step], Due]:
    """How it ends in this copy of what was prepared, what it does to files, and what is due then. Ends this program where something is
    wrong, or an answer was not synced: after a cut nothing would ask for that one."""
    ended = forked(place, SUBJECTS[subject])
    trace = traces.steps(place.parent / "trace")
    due = Due(charged(prepared), charged(place), max(traces.answers(trace), kept(prepared)))
    if ended.code != 0 or (wrong := examine(subject, place, 0, due)):
        raise SystemExit(f"undisturbed, {subject} ended with {ended.code}: {ended.said} {wrong}")
    if not due.after or due.answers != ANSWERS[subject]:
        raise SystemExit(f"{subject} was charged {due.after} and synced {due.answers} answers, not {ANSWERS[subject]}")
    return ended, trace, due


def preload() -> None:
    """Begin anew with the library between this program and the C library."""
    if "faults" in os.environ.get("LD_PRELOAD", ""):
        synthesis.versions()  # cached in part: it reads all of the program
        return
    if (compiler := shutil.which("cc") or shutil.which("gcc")) is None:
        raise SystemExit("there is no compiler of C on this machine; install one (Debian: apt-get install gcc), then run this again")
    library = Path(tempfile.mkdtemp(prefix="faults")) / "faults.so"
    subprocess.run([compiler, "-O2", "-shared", "-fPIC", "-pthread", "-o", str(library), str(SOURCE)], check=True)
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    os.execve(sys.executable, [*sys.orig_argv], {**os.environ, **threads, "LD_PRELOAD": str(library)})


def main() -> int:
    options = record.parser(__doc__, {"faults": ALL_FAULTS}, times=1000, seconds=0.0, seed=0, faults=ALL_FAULTS).parse_args()
    preload()
    tally, findings = Counter[tuple[str, str, str]](), list[str]()
    with tempfile.TemporaryDirectory(dir=IN_MEMORY if IN_MEMORY.is_dir() else None) as folder:
        prepared: dict[str, Path] = {}
        due: dict[str, Due] = {}
        sizes: dict[str, Size] = {}
        for subject in SUBJECTS:
            place = prepared[subject] = Path(folder, subject.replace(" ", "-"), "prepared")
            place.mkdir(parents=True)
            prepare(subject, place)
            for _ in range(2):  # the first one loads what no later one allocates memory for
                trial = Path(shutil.copytree(place, place.parent / "hurt"))
                ended, _, due[subject] = undisturbed(subject, place, trial)
                shutil.rmtree(trial)
            trial = Path(shutil.copytree(place, place.parent / "hurt"))
            sizes[subject] = Size(ended.calls, ended.allocations, forked(trial, SUBJECTS[subject], Fault(LOCKS)).calls)
            shutil.rmtree(trial)
        tried = cases(sizes, options.seed, options.faults)
        for number, (subject, name, fault) in zip(record.numbers(options.times, options.seconds), tried):  # noqa: B905
            went_on, wrong = disturbed(subject, name, fault, prepared[subject], due[subject])
            tally[subject, name, "tried"] += 1
            tally[subject, name, "went on"] += went_on
            for one in wrong:
                tally[subject, name, one.partition(":")[0]] += 1
                findings.append(f"{subject}, {name}, {fault}: {one}")
                print(findings[-1], file=sys.stderr, flush=True)
            if number % OFTEN == OFTEN - 1:
                keep(options.results / "failing_calls", options.seed, sizes, tally, findings)
    keep(options.results / "failing_calls", options.seed, sizes, tally, findings)
    return 1 if findings else 0


def keep(place: Path, seed: int, sizes: Mapping[str, Size], tally: Counter[tuple[str, str, str]], findings: list[str]) -> None:
    """In the record, beside what other seeds came to."""
    calls, counted = {subject: size.calls for subject, size in sizes.items()}, [[*key, number] for key, number in sorted(tally.items())]
    run = record.machine() | {"seed": seed, "calls": calls, "tally": counted, "findings": findings}
    runs, total = record.instead(record.earlier(place), run, "seed"), Counter[tuple[str, ...]]()
    for one in runs:
        total.update({tuple(key): number for *key, number in one["tally"]})
    faults = [(subject, name) for subject in SUBJECTS for name in ALL_FAULTS]
    rows: list[list[Any]] = [[subject, name, *(total[subject, name, end] for end in RESULTS)] for subject, name in faults]
    all_calls = ", ".join(f"{subject} {calls}" for subject, calls in calls.items())
    rows.append(["**all**", f"calls: {all_calls}", *(sum(row[at] for row in rows) for at in range(2, 2 + len(RESULTS)))])
    record.write(place, runs, record.table(("command", "fault", *RESULTS), rows))


def charged(place: Path) -> float:
    """What was charged before, as the books or their export have it."""
    ended = forked(place, _say_charged)
    return float(ended.said.strip().splitlines()[-1])


def _say_charged() -> int:
    entries = json.loads(Path("export.json").read_text()) if Path("export.json").exists() else [vars(entry) for entry in chain.entries()]
    touched = {entry["run"] for entry in entries if entry["kind"] == "touch"}
    print(sum(entry["rho"] for entry in entries if entry["kind"] == "reserve" and entry["run"] in touched))
    return 0
