"""More rows of a release, or rows of a group: from what was released, at no cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dpsynth_core.interface.release import Release
from dpsynth_core.release import sampling
from dpsynth_core.release.rows import whole
from dpsynth_core.report import asking
from dpsynth_core.report.asking import Cells


@dataclass(frozen=True, eq=False, repr=False)
class Sample:
    """rows: as the kind of table that the release has. errors: what is known of how far their tables are off, in a sentence."""

    rows: Any
    errors: str

    def __repr__(self) -> str:
        return f"{len(self.rows):,} more rows. {self.errors}"


def sample(release: Release, n: int, where: Cells | None = None, *, seed: int = 1) -> Sample:
    """Draw more rows of a release's model, of everybody or of a group. It costs nothing: the model follows from what was released.

    The first call for a release fits its model again, which takes as long as its run did.

    Parameters
    ----------
    release : one that has rows.
    n : how many rows.
    where : the group, as cells of columns such as ``{"sex": "f", "age": (20, 39)}``.
    seed : another one gives other rows. It protects nobody and need not be secret.

    Raises
    ------
    InputError
        For a release without rows, and for a group that the model has nobody in.

    Examples
    --------
    >>> import dpsynth_core as dps
    >>> plan = dps.plan("demo", {"sex": ["female", "male"]}, epsilon=1, tables=1, mechanism="independent")
    >>> more = dps.sample(plan.run(progress=False), 3, {"sex": "male"})
    >>> list(more.rows["sex"])
    ['male', 'male', 'male']
    """
    fitted = release.refitted
    domain = fitted.plan.domain
    cells = {name: [domain[name].cell_labels()[code] for code in codes] for name, codes in asking.codes(domain, where, "where").items()}
    drawn = sampling.sample(fitted, n, cells, seed)
    return Sample(release.back(whole(drawn.rows)), drawn.errors)
