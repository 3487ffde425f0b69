"""release.json: the only code that writes a release to files, and the only code that reads one back.

`bundle` makes the published ZIP, and looks for curator-only values once more.
"""

from __future__ import annotations

import io
import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields
from datetime import date
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pcsv
import pyarrow.parquet as pq
from numpy.typing import NDArray

from dpsynth_core.claims.claim import Claim
from dpsynth_core.claims.registry import CLAIMS
from dpsynth_core.evaluation import naming
from dpsynth_core.evaluation.bounds import UNBOUNDED, Bound
from dpsynth_core.foundation import extension
from dpsynth_core.foundation.arrow_times import holds_times, readable
from dpsynth_core.foundation.content import Writer
from dpsynth_core.foundation.documents import FORMULA, inert
from dpsynth_core.foundation.errors import InputError, shown
from dpsynth_core.foundation.private_files import private_file
from dpsynth_core.foundation.reasons import is_one_paragraph
from dpsynth_core.planning.plan import Plan
from dpsynth_core.planning.spec import Spec
from dpsynth_core.privacy.accountant import Accountant
from dpsynth_core.privacy.events import Event
from dpsynth_core.privacy.registry import event_named
from dpsynth_core.release import tables
from dpsynth_core.release import transcript as transcripts
from dpsynth_core.release.about import About
from dpsynth_core.release.release import Brand, Progress, Release
from dpsynth_core.release.rows import HeldRows, Rows, StoredRows, in_groups
from dpsynth_core.statistics.distances import IN_WRONG_CELL
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.grouped_domain import measured_sizes
from dpsynth_core.vocabulary.groups import Groups
from dpsynth_core.vocabulary.inside import Inside
from dpsynth_core.vocabulary.measurement import Clique, Measurement
from dpsynth_core.vocabulary.rows import Repeated

if TYPE_CHECKING:
    import pandas as pd

FORMAT = 1
ROWS_CSV, ROWS_PARQUET, CODES, DOCUMENT = tables.FIRST, "synthetic.parquet", "codes.npy", "release.json"
ROW_FILES = (ROWS_CSV, ROWS_PARQUET)
ROW_FORMATS = ("csv", "parquet")
"""Of these files: what every bundle holds, whatever else is asked for."""
MEMBERS = f"{tables.MEMBERS}.parquet"
_SINCE, _LATER = "verdict", {"inside", "means"}
"""Parts of documents since 26 November 2026. Versions before lack the first one, or both later ones, and have others in another form."""


def to_json(release: Release) -> dict[str, Any]:
    """Return the content of release.json as JSON values: everything in the release except its rows.

    Raises:
        ValueError: A claim has a number that is not finite, so that it could not be read back.
    """
    spec, accountant = release.spec, release.plan.shares.accountant
    return {
        "format": FORMAT,
        "created": release.created,
        "private": release.private,
        "statement": release.statement,
        "brands": [asdict(brand) for brand in release.brands],
        "spec": spec.published(),
        "spec_sha256": spec.digest(),
        **({"domain": release.domain.to_json()} if release.plan.portions else {}),
        "budget": {
            "epsilon": spec.budget.epsilon,
            "delta": spec.budget.delta,
            "relation": spec.unit.relation,
            "max_rows_per_person": spec.unit.max_rows_per_person,
            "accountant": accountant.name,
            "rho": release.rho,
            "rho_spent": release.rho_spent,
        },
        "charges": [charge_json(event, accountant) for event in release.charges],
        "ledger": dict(release.ledger),
        "rows": {"count": release.rows, "policy": release.row_policy, "estimated_total": release.total, "seed": release.row_seed}
        | {"tables": 1 + len(release.further)}
        | ({} if release.members is None else {"members": release.members.num_rows, "records_each": release.plan.records_each}),
        **{
            claim.part: claim.to_json(release.plan, release.claims[claim.name])
            for claim in CLAIMS
            if claim.is_mentioned(spec.extensions)
        },
        "despite": release.despite if release.needs_reason else "",
        "verdict": named_tables(release),
        "bounds": [_bound_json(clique, bound) for clique, bound in release.bounds.items()],
        "inside": {name: one.to_json() for name, one in release.inside.items()},
        "measurements": [_measurement_json(m) for m in release.measurements],
        "transcript": transcripts.to_json(release.transcript, release.measurements),
        "history": [step.to_json() for step in release.history],
        "details": dict(release.details),
        "versions": dict(release.versions),
    }


