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
LIMIT = 3_623
"""Lines of code; it may only fall. It rose four times: for checkpoints of the ledger, without which each charge reads every earlier
entry; by 14 lines for people who are left out by their names, which only the reader of records can do for each record by itself; by 11
for the kernel's count of everybody where these people are left out, which must be of the same table and on the same budget; and by 2 for
errors that another process raises with their field and remedy, which say no more than before."""
_IGNORED = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}

BASE: dict[str, tuple[str, str]] = {
    # kernel, prices, noise, accountant
    "privacy/kernel.py": ("A question is charged before its operation sees a count.", "privacy/test_kernel.py"),
    "privacy/operation.py": ("What a question costs follows from public arguments alone.", "privacy/test_kernel.py"),
    "privacy/operations.py": ("Each operation moves by its stated sensitivity at most.", "privacy/test_sensitivity.py"),
    "privacy/registry.py": ("No operation answers that is not listed.", "extensions/test_extensions.py"),
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
    "privacy/noise.py": ("Noise has the stated distribution, drawn from the system's randomness.", "privacy/test_noise.py"),
    # whose a record is, its cells, its counts
    "sources/arrow.py": ("Counts are sums over records.", "sources/test_arrow.py"),
    "sources/arrays.py": ("A value has one text, whatever its type.", "sources/test_one_text.py"),
    "sources/characters.py": ("A text is rewritten by itself.", "sources/test_world.py"),
    "sources/clocks.py": ("A time is read by its own text.", "sources/test_times.py"),
    "sources/codec.py": ("A record's code depends on that record alone.", "sources/test_codec.py"),
    "sources/notation.py": ("A number or date is read by its own text.", "sources/test_notation.py"),
    "sources/persons.py": ("Whose a record is, and which of a person's records count.", "sources/test_arrow.py"),
    "sources/records.py": ("Each record is counted once, in each pass the same.", "sources/test_registry.py"),
    "sources/source.py": ("What the kernel may ask of a table.", "sources/test_registry.py"),
    "sources/times.py": ("A time is in the cell of its own value.", "sources/test_times.py"),
    "sources/values.py": ("Texts of a column are counted record by record.", "sources/test_values.py"),
    # how a table is written, and the two ways in whose container does not say what a record is
    "sources/default_format.py": ("No record has a part in how records are read.", "sources/test_default_format.py"),
    "sources/signatures.py": ("A container is told by its first bytes.", "sources/test_default_format.py"),
    "sources/csv_file.py": ("A line of a CSV file is a record, whatever it holds.", "sources/test_neighbours.py"),
    "sources/lines.py": ("Lines end where they end, whatever other lines hold.", "sources/test_neighbours.py"),
    # nouns that coding and counting use
    "vocabulary/hierarchy.py": ("In which group a code is.", "sources/test_hierarchies.py"),
    "vocabulary/groups.py": ("In which group a value is.", "vocabulary/test_groups.py"),
    "vocabulary/regrouping.py": ("A table over groups is a sum of one over values.", "vocabulary/test_groups.py"),
    "vocabulary/keys.py": ("A text has one key.", "sources/test_values.py"),
    "vocabulary/marginals.py": ("A smaller marginal is a sum of a larger one.", "vocabulary/test_marginals.py"),
    "vocabulary/predictors.py": ("Whether a model is right about a record depends on that record alone.", "vocabulary/test_predictors.py"),
    "vocabulary/tally.py": ("A marginal is the sum of its records.", "vocabulary/test_tally.py"),
    # the ledger
    "planning/unit_spec.py": ("Whose privacy an entry protects.", "store/test_ledger.py"),
    "store/ledger.py": ("A run is charged to its population before it reads.", "store/test_ledger.py"),
    "store/accounts.py": ("All charges of a population stay below its cap.", "store/test_ledger.py"),
    "store/chain.py": ("No entry is altered unseen.", "store/test_chain.py"),
    "store/ledger_books.py": ("What entries add up to.", "store/test_verified_books.py"),
    "store/verified_books.py": ("A charge knows all earlier ones.", "store/test_verified_books.py"),
    "store/ledger_head.py": ("The newest entry is known apart from the database.", "store/test_chain.py"),
    "store/database.py": ("A transaction is whole or is not; entries are only added.", "store/test_crashes.py"),
    "store/home.py": ("All of this is in one directory.", "store/test_restoring.py"),
    "store/sealed_fingerprints.py": ("An entry does not tell a table.", "store/test_restoring.py"),
    # what they stand on
    "foundation/errors.py": ("An error shows what is public, shortened.", "foundation/test_reasons.py"),
    "foundation/locks.py": ("One process at a time holds a file.", "foundation/test_locks.py"),
    "foundation/private_files.py": ("A file is written whole, and for its owner alone.", "store/test_crashes.py"),
}
"""File below dpsynth_core: what it carries, and the test below tests that tries to break it."""

