"""What extensions add to tests of the core: cases for tests that go through all mechanisms, operations or events.

A test of the core names no extension. It asks for a module that an extension may have below its own tests, and goes through what it finds:
`added("privacy.kernel_cases")` are the modules `tests.extensions.NAME.privacy.kernel_cases` of all extensions that are there.
"""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from types import ModuleType

from dpsynth_core.extensions import BUILT_IN

EXTENSIONS = Path(__file__).with_name("extensions")
PARTS = ("audit", "evidence", "programs", "survey_files", "tradeoffs")
"""Extensions for which others hold parts or tests, in folders of this name below their tests."""


def added(module: str) -> tuple[ModuleType, ...]:
    """The modules of this name, of the extensions that have one."""
    file = f"{module.replace('.', '/')}.py"
    return tuple(import_module(f"tests.extensions.{name}.{module}") for name in BUILT_IN if (EXTENSIONS / name / file).exists())


def listed(name: str) -> list[str]:
    """Mechanisms and operations of extensions that a test of the core has under this name, from the modules `lists`."""
    return [one for module in added("lists") for one in getattr(module, name, ())]


def is_gone(path: str) -> bool:
    """Whether this is a test of an extension that was deleted, or of another one's part for it, which documents may still name."""
    found = re.match(r"tests/extensions/(\w+)/(\w+)?", path)
    if found is None:
        return False
    extension, folder = found.groups()
    return extension not in BUILT_IN or (folder in PARTS and folder not in BUILT_IN)
