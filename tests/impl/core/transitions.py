"""What handlers do, collected from runs, in the shape of the tables that the protocol files open with."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from enum import Enum
from typing import Any

import pytest

from farref.impl.core.effects import Send
from farref.impl.core.messages import Control
from farref.impl.core.transitions import Transitions

Move = tuple[str, Enum, Enum]
"""A handler, the phase before and the phase after."""
Keys = Callable[..., Iterable[Hashable]]
"""Says which rows of its tables a call of a handler is about, from its arguments. Rows that are new are seen in any case."""
Phases = Callable[[Any], Mapping[Hashable, Enum]]
"""Gives the phase of every row of a part that is there."""


def everything(_part: object, *_given: object) -> list[Hashable]:
    """A handler that is about all rows there are, or one that is about none but makes a new one."""
    return []


class Seen:
    """What is seen of one part of a core: for each move of a row, what may come of it.

    `absent` is the phase of a row that is not there. What a handler of another part does inside is that part's.
    """

    _claimed: set[int] = set()  # noqa: RUF012 (shared by all, as handlers of several parts are inside each other)

    def __init__(self, part: type, phases: Phases, absent: Enum) -> None:
        self.table: dict[Move, set[type]] = {}
        self._part, self._phases, self._absent = part, phases, absent
        self._given: dict[int, Any] = {}
        """What each part was made with: it has the effects of the step."""
        self._inside: set[int] = set()

    def watch(self, patch: pytest.MonkeyPatch, handlers: Mapping[str, Keys], others: Iterable[str] = ()) -> None:
        """Watch all public methods of a part but for some others, which change nothing or only use those watched."""
        public = {name for name, value in vars(self._part).items() if callable(value) and not name.startswith("_")}
        assert public == set(others) | set(handlers)
        made = self._part.__init__  # type: ignore[misc]

        def make(part: Any, given: Any, *more: Any) -> None:
            self._given[id(part)] = given
            made(part, given, *more)

        patch.setattr(self._part, "__init__", make)
        for name, keys in handlers.items():
            patch.setattr(self._part, name, self._watched(name, vars(self._part)[name], keys))

    def _watched(self, event: str, handler: Callable[..., Any], keys: Keys) -> Callable[..., Any]:
        def watched(part: Any, *given: Any) -> Any:
            if id(part) in self._inside:  # a handler that another one of the same part uses
                return handler(part, *given)
            self._inside.add(id(part))
            before, emitted = dict(self._phases(part)), len(self._emitted(part))
            touched = set(before) if keys is everything else set(keys(part, *given))
            try:
                result = handler(part, *given)
            finally:
                self._inside.discard(id(part))
            news = [one for one in [*self._emitted(part)[emitted:], result] if id(one) not in self._claimed]
            self._claimed.update(map(id, news[:-1]))
            self._note(event, touched, before, dict(self._phases(part)), news)
            return result

        return watched

    def _note(self, event: str, touched: set[Any], before: Any, after: Any, news: list[Any]) -> None:
        touched |= set(after) - set(before)
        for key in touched:
            move = event, before.get(key, self._absent), after.get(key, self._absent)
            kinds = {_kind(one) for one in news if len(touched) == 1 or key in _about(one)}
            self.table.setdefault(move, set()).update(kind for kind in kinds if _is_told(kind))

    def _emitted(self, part: Any) -> list[Any]:
        """What the step has asked for so far, messages of the engine to itself included."""
        given = self._given[id(part)]
        here = getattr(given, "here", given)
        if not here.effects and not getattr(given, "local", ()):
            self._claimed.clear()
        return [*here.effects, *getattr(given, "local", ())]


def _about(one: Any) -> set[Any]:
    """Say which rows something that came of a handler is about, as far as it says so."""
    body = one.message if isinstance(one, Send) else one
    body = body.body if isinstance(body, Control) else body
    return {getattr(body, name, None) for name in ("rref", "fork", "pass_id", "context", "worker")} - {None}


def _kind(one: Any) -> type:
    """Say what was sent or is to be done."""
    if isinstance(one, Send):
        return _kind(one.message)
    return type(one.body) if isinstance(one, Control) else type(one)


def _is_told(kind: type) -> bool:
    """Say whether it is a message or an effect: a handler may return one, or something else."""
    return kind.__module__.endswith((".effects", ".messages"))


def differences(seen: Mapping[Move, set[type]], table: Transitions) -> list[str]:
    """Say how a table differs from what was seen.

    Both have the same moves. What came of a move is listed with it, and what is listed with a handler came of it at some time:
    to see every kind with every move would take too many runs.
    """
    unlisted = [f"is not listed: {_told(move)}" for move in seen.keys() - table.keys()]
    unseen = [f"does not happen: {_told(move)}" for move in table.keys() - seen.keys()]
    silent = [
        f"is not listed: {_told(move)} asks for {more}"
        for move in seen
        if (more := seen[move] - table.get(move, seen[move]))
    ]
    listed, came = _by_handler(table), _by_handler(seen)
    empty = [f"does not happen: {event} asks for {more}" for event in listed if (more := listed[event] - came[event])]
    return sorted([*unlisted, *unseen, *silent, *empty])


def _told(move: Move) -> str:
    event, before, after = move
    return f"{event} in {before.name} leads to {after.name}"


def _by_handler(table: Mapping[Move, Iterable[type]]) -> dict[str, set[type]]:
    found = defaultdict[str, set[type]](set)
    for (event, _, _), kinds in table.items():
        found[event].update(kinds)
    return found