def named_tables(release: Release) -> dict[str, Any]:
    """Return as JSON which tables of the workload are good enough, not good enough, or undecided.

    They are judged at the usual limit, a tenth of the people in a wrong cell (`evaluation.naming`).

    Returns:
        "limit", the share of people in a wrong cell up to which a table is good, and the lists "good",
        "poor" and "unknown", each table as a list of columns.
    """
    known = naming.spans(release.plan.workload.cliques, release.certificate, release.bounds)
    return naming.named(known, release.statements.silent).to_json()


def from_json(
    obj: Mapping[str, Any],
    codes: NDArray[np.integer] | Repeated | None = None,
    values: Rows | None = None,
    further: tuple[Rows, ...] = (),
    members: Rows | None = None,
) -> Release:
    """Return the release that `to_json` wrote, completed by its rows.

    Args:
        obj: Content of release.json.
        codes: Codes of the rows; None for a release without rows, or to leave them out.
        values: The rows as values.
        further: Further tables of rows, from number 2.
        members: Rows of the second of two linked tables.

    Raises:
        InputError: The spec is invalid, or a part of the document does not fit it.
        KeyError: A part of the document is missing.
        ValueError: The day, a noisy table or a claim cannot be read.
    """
    plan = plan_of(obj)
    measurements = tuple(_measurement(plan.domain, item) for item in obj["measurements"])
    return Release(
        plan=plan,
        codes=codes,
        values=values,
        further=further,
        members=members,
        total=obj["rows"]["estimated_total"],
        measurements=measurements,
        history=tuple(Progress.from_json(item) for item in obj["history"]),
        charges=tuple(map(charge_of, obj["charges"])),
        rho=obj["budget"]["rho"],
        rho_spent=obj["budget"]["rho_spent"],
        private=obj["private"],
        statement=obj["statement"],
        brands=tuple(Brand(**item) for item in obj["brands"]),
        row_policy=obj["rows"]["policy"],
        details=obj["details"],
        versions=obj["versions"],
        created=date.fromisoformat(obj["created"]).isoformat(),
        bounds={tuple(item["attributes"]): _bound(item) for item in obj["bounds"]},
        claims={claim.name: _stated(claim, plan, obj) for claim in CLAIMS},
        row_seed=obj["rows"]["seed"],
        transcript=transcripts.from_json(obj["transcript"], measurements),
        ledger=obj["ledger"],
        despite=_reason(obj["despite"]),
        inside=_inside(plan.domain, obj.get("inside", {})),  # documents from before there was such a part have none
        sealed=obj["spec_sha256"] if re.fullmatch("[0-9a-f]{64}", str(obj["spec_sha256"])) else "",
    )


def check_age(obj: Mapping[str, Any], field: str) -> None:
    """Check that a document is not of a version before 26 November 2026, which this one does not read.

    Such a document is not damaged. It states the same format, so it is recognised by parts that it
    lacks. A document that states no version passes.

    Args:
        obj: Content of release.json.
        field: The field of the error.

    Raises:
        InputError: The document is of such a version; the message names the version that it states.
    """
    stated = obj.get("versions")
    version = stated.get("dpsynth_core") if isinstance(stated, Mapping) else None
    if isinstance(version, str) and (_SINCE not in obj or _LATER.isdisjoint(obj)):
        problem = f"its {DOCUMENT} is of the version {shown(version)}, before 26 November 2026, which this one does not read"
        raise InputError(field, problem, "check and read it with that version; nothing here speaks against it")


