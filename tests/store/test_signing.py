"""The installation's key is made once, is nobody else's to read, and signs only what the ledger stands for."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from dpsynth_core.store import balance, chain, ledger, signing
from dpsynth_core.store.faults import BooksLost, StoreFault
from dpsynth_core.store.ledger import PlanDiffers
from dpsynth_core.store.restoring import restore
from tests.refusals import refused
from tests.store.test_chain import alter
from tests.store.test_ledger import give_back, reserve, touch
from tests.store.test_restoring import delete_database

PLAN = "digest"
"""Of every charge that `reserve` makes."""


def test_the_key_is_made_once_and_only_its_owner_can_read_it(home: Path) -> None:
    first = signing.public_key()
    assert signing.public_key() == first
    assert (home / signing.NAME).stat().st_mode & 0o777 == 0o600
    assert [path.name for path in home.iterdir()] == [signing.NAME]
    reserve("r1", 0.01)  # it is no trace of books that were lost


def test_processes_that_make_it_at_once_have_one(home: Path) -> None:
    home.mkdir()
    wait, go = os.pipe()
    said, say = os.pipe()
    children = []
    for _ in range(8):
        if (child := os.fork()) == 0:
            os.close(go)
            os.read(wait, 1)  # until it is closed: all begin at once
            os.write(say, signing.public_key().encode())
            os._exit(0)
        children.append(child)
    os.close(go)
    assert {os.waitpid(child, 0)[1] for child in children} == {0}
    assert os.read(said, 10_000).decode() == 8 * signing.public_key()
    for end in (wait, said, say):
        os.close(end)
    assert [path.name for path in home.iterdir()] == [signing.NAME]


def directory(path: Path) -> None:
    path.unlink()
    path.mkdir()


def link(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))
    path.symlink_to("elsewhere")


def dead_link(path: Path) -> None:
    path.unlink()
    path.symlink_to("nowhere")


def pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path, 0o600)


def cut_off(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:40])


def longer(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"\n")


def flipped(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[3] ^= 1
    path.write_bytes(content)


def empty(path: Path) -> None:
    path.write_bytes(b"")


def open_to_others(path: Path) -> None:
    path.chmod(0o644)


def written(path: Path) -> tuple[int, ...]:
    """What changes where a file is written or replaced; the time of access does not count, as reading changes it."""
    known = path.lstat()
    return known.st_ino, known.st_mode, known.st_size, known.st_mtime_ns, known.st_ctime_ns


@pytest.mark.parametrize(
    "spoil", [directory, link, dead_link, pipe, cut_off, longer, flipped, empty, open_to_others], ids=lambda spoil: spoil.__name__
)
def test_a_key_that_cannot_be_used_is_named_and_never_replaced(home: Path, spoil: Callable[[Path], None]) -> None:
    reserve("r1", 0.01)
    touch("r1")
    entry = cited("r1")
    signing.public_key()
    spoil(home / signing.NAME)
    before = written(home / signing.NAME)
    for use in (signing.public_key, signing.check, lambda: signing.signer(entry, PLAN)):
        refused(use, kind=StoreFault, saying=signing.NAME)
    assert written(home / signing.NAME) == before


def test_a_home_that_takes_no_file_is_named(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home.mkdir()

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "touch", refuse)
    refused(signing.public_key, kind=StoreFault, saying="cannot be written")
    assert list(home.iterdir()) == []


def cited(run: str) -> dict[str, object]:
    return balance.citation(run)


def test_only_what_the_ledger_stands_for_is_signed() -> None:
    reserve("r1", 0.01)
    assert signing.signer(cited("r1"), PLAN) is None, "its charge was not final when a record could be read"
    touch("r1")
    made = signing.signer(cited("r1"), PLAN)
    assert made is not None
    assert made.key == signing.public_key()
    assert made.sign(b"x") == made.sign(b"x")
    with pytest.raises(PlanDiffers, match="entry 2"):
        signing.signer(cited("r1"), "another")
    for change in ({"entry": 3}, {"hash": "0" * 64}, {"population": "others"}, {"entry": 1, "hash": chain.entries()[0].hash}):
        assert signing.signer(cited("r1") | change, PLAN) is None
    reserve("r2", 0.01)
    returned = cited("r2")
    give_back("r2")
    assert signing.signer(returned, PLAN) is None
    assert signing.signer({}, PLAN) is None


@pytest.mark.sqlite
def test_a_ledger_that_is_not_whole_signs_nothing_and_one_that_lost_the_entry_leaves_it_unsigned(home: Path) -> None:
    reserve("r1", 0.01)
    touch("r1")
    entry = cited("r1")
    alter(home, "UPDATE ledger SET rho = 0.001 WHERE number = 2")
    refused(signing.signer, entry, PLAN, kind=BooksLost)
    delete_database(home)
    restore("local", "the disk failed")
    assert signing.signer(entry, PLAN) is None


def test_the_plan_is_in_the_ledger_before_the_first_record_is_read() -> None:
    """Whoever charges: an entry whose digest is another one belongs to no run."""
    reserve("r1", 0.01)
    ledger.check_plan("r1", PLAN)
    with pytest.raises(PlanDiffers, match="entry 2"):
        ledger.check_plan("r1", "another")
    assert replace(chain.entries()[1], spec="another").digest() != chain.entries()[1].hash
