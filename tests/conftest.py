"""Which tests run (`tests.tiers`), and in which order: files with a browser come first, then those with slow tests.

Bytecode is kept even where the environment says otherwise: tests start the program hundreds of times, and compiling it takes a third of
each start.

Whoever runs out of tests takes some from the end of another's list: if the longest test were there, the others would wait for it.
"""

from __future__ import annotations

import gc
import os
import resource
import shutil
import sys
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import tiers

sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

MEMORY, ROOM = Path("/dev/shm"), 4 << 30
"""A file system in memory, and the bytes that must be free on it for all tests."""


NO_HOME = "/dev/null/a-test-names-a-home-of-its-own"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--tier", choices=sorted(tiers.EXAMPLES), default=None, help="the tests of a tier; without it all, as `test` has them")
    parser.addoption("--write-snapshots", action="store_true", help="write the texts of pages anew (tests/app/page_texts.py)")


def pytest_configure(config: pytest.Config) -> None:
    """No test may touch the projects and the ledger of whoever runs it: one that names no home fails.

    Folders of tests are in memory where they can be: every charge waits for the disk, and all tests make thousands.
    """
    tiers.begin(config.getoption("--tier") or "test")
    os.environ["DPSYNTH_HOME"] = NO_HOME
    os.environ.pop("DPSYNTH_DATABASE", None)
    if "TMPDIR" not in os.environ and MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > ROOM and not _is_closed(MEMORY):
        os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY)


def _is_closed(folder: Path) -> bool:
    """Whether nothing can be written there, or no program started."""
    return not os.access(folder, os.W_OK) or bool(os.statvfs(folder).f_flag & os.ST_NOEXEC)


def pytest_runtest_teardown() -> None:
    """A test that was a worker is kept to the memory of its run, the next one is not."""
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (hard, hard))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is loaded with the tests stays: nobody looks through it for garbage, neither meanwhile nor while they run."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Whole files, so that what the tests of a file share is made once; all tests with a browser share one, and a server.

    Those come before all others, so that one process has done them by the time others take from the end of its list: three browsers on
    two processors are ten times as slow as one.
    """
    browser, slow = ({item.path for item in items if item.get_closest_marker(name)} for name in ("browser", "slow"))
    items.sort(key=lambda item: (item.path not in browser, item.path not in slow))
    if (tier := config.getoption("--tier")) is not None:
        tests = [(item.location[0], item.name.partition("[")[0], item.get_closest_marker("browser") is not None) for item in items]
        chosen = tiers.of(tier, tests)
        config.hook.pytest_deselected(items=[item for item, kept in zip(items, chosen, strict=True) if not kept])
        items[:] = [item for item, kept in zip(items, chosen, strict=True) if kept]


@pytest.fixture(scope="module")
def bundle(release: Any) -> Any:
    """Of the release that a file of tests makes."""
    from tests import releases

    return releases.packed(release)


@pytest.fixture(scope="module")
def few_rounds() -> Iterator[None]:
    """Small models do."""
    from dpsynth_core.claims.models import training_time

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(training_time, "ROUNDS", 10)
        yield
