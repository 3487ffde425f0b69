"""The parts of a question to the kernel other than names of columns and numbers: arrays, predictors, a group of records.

These parts are public or released. Their digest accompanies each answer, so that an answer is never mistaken for one to another question
with the same names and numbers: a measured error, for one, belongs to the answers whose error it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from hashlib import sha256
from itertools import chain
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.privacy.scores import SUM_STEPS, Offered
from dpsynth_core.privacy.view import Integers
from dpsynth_core.vocabulary.domain import Domain

_AMONG, _ABOUT, _WEIGHTED = "among", "about", "weighted"
_TOGETHER = 256
"""Number of tables that are digested in one piece; most are small."""
_OFFERED: WeakKeyDictionary[Offered, str] = WeakKeyDictionary()


def numbers(values: Iterable[Any]) -> tuple[Any, ...]:
    """Return the column names and the numbers among the arguments of a call, in order.

    A name is a clique, a tuple of texts. A list of cliques counts as these cliques one by one;
    arguments of any other kind are left out.
    """
    each = chain.from_iterable(value if _are_names(value) else [value] for value in values)
    said = (value.item() if isinstance(value, np.number) else value for value in each)
    return tuple(value for value in said if is_name(value) or isinstance(value, int | float))


def digests(arguments: Iterable[Any]) -> tuple[tuple[str, ...], ...]:
    """Return a digest (SHA-256) of those arguments of a call that are neither names, nor numbers, nor None.

    Returns:
        A tuple with one further argument for the transcript, ("about", digest); empty if names and
        numbers identify the call.
    """
    said = int, float, np.number, type(None)
    given = [one for one in arguments if not (is_name(one) or _are_names(one) or isinstance(one, said))]
    return ((_ABOUT, digest(given)),) if given else ()


def parted(arguments: Sequence[Any]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Split the recorded arguments of a call after its last number.

    The names and numbers up to there are the question; what follows was appended to it: digests and
    groups. These are tuples of texts like names, so that only the last number shows the place.

    Returns:
        The question, and what was appended; without a number the question is empty.
    """
    last = max((place for place, one in enumerate(arguments) if not isinstance(one, tuple)), default=-1)
    return tuple(arguments[: last + 1]), tuple(arguments[last + 1 :])


def is_name(value: object) -> bool:
    """Return whether an argument is a tuple of texts: a clique, or a further argument made by this module."""
    return isinstance(value, tuple) and all(isinstance(part, str) for part in value)


def _are_names(value: object) -> bool:
    return isinstance(value, list) and all(map(is_name, value))


def is_about(argument: object) -> bool:
    """Return whether an argument is a digest made by `digests`.

    Such a digest is of arrays computed from earlier answers, which another machine may have rounded
    differently.
    """
    return isinstance(argument, tuple) and argument[:1] == (_ABOUT,)


def digest(value: object) -> str:
    """Return the SHA-256 of an array or a container of arrays: a mapping, a sequence or a public data class.

    Fractions in arrays count in steps of 1/SUM_STEPS, which is finer than the kernel's rounding.
    Objects without data, such as a solver, are left out.
    """
    hashed = sha256()
    _feed(hashed.update, value)
    return hashed.hexdigest()


