"""A trace as TLC itself reports one to a tool (`-tool`), in the states of the TLA+ twins.

The TLA+ extension of VS Code and the Toolbox read it as they read TLC's own output: saved as `MCRRef.out` beside the module, it
opens as a trace with what changes at each step.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from farref.model.checker.interface import Kind
from farref.model.ids import WORKER_NAMES
from farref.properties.protocols import PROTOCOLS
from farref.properties.traces.file import Trace, actions_of
from farref.tlc.engine import BROKEN, STATE, TWINS

BEHAVIOUR, BACK_TO_STATE = 2121, 2122
"""The numbers of further messages of TLC (tlc2.output.EC)."""
ERROR, OTHER = 1, 4
MODEL_VALUES: Final = frozenset({*WORKER_NAMES, "Nobody"})


class UntoldError(Exception):
    """TLC cannot say this run: its modules lack something that happened. The message says what."""


def to_tlc(trace: Trace) -> str:
    """Write a trace as TLC would."""
    twin = TWINS[type(trace.bounds)]
    if refusal := twin.refusal(trace.bounds):
        raise UntoldError(refusal)
    about = PROTOCOLS[trace.subject]
    model = about.model(trace.bounds, about.rules_of(trace.profile, trace.without))
    worlds = [model.initial, *(moment.after for moment in about.replay(model, actions_of(trace)))]
    states = [variables(twin.state_of(world, trace.bounds)) for world in worlds]
    return "\n".join(_said(trace, twin.module, states)) + "\n"


def _said(trace: Trace, module: str, states: list[dict[str, str]]) -> Iterator[str]:
    if trace.property is not None:
        verb = "Invariant" if trace.property.kind is Kind.ALWAYS else "Temporal property"
        yield _message(BROKEN, ERROR, f"{verb} {trace.property.id} is violated.")
    yield _message(BEHAVIOUR, ERROR, "The behavior up to this point is:")
    for number, state in enumerate(states, start=1):
        by = "Initial predicate" if number == 1 else f"{_name(trace, number)} of module {module}"
        lines = [f"/\\ {name} = {value}" for name, value in state.items()]
        yield _message(STATE, OTHER, "\n".join([f"{number}: <{by}>", *lines]) + "\n")
    if trace.loop_start is not None:
        yield _message(
            BACK_TO_STATE, OTHER, f"{trace.loop_start + 1}: <{_name(trace, len(states))} of module {module}>"
        )


def _name(trace: Trace, number: int) -> str:
    return trace.steps[number - 2].action.partition("(")[0]


def _message(number: int, kind: int, text: str) -> str:
    return f"@!@!@STARTMSG {number}:{kind} @!@!@\n{text}\n@!@!@ENDMSG {number} @!@!@"


# -- values ------------------------------------------------------------------------------------------------------------


def variables(state: Any) -> dict[str, str]:
    """Give each variable with its value: RRef.tla has several, Autograd.tla one."""
    if isinstance(state, dict):
        return {name: written(value) for name, value in state.items()}
    return {"world": written(state)}


def written(value: Any) -> str:
    """Write a value in TLA+. In the twin of autograd a record, and a function, is a set of pairs: it begins with its names."""
    match value:
        case bool():
            return str(value).upper()
        case int():
            return str(value)
        case str():
            return value if value in MODEL_VALUES else f'"{value}"'
        case tuple():
            return f"<<{', '.join(map(written, value))}>>"
        case dict():
            return _mapping(value)
        case set() | frozenset():
            return _mapping(dict(value)) if _is_mapping(value) else "{" + ", ".join(sorted(map(written, value))) + "}"
        case _:
            raise UntoldError(f"nothing in TLA+ is written for {value!r}")


def _is_mapping(value: Any) -> bool:
    """Messages begin with a capital letter, fields with a small one, and functions with a number."""
    firsts = [one[0] for one in value if isinstance(one, tuple) and len(one) == 2]
    whole = bool(value) and len(firsts) == len(value)
    return whole and all(isinstance(one, int) or (isinstance(one, str) and one[:1].islower()) for one in firsts)


def _mapping(value: dict[Any, Any]) -> str:
    if not value:
        return "<<>>"
    keys = sorted(value)
    if isinstance(keys[0], str):
        return "[" + ", ".join(f"{key} |-> {written(value[key])}" for key in keys) + "]"
    return "(" + " @@ ".join(f"{key} :> {written(value[key])}" for key in keys) + ")"
