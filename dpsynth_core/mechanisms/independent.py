"""Independent: measure every column on its own, an equal share of the budget each; the rows have no dependence between columns.

The baseline that every other mechanism has to beat, and the right choice when the budget is tiny. Reads the private table only through
the kernel.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from dpsynth_core.domain import Domain
from dpsynth_core.inference.estimation import estimate, estimate_total
from dpsynth_core.measurement import Measurement
from dpsynth_core.mechanisms.protocol import Event, Finished, Fitted, Forecast, Kernel, Measured, Parameter
from dpsynth_core.workload import Workload


class Independent:
    name: ClassVar[str] = "independent"
    title: ClassVar[str] = "Independent"
    summary: ClassVar[str] = "Gets every single column right and no dependence between columns. Fast; the baseline for the others."
    paper: ClassVar[str] = "Product of one-way marginals, the baseline of McKenna, Mullins, Sheldon, Miklau: AIM (VLDB 2022), section 6"
    privacy: ClassVar[str] = (
        "Measures one marginal per column with discrete Gaussian noise (rho = sensitivity^2 / (2 sigma^2) each); the costs add up under "
        "zero-concentrated differential privacy."
    )
    makes_rows: ClassVar[bool] = True
    parameters: ClassVar[Sequence[Parameter]] = ()

    def forecast(self, domain: Domain, workload: Workload, rho: float, settings: Mapping[str, Any]) -> Forecast:  # noqa: ARG002
        """Work grows with the number of cells of the one-way marginals only."""
        cells = sum(domain.sizes(domain.names))
        return Forecast(fits=True, seconds=1.0 + 3e-5 * cells, memory_mb=150.0 + 1e-4 * cells)

    def steps(self, kernel: Kernel, workload: Workload, settings: Mapping[str, Any]) -> Iterator[Event]:  # noqa: ARG002
        """One Measured event per column, one Fitted, then Finished."""
        columns = kernel.domain.names
        sigma = kernel.marginal_l2 * math.sqrt(len(columns) / (2 * kernel.rho_total))
        measurements: list[Measurement] = []
        for i, column in enumerate(columns, start=1):
            measurements.append(kernel.measure_marginal((column,), sigma))
            yield Measured(0, measurements[-1], kernel.rho_spent, i / (len(columns) + 1))
        total = kernel.measure_total(sigma) if kernel.total_is_public else estimate_total(measurements)
        model = estimate(kernel.domain, measurements, total)
        yield Fitted(0, "product of the one-way marginals", kernel.rho_spent, 1.0)
        yield Finished(model, model.total, {"sigma": sigma})
