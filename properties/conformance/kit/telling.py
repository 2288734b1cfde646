"""Operations as sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

LETTERS_MAX: Final = 800
"""As much as anybody reads of a value."""

BECOMES: Final = {
    "deliver": "arrives",
    "copy": "arrives, and a copy stays under way",
    "lose": "is lost",
    "fail": "fails",
}
"""What becomes of a message by the verbs of single steps."""


def sentence(verb: str, request: Mapping[str, Any]) -> str:
    """Say in a sentence what an operation is."""
    match verb, request:
        case "start", {"workers": workers}:
            return f"{', '.join(workers)} start"
        case "create", {"worker": worker, "name": name, "function": None, "args": [value]}:
            return f"{worker} makes {name}, an RRef of its own value {value!r}"
        case "create", {"worker": worker, "name": name, "owner": owner, "function": function, "args": args}:
            return f"{worker} asks {owner} to keep {_called(function, args)} as {name}{_limit(request)}"
        case "share", {"worker": worker, "name": name, "to": to}:
            return f"{worker} shares {name} with {to}"
        case "drop", {"worker": worker, "name": name}:
            return f"{worker} lets go of {name}"
        case "fetch", {"worker": worker, "name": name}:
            return f"{worker} fetches {name}{_limit(request)}"
        case "call", {"worker": worker, "to": to, "function": function, "args": args}:
            return f"{worker} calls {_called(function, args)} on {to}{_limit(request)}"
        case "backward", {"worker": worker, "context": context, "steps": steps, "roots": roots, "mode": mode}:
            return "; ".join([*(_step(worker, step) for step in steps), *_pass(worker, context, roots, mode, request)])
        case "gradients", {"worker": worker, "context": context}:
            return f"{worker} looks at its gradients in {context}"
        case "probe", {"worker": worker, "name": None}:
            return f"{worker} counts what it has"
        case "probe", {"worker": worker, "name": name}:
            return f"{worker} asks whether {name} is confirmed"
        case "fault", {"kind": kind, "worker": worker, "details": details}:
            return _fault(kind, worker, details)
        case "begin", {"worker": worker, "what": what}:
            return f"{worker} begins: {what}"
        case "deliver" | "copy" | "lose" | "fail", {"message": message}:
            return f"message {message} {BECOMES[verb]}"
        case "expire", {"worker": worker, "timer": timer, "fork": fork}:
            return f"a timer of {worker} expires: {timer}, about fork {fork}"
        case _:
            return {
                "stop": "all workers stop",
                "look": "the tables and messages of all workers",
                "collect": "all workers collect their garbage",
            }.get(verb, verb)


def shortened(text: str) -> str:
    """Leave out the middle of what is too long to be read: a report has many texts, and a value may be of any size."""
    half = LETTERS_MAX // 2
    return text if len(text) <= LETTERS_MAX else f"{text[:half]}…{text[-half:]}"


def _called(function: str, args: Sequence[Any]) -> str:
    return f"{function}({', '.join(_argument(one) for one in args)})"


def _argument(argument: Any) -> str:
    match argument:
        case {"rref": name}:
            return str(name)
        case {"unwritable": True}:
            return "<a value that cannot be sent>"
        case {"unreadable": True}:
            return "<a value that cannot be read>"
        case _:
            return repr(argument)


def _limit(request: Mapping[str, Any]) -> str:
    seconds = request.get("timeout")
    return "" if seconds is None else f", within {seconds:g} s"


def _step(worker: str, step: Mapping[str, Any]) -> str:
    match step:
        case {"leaf": name, "on": on, "value": value}:
            return f"{on} has the leaf {name} = {value}"
        case {"let": name, "fetch": of}:
            return f"{worker} fetches {name} = {of}"
        case {"remote": name, "on": on, "operation": operation, "args": args}:
            return f"{worker} leaves {name} = {_computed(operation, args)} on {on}"
        case {"let": name, "on": on, "operation": operation, "args": args}:
            through = "".join(f" through {one}" for one in step.get("through", ()))
            return f"{worker} calls {on}{through} for {name} = {_computed(operation, args)}"
        case {"let": name, "operation": operation, "args": args}:
            return f"{worker} computes {name} = {_computed(operation, args)}"
        case {"optimize": names, "rate": rate}:
            return f"{worker} lets the optimizer step {', '.join(names)} at rate {rate}"
        case _:
            return str(dict(step))


def _computed(operation: str, args: Sequence[Any]) -> str:
    return f"{operation}({', '.join(map(str, args))})"


def _pass(worker: str, context: str, roots: Sequence[str], mode: str, request: Mapping[str, Any]) -> list[str]:
    if not roots:
        return []
    return [f"{worker} goes back from {', '.join(roots)} in {context}, {mode.upper()}{_limit(request)}"]


def _fault(kind: str, worker: str, details: Mapping[str, Any]) -> str:
    match kind, details:
        case "kill", _:
            return f"{worker} is killed"
        case "restart", _:
            return f"{worker} is started again"
        case "cut", {"to": to}:
            return f"the link between {worker} and {to} breaks"
        case "pause", {"seconds": seconds}:
            return f"{worker} stands still for {seconds:g} s"
        case "lose", {"message": message, "times": times}:
            return f"the next {times} {message} that {worker} sends are lost"
        case "delay", {"message": message, "seconds": seconds}:
            return f"the next {message} that {worker} sends arrives {seconds:g} s late"
        case "duplicate", {"message": message, "seconds": seconds}:
            return f"the next {message} that {worker} sends arrives twice, the copy {seconds:g} s late"
        case _:
            return f"{kind} on {worker}"
