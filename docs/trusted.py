"""Writes docs/trusted-base.md anew: `python -m docs.trusted`. A test compares, and holds the number of lines.

Trusted is a line that, if it is wrong, may break the guarantee although all tests of mechanisms pass. `BASE` lists its files by hand, each
with what it carries and the test that tries to break it. A file of the list imports no other file of the program, but through `DOORS`.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CORE = ROOT / "dpsynth_core"
PAGE = Path(__file__).with_name("trusted-base.md")
COMMAND = "python -m docs.trusted"
LIMIT = 5_981
"""Lines of code; it may only fall. The aim is 3,500."""
_IGNORED = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}

BASE: dict[str, tuple[str, str]] = {
    # kernel, prices, noise, accountant
    "privacy/kernel.py": ("A question is charged before its operation sees a count.", "privacy/test_kernel.py"),
    "privacy/operation.py": ("What a question costs follows from public arguments alone.", "privacy/test_kernel.py"),
    "privacy/operations.py": ("Each operation moves by its stated sensitivity at most.", "privacy/test_sensitivity.py"),
    "privacy/registry.py": ("No operation answers that is not listed.", "research/test_wing.py"),
    "privacy/interface.py": ("What a mechanism holds spends one budget.", "privacy/test_kernel.py"),
    "privacy/view.py": ("What an operation may ask of a table.", "privacy/test_kernel.py"),
    "privacy/counts.py": ("Counts are of this table and no other.", "privacy/test_kernel.py"),
    "privacy/group.py": ("A part of the records is chosen record by record.", "privacy/test_sensitivity.py"),
    "privacy/grouped.py": ("A record is in one group of values.", "privacy/test_sensitivity.py"),
    "privacy/unit.py": ("What one person changes.", "privacy/test_unit.py"),
    "privacy/scores.py": ("Scores are exact whole numbers.", "privacy/test_scores.py"),
    "privacy/residuals.py": ("The sensitivity of a residual.", "privacy/test_residuals.py"),
    "privacy/thresholds.py": ("A text of few people is released with probability delta at most.", "privacy/test_thresholds.py"),
    "privacy/events.py": ("What each kind of answer costs.", "privacy/test_accountant.py"),
    "privacy/meter.py": ("Nothing is spent beyond the budget.", "privacy/test_meter.py"),
    "privacy/accountant.py": ("Costs add up to the stated epsilon and delta.", "privacy/test_accounting.py"),
    "privacy/conversions.py": ("From rho and mu to epsilon and delta, never rounded down.", "privacy/test_accounting.py"),
    "privacy/lattice.py": ("Noise in whole numbers is as good as normal noise.", "privacy/test_lattice.py"),
    "privacy/questions.py": ("A transcript has a digest of every array that was asked about.", "release/test_transcript.py"),
    "privacy/noise.py": ("Noise has the stated distribution, drawn from the system's randomness.", "privacy/test_noise.py"),
    # whose a record is, its cells, its counts
    "sources/arrow.py": ("Counts are sums over records.", "sources/test_arrow.py"),
    "sources/arrays.py": ("A value has one text.", "sources/test_codec.py"),
    "sources/arrow_types.py": ("A type is that of its column, not of values.", "sources/test_kinds_of_files.py"),
    "sources/clocks.py": ("A time is read by its own text.", "sources/test_times.py"),
    "sources/codec.py": ("A record's code depends on that record alone.", "sources/test_codec.py"),
    "sources/notation.py": ("A number or date is read by its own text.", "sources/test_notation.py"),
    "sources/ordering.py": ("Columns that must not decrease are recoded record by record.", "sources/test_ordering.py"),
    "sources/persons.py": ("Whose a record is, and which of a person's records count.", "sources/test_arrow.py"),
    "sources/records.py": ("Each record is counted once, in each pass the same.", "sources/test_registry.py"),
    "sources/sampling.py": ("A sample is drawn without a look at values.", "sources/test_registry.py"),
    "sources/source.py": ("What the kernel may ask of a table.", "sources/test_registry.py"),
    "sources/times.py": ("A time is in the cell of its own value.", "sources/test_times.py"),
    "sources/values.py": ("Texts of a column are counted record by record.", "sources/test_values.py"),
    # the two ways in whose container does not say what a record is
    "sources/csv_file.py": ("A line of a CSV file is a record, whatever it holds.", "sources/test_neighbours.py"),
    "sources/lines.py": ("Lines end where they end, whatever other lines hold.", "sources/test_neighbours.py"),
    "sources/databases/query.py": ("A query answers for each record by that record alone.", "sources/test_queries.py"),
    "sources/databases/catalogue.py": ("A name in a query is a column of a table.", "sources/test_queries.py"),
    # nouns that coding and counting use
    "vocabulary/attribute.py": ("Which cells a column has.", "vocabulary/test_domain.py"),
    "vocabulary/bins.py": ("In which bin a number is.", "vocabulary/test_domain.py"),
    "vocabulary/domain.py": ("Which columns there are, in which order.", "vocabulary/test_domain.py"),
    "vocabulary/groups.py": ("In which group a value is.", "vocabulary/test_groups.py"),
    "vocabulary/grouped_domain.py": ("Groups of values as columns.", "vocabulary/test_groups.py"),
    "vocabulary/keys.py": ("A text has one key.", "sources/test_values.py"),
    "vocabulary/marginals.py": ("A smaller marginal is a sum of a larger one.", "vocabulary/test_marginals.py"),
    "vocabulary/measurement.py": ("What was measured, and with how much noise.", "privacy/test_kernel.py"),
    "vocabulary/names.py": ("A name of a column is told from others.", "vocabulary/test_domain.py"),
    "vocabulary/occupied.py": ("Distinct records with how many there are.", "vocabulary/test_occupied.py"),
    "vocabulary/order.py": ("Which pairs of columns must not decrease.", "sources/test_ordering.py"),
    "vocabulary/predictors.py": ("Whether a model is right about a record depends on that record alone.", "vocabulary/test_predictors.py"),
    "vocabulary/recoding.py": ("An impossible value becomes another one, record by record.", "sources/test_codec.py"),
    "vocabulary/tally.py": ("A marginal is the sum of its records.", "vocabulary/test_tally.py"),
    "vocabulary/kinds/dates.py": ("The number of a date.", "vocabulary/test_kinds.py"),
    "vocabulary/kinds/hierarchies.py": ("The group of a code.", "sources/test_hierarchies.py"),
    "vocabulary/kinds/kind.py": ("What a kind of column has to say.", "vocabulary/test_kinds.py"),
    "vocabulary/kinds/listed.py": ("The code of a listed value.", "vocabulary/test_kinds.py"),
    "vocabulary/kinds/numbers.py": ("The number of a text.", "vocabulary/test_kinds.py"),
    "vocabulary/kinds/registry.py": ("Which kinds there are.", "vocabulary/test_kinds.py"),
    "vocabulary/kinds/scale.py": ("Numbers are compared exactly.", "vocabulary/test_kinds.py"),
    "vocabulary/kinds/times.py": ("The number of a time.", "vocabulary/test_kinds.py"),
    # the ledger
    "planning/unit_spec.py": ("Whose privacy an entry protects.", "store/test_ledger.py"),
    "store/ledger.py": ("A run is charged to its population before it reads.", "store/test_ledger.py"),
    "store/accounts.py": ("All charges of a population stay below its cap.", "store/test_ledger.py"),
    "store/chain.py": ("No entry is altered unseen.", "store/test_chain.py"),
    "store/head.py": ("The newest entry is known apart from the database.", "store/test_chain.py"),
    "store/database.py": ("A transaction is whole or is not; entries are only added.", "store/test_crashes.py"),
    "store/faults.py": ("Damage ends in a refusal.", "store/test_faults.py"),
    "store/home.py": ("All of this is in one directory.", "store/test_restoring.py"),
    "store/seals.py": ("An entry does not tell a table.", "store/test_restoring.py"),
    # what they stand on
    "foundation/documents.py": ("A path is one that may be opened.", "foundation/test_documents.py"),
    "foundation/errors.py": ("An error shows what is public, shortened.", "foundation/test_reasons.py"),
    "foundation/private_files.py": ("A file is written whole, and for its owner alone.", "store/test_crashes.py"),
    "foundation/reasons.py": ("A reason is a sentence.", "foundation/test_reasons.py"),
    "foundation/visible.py": ("A text is shown without what hides in it.", "foundation/test_reasons.py"),
}
"""File below dpsynth_core: what it carries, and the test below tests that tries to break it."""

DOORS: dict[str, str] = {
    "foundation/arrow_times.py": "the number of a day in Arrow's types, compared with Python's by the suite of kinds",
    "foundation/interrupts.py": "ends a run, and gives no answer",
    "foundation/processors.py": "how many processors there are",
    "foundation/wings.py": "names the wing, whose operations are counted below",
    "privacy/attacker.py": "what the guarantee means, in words",
    "sources/files.py": "a converter",
    "sources/formats.py": "how a table is written, as the curator states it",
    "sources/locations.py": "bytes of a file",
    "sources/packed.py": "bytes of a packed file",
    "sources/parts.py": "where a file is cut, for converters",
    "sources/readers.py": "a converter",
    "vocabulary/column.py": "a domain's document, which is public",
    "vocabulary/declared.py": "what a file declares of its columns; the curator decides",
    "vocabulary/filled.py": "columns that no record has a part in",
    "vocabulary/kinds/fillings.py": "the same",
    "vocabulary/zeros.py": "what the domain calls impossible, which is public: records that contradict it are counted where they are",
}
"""Other files that the base imports, each with the reason why it is not counted."""

BESIDE: dict[str, tuple[str, ...]] = {
    "Converters, from a file or an answer to records in order. A fault here can break the guarantee. `tests/sources/test_converters.py` "
    "asks each whether a record is the same row alone and in every table": (
        "sources/files.py", "sources/readers.py", "sources/formats.py", "sources/locations.py", "sources/packed.py",
        "sources/parts.py", "sources/held.py", "sources/codes.py", "sources/*_file.py", "sources/*_work.py",
        "sources/databases/*.py", "sources/dask_cluster.py", "foundation/confined.py",
    ),
    "The run, which builds the kernel and hands it to a mechanism. `tests/release/test_synthesis.py` and `tests/store` try to break it": (
        "planning/plan.py", "planning/spec.py", "release/synthesis.py", "release/journal.py", "release/transcript.py", "store/charging.py",
        "store/jobs.py",
    ),
    "The research wing's operations, trusted in a release of one of its mechanisms alone. `tests/research` tries to break them": (
        "research/privacy/**/*.py", "research/oracles/**/*.py", "research/vocabulary/**/*.py", "research/operations.py",
    ),
}  # fmt: skip
"""What must be right as well and is not part of the base: its files, without those that the base counts."""


def code_lines(path: Path) -> int:
    """Lines that hold code: no blank line, comment or docstring."""
    text = path.read_text(encoding="utf-8")
    held: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _IGNORED:
            held |= set(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        for inner in getattr(node, "body", []) if isinstance(getattr(node, "body", []), list) else []:
            if isinstance(inner, ast.Expr) and isinstance(inner.value, ast.Constant) and isinstance(inner.value.value, str):
                held -= set(range(inner.lineno, (inner.end_lineno or inner.lineno) + 1))
    return len(held)


def imported(path: Path) -> set[str]:
    """The files of the program that a file imports when it runs, below dpsynth_core; also from within functions."""
    found: set[str] = set()
    todo: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("dpsynth_core"):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            found |= {_file(name) or _file(str(node.module)) for name in names}
        elif isinstance(node, ast.Import):
            found |= {_file(alias.name) for alias in node.names if alias.name.startswith("dpsynth_core")}
        todo += ast.iter_child_nodes(node)
    return found - {""}


def _file(module: str) -> str:
    path = ROOT / f"{module.replace('.', '/')}.py"
    return path.relative_to(CORE).as_posix() if path.exists() and path.is_relative_to(CORE) else ""


def trespasses() -> list[str]:
    """Imports of the base that are on no list."""
    return [
        f"{file} imports {other}"
        for file in BASE
        for other in sorted(imported(CORE / file))
        if other not in BASE and other not in DOORS
    ]


def total() -> int:
    return sum(code_lines(CORE / file) for file in BASE)


def beside(patterns: tuple[str, ...]) -> int:
    """Lines of code of the files that are not in the base."""
    files = {path for pattern in patterns for path in CORE.glob(pattern) if path.relative_to(CORE).as_posix() not in BASE}
    return sum(map(code_lines, files))


def page() -> str:
    rows = [f"| `{file}` | {code_lines(CORE / file)} | {carried} | `tests/{test}` |" for file, (carried, test) in BASE.items()]
    doors = [f"| `{file}` | {reason} |" for file, reason in DOORS.items()]
    return "\n".join(
        [
            "# What must be right",
            "",
            f"Written by `{COMMAND}`. Trusted is a line that, if it is wrong, may break the guarantee although all tests of mechanisms",
            f"pass: {total():,} lines of code in {len(BASE)} files, besides Python, NumPy, Arrow, SQLite, sqlglot and OpenDP. What",
            "they rest on is in [proofs](proofs.md). A test holds the number, and that no file of the list imports one that is on neither",
            "list.",
            "",
            "| file | lines | what it carries | what tries to break it |",
            "| --- | --- | --- | --- |",
            *rows,
            "",
            "These must be right as well, and are counted apart:",
            "",
            *(f"- {what}: {beside(patterns):,} lines of code." for what, patterns in BESIDE.items()),
            "",
            "What the base imports beside its own files:",
            "",
            "| file | why it is not counted |",
            "| --- | --- |",
            *doors,
            "",
        ]
    )


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    sys.stdout.write(f"{total():,} lines of code to trust\n")
