"""A proof, from the footprints alone, that no run goes round for ever.

What an engine has learned of the actions is a finite set of *moves*: which values were read, and which of them changed into
what. Every transition of every reachable state is an instance of one of them. A cycle in the state graph would be a sequence
of moves that can follow one another for ever, so it is enough to show that there is none.

Take a few columns and look at nothing else. Each move that changes one of them leads from one combination of their values to
another (a column it did not read may have any value, and keeps it); the other moves stand still. If the graph of these
combinations has no cycle, then along any run the combination only advances, so a move that changes it happens finitely often,
and cannot lie on a cycle of states. Such moves are set aside. What is left has fewer moves, so more sets of columns may show
no cycle among them, and so on. If in the end no move is left, there is no cycle. This is a lexicographic ranking, found by
trying: first the columns one by one, then those one action writes, then those it reads.

Single columns do for phases and budgets. An example of what needs more is a message sent again and again until it is
answered: it flies, and flies no more, and flies again. But with `unanswered`, `message flying` and `answer flying` together
each move advances: sending again needs all quiet and unanswered, and answering leads to a state that is not.

With symmetry the search sees one state of each orbit, so the moves are completed by all their renamings first.

The proof can fail where there is no cycle; it never succeeds where there is one. A move that changes nothing is no part of
it: a state in which nothing but such moves is enabled is looked at by the search itself.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import combinations, product
from math import prod
from typing import NamedTuple

from farref.model.checker.outcomes import Change

COMBINATIONS_MAX = 1 << 13
EDGES_MAX = 1 << 17

Group = tuple[int, ...]
"""A few columns, in order."""

Combination = tuple[int, ...]
"""Their values, by code."""


class Move(NamedTuple):
    """Something an action does: whose it is, what it read, and what it changed."""

    action: Hashable
    reads: dict[int, int]
    changes: tuple[Change, ...]


def is_acyclic(moves: Iterable[Move], sizes: Sequence[int]) -> bool:
    """Say whether it is certain that no sequence of moves returns to where it began; `sizes` counts columns' values."""
    left = [move for move in moves if move.changes]
    while left:
        settled = _settle(left, sizes)
        if not settled:
            return False
        left = [move for move in left if not any(column in settled for column, _, _ in move.changes)]
    return True


def _settle(moves: list[Move], sizes: Sequence[int]) -> set[int]:
    """Find columns that change finitely often; the simplest sort of reason that works for any is enough."""
    writers = defaultdict(list)
    for move in moves:
        for column, _, _ in move.changes:
            writers[column].append(move)
    for groups in _groups(moves, set(writers)):
        settled: set[int] = set()
        for group in groups:
            if prod(sizes[column] for column in group) <= COMBINATIONS_MAX and _advances(group, writers, sizes):
                settled.update(group)
        if settled:
            return settled & set(writers)
    return set()


def _groups(moves: list[Move], changing: set[int]) -> Iterator[set[Group]]:
    """Propose sets of columns, from simple to involved."""
    written: defaultdict[Hashable, set[int]] = defaultdict(set)
    read: defaultdict[Hashable, set[int]] = defaultdict(set)
    for move in moves:
        written[move.action].update(column for column, _, _ in move.changes)
        read[move.action].update(move.reads)
    yield {(column,) for column in changing}
    yield {tuple(sorted(columns)) for columns in written.values()}
    moving = {tuple(sorted(columns & changing)) for columns in read.values()}
    yield moving
    yield {tuple(sorted(columns)) for columns in read.values()}
    yield {tuple(sorted({*one, *other})) for one, other in combinations(sorted(moving), 2) if set(one) & set(other)}


def _advances(group: Group, writers: dict[int, list[Move]], sizes: Sequence[int]) -> bool:
    """Say whether a combination of these columns' values, once left, never comes back."""
    seen = {_project(move, group) for column in group for move in writers.get(column, ())}
    edges: set[tuple[Combination, Combination]] = set()
    for before, after in seen:
        choices = [
            range(sizes[column]) if code is None else (code,) for column, code in zip(group, before, strict=True)
        ]
        if len(edges) + prod(map(len, choices)) > EDGES_MAX:
            return False
        for source in product(*choices):
            edges.add((source, tuple(old if new is None else new for old, new in zip(source, after, strict=True))))
    return _is_dag(edges)


def _project(move: Move, group: Group) -> tuple[tuple[int | None, ...], tuple[int | None, ...]]:
    """Tell what a move reads and writes of a few columns; None where it does not."""
    new = {column: code for column, _, code in move.changes}
    return tuple(move.reads.get(column) for column in group), tuple(new.get(column) for column in group)


def _is_dag(edges: set[tuple[Combination, Combination]]) -> bool:
    """Say whether a graph has no cycle, by taking away what nothing leads to until nothing is left."""
    targets: defaultdict[Combination, list[Combination]] = defaultdict(list)
    incoming: defaultdict[Combination, int] = defaultdict(int)
    for source, target in edges:
        targets[source].append(target)
        incoming[target] += 1
    free = [source for source in targets if not incoming[source]]
    removed = 0
    while free:
        for target in targets.get(free.pop(), ()):
            removed += 1
            incoming[target] -= 1
            if not incoming[target]:
                free.append(target)
    return removed == len(edges)