def _inside(domain: Domain, written: Mapping[str, Any]) -> dict[str, Inside]:
    """Return by column the distribution of numbers within cells.

    Raises:
        InputError: An entry does not fit the cells of its column.
    """
    read = {name: Inside.from_json(item) for name, item in written.items()}
    for name, one in read.items():
        one.of(domain[name])
    return read


def _stated(claim: Claim[Any], plan: Plan, obj: Mapping[str, Any]) -> Any:
    """Return a claim's statement from a document.

    The claim's part is absent if the document's version did not know the claim; then the plan set
    no budget aside for it.
    """
    asked = claim.part in obj or plan.shares.of(claim.name) > 0
    return claim.from_json(plan, obj[claim.part]) if asked else claim.absent(plan)


def plan_of(obj: Mapping[str, Any]) -> Plan:
    """Return the plan that a document describes, with the values that its run learnt.

    Args:
        obj: Content of release.json.

    Raises:
        InputError: The spec is invalid, or the learnt values do not fit it.
        KeyError: The document lacks the spec, or the domain with learnt values.
    """
    plan = Plan.of(Spec.from_json(obj["spec"]))
    if not plan.portions:
        return plan
    domain = Domain.from_json(obj["domain"])
    same = (domain.names, domain.filled) == (plan.domain.names, plan.domain.filled) and all(
        released.size <= asked.size and released.kind == asked.kind if asked.most else released == asked
        for released, asked in zip(domain, plan.domain, strict=True)
    )
    if not same or domain.unknown:
        raise InputError("domain", "it is not one that the spec asks to learn", "the release is damaged")
    return plan.completed(domain.attributes)


def document(release: Release) -> bytes:
    """Return release.json as bytes, with one line for each measurement, charge and step, which may be thousands.

    Raises:
        ValueError: A number is not finite, or a claim could not be read back.
    """
    return written(to_json(release))


def written(obj: Mapping[str, Any]) -> bytes:
    """Return a document as bytes; one that this program wrote, and that was read, gives its own bytes again.

    Raises:
        ValueError: A number is not finite.
        TypeError: A value has a type that is neither JSON's nor NumPy's.
    """
    return (_lines(obj) + "\n").encode()


def csv_bytes(table: pa.Table) -> bytes:
    """Return a table as CSV in which a spreadsheet runs no text as a formula; times are written as texts."""
    return content_of(HeldRows(table), partial(write_csv, for_spreadsheets=True))


def frame_csv(frame: pd.DataFrame) -> bytes:
    """Return a frame, without its index, as CSV in which a spreadsheet runs no text as a formula; times are written as texts."""
    return csv_bytes(pa.Table.from_pandas(frame, preserve_index=False))


def with_readable_times(table: pa.Table) -> pa.Table:
    """Return a table with its timestamps, times and durations as texts; other columns are unchanged."""
    columns = [readable(column.combine_chunks()) if holds_times(column.type) else column for column in table.columns]
    return pa.table(columns, names=table.column_names)


def write_csv(rows: Rows, stream: BinaryIO, for_spreadsheets: bool = False) -> None:
    """Write the rows as UTF-8 CSV with one header, one batch after the other; the stream stays open.

    Timestamps, times and durations are written as texts.

    Args:
        rows: The rows.
        stream: The open file.
        for_spreadsheets: Whether texts that a spreadsheet would run as a formula (= + - @, tab, carriage return first) get a leading
            apostrophe. That changes values, so it is off where programs read the file.
    """
    for number, batch in enumerate(rows.batches()):
        table = with_readable_times(batch)
        if for_spreadsheets:
            texts = (pa.string(), pa.large_string())
            columns = [pc.replace_substring_regex(c, FORMULA, r"'\1") if c.type in texts else c for c in table.columns]
            table = pa.table(columns, names=[inert(name) for name in table.column_names])
        pcsv.write_csv(table, stream, pcsv.WriteOptions(include_header=number == 0))


def write_parquet(rows: Rows, domain: Domain, stream: BinaryIO, about: About) -> None:
    """Write the rows as Parquet, one row group after the other, with labels and a description.

    Args:
        rows: The rows.
        domain: The columns of the rows.
        stream: The open file.
        about: The description.
    """
    groups = in_groups(rows)
    first = next(groups)
    with pq.ParquetWriter(stream, about.described(first.schema, domain)) as writer:
        for group in chain((first,), groups):
            writer.write_table(group)


