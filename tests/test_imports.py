"""What the first moments of a command load, in modules and not in seconds: libraries come when a table is opened or a page is drawn, and
parts of the program when a plan asks for them. What charges a ledger comes when one is charged."""

from __future__ import annotations

import subprocess
import sys

import pytest

LOADS_NONE_OF = {
    "dpsynth_core.sources.registry": ("numpy", "pydantic"),
    "dpsynth_core.planning.spec": ("pyarrow", "pandas", "scipy.special", "sklearn", "streamlit", "opendp", "ortools"),
    "dpsynth_core.release.synthesis": (
        *("pandas", "sklearn", "streamlit", "ortools", "python_calamine", "pyreadstat", "pyarrow.dataset"),
        *("scipy.optimize", "scipy.sparse"),
        *("dpsynth_core.claims.criteria.registry", "dpsynth_core.claims.criteria.criterion", "dpsynth_core.claims.weighing"),
        *("dpsynth_core.claims.models.measuring", "dpsynth_core.claims.models.targets"),
    ),
    "dpsynth_core.interface.running": (
        *(f"dpsynth_core.store.{part}" for part in ("charging", "database", "jobs", "ledger", "signing")),
        *("dpsynth_core.bundle.signature", "dpsynth_core.release.recovery"),
    ),
    "dpsynth_core.store.charging": tuple(
        f"dpsynth_core.store.{part}" for part in ("approvals", "dispatch", "postgres", "remote_ledger", "rules")
    ),
}


@pytest.mark.parametrize("module", LOADS_NONE_OF)
def test_a_library_is_loaded_where_it_is_needed(module: str) -> None:
    program = f"import sys, {module}; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert set(LOADS_NONE_OF[module]) & set(loaded) == set()
