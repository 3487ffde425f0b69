"""Marginals of a calibrated model for any set of attributes, inside one node of the tree or across many.

Across the tree there are two methods. Where a small separator S cuts the wanted attributes into A and B, p(A, B) is the sum over S of
p(A | S) p(B, S), two smaller queries. Otherwise attributes travel to the node where the query is answered as extra axes of the messages
on the way (engine notes: path messages). Inside a node, a query is summed down from a query with one more attribute, as long as that is
small. All queries on the same calibration share intermediate tables.

Where an attribute follows from another wanted one, as a group of values does from its value (`Structure.ties`), no table on the way has an
axis for it, which would multiply its cells by that attribute's values although most are empty.

A small domain has a third method, which needs no search for an order: the table of all its cells, summed down one attribute at a time.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Iterator
from typing import TypeAlias, TypeVar

import numpy as np

from dpsynth_core.inference.arithmetic import NUMBERS
from dpsynth_core.inference.contraction import Contractor, Labels, Table
from dpsynth_core.inference.growth import members
from dpsynth_core.inference.junction_tree import JunctionTree, bits, mask_of
from dpsynth_core.inference.structure import Calibration, Structure, Tie
from dpsynth_core.vocabulary.marginals import expand, project

Key = TypeVar("Key", int, tuple[int, int, int])
Message: TypeAlias = tuple[int, int, int]
"""An edge of the tree, from a node to another, with the attributes that the message keeps as axes."""
CUT_CELLS = 50_000
"""A separator is used as a cut when both queries that it leaves have at most this many cells."""
WHOLE_CELLS = 2**18
"""Largest table that is built as a step to smaller ones: of the whole domain, or of some attributes of a node."""
MOST_AXES = 32
"""Largest number of axes of an array."""
SMALLEST = 1e-200
"""Smallest sum of products of potentials that keeps all digits."""
MEMO_CELLS = 12_000_000
"""Intermediate tables of up to this many cells altogether are kept for other queries (96 MB); the oldest go first."""


class _Memo:
    """Tables and their axes by key, the oldest dropped when they hold more than MEMO_CELLS together."""

    def __init__(self) -> None:
        self._tables: dict[tuple[int, ...], tuple[Table, Labels]] = {}
        self._cells = 0

    def __contains__(self, key: tuple[int, ...]) -> bool:
        return key in self._tables

    def get(self, key: tuple[int, ...], make: Callable[[], tuple[Table, Labels]]) -> tuple[Table, Labels]:
        entry = self._tables.get(key)
        if entry is None:
            entry = make()
            self._cells += entry[0].size
            while self._cells > MEMO_CELLS and self._tables:
                self._cells -= self._tables.pop(next(iter(self._tables)))[0].size
            self._tables[key] = entry
        return entry


class Queries:
    """Marginals of one calibrated model over any attributes, as probabilities (they sum to one).

    Sets of attributes are bit masks in private methods, such as `wanted`, `extra` and `behind`.

    Args:
        structure: The structure of the model.
        calibration: Its clique marginals and messages.
        contractor: Cache of plans for contractions.
    """

    def __init__(self, structure: Structure, calibration: Calibration, contractor: Contractor) -> None:
        self._structure = structure
        self._calibration = calibration
        self._arithmetic = calibration.arithmetic
        self._contract = contractor
        self._factors: list[list[int]] = [[] for _ in structure.tree.nodes]
        for i, node in enumerate(structure.node_of):
            self._factors[node].append(i)
        self._neighbours = [
            [*structure.children[u], *([structure.tree.parent[u]] if structure.tree.parent[u] >= 0 else [])]
            for u in range(len(structure.tree.nodes))
        ]
        self._memo = _Memo()
        self._ties = [(1 << tie.tied, 1 << tie.by, tie) for tie in structure.ties]
        self._masks = [mask_of(c) for c in structure.cliques]
        # not functools.cache, which would keep every calibration in memory
        self._works: dict[tuple[int, int, int], float] = {}
        self._plans: dict[tuple[int, int, int], tuple[float, Labels]] = {}
        self._divided: dict[int, tuple[int, int] | None] = {}
        sides = _sides(structure.tree)
        self._cuts = list(dict.fromkeys((self._separator(*edge), behind) for edge, behind in sides.items()))
        self._unsent = {edge: behind | self._summed_out(*edge) for edge, behind in sides.items()}
        self._lay_out()

    def marginal(self, labels: Labels) -> Table:
        """Return the probabilities over attributes `labels` (ascending indices from 0), one axis each; they sum to 1.

        The result must not be changed: it may be a table of the model, a cached table or a view of either.
        """
        return self._table(mask_of(labels))

    def work(self, labels: Labels) -> float:
        """Return the number of multiplications that `marginal` takes when no other query has been answered yet.

        It is 0 if a table that exists already only has to be summed.

        Args:
            labels: Ascending indices of attributes, from 0.
        """
        return self._work(mask_of(labels))

    def inside(self, node: int, labels: Labels) -> Table:
        """Return the probabilities over attributes of one node of the junction tree.

        Args:
            node: Index of the node.
            labels: Ascending indices of attributes, all in the node.
        """
        wanted = mask_of(labels)
        if (free := self._free(wanted, wanted)) != wanted:
            return self._with_tied(free, wanted)
        return self._arithmetic.shares(self._contract(*self._gather(node, None, wanted), labels, self._arithmetic))

    def _table(self, wanted: int) -> Table:
        for mask, clique, marginal in zip(self._masks, self._structure.cliques, self._calibration.marginals, strict=True):
            if wanted & mask == wanted:
                return project(marginal, clique, tuple(bits(wanted)))
        if self._sums:
            return self._summed(wanted)
        if (free := self._free(wanted, wanted)) != wanted:
            return self._with_tied(free, wanted)
        cut = self._cheapest_cut(wanted)
        if cut is not None:
            return self._across(wanted, *cut)
        return self._from(self._best_node(wanted), wanted)

    def _from(self, node: int, wanted: int) -> Table:
        """Return the probabilities over the wanted attributes, computed at one node of the tree.

        If the table with one more attribute is small, it is computed, cached and summed instead,
        because many queries share it.
        """
        telling = mask_of(tie.by for tie in self._structure.ties if wanted >> tie.tied & 1)  # which would leave out what is wanted
        missing = self._free(self._structure.tree.nodes[node] | wanted, wanted) & ~wanted & ~telling
        more = wanted | (missing & -missing)
        if missing and self._structure.program_cells(more) <= WHOLE_CELLS:
            return project(*self._memo.get((-1, node, more), lambda: (self._from(node, more), tuple(bits(more)))), tuple(bits(wanted)))
        return self._arithmetic.shares(self._contract(*self._gather(node, None, wanted), tuple(bits(wanted)), self._arithmetic))

    @functools.cached_property
    def _sums(self) -> dict[int, Table]:
        """Probabilities of all cells of the whole domain by mask, to which `_summed` adds its results.

        It is empty if the domain is too large (`WHOLE_CELLS`) or its numbers would underflow.
        """
        sizes = self._structure.sizes
        if len(sizes) > MOST_AXES or math.prod(sizes) > WHOLE_CELLS:
            return {}
        whole = np.full(sizes, self._arithmetic.one)
        for potential, labels in zip(self._calibration.potentials, self._structure.cliques, strict=True):
            self._arithmetic.times(whole, expand(potential, labels, range(len(sizes))), whole)
        if self._arithmetic is NUMBERS and not whole.sum() > SMALLEST:
            return {}
        return {(1 << len(sizes)) - 1: self._arithmetic.shares(whole)}

    def _summed(self, wanted: int) -> Table:
        """Return the wanted marginal by summing the table of the whole domain.

        Attributes are summed out from the last to the first, so that many queries share
        intermediate tables.
        """
        table = self._sums.get(wanted)
        if table is None:
            lowest = ~wanted & (wanted + 1)  # the first attribute to be summed out: those before it are wanted, and so are axes
            table = self._sums[wanted] = self._summed(wanted | lowest).sum(axis=lowest.bit_length() - 1)
        return table

    def _best_node(self, wanted: int) -> int:
        least = [float(self._cells(node | wanted, wanted)) for node in self._structure.tree.nodes]  # without any message
        best = (math.inf, -1)
        for node in sorted(range(len(least)), key=least.__getitem__):
            if least[node] > best[0]:
                break
            arriving = sum(self._message_work(*message) for message in self._arriving(node, None, wanted))
            best = min(best, (least[node] + arriving, node))
        return best[1]

    def _message_work(self, source: int, target: int, extra: int) -> float:
        """Return the cells to compute for a message that carries extra attributes, as a measure of its work.

        The extended messages that it needs are included; 0 if it needs no extra attribute or is
        cached.

        Args:
            source: Node that sends the message.
            target: Node that receives it.
            extra: Attributes that the message carries beyond its usual ones.
        """
        key = source, target, extra
        if not extra or key in self._memo:
            return 0.0
        if key not in self._works:
            self._along(key, lambda other: other in self._memo or other in self._works, self._weigh)
        return self._works[key]

    def _weigh(self, message: Message) -> None:
        source, _, extra = message
        own = float(self._cells(self._structure.tree.nodes[source] | extra, extra))
        self._works[message] = own + sum(self._message_work(*other) for other in self._arriving(*message))

    def _work(self, wanted: int) -> float:
        work, waiting = 0.0, [wanted]
        while waiting:
            part = waiting.pop()
            part = self._free(part, part)
            if self._at_hand(part):
                continue
            if (cut := self._cheapest_cut(part)) is not None:
                waiting += self._divide(part, *cut)
            else:
                work += self._planned(self._best_node(part), None, part, frozenset(bits(part)))[0]
        return work

    def _at_hand(self, wanted: int) -> bool:
        """Return whether `_table` only has to sum a table that exists already."""
        return bool(self._sums) or any(wanted & mask == wanted for mask in self._masks)

    def _planned(self, node: int, towards: int | None, wanted: int, keep: frozenset[int]) -> tuple[float, Labels]:
        """Return the work and the axes of a contraction at a node, without computing it.

        Args:
            node: The node.
            towards: Neighbour whose message is left out; None for no neighbour.
            wanted: Attributes that messages carry to the node.
            keep: Attributes of the result.

        Returns:
            The multiplications of `_gather` and the contraction, messages included, and the labels
            of the result.
        """
        labels, work = [self._structure.cliques[i] for i in self._factors[node]], 0.0
        for message in self._arriving(node, towards, wanted):
            flops, axes = self._message_planned(*message)
            labels.append(axes)
            work += flops
        for tie in self._ties_of(functools.reduce(operator.or_, map(mask_of, labels)), wanted):
            labels = [_renamed(axes, tie) for axes in labels]
        program, slot = self._contract.plan(labels, keep)
        return work + program.flops, program.labels[slot]

    def _message_planned(self, source: int, target: int, extra: int) -> tuple[float, Labels]:
        if not extra:
            return 0.0, self._structure.message_labels(self._lower(source, target))
        key = source, target, extra
        if key not in self._plans:
            self._along(key, self._plans.__contains__, self._plan)
        return self._plans[key]

    def _plan(self, message: Message) -> None:
        self._plans[message] = self._planned(*message, self._kept_axes(*message))

    def _cheapest_cut(self, wanted: int) -> tuple[int, int] | None:
        """Return the cut that divides the wanted attributes most cheaply, or None if none is within `CUT_CELLS`.

        Returns:
            The mask of the separator, and the mask of the wanted attributes behind it. The result
            is cached.
        """
        if wanted not in self._divided:
            self._divided[wanted] = self._cut(wanted)
        return self._divided[wanted]

    def _cut(self, wanted: int) -> tuple[int, int] | None:
        among = list(bits(wanted))
        behind, shared = self._behind_cuts[among], self._in_separators[among]
        sizes = np.array([self._structure.sizes[a] for a in among], float)[:, None]
        near, far = (np.where(left_out, 1.0, sizes).prod(0) for left_out in (behind | shared, ~behind))
        for a, there in zip(among, behind, strict=True):
            if (fewer := self._fewer.get(a)) is not None:
                near, far = near / np.where(there, 1.0, fewer), far / np.where(there, fewer, 1.0)
        cells = np.where(behind.any(0) & ~(behind | shared).all(0), np.rint(self._separator_cells * np.maximum(near, far)), math.inf)
        best = int(cells.argmin()) if len(cells) else -1
        if best < 0 or cells[best] > CUT_CELLS:
            return None
        separator, side = self._cuts[best]
        return separator, wanted & side

    def _lay_out(self) -> None:
        """Prepare the arrays with which `_cut` compares all separators of the tree at once.

        They have the shape (attributes, cuts), or (cuts,) for cells. `_fewer` holds, by attribute,
        the factor by which a separator has fewer cells if that attribute is wanted, because other
        attributes follow from it.
        """
        count = len(self._structure.sizes)
        separators, behind = ([cut[side] for cut in self._cuts] for side in (0, 1))
        self._in_separators, self._behind_cuts = members(separators, count).T, members(behind, count).T
        self._separator_cells = np.array([self._structure.program_cells(separator) for separator in separators], float)
        self._fewer: dict[int, Table] = {}
        for tie in self._structure.ties:
            fewer = self._fewer.setdefault(tie.by, np.ones(len(self._cuts)))
            fewer[self._in_separators[tie.tied]] *= self._structure.sizes[tie.tied]

    def _across(self, wanted: int, separator: int, behind: int) -> Table:
        """Return the wanted marginal across a cut: the sum over S of p(behind | S) * p(other wanted, S).

        Args:
            wanted: The wanted attributes.
            separator: The attributes S.
            behind: The wanted attributes behind S.
        """
        near, near_axes = self._kept(self._divide(wanted, separator, behind)[0])
        conditional, far_axes = self._memo.get((separator, behind), lambda: self._conditional(separator, behind))
        return self._contract(*self._without_tied([near, conditional], [near_axes, far_axes], wanted), tuple(bits(wanted)))

    def _divide(self, wanted: int, separator: int, behind: int) -> tuple[int, int]:
        """Return the two marginals, as masks, from which `_across` computes the wanted one."""
        return self._free((wanted & ~behind) | separator, wanted), self._free(behind | separator, behind)

    def _conditional(self, separator: int, behind: int) -> tuple[Table, Labels]:
        """Return p(behind | S) for the separator S, and the labels of its axes."""
        joint, axes = self._kept(self._free(behind | separator, behind))
        weight, shared = self._kept(separator)
        for tie in self._ties_of(behind | separator, behind):
            weight, shared = _replaced(weight, shared, tie), _renamed(shared, tie)
        weight = expand(weight, shared, axes)
        return np.divide(joint, weight, out=np.zeros_like(joint), where=weight > 0), axes

    def _kept(self, wanted: int) -> tuple[Table, Labels]:
        if (wanted,) not in self._memo:
            _parts_first(wanted, self._unkept, self._keep)
        return self._keep(wanted)

    def _keep(self, wanted: int) -> tuple[Table, Labels]:
        return self._memo.get((wanted,), lambda: (self._table(wanted), tuple(bits(wanted))))

    def _unkept(self, wanted: int) -> Iterator[int]:
        """Yield the queries, as masks, that `_table` needs as intermediate results and that are not cached."""
        parts: tuple[int, ...] = ()
        if self._at_hand(wanted):
            return
        if (free := self._free(wanted, wanted)) != wanted:
            parts = (free,)
        elif (cut := self._cheapest_cut(wanted)) is not None:
            near, far = self._divide(wanted, *cut)
            parts = (near,) if cut in self._memo else (near, far, cut[0])
        yield from (part for part in parts if (part,) not in self._memo)

    def _separator(self, one: int, other: int) -> int:
        return self._structure.tree.nodes[one] & self._structure.tree.nodes[other]

    def _summed_out(self, source: int, target: int) -> int:
        """Return the separator's attributes that a message away from the root has summed out.

        No clique behind the target contains them, but a query may ask for them.
        """
        lower = self._lower(source, target)
        return self._separator(source, target) & ~mask_of(self._structure.message_labels(lower)) if lower == target else 0

    def _gather(self, node: int, towards: int | None, wanted: int) -> tuple[list[Table], list[Labels]]:
        """Return the tables whose product at a node is contracted, and the labels of each.

        They are the node's potentials and the messages into it, with the wanted attributes as axes. If
        a wanted attribute determines other attributes (`Tie`), it takes their place in the labels.

        Args:
            node: The node.
            towards: Neighbour whose message is left out; None for no neighbour.
            wanted: Attributes that messages carry to the node.
        """
        tables = [self._calibration.potentials[i] for i in self._factors[node]]
        labels = [self._structure.cliques[i] for i in self._factors[node]]
        for message in self._arriving(node, towards, wanted):
            table, axes = self._message(*message)
            tables.append(table)
            labels.append(axes)
        return self._without_tied(tables, labels, wanted)

    def _ties_of(self, attributes: int, known: int) -> Iterator[Tie]:
        """Yield the ties by which an attribute of the set follows from a known attribute of the set.

        Both arguments are masks; an attribute that follows from another one is itself no longer in
        the set.
        """
        for tied, by, tie in self._ties:
            if attributes & tied and attributes & known & by:
                attributes &= ~tied
                yield tie

    def _free(self, attributes: int, known: int) -> int:
        """Return the set of attributes without those that follow from known attributes in it. Sets are masks."""
        for tie in self._ties_of(attributes, known):
            attributes &= ~(1 << tie.tied)
        return attributes

    def _cells(self, attributes: int, known: int) -> int:
        return self._structure.program_cells(self._free(attributes, known))

    def _without_tied(self, tables: list[Table], labels: list[Labels], known: int) -> tuple[list[Table], list[Labels]]:
        """Return tables and their labels, in which a known attribute replaces each attribute that follows from it."""
        for tie in self._ties_of(functools.reduce(operator.or_, map(mask_of, labels)), known):
            tables = [_replaced(table, axes, tie) for table, axes in zip(tables, labels, strict=True)]
            labels = [_renamed(axes, tie) for axes in labels]
        return tables, labels

    def _with_tied(self, free: int, wanted: int) -> Table:
        """Return the wanted marginal from the marginal of its free attributes.

        Every other wanted attribute follows from these, so that cells with another value are 0.
        """
        table, axes = self._kept(free)
        for tie in reversed(list(self._ties_of(wanted, wanted))):
            told = np.arange(self._structure.sizes[tie.tied]) == tie.places[:, None]
            table, axes = expand(table, axes, (*axes, tie.tied)) * expand(told, (tie.by, tie.tied), (*axes, tie.tied)), (*axes, tie.tied)
        return project(table, axes, tuple(bits(wanted)))

    def _message(self, source: int, target: int, extra: int) -> tuple[Table, Labels]:
        """Return the message from a node to its neighbour with `extra` attributes as axes, and its labels.

        The extra attributes lie behind the edge, or in the separator, where the usual message may
        have summed them out (`_summed_out`).
        """
        if not extra:
            node = self._lower(source, target)
            side = self._calibration.inward if node == source else self._calibration.outward
            return side[node], self._structure.message_labels(node)
        if (source, target, extra) not in self._memo:
            self._along((source, target, extra), self._memo.__contains__, self._send)
        return self._send((source, target, extra))

    def _send(self, message: Message) -> tuple[Table, Labels]:
        return self._memo.get(message, lambda: self._extended(*message))

    def _arriving(self, node: int, towards: int | None, wanted: int) -> Iterator[Message]:
        """Yield the messages into a node that a query for `wanted` needs, except the one from `towards`.

        Each is (source, target, extra), whose mask `extra` holds the wanted attributes that it has
        to carry.
        """
        return ((other, node, wanted & self._unsent[other, node]) for other in self._neighbours[node] if other != towards)

    def _along(self, message: Message, done: Callable[[Message], bool], make: Callable[[Message], object]) -> None:
        """Make a message with `make`, after all extended messages that it depends on and that are not `done`."""
        _parts_first(message, lambda one: (other for other in self._arriving(*one) if other[2] and not done(other)), make)

    def _lower(self, source: int, target: int) -> int:
        return source if self._structure.tree.parent[source] == target else target

    def _kept_axes(self, source: int, target: int, extra: int) -> frozenset[int]:
        return frozenset(bits(self._free(self._separator(source, target) | extra, extra)))

    def _extended(self, source: int, target: int, extra: int) -> tuple[Table, Labels]:
        """Return the message with `extra` attributes as axes, scaled to a maximum of 1, and its labels.

        Axes stay in the order of the sum, because reordering would cost as much as the sum.
        """
        tables, axes = self._gather(source, target, extra)
        table, labels = self._contract.summed(tables, axes, self._kept_axes(source, target, extra), self._arithmetic)
        return self._arithmetic.levelled(table), labels


def _parts_first(whole: Key, parts: Callable[[Key], Iterator[Key]], make: Callable[[Key], object]) -> None:
    """Call `make` for the parts of a whole, recursively, before the whole itself.

    It does not use recursion, because a tree may be deeper than Python's call stack.

    Args:
        whole: Key of the whole.
        parts: Yields the keys of the parts of a key that have to be made first.
        make: Makes one key. A part that a memo drops meanwhile is made once more by its user.
    """
    path = [(whole, parts(whole))]
    while path:
        if (part := next(path[-1][1], None)) is None:
            make(path.pop()[0])
        else:
            path.append((part, parts(part)))


def _sides(tree: JunctionTree) -> dict[tuple[int, int], int]:
    """Return, for each edge in both directions, the attributes on the first node's side only, as a mask.

    Attributes on both sides of an edge are in both of its nodes, and are left out.
    """
    below = list(tree.nodes)
    for node, parent in reversed(list(enumerate(tree.parent))[1:]):
        below[parent] |= below[node]
    edges = list(enumerate(tree.parent))[1:]
    upwards = {(node, parent): below[node] & ~tree.nodes[parent] for node, parent in edges}
    return upwards | {(parent, node): below[0] & ~below[node] for node, parent in edges}


def _renamed(labels: Labels, tie: Tie) -> Labels:
    """Return the labels of a table after `_replaced`: the attribute `tie.by` first, `tie.tied` left out."""
    return (tie.by, *(a for a in labels if a not in (tie.tied, tie.by))) if tie.tied in labels else labels


def _replaced(table: Table, labels: Labels, tie: Tie) -> Table:
    """Return a table in which the attribute `tie.by` replaces the attribute `tie.tied` that follows from it.

    Only the cells in which the tied attribute has the implied value are kept, with the axis of
    `tie.by` first. A table without the tied attribute is returned unchanged.
    """
    if tie.tied not in labels:
        return table
    first = (tie.by, tie.tied) if tie.by in labels else (tie.tied,)
    cells = (np.arange(len(tie.places)), tie.places)[-len(first) :]
    ordered: Table = expand(table, labels, (*first, *(a for a in labels if a not in first)))[cells]
    return ordered
