"""What an adapter is asked in order to learn whether it speaks the protocol: each verb, each function, once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

X: Final = {"rref": "x"}
SLOW_SECONDS: Final = 1.0
START_SECONDS: Final = 60.0
"""How long a backend may take to start, unless somebody says otherwise."""


class WrongAnswer(Exception):  # noqa: N818 (it says what happened)
    """An answer is not as the protocol says; the message says in what."""


@dataclass(frozen=True)
class Answered:
    """A verb gave something."""

    value: Any
    number: int
    """How many answers came before."""


@dataclass(frozen=True)
class Raised:
    """A verb failed."""

    kind: str
    message: str
    number: int


Given: TypeAlias = Answered | Raised
Request: TypeAlias = tuple[str, dict[str, Any]]
Judge: TypeAlias = Callable[[Sequence[Given]], None]


@dataclass(frozen=True)
class Trial:
    """Some requests made at once, and what must come of them."""

    about: str
    needs: frozenset[str]
    requests: tuple[Request, ...]
    judge: Judge
    seconds: float = 10.0


CALLS: Final[dict[str, tuple[list[Any], Any]]] = {
    "slow": ([0.1, 7], 7),
    "busy": ([0.1], True),
    "value_of": ([X], 7),
    "pass_on": ([X, "C"], 7),
    "hold": ([X, 0.1], True),
    "later": ([X, 0.1], 7),
    "count": (["k"], 1),
    "witness": (["w", X, X], [7, 7]),
    "nest": ([2, "B", "C"], 2),
}
"""Functions, with arguments and what they give for them."""


def trials(workers: list[str], start_seconds: float = START_SECONDS) -> list[Trial]:
    """List what is tried, in order."""
    begin = ("start", {"workers": workers, "options": {}})
    start = Trial("start", frozenset(), (begin,), _each(_nothing), start_seconds)
    stop = Trial("stop", frozenset(), (("stop", {}),), _each(_strings), 30.0)
    return [start, *_errors(), *_references(), *_functions(), *_probes(), *_passes(), *_letting_go(), stop,
            _again(start), *_faults(), _again(stop)]  # fmt: skip


def _again(trial: Trial) -> Trial:
    return Trial(f"{trial.about} again", trial.needs, trial.requests, trial.judge, trial.seconds)


def _trial(about: str, needs: str, judge: Judge, *requests: Request, seconds: float = 10.0) -> Trial:
    return Trial(about, frozenset(needs.split()), requests, judge, seconds)


def _errors() -> list[Trial]:
    return [
        _trial("a verb that does not exist fails", "", _each(_fails()), ("juggle", {})),
        _trial("fetch of what does not exist fails", "fetch", _each(_fails()), _fetch("A", "nothing")),
    ]


def _references() -> list[Trial]:
    create = _create("A", "x", "B", "echo", [7])
    local = _create("A", "own", "A", None, [5])
    share = ("share", {"worker": "A", "name": "x", "to": "C"})
    return [
        _trial("create", "create function.echo", _each(_nothing), create),
        _trial("fetch", "create fetch function.echo", _each(_gives(7)), _fetch("A", "x")),
        _trial("share", "create share function.echo", _each(_nothing), share),
        _trial("fetch of what was shared", "create share fetch function.echo", _each(_gives(7)), _fetch("C", "x")),
        _trial("create of a worker's own value", "create local", _each(_nothing), local),
        _trial("fetch of a worker's own value", "create local fetch", _each(_gives(5)), _fetch("A", "own")),
    ]


def _functions() -> list[Trial]:
    values = (7, "text", None, True, [1, 2.5])
    echoes = [_call("echo", [value]) for value in values]
    trials = [
        _trial("function.echo of any value", "call function.echo", _in_turn(*map(_gives, values)), *echoes),
        _trial("function.fail", "call function.fail", _each(_fails("error", "boom")), _call("fail", ["boom"])),
        _trial("function.misuse", "call function.misuse", _each(_fails("error")), _call("misuse", [])),
        _trial("function.unwritable", "call function.unwritable", _each(_fails()), _call("unwritable", [])),
        _trial("function.heirloom", "call function.heirloom", _each(_gives("B")), _call("heirloom", [])),
        _trial("function.missing", "call function.missing", _each(_fails()), _call("missing", [])),
    ]
    for name, (args, result) in CALLS.items():
        needs = f"call function.{name}" + (" create function.echo" if X in args else "")
        trials.append(_trial(f"function.{name}", needs, _each(_gives(result)), _call(name, args)))
    slow, quick = _call("slow", [SLOW_SECONDS, 1]), _call("echo", [2])
    late = _call("slow", [5, 1], timeout=0.2)
    return [
        *trials,
        _trial("concurrent", "concurrent call function.slow function.echo", _overtakes, slow, quick),
        _trial("timeout", "timeout call function.slow", _each(_fails("timeout")), late),
    ]


def _probes() -> list[Trial]:
    probe, handle = ("probe", {"worker": "A", "name": None}), ("probe", {"worker": "A", "name": "x"})
    counts = ("owned", "forks", "pending", "children", "contexts", "passes")
    return [
        _trial("collect", "gc", _each(_nothing), ("collect", {})),
        _trial("probe", "probe", _each(_counts), probe),
        *(_trial(f"probe.{name}", f"probe probe.{name}", _each(_has(name, int)), probe) for name in counts),
        _trial("confirmed", "confirmed probe create function.echo", _each(_has("confirmed", bool)), handle),
    ]


def _passes() -> list[Trial]:
    found: list[Trial] = []
    for mode in ("fast", "smart"):
        steps = [
            {"leaf": f"p_{mode}", "on": "A", "value": 3},
            {"let": f"z_{mode}", "on": "B", "operation": "mul", "args": [f"p_{mode}", 2]},
        ]
        gradients = ("gradients", {"worker": "A", "context": mode})
        backward = ("backward", {"worker": "A", "context": mode, "steps": steps, "roots": [f"z_{mode}"], "mode": mode,
                                 "retain": False, "timeout": None})  # fmt: skip
        found += [
            _trial(f"backward, {mode}", f"backward {mode}", _each(_nothing), backward),
            _trial(f"gradients after {mode}", f"backward gradients {mode}", _each(_gives({f"p_{mode}": 2})), gradients),
        ]
    return found


def _letting_go() -> list[Trial]:
    handles = [("drop", {"worker": worker, "name": "x"}) for worker in ("A", "C")]
    return [
        _trial("drop", "create drop function.echo", _each(_nothing), handles[0]),
        _trial("drop of what was shared", "create share drop function.echo", _each(_nothing), handles[1]),
        _trial("drop of a worker's own value", "create local drop", _each(_nothing),
               ("drop", {"worker": "A", "name": "own"})),
    ]  # fmt: skip


def _faults() -> list[Trial]:
    message = {"message": "UserDelete", "times": 1, "seconds": 0.1}
    details = {
        "pause": {"seconds": 0.1},
        "lose": message,
        "delay": message,
        "duplicate": message,
        "cut": {"to": "A"},
        "kill": {},
        "restart": {},
    }
    return [
        _trial(f"fault.{kind}", f"fault.{kind}", _each(_nothing),
               ("fault", {"kind": kind, "worker": "C", "details": given}))
        for kind, given in details.items()
    ]  # fmt: skip


def _create(worker: str, name: str, owner: str, function: str | None, args: list[Any]) -> Request:
    what = {"worker": worker, "name": name, "owner": owner, "function": function, "args": args, "timeout": None}
    return "create", what


def _fetch(worker: str, name: str) -> Request:
    return "fetch", {"worker": worker, "name": name, "timeout": None}


def _call(function: str, args: list[Any], timeout: float | None = None) -> Request:
    return "call", {"worker": "A", "to": "B", "function": function, "args": args, "timeout": timeout}


# -- what must come of a request ----------------------------------------------------------------------------------------


def _each(judge: Callable[[Given], None]) -> Judge:
    def each(given: Sequence[Given]) -> None:
        for one in given:
            judge(one)

    return each


def _in_turn(*judges: Callable[[Given], None]) -> Judge:
    def in_turn(given: Sequence[Given]) -> None:
        for judge, one in zip(judges, given, strict=True):
            judge(one)

    return in_turn


def _overtakes(given: Sequence[Given]) -> None:
    slow, quick = given
    if quick.number > slow.number:
        raise WrongAnswer(
            "a quick call waits for a slow one that was made before; then `concurrent` must not be declared"
        )


def _value(one: Given) -> Any:
    if isinstance(one, Raised):
        raise WrongAnswer(f"it fails as {one.kind}: {one.message}")
    return one.value


def _nothing(one: Given) -> None:
    if (value := _value(one)) is not None:
        raise WrongAnswer(f"it gives {value!r}; the verb gives nothing (null)")


def _gives(expected: Any) -> Callable[[Given], None]:
    def gives(one: Given) -> None:
        value = _value(one)
        if value != expected or isinstance(value, bool) != isinstance(expected, bool):
            raise WrongAnswer(f"it gives {value!r}, not {expected!r}")

    return gives


def _fails(kind: str | None = None, saying: str = "") -> Callable[[Given], None]:
    def fails(one: Given) -> None:
        if isinstance(one, Answered):
            raise WrongAnswer(f"it gives {one.value!r}, and must fail{f' as {kind}' if kind else ''}")
        if kind is not None and one.kind != kind:
            raise WrongAnswer(f"it fails as {one.kind} ({one.message}), not as {kind}")
        if saying not in one.message:
            raise WrongAnswer(f"it fails with the message {one.message!r}, which does not say {saying!r}")

    return fails


def _object(one: Given) -> None:
    if not isinstance(value := _value(one), dict):
        raise WrongAnswer(f"it gives {value!r}, which is not an object")


def _counts(one: Given) -> None:
    _object(one)
    for name, count in _value(one).items():
        if type(count) is not int:
            raise WrongAnswer(f"{name} must be a whole number, and is {count!r} in {_value(one)!r}")


def _has(name: str, type_: type) -> Callable[[Given], None]:
    def has(one: Given) -> None:
        _object(one)
        value = _value(one).get(name)
        if type(value) is not type_:
            wanted = "a whole number" if type_ is int else "true or false"
            raise WrongAnswer(f"{name} is declared and must be {wanted}, and is {value!r} in {_value(one)!r}")

    return has


def _strings(one: Given) -> None:
    value = _value(one)
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise WrongAnswer(f"it gives {value!r}; stop gives a list of strings, of what it could not release")