PUBLIC = "public, and the same for neighbouring tables: "
DOORS: dict[str, str] = {
    "foundation/arrow_times.py": "the number of a day in Arrow's types, compared with Python's by the suite of kinds",
    "foundation/documents.py": "reads documents that the curator names, never the table",
    "foundation/interrupts.py": "ends a run, and gives no answer",
    "foundation/processors.py": "how many processors there are",
    "foundation/reasons.py": "whether a reason that a person gives is a sentence",
    "foundation/visible.py": "how a text is shown",
    "foundation/extension.py": "reads manifests; operations of extensions are counted below",
    "privacy/budget.py": "which budgets are usable; what they promise is decided elsewhere",
    "privacy/questions.py": "a digest of what was asked, for the transcript; it answers nothing",
    "sources/confined.py": "asks a container about itself, in a process with limits",
    "sources/file_kinds.py": "which kinds of files there are, with endings and magic numbers, in which no record takes part",
    "sources/formats.py": "how a table is written, as the curator states it, and what is so by default",
    "sources/headers.py": "which columns a table has, by its header",
    "sources/listed.py": f"{PUBLIC}how listed values are written in a column of a type",
    "sources/listing.py": "which files a table is, by their names",
    "sources/locations.py": "bytes of a file",
    "sources/opening.py": "opens a table with its converter",
    "sources/packed.py": "bytes of a packed file",
    "sources/parts.py": "where a file is cut, for converters",
    "sources/month_names.py": f"{PUBLIC}which month a name means",
    "sources/sampling.py": "records for the curator's own screen; no operation of the kernel asks for them",
    "sources/spelling.py": f"{PUBLIC}how numbers, dates and times are written; a text fits a pattern by itself",
    "store/connection.py": "what statements are asked by, and two that both databases know; sums are of entries, which are hashed",
    "store/faults.py": "why the disk or the database refused, in words; where it has none, the refusal stands",
    "store/population_names.py": "which names look the same, when a population is opened; a charge is found by its exact name",
    "store/remote_database.py": "which database, and PostgreSQL's in place of SQLite where an office says so, counted apart",
    "store/roles.py": "who may act; no sum depends on it, and a release states each cap",
    "store/times.py": "how long ago the last full check was; no sum depends on it",
    "store/tables.py": "the tables of projects and runs; no charge is in them",
    "store/upgrading.py": "copies the entries of an older version; their hashes and the head show what it would change",
    "vocabulary/attribute.py": f"{PUBLIC}a column as it is declared; the codec keeps codes within its cells",
    "vocabulary/blocks.py": f"{PUBLIC}which marginals are counted in one table",
    "vocabulary/domain.py": f"{PUBLIC}which columns there are, in which order",
    "vocabulary/grouped_domain.py": f"{PUBLIC}groups of values as columns",
    "vocabulary/kinds/kind.py": f"{PUBLIC}whether a kind of column has bins",
    "vocabulary/kinds/times.py": f"{PUBLIC}how long a precision lasts",
    "vocabulary/measurement.py": "what was released",
    "vocabulary/names.py": f"{PUBLIC}names of columns",
    "vocabulary/occupied.py": "counted with the research extension, whose operations alone ask for distinct records",
}
"""Other files that the base imports, each with the reason why it is not counted."""

