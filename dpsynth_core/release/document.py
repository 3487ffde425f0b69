"""A release: synthetic rows with everything that may be said about them, and the only code that turns one into files.

All fields are public or released by construction: they come from the spec and from the kernel's answers. No path of this machine is
kept, only the data file's base name. What is published of it as one file is made in `bundle`, which looks for curator-only values again.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pcsv
import pyarrow.parquet as pq
from numpy.typing import NDArray

from dpsynth_core.foundation.private_files import private_file
from dpsynth_core.privacy.accountant import ZCDP
from dpsynth_core.release import transcript as transcripts
from dpsynth_core.release.transcript import Answer
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique, Measurement

FORMAT = 1
ROWS_CSV, ROWS_PARQUET, CODES, DOCUMENT = "synthetic.csv", "synthetic.parquet", "codes.npy", "release.json"


@dataclass(frozen=True)
class Progress:
    """One line of a run's history; nothing in it but public and released values.

    kind: "phase" (message names it) | "measured" (attributes, sigma, spread and `measurement`) | "fitted" | "finished".
    done: fraction of the mechanism's work in [0, 1]. seconds: since the run began.
    """

    kind: str
    seconds: float
    round: int = 0
    attributes: Clique = ()
    sigma: float = 0.0
    rho_spent: float = 0.0
    done: float = 0.0
    message: str = ""
    spread: float | None = None
    measurement: Measurement | None = field(default=None, compare=False, repr=False)

    def to_json(self) -> dict[str, Any]:
        """Everything but the measurement's values."""
        return {name: value for name, value in vars(self).items() if name != "measurement"}

    @classmethod
    def from_json(cls, obj: Mapping[str, Any], measurement: Measurement | None = None) -> Progress:
        return cls(**{**obj, "attributes": tuple(obj["attributes"])}, measurement=measurement)


@dataclass(frozen=True)
class Brand:
    """Something a reader of the release must know before trusting it. sentence: complete, for people."""

    code: str
    sentence: str


@dataclass(frozen=True, eq=False)
class Release:
    """What a run ends with.

    spec: the sealed spec, its data path reduced to the base name. digest: its SHA-256, as in the ledger.
    codes: int32, shape (rows, columns of the domain); table: the same rows as real values. Both None for mechanisms that only answer.
    total: estimated number of records (exact only where it is public). charges: the kernel's events, each with its rho.
    statement: the guarantee in words. timings: wall seconds per phase. ledger: the reservation this was charged to, if any.
    bounds: a-priori error bounds of the workload's marginals, as `evaluation.bounds.to_json` gives them.
    certificate: the measured errors, as `evaluation.certificate.Certificate.to_json` gives them; None without one.
    accountant: name of what rho is counted in (`privacy.accountant`).
    row_seed: what the rows were drawn with, once the noisy answers were there; no noise depends on it. transcript: the kernel's answers in
    order, from which everything else follows. Both are missing in releases of the first days.
    """

    spec: Mapping[str, Any]
    digest: str
    domain: Domain
    codes: NDArray[np.int32] | None
    table: pa.Table | None
    total: float
    measurements: tuple[Measurement, ...]
    history: tuple[Progress, ...]
    charges: tuple[Mapping[str, Any], ...]
    rho: float
    rho_spent: float
    private: bool
    statement: str
    brands: tuple[Brand, ...]
    row_policy: str
    details: Mapping[str, Any]
    timings: Mapping[str, float]
    versions: Mapping[str, str]
    created: str
    ledger: Mapping[str, Any] = field(default_factory=dict)
    bounds: tuple[Mapping[str, Any], ...] = ()
    certificate: Mapping[str, Any] | None = None
    row_seed: int | None = None
    transcript: tuple[Answer, ...] = ()
    accountant: str = ZCDP.name

    @property
    def rows(self) -> int:
        return 0 if self.codes is None else len(self.codes)


def to_json(release: Release) -> dict[str, Any]:
    """The document release.json: all of the release but its rows."""
    return {
        "format": FORMAT,
        "created": release.created,
        "private": release.private,
        "statement": release.statement,
        "brands": [asdict(brand) for brand in release.brands],
        "spec": dict(release.spec),
        "spec_sha256": release.digest,
        "budget": {
            "epsilon": release.spec["budget"]["epsilon"],
            "delta": release.spec["budget"]["delta"],
            "relation": release.spec["unit"]["relation"],
            "max_rows_per_person": release.spec["unit"]["max_rows_per_person"],
            "accountant": release.accountant,
            "rho": release.rho,
            "rho_spent": release.rho_spent,
        },
        "charges": [dict(charge) for charge in release.charges],
        "ledger": dict(release.ledger),
        "rows": {"count": release.rows, "policy": release.row_policy, "estimated_total": release.total, "seed": release.row_seed},
        "certificate": None if release.certificate is None else dict(release.certificate),
        "bounds": [dict(bound) for bound in release.bounds],
        "measurements": [_measurement_json(m) for m in release.measurements],
        "transcript": transcripts.to_json(release.transcript, release.measurements),
        "history": [step.to_json() for step in release.history],
        "details": dict(release.details),
        "timings": dict(release.timings),
        "versions": dict(release.versions),
    }


