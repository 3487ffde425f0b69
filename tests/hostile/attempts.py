"""A case: one command, made by a generator from a seed, and the exit codes that it may end with."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.hostile import people

DONE, FAILED, REFUSED = 0, 1, 2
ANY = frozenset({DONE, REFUSED})
"""For input that may be odd and usable; either way the rules of `trial` hold."""
BAD = frozenset({REFUSED})
GOOD = frozenset({DONE})


@dataclass(frozen=True)
class Attempt:
    """arguments: of the command line, which is run in the case's folder. codes: exit codes that are right. environment: set besides.

    charges: whether it is charged to a population. replays: whether it repeats what a run was answered, so that it can be some way on
    before it finds that something is wrong. meanwhile: what happens between the charge and the first record. seconds: of processor time
    that it may take.
    """

    arguments: tuple[str, ...]
    codes: frozenset[int] = ANY
    charges: bool = False
    replays: bool = False
    environment: Mapping[str, str] = field(default_factory=dict)
    meanwhile: Callable[[], None] | None = None
    seconds: float = 20.0


Generator = Callable[[random.Random, Path], Attempt]
"""Makes one case: writes its files into a folder with those of `people.write`, and says which command to run there. All randomness is the
first argument's."""

GROUPS: dict[str, list[Generator]] = {}
"""Generators by group, taken in turn."""


def of_group(group: str) -> Callable[[Generator], Generator]:
    """Register a generator."""

    def register(generator: Generator) -> Generator:
        GROUPS.setdefault(group, []).append(generator)
        return generator

    return register


@dataclass(frozen=True)
class Case:
    """The `number`-th case of a group under a seed: the same in every run."""

    group: str
    seed: int
    number: int

    @property
    def generator(self) -> Generator:
        generators = GROUPS[self.group]
        return generators[self.number % len(generators)]

    def make(self, place: Path) -> Attempt:
        rng = random.Random(f"{self.group}/{self.seed}/{self.number}")
        people.write(rng, place)
        return self.generator(rng, place)

    def __str__(self) -> str:
        again = f"python -m tests.hostile --group {self.group} --seed {self.seed} --only {self.number}"
        return f"{self.generator.__name__} ({again})"
