"""The core works without the wing, and does not load it: everything that it knows of it, it finds by `foundation.wings`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from dpsynth_core.foundation import wings
from dpsynth_core.mechanisms import registry
from dpsynth_core.privacy.registry import everything
from tests.patience import SECONDS

ROOT = Path(__file__).resolve().parents[3]
ALONE = """
import pkgutil, sys
from importlib import import_module
from dpsynth_core.foundation import wings
wings.WINGS = ()
import dpsynth_core
rooms = [room.name for room in pkgutil.iter_modules(dpsynth_core.__path__, "dpsynth_core.") if room.name != "dpsynth_core.extensions"]
for room in (import_module(name) for name in rooms if not name.endswith("__main__")):
    for module in pkgutil.walk_packages(room.__path__, f"{room.__name__}."):
        import_module(module.name)
from dpsynth_core.mechanisms.registry import MECHANISMS, PURPOSES
from dpsynth_core.privacy.registry import everything
print(*MECHANISMS)
print(*everything())
print(sum(name.startswith("dpsynth_core.extensions.research") for name in sys.modules))
"""


@pytest.mark.slow  # loads the whole core in a fresh interpreter
def test_the_core_loads_without_the_wing_and_keeps_its_own_mechanisms_and_operations() -> None:
    done = subprocess.run([sys.executable, "-c", ALONE], cwd=ROOT, capture_output=True, text=True, timeout=SECONDS, check=True)
    mechanisms, operations, loaded = done.stdout.splitlines()[-3:]
    assert loaded == "0"
    assert mechanisms.split()[0] == "aim"
    assert set(mechanisms.split()) < set(registry.MECHANISMS)
    assert not {"rap", "learn", "mixture", "fem", "mwem"} & set(mechanisms.split())
    assert [name for name in operations.split() if everything()[name].event is None] == ["seed", "residual_l2"]
    assert len(operations.split()) == 15, "thirteen operations that are charged, and two that are free"


def test_every_wing_has_its_three_modules() -> None:
    for part, names in {"operations": (), "offers": ("OFFERS", "PUBLISHED"), "audits": ("CASES", "GUESSES")}.items():
        for module in wings.registered(part):
            assert all(hasattr(module, name) for name in names)