def from_json(obj: Mapping[str, Any], codes: NDArray[np.int32] | None = None, table: pa.Table | None = None) -> Release:
    """The inverse of `to_json`, with the rows beside it."""
    domain = Domain.from_json(obj["spec"]["domain"])
    measurements = tuple(_measurement(domain, item) for item in obj["measurements"])
    return Release(
        spec=obj["spec"],
        digest=obj["spec_sha256"],
        domain=domain,
        codes=codes,
        table=table,
        total=obj["rows"]["estimated_total"],
        measurements=measurements,
        history=tuple(Progress.from_json(item) for item in obj["history"]),
        charges=tuple(obj["charges"]),
        rho=obj["budget"]["rho"],
        rho_spent=obj["budget"]["rho_spent"],
        private=obj["private"],
        statement=obj["statement"],
        brands=tuple(Brand(**item) for item in obj["brands"]),
        row_policy=obj["rows"]["policy"],
        details=obj["details"],
        timings=obj["timings"],
        versions=obj["versions"],
        created=obj["created"],
        ledger=obj["ledger"],
        bounds=tuple(obj.get("bounds", ())),
        certificate=obj.get("certificate"),
        row_seed=obj["rows"].get("seed"),
        transcript=transcripts.from_json(obj.get("transcript", ()), measurements),
        accountant=obj["budget"].get("accountant", ZCDP.name),
    )


def document(release: Release) -> bytes:
    """release.json as bytes: readable by people, but one line for each measurement, charge and step, of which there may be thousands."""
    return (_lines(to_json(release)) + "\n").encode()


def csv_bytes(table: pa.Table, for_spreadsheets: bool = False) -> bytes:
    """The rows as UTF-8 CSV with a header.

    for_spreadsheets: texts that a spreadsheet would run as a formula (= + - @, tab, carriage return first) get a leading apostrophe.
    That changes values, so it is off where programs read the file.
    """
    out = io.BytesIO()
    pcsv.write_csv(_without_formulas(table) if for_spreadsheets else table, out)
    return out.getvalue()


def parquet_bytes(table: pa.Table) -> bytes:
    """The rows as Parquet, types kept."""
    out = io.BytesIO()
    pq.write_table(table, out)
    return out.getvalue()


def files(release: Release) -> dict[str, bytes]:
    """What a release consists of outside this tool: synthetic.csv (unless answers only) and release.json."""
    rows = {} if release.table is None else {ROWS_CSV: csv_bytes(release.table)}
    return rows | {DOCUMENT: document(release)}


def write(release: Release, directory: Path) -> None:
    """Write `files` into an existing directory; each file appears whole or not at all, release.json last."""
    for name, content in files(release).items():
        _write_whole(directory / name, content)


def write_rows(release: Release, directory: Path) -> None:
    """Write the rows alone, as CSV and Parquet, into an existing directory; nothing for answers."""
    if release.table is not None:
        _write_whole(directory / ROWS_CSV, csv_bytes(release.table))
        _write_whole(directory / ROWS_PARQUET, parquet_bytes(release.table))


def save(release: Release, directory: Path) -> None:
    """Keep a release for `load`: exact codes and types instead of CSV. The directory exists and is empty."""
    if release.codes is not None and release.table is not None:
        buffer = io.BytesIO()
        np.save(buffer, release.codes, allow_pickle=False)
        _write_whole(directory / CODES, buffer.getvalue())
        _write_whole(directory / ROWS_PARQUET, parquet_bytes(release.table))
    _write_whole(directory / DOCUMENT, document(release))


def load(directory: Path) -> Release:
    """What `save` kept."""
    obj = json.loads((directory / DOCUMENT).read_bytes())
    if not (directory / CODES).exists():
        return from_json(obj)
    return from_json(obj, np.load(directory / CODES, allow_pickle=False), pq.read_table(directory / ROWS_PARQUET))


def plain(value: Any) -> Any:
    """Numbers and arrays of NumPy as JSON; anything else is refused."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} has no place in a release")


def _lines(value: Any, depth: int = 1) -> str:
    """JSON with one line for each entry of an object, at any depth, and for each element of a list."""
    write, line = json.JSONEncoder(allow_nan=False, default=plain).encode, "\n" + " " * depth
    if isinstance(value, dict) and value:
        return "{" + ",".join(f"{line}{write(key)}: {_lines(item, depth + 1)}" for key, item in value.items()) + line[:-1] + "}"
    if isinstance(value, list) and value:
        return "[" + ",".join(line + write(item) for item in value) + line[:-1] + "]"
    return write(value)


def _write_whole(path: Path, content: bytes) -> None:
    with private_file(path) as stream:
        stream.write(content)


def _numbers(values: NDArray[np.float64]) -> list[Any]:
    """Flat in C order; as integers where they all are, which is shorter and exact."""
    whole = values.astype(np.int64)
    return (whole if np.array_equal(whole, values) else values).ravel().tolist()


def _measurement_json(measurement: Measurement) -> dict[str, Any]:
    more = {} if measurement.spread is None else {"spread": measurement.spread}
    if measurement.rounding:
        more["rounding"] = measurement.rounding
    return {"attributes": list(measurement.clique), "sigma": measurement.sigma, **more, "values": _numbers(measurement.values)}


def _measurement(domain: Domain, item: Mapping[str, Any]) -> Measurement:
    clique = tuple(item["attributes"])
    values = np.array(item["values"], dtype=np.float64).reshape(domain.sizes(clique))
    return Measurement(clique, values, item["sigma"], item.get("spread"), item.get("rounding", 0.0))


def _without_formulas(table: pa.Table) -> pa.Table:
    columns = [_quoted(column) if _is_text(column.type) else column for column in table.columns]
    return pa.table(columns, names=list(_quoted_names(table.column_names)))


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _quoted(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.replace_substring_regex(column, r"\A([=+\-@\t\r])", r"'\1")


def _quoted_names(names: Iterable[str]) -> Iterable[str]:
    return (f"'{name}" if name.startswith(("=", "+", "-", "@", "\t", "\r")) else name for name in names)