def _feed(update: Callable[[bytes], object], value: object) -> None:
    if isinstance(value, np.ndarray):
        _feed_cells(update, value.astype(_stored(value)), value.dtype.kind)
    elif isinstance(value, Offered):  # its arrays cannot change: digested once for all draws
        if value not in _OFFERED:
            _OFFERED[value] = digest([value.cliques, value.tables, value.weights, value.offsets])
        update(_OFFERED[value].encode())
    elif isinstance(value, float | np.floating):
        update(f"{value:.9g};".encode())
    elif isinstance(value, Mapping):
        _feed_each(update, [value])
    elif isinstance(value, list | tuple) and value and all(isinstance(part, np.ndarray) for part in value):
        shapes = [part.shape for part in value]
        written = {shape: repr(shape) for shape in set(shapes)}
        update(f"[{', '.join([written[shape] for shape in shapes])}]".encode())
        for start in range(0, len(value), _TOGETHER):
            together = np.concatenate([part.ravel() for part in value[start : start + _TOGETHER]])
            _feed_cells(update, together.astype(_stored(together), copy=False), together.dtype.kind)
    elif isinstance(value, list | tuple) and value and all(type(part) is float for part in value):
        bits, places = np.unique(np.array(value).view(np.int64), return_inverse=True)  # few are different; no zero is taken for another
        texts = [f"{part:.9g};" for part in bits.view(np.float64).tolist()]
        update(f"[{len(value)}{''.join([texts[place] for place in places.tolist()])}".encode())
    elif isinstance(value, list | tuple):
        update(f"[{len(value)}".encode())
        _feed_each(update, value)
    elif is_dataclass(value) and not isinstance(value, Domain):  # the domain stands in the release
        _feed(update, [type(value).__name__, *(getattr(value, field.name) for field in fields(value))])
    elif value is None or isinstance(value, str | int | np.integer | np.bool_):
        update(f"{value!r};".encode() if isinstance(value, str) else f"{value};".encode())


def _feed_each(update: Callable[[Any], object], values: Sequence[Any]) -> None:
    """Add several values to a digest through `update`.

    The keys of mappings that follow each other and have the same keys are added once, as for the
    answers, weights and offsets of a selection.
    """
    keys, listed = list[Any](), b"[]"
    for value in values:
        if is_name(value):  # as `_feed` would, of many at once
            update(f"[{len(value)}{''.join([f'{part!r};' for part in value])}".encode())
            continue
        if not isinstance(value, Mapping):
            _feed(update, value)
            continue
        if (own := list(value)) != keys:
            keys, listed = own, repr(own).encode()
        update(listed)
        _feed(update, list(value.values()))


def _stored(cells: NDArray[Any]) -> str:
    return "<f8" if cells.dtype.kind == "f" else "<i8"


def _feed_cells(update: Callable[[Any], object], cells: NDArray[Any], kind: str) -> None:
    """Add the shape and numbers of an array to a digest, fractions rounded to steps of 1/SUM_STEPS.

    Args:
        update: Adds bytes to the digest.
        cells: A copy of the numbers in the type in which they are digested; it is changed.
        kind: NumPy's letter for the kind of the original numbers, "f" for fractions.
    """
    if kind == "f":
        cells *= SUM_STEPS
        np.rint(cells, out=cells)
        cells += 0.0  # no zero has a sign
    update(f"{kind}{cells.shape}".encode())
    update(cells.ravel())


def among(cells: Mapping[str, tuple[int, ...]]) -> tuple[str, ...]:
    """Return the last argument of a recorded call that was asked over part of the records.

    Args:
        cells: By column, the codes of which a record must have one.

    Returns:
        A tuple of texts: a tag, then each column with its codes, in the order of the names of columns.
    """
    return (_AMONG, *(f"{name}: {', '.join(map(str, cells[name]))}" for name in sorted(cells)))


def weighted(column: str, times: Integers) -> tuple[str, ...]:
    """Return the last argument of a recorded call that was asked over repeated records.

    Args:
        column: Name of the column whose code decides how often a record counts.
        times: How often a record counts, by code.

    Returns:
        A tag, the column, the largest number of times as text, and a digest of all numbers.
    """
    return (_WEIGHTED, column, str(times.max()), digest(times))


def most_times(argument: object) -> int:
    """Return how often a record counts at most in a recorded call, from an argument of `among` or `weighted`.

    Returns:
        The number, 1 or more; 0 for an argument of any other kind.

    Raises:
        ValueError: The argument of `weighted` is damaged, so that its number cannot be read.
        IndexError: The argument of `weighted` is too short to have a number.
    """
    if not isinstance(argument, tuple) or argument[:1] not in ((_AMONG,), (_WEIGHTED,)):
        return 0
    return 1 if argument[0] == _AMONG else max(1, int(argument[2]))
