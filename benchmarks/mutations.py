"""Do the tests notice a fault? Breaks one place of the program at a time, in a copy, and runs tests until the first fails.

    python -m benchmarks mutations --faults 50 --seed 28

The places are drawn at random: one of each room, the others wherever they fall. A fault is one of: a comparison turned round, `and` for
`or`, a `not` left out, `+` for `-`, `min` for `max`, the first branch never taken. Numbers stay: most are measured, or sizes on a page.
Four passes, each over what is left: tests of the fault's own room in the tier `test`, all other tests of it, then both in `rest`. What
is left in the end is printed: it may change nothing that can be noticed, which a person has to judge.
"""

from __future__ import annotations

import ast
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks import record
from benchmarks.table import ROOT

LEFT_OUT = shutil.ignore_patterns(".git", ".venv*", "__pycache__", ".*_cache", "test-artifacts")
_PAIRS = (("<", ">="), (">", "<="), ("==", "!="), ("is", "is not"), ("in", "not in"))
COMPARISONS = {one: other for pair in _PAIRS for one, other in (pair, pair[::-1])}
OPERATORS = {ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*"}
PASSES = ("own:test", "others:test", "own:rest", "others:rest")
HOURS = 0.5  # of a run of tests; one that a fault keeps from ending is ended, and the fault is noticed
STYLE = "tests/test_house.py::test_style_is_clean"
"""It notices how a fault is written, which is not whether a test would."""
WORDS = {"min": "max", "max": "min", "any": "all", "all": "any", "sum": "len"}


@dataclass(frozen=True)
class Fault:
    """Another text for one expression of a file."""

    file: str
    line: int
    before: str
    after: str
    start: int
    end: int

    @property
    def room(self) -> str:
        return self.file.split("/")[1] if self.file.startswith("dpsynth_core/") else self.file.split("/")[0]

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {' '.join(self.before.split())[:60]} -> {' '.join(self.after.split())[:60]}"


def variants(node: ast.AST) -> Iterator[str]:
    """The text of each fault of this expression."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        left, right = ast.unparse(node.left), ast.unparse(node.comparators[0])
        operator = ast.unparse(node)[len(left) : -len(right)].strip()
        if operator in COMPARISONS:
            yield f"({left} {COMPARISONS[operator]} {right})"
    elif isinstance(node, ast.BoolOp):
        yield "(" + (" or " if isinstance(node.op, ast.And) else " and ").join(f"({ast.unparse(value)})" for value in node.values) + ")"
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield f"bool({ast.unparse(node.operand)})"
    elif isinstance(node, ast.BinOp) and type(node.op) in OPERATORS and not isinstance(node.left, ast.Constant | ast.JoinedStr):
        yield f"(({ast.unparse(node.left)}) {OPERATORS[type(node.op)]} ({ast.unparse(node.right)}))"
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in WORDS:
        yield ast.unparse(node).replace(node.func.id, WORDS[node.func.id], 1)
    elif isinstance(node, ast.IfExp):
        yield f"({ast.unparse(node.orelse)})"


def faults(path: Path) -> list[Fault]:
    """Every fault of a file, in functions alone: constants of modules are measured, and types are not run."""
    text = path.read_text(encoding="utf-8")
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line.encode()))
    raw, found = text.encode(), []
    for function in (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)):
        for node in (inner for statement in function.body for inner in ast.walk(statement)):
            for after in variants(node):
                assert isinstance(node, ast.expr)
                start = starts[node.lineno - 1] + node.col_offset
                end = starts[node.end_lineno - 1] + node.end_col_offset  # type: ignore[operator]
                fault = Fault(path.relative_to(ROOT).as_posix(), node.lineno, raw[start:end].decode(), after, start, end)
                found.append(fault)
    return found


def drawn(number: int, seed: int) -> list[Fault]:
    """One of each room, then any."""
    draw, by_room = random.Random(seed), dict[str, list[Fault]]()
    for path in sorted((ROOT / "dpsynth_core").rglob("*.py")):
        for fault in faults(path):
            by_room.setdefault(fault.room, []).append(fault)
    chosen = [draw.choice(places) for places in by_room.values()][:number]
    rest = [fault for places in by_room.values() for fault in places]
    return chosen + draw.sample(rest, max(0, number - len(chosen)))


def places(fault: Fault) -> tuple[list[str], list[str]]:
    """The folders and files of tests: those of the fault's room, and all others."""
    tests = sorted(path for path in (ROOT / "tests").iterdir() if path.is_dir() or path.match("test_*.py"))
    names = [path.relative_to(ROOT).as_posix() for path in tests]
    own = [name for name in names if fault.room in name]
    return own, [name for name in names if name not in own]


def noticed_by(fault: Fault, tests: list[str], tier: str) -> str:
    """The first of the tests that fails, in a copy of the project with the fault; "" where all pass."""
    with tempfile.TemporaryDirectory() as place:
        tree = Path(place) / "project"
        shutil.copytree(ROOT, tree, ignore=LEFT_OUT, symlinks=True)
        (tree / ".venv").symlink_to((ROOT / ".venv").resolve())
        path = tree / fault.file
        raw = path.read_bytes()
        path.write_bytes(raw[: fault.start] + fault.after.encode() + raw[fault.end :])
        chosen = f"TESTS=-x -p no:cacheprovider --deselect {STYLE} {' '.join(tests)}"
        command = ["make", "--no-print-directory", "tests", f"TIER={tier}", chosen]
        code, output = ended(command, tree)
    failed = [line for line in output.splitlines() if line.startswith(("FAILED", "ERROR"))]
    if code is None:
        return f"the tests did not end within {HOURS:g} hours"
    if code and "no tests ran" not in output:
        return failed[0][:120] if failed else "the tests did not run"
    return ""


def ended(command: list[str], tree: Path) -> tuple[int | None, str]:
    """The exit code of a run of tests, None for one that was ended with all its processes, and what it wrote."""
    environment = {**os.environ, "CI": "true"}
    running = subprocess.Popen(
        command, cwd=tree, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment, start_new_session=True
    )
    try:
        output, _ = running.communicate(timeout=HOURS * 3600)
        return running.returncode, output
    except subprocess.TimeoutExpired:
        os.killpg(running.pid, signal.SIGKILL)
        return None, ""


def main() -> None:
    parser = record.options(__doc__, faults=50, seed=28, passes=list(PASSES))
    parser.add_argument("--only", type=int, nargs="*", help="these faults alone, by their numbers")
    options = parser.parse_args()
    left = dict(enumerate(drawn(options.faults, options.seed), 1))
    left = {number: left[number] for number in options.only or left}
    for one in options.passes:
        whose, tier = one.split(":")
        for number, fault in list(left.items()):
            began, (own, others) = time.monotonic(), places(fault)
            tests = own if whose == "own" else others
            noticed = noticed_by(fault, tests, tier) if tests else ""
            print(f"{one} {number:3d} {time.monotonic() - began:5.0f} s  {fault}\n      {noticed or 'not noticed'}", flush=True)
            if noticed:
                del left[number]
        print(f"{one}: {len(left)} of {options.faults} are left: {' '.join(map(str, left))}", flush=True)
    sys.exit(bool(left))
