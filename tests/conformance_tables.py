"""The tables of `spec/conformance.md`, made from what the kit knows of its protocol."""

from __future__ import annotations

import json
from collections.abc import Sequence

from farref.properties.conformance.adapters.simulated.held import HeldWorld
from farref.properties.conformance.conversation.host import ARGUMENTS
from farref.properties.conformance.kit import programs
from farref.properties.conformance.kit.backend import (
    CAPABILITIES,
    FUNCTIONS,
    KINDS,
    MESSAGES,
    TRAITS,
    VERBS,
    Adapter,
)
from farref.properties.conformance.kit.steps import BEGINNINGS, STEPS, TIMERS, Stepped

GIVES = {
    "fetch": "the value",
    "call": "the result",
    "gradients": "`{leaf: number}`",
    "probe": "`{count: number}`, or `{confirmed: true}`",
    "stop": "a list of strings",
    "begin": "ids, or null",
    "look": "see below",
}


def table(heads: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """Write a table."""
    lines = [heads, ("---",) * len(heads), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def verbs() -> str:
    """List the verbs: what they are given, what they do, what they give."""
    return _verbs(Adapter, VERBS)


def step_verbs() -> str:
    """List the step verbs."""
    return _verbs(Stepped, STEPS)


def beginnings() -> str:
    """List what an application can begin in a world that stands still."""
    return table(
        ("`what`", "what the application of `worker` does"), [(f"`{one}`", BEGINNINGS[one]) for one in BEGINNINGS]
    )


def timers() -> str:
    """List what can expire."""
    rows = [(", ".join(f"`{one}`" for one in names.split(", ")), said) for names, said in TIMERS.items()]
    return table(("`timer`", "what happens"), rows)


def looked() -> str:
    """Show what our core shows after A has shared an RRef of B with C, and C has let go of it."""
    held = HeldWorld(("A", "B", "C"))
    made = held.begin("A", "create", None, None, "B") or {}
    shared = held.begin("A", "give", made["rref"], made["fork"], "C") or {}
    held.network.deliver(held.network.in_flight()[-1].id)
    held.hear()
    held.begin("C", "let go", made["rref"], shared["fork"], None)
    shown = held.look()
    lines = [f"    {json.dumps(one)}" for one in shown["messages"]]
    workers = [f"    {json.dumps(name)}: {json.dumps(tables)}" for name, tables in shown["workers"].items()]
    text = ",\n".join
    return f'```json\n{{"messages": [\n{text(lines)}],\n "workers": {{\n{text(workers)}}}}}\n```'


def _verbs(kind: type, names: Sequence[str]) -> str:
    rows = []
    for verb in names:
        said = (getattr(kind, verb).__doc__ or "").split("\n\n")[0]
        arguments = ", ".join(f"`{name}`" for name in ARGUMENTS[verb])
        rows.append((f"`{verb}`", arguments, " ".join(said.split()), GIVES.get(verb, "null")))
    return table(("verb", "arguments", "what it does", "gives"), rows)


def functions() -> str:
    """List the functions that `create` and `call` name."""
    return table(("function", "what it does"), [(f"`{name}`", said) for name, said in FUNCTIONS.items()])


def steps() -> str:
    """Say what programs are made of, in the words of their module."""
    told = (programs.__doc__ or "").split("\n\n")
    return "\n\n".join([told[1], *told[2:-1]])


def operations() -> str:
    """List what steps compute."""
    return table(("operation", "what it gives"), [(f"`{name}`", said) for name, said in programs.OPERATIONS.items()])


def messages() -> str:
    """List the messages that faults are about."""
    return f"Faults name these messages: {', '.join(f'`{name}`' for name in MESSAGES)}."


def kinds() -> str:
    """List the kinds of errors, and the exception that an adapter in Python raises."""
    said = {
        "timeout": "the time that was given is over",
        "dead": "a peer has died, or cannot be reached",
        "refused": "the backend does not do this, and is right",
        "unknown": "there is nothing of that name (not KeyError or IndexError, which functions raise: they are `error`)",
        "unsupported": "the adapter cannot do this, so it should not have declared it",
        "error": "the function that was called failed, or the backend did",
    }
    return table(
        ("kind", "in Python", "what it means"),
        [(f"`{kind}`", f"`{type_.__name__}`", said[kind]) for kind, type_ in KINDS.items()],
    )


def capabilities() -> str:
    """List everything that can be declared, without the functions, which have a table of their own."""
    declared = {**CAPABILITIES, **TRAITS}
    rows = [(f"`{name}`", said) for name, said in declared.items() if not name.startswith("function.")]
    return table(("capability", "what it says"), rows)