BESIDE: dict[str, tuple[str, ...]] = {
    "Converters, from a file or an answer to records in order. A fault here can break the guarantee. `tests/sources/test_converters.py` "
    "asks each whether a record is the same row alone and in every table": (
        "sources/opening.py", "sources/files.py", "sources/readers.py", "sources/headers.py", "sources/formats.py", "sources/listing.py",
        "sources/file_kinds.py", "sources/locations.py", "sources/packed.py", "sources/parts.py", "sources/held.py",
        "sources/codes.py", "sources/arrow_types.py", "sources/*_file.py", "sources/*_work.py", "foundation/confined.py",
    ),
    "The run, which builds the kernel and hands it to a mechanism. `tests/release/test_synthesis.py` and `tests/store` try to break it": (
        "planning/plan.py", "planning/spec.py", "release/synthesis.py", "release/making.py", "release/journal.py", "release/transcript.py",
        "store/charging.py", "store/demands.py", "store/dispatch.py", "store/jobs.py",
    ),
    "Two linked tables as one, trusted in a release of two tables alone. `tests/sources/test_linked.py` tries to break it": (
        "sources/linked.py", "vocabulary/link.py",
    ),
    "Persons' rows in order, trusted in a release of such rows alone. `tests/extensions/sequences` tries to break it": (
        "extensions/sequences/source.py", "extensions/sequences/layout.py",
    ),
    "Events of persons' rows, trusted in a release of three tables alone. `tests/extensions/sequences/events` tries to break it": (
        "extensions/sequences/events/source.py", "extensions/sequences/events/layout.py",
    ),
    "PostgreSQL in place of SQLite, trusted where `DPSYNTH_DATABASE` names it. `tests/store` tries to break both": (
        "store/postgres.py", "store/remote_database.py",
    ),
    "Counting on a Dask cluster, trusted in a release that one counted. `tests/extensions/cluster` tries to break it": (
        "extensions/cluster/dask_cluster.py",
    ),
    "Tables of databases with sqlglot, trusted in a release of one alone: a query answers for each record by that record alone. "
    "`tests/extensions/databases` tries to break it": (
        *(f"extensions/databases/{part}.py" for part in ("address", "catalogue", "connect", "*_engine", "query", "statement")),
    ),
    "Files of SPSS, Stata, SAS, Excel and OpenDocument, trusted in a release of one alone. `tests/sources/test_converters.py` asks these "
    "converters too": (
        "extensions/survey_files/*_file.py",
    ),
    "The comparison of noise with what was charged, trusted where a release asks for it. "
    "`tests/extensions/noise_check` tries to break it": (
        "extensions/noise_check/operations.py", "extensions/noise_check/asking.py",
    ),
    "Right and wrong guesses, and cells with one record, trusted where a release asks for them. `tests/extensions/disclosure` tries to "
    "break them": (
        "extensions/disclosure/operations.py",
    ),
    "The coin by which people are left out, trusted where a release asks for it. `tests/extensions/holdout` tries to break it": (
        "extensions/holdout/coin.py",
    ),
    "Operations of the research extension, trusted where a release uses them. `tests/extensions/research` tries to break them": (
        *(f"extensions/research/{part}" for part in ("privacy/**/*.py", "oracles/**/*.py", "vocabulary/**/*.py", "operations.py")),
        "vocabulary/occupied.py",
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
            f"pass: {total():,} lines of code in {len(BASE)} files, besides Python, NumPy, Arrow, SQLite and OpenDP. What",
            "they rest on is in [proofs](proofs.md). A test holds the number, and that no file of the list imports one that is on neither",
            "list.",
            "",
            "What is public is the same for neighbouring tables, whatever it says: a domain, its kinds of columns, a workload, a",
            "plan. No record reaches the files that make it, as rooms import from rooms below alone. A wrong line there costs",
            "accuracy and never the guarantee. So the base takes nothing from them on trust: the codec keeps every code within the",
            "cells of its column, and refuses edges that do not rise, among which a search could depend on the number before.",
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
