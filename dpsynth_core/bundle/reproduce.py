"""Everything after the measurements, once more, from a bundle alone: the mechanism runs on the published answers and writes the rows again.

The code that runs is the code that made the release (`synthesis.carry_out`), over a kernel that repeats
its answers (`transcript.replaying`).
Rows, bounds and certificate come out the same to the last bit with the same versions of Python and the libraries on the same kind of
processor, unless a time limit ended a search for records, which another machine, or a busier one, would have ended elsewhere. With other
versions sums may be rounded differently: the fit then differs in its last digits, some rows in their values, and an adaptive
mechanism can even come to ask for something else than was answered, which is an error and not a release.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from dpsynth_core.bundle.unpack import DAMAGE, Bundle, plan_of
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.release import document as releases
from dpsynth_core.release import synthesis
from dpsynth_core.release.recovery import recover
from dpsynth_core.release.release import INTERRUPTED, Progress, Release
from dpsynth_core.release.spool import Kept
from dpsynth_core.release.transcript import check_paid


@dataclass(frozen=True, eq=False)
class Reproduction:
    """made: the release as it came out. different: which of rows, bounds and certificate are not as published; versions: which libraries
    are others here."""

    made: Release
    different: tuple[str, ...]
    versions: tuple[str, ...]

    @property
    def identical(self) -> bool:
        return not self.different


def reproduce(bundle: Bundle, on_event: Callable[[Progress], None] = lambda _: None, public: Path | None = None) -> Reproduction:
    """Run again. public: the public table, where the plan used one; no bundle contains it, and no file that a bundle names is opened.
    Raises InputError where it cannot be done."""
    plan = plan_of(bundle)
    spec = plan.spec
    if spec.public is not None:
        if public is None:
            raise InputError("--public", "the release used a public table, which no bundle contains", "name the file")
        if not public.is_file():
            raise InputError("--public", f"{str(public)!r} is no file", "name the public table that the release used")
        spec = spec.model_copy(update={"public": spec.public.model_copy(update={"path": str(public)})})
    try:
        published = releases.from_json(bundle.document)
    except InputError:
        raise
    except DAMAGE:
        raise InputError("bundle", f"its {releases.DOCUMENT} is damaged", "download it again") from None
    check_paid(plan.domain, plan.unit, published.transcript, published.charges)
    seed, answers = published.row_seed or 0, published.branded(INTERRUPTED)
    kept = Kept("", spec, published.private, seed, published.transcript, published.charges)
    made = replace(recover(kept, on_event, answers), ledger=published.ledger, created=published.created)
    here = synthesis.versions()
    others = sorted(name for name in here if here[name] != published.versions.get(name))
    return Reproduction(made, tuple(_different(bundle, published, made)), tuple(others))


def _different(bundle: Bundle, published: Release, made: Release) -> list[str]:
    rows = b"" if made.table is None else releases.csv_bytes(made.table)
    pairs = {
        "rows": (rows, bundle.files.get(releases.ROWS_CSV, b"")),
        "bounds": (made.bounds, published.bounds),
        "certificate": (made.certificate, published.certificate),
    }
    return [name for name, (ours, theirs) in pairs.items() if ours != theirs]
