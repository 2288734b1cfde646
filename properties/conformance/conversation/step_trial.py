"""What an adapter is asked that declares `lockstep`: an RRef is made in a world that stands still, and is looked at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from farref.properties.conformance.conversation.trial import (
    START_SECONDS,
    Answered,
    Given,
    Raised,
    Request,
    Trial,
    WrongAnswer,
)
from farref.properties.conformance.kit.steps import LOCKSTEP, Looked


def step_trials(workers: list[str], start_seconds: float = START_SECONDS) -> list[Trial]:
    """List what is tried, in order, after everything else."""
    creator, owner, *_ = workers
    create = ("begin", {"worker": creator, "what": "create", "rref": None, "fork": None, "to": owner})
    wrap = ("begin", {"worker": creator, "what": "wrap", "rref": None, "fork": None, "to": None})
    juggle = ("begin", {"worker": creator, "what": "juggle", "rref": None, "fork": None, "to": None})
    begin = ("start", {"workers": workers, "options": {LOCKSTEP: True}})
    return [
        _trial("start in lockstep", begin, lambda _: None, start_seconds),
        _trial("look at the start", ("look", {}), lambda value: _looks(value, workers, [])),
        _trial("begin create", create, lambda value: _has_ids(value, "rref", "fork")),
        _trial("look at what is under way", ("look", {}), lambda value: _looks(value, workers, ["RemoteCall"])),
        _trial("begin wrap", wrap, lambda value: _has_ids(value, "rref")),
        Trial("begin of what nobody begins fails", frozenset([LOCKSTEP]), (juggle,), _fails),
        _trial("stop after single steps", ("stop", {}), lambda _: None),
    ]


def _trial(about: str, request: Request, see: Callable[[Any], None], seconds: float = 10.0) -> Trial:
    def judge(given: Sequence[Given]) -> None:
        [one] = given
        if isinstance(one, Raised):
            raise WrongAnswer(f"it fails as {one.kind}: {one.message}")
        see(one.value)

    return Trial(about, frozenset([LOCKSTEP]), (request,), judge, seconds)


def _has_ids(value: Any, *names: str) -> None:
    if not isinstance(value, dict) or not all(isinstance(value.get(name), str) for name in names):
        raise WrongAnswer(f"it gives {value!r}; it must say which {' and '.join(names)} it has made, each as a text")


def _looks(value: Any, workers: list[str], kinds: list[str]) -> None:
    try:
        looked = msgspec.convert(value, Looked)
    except msgspec.ValidationError as error:
        raise WrongAnswer(f"it does not show what `look` must show: {error}") from error
    if set(looked.workers) != set(workers):
        raise WrongAnswer(f"it shows the tables of {sorted(looked.workers)}, and the workers are {workers}")
    if (found := [one.kind for one in looked.messages]) != kinds:
        raise WrongAnswer(f"under way are {found}, and must be {kinds}: does anything happen by itself?")


def _fails(given: Sequence[Given]) -> None:
    if any(isinstance(one, Answered) for one in given):
        raise WrongAnswer("it is carried out, and must fail")