def content_of(rows: Rows, write: Callable[[Rows, BinaryIO], None]) -> bytes:
    """Return all that `write` writes of the rows, as bytes in memory."""
    out = io.BytesIO()
    write(rows, out)
    return out.getvalue()


def row_writers(release: Release) -> dict[str, Writer]:
    """Return, by file name, a function that writes one file of rows to an open stream; empty for a release without rows.

    The order is CSV and Parquet of the first table, members, further tables, and files of extensions.
    """
    if (values := release.values) is None:
        return {}
    writers: dict[str, Writer] = {ROWS_CSV: partial(write_csv, values), ROWS_PARQUET: partial(_write_kept, release, values)}
    if release.members is not None:
        writers[tables.MEMBERS] = partial(write_csv, release.members)
    writers |= {tables.name(number): partial(write_csv, rows) for number, rows in enumerate(release.further, start=2)}
    for one in extension.asked(release.spec.extensions):
        writers |= extension.load(one.row_files)(release) if one.row_files else {}
    return writers


def holds_rows(file: str) -> bool:
    """Return whether a file of a bundle, given by its name, holds rows: a table of rows or of members, or an extension's rows."""
    return file in ROW_FILES or tables.is_name(file)


def write_document(release: Release, directory: Path) -> None:
    """Write release.json into a directory, readable for its owner alone."""
    with private_file(directory / DOCUMENT) as stream:
        stream.write(document(release))


def save(release: Release, directory: Path) -> None:
    """Write a release to a directory, in files that `load` reads: release.json, exact codes, and rows as Parquet.

    Only their owner can read the files. A release without rows has release.json alone, which is always
    written last.

    Args:
        release: The release.
        directory: An existing, empty directory.
    """
    if release.codes is not None and release.values is not None:
        with private_file(directory / CODES) as stream:
            codes = release.codes.columns() if isinstance(release.codes, Repeated) else release.codes
            np.save(stream, codes, allow_pickle=False)
        with private_file(directory / ROWS_PARQUET) as stream:
            _write_kept(release, release.values, stream)
        for number, rows in enumerate(release.further, start=2):
            with private_file(directory / _kept(number)) as stream:
                _write_kept(release, rows, stream)
        if release.members is not None:
            with private_file(directory / MEMBERS) as stream:
                write_parquet(release.members, release.plan.member_domain, stream, release.about)
    write_document(release, directory)


def _write_kept(release: Release, rows: Rows, stream: BinaryIO) -> None:
    write_parquet(rows, release.plan.row_domain, stream, release.about)


def load(directory: Path) -> Release:
    """Return the release that `save` wrote; its codes and rows stay on disk until they are used.

    Raises:
        InputError: A version before 26 November 2026 wrote it, or a part of the document is invalid.
        OSError: The directory has no release.json, or a file cannot be read.
        ValueError: release.json is not JSON, or a number or date in it cannot be.
        KeyError: A part of the document is missing.
    """
    obj = json.loads((directory / DOCUMENT).read_bytes())
    check_age(obj, "release")
    if not (directory / CODES).exists():
        return from_json(obj)
    codes = np.load(directory / CODES, mmap_mode="r", allow_pickle=False)  # in memory where they are looked at
    further = tuple(StoredRows(directory / _kept(number)) for number in range(2, obj["rows"]["tables"] + 1))
    members = StoredRows(directory / MEMBERS) if (directory / MEMBERS).exists() else None
    held = codes if members is None else Repeated(codes[:, :-1], codes[:, -1])
    return from_json(obj, held, StoredRows(directory / ROWS_PARQUET), further, members)


def _kept(number: int) -> str:
    return f"{tables.name(number)}.parquet"


def plain(value: Any) -> Any:
    """Return a number or array of NumPy as plain Python values that JSON can hold.

    Raises:
        TypeError: The value is of any other type.
    """
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} has no place in a release")


def _lines(value: Any, depth: int = 1) -> str:
    """Return JSON with one line for each entry of an object and each element of a list.

    Elements of a list are written on one line, however deep; objects within objects are broken up.

    Args:
        value: The value.
        depth: Depth of its entries, by which their lines are indented.
    """
    write, line = json.JSONEncoder(allow_nan=False, default=plain).encode, "\n" + " " * depth
    if isinstance(value, dict) and value:
        return "{" + ",".join(f"{line}{write(key)}: {_lines(item, depth + 1)}" for key, item in value.items()) + line[:-1] + "}"
    if isinstance(value, list) and value:
        return "[" + ",".join(line + write(item) for item in value) + line[:-1] + "]"
    return write(value)


def _measurement_json(measurement: Measurement) -> dict[str, Any]:
    """Return a measurement as JSON, its values flat in C order.

    Values are integers if all are whole, which is shorter and exact.
    """
    whole = measurement.values.astype(np.int64)
    values = whole if np.array_equal(whole, measurement.values) else measurement.values
    more: dict[str, Any] = {} if measurement.spread is None else {"spread": measurement.spread}
    if measurement.rounding:
        more["rounding"] = measurement.rounding
    if measurement.groups:
        more["groups"] = [one.to_json() for one in measurement.groups]
    return {"attributes": list(measurement.clique), "sigma": measurement.sigma, **more, "values": values.ravel().tolist()}


def _measurement(domain: Domain, item: Mapping[str, Any]) -> Measurement:
    clique, groups = tuple(item["attributes"]), tuple(map(Groups.from_json, item.get("groups", ())))
    values = np.array(item["values"], dtype=np.float64).reshape(measured_sizes(domain, clique, groups))
    return Measurement(clique, values, item["sigma"], item.get("spread"), item.get("rounding", 0.0), groups)


def charge_json(event: Event, accountant: Accountant) -> dict[str, Any]:
    """Return a charge as JSON: the kind of event, the numbers that its cost is computed from, and the cost as rho.

    Readers can thus add up the costs themselves.

    Args:
        event: The charge.
        accountant: The accountant of the plan, in whose rho the cost is stated.
    """
    return {"operation": type(event).__name__, **asdict(cast(Any, event)), "rho": float(accountant.cost(event))}


def charge_of(item: Mapping[str, Any]) -> Event:
    """Return the event that `charge_json` wrote; the stated rho is ignored, because it follows from the event.

    Raises:
        InputError: The kind of event is unknown, or one of its numbers is missing or invalid.
    """
    kind = event_named(str(item.get("operation")))
    if kind is None:
        raise InputError("charges", f"{str(item.get('operation'))[:40]!r} is unknown", "use the version that made the release")
    try:
        return kind(**{field.name: item[field.name] for field in fields(cast(Any, kind)) if field.name in item})
    except (TypeError, ValueError, ArithmeticError):
        raise InputError("charges", f"a {kind.__name__} has numbers that cannot be", "the release is damaged") from None


def _bound_json(clique: Clique, bound: Bound) -> dict[str, Any]:
    """Return a clique's 95 % error bounds as JSON, as L1 distances of shares (0 to 2).

    "paper95" is AIM's bound, "bound95" the tight one; each holds by itself, and both are null if
    nothing bounds the clique.
    """
    paper, tight = (None if bound.support == UNBOUNDED else share / IN_WRONG_CELL for share in (bound.paper, bound.tight))
    return {"attributes": list(clique), "support": bound.support, "paper95": paper, "bound95": tight}


def _bound(item: Mapping[str, Any]) -> Bound:
    return Bound(item["support"], *(math.inf if item[name] is None else IN_WRONG_CELL * item[name] for name in ("paper95", "bound95")))


def _reason(text: object) -> str:
    if not isinstance(text, str) or not is_one_paragraph(text):
        problem = "it is too long, or has characters that are not seen" if isinstance(text, str) else "it is not a text"
        raise InputError("despite", problem, "the release is damaged")
    return text
