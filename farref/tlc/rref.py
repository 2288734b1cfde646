"""The states of RRef.tla and the worlds of the model: which is which, and how a run of TLC's is walked again in the model.

Each state of TLC's is that of exactly one world, so its counterexamples, which name neither the parameters of an action nor the
case of a property, become runs of the model: at each step one of the model's actions leads to the state TLC printed.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any, Final

from farref.model.checker.interface import Action, Case, Model, Property
from farref.model.ids import worker_name
from farref.model.rref.application import Application
from farref.model.rref.messages import CONTROL, USER_CALLS
from farref.model.rref.world import World
from farref.model.values import IdSet


class TlcFailed(Exception):  # noqa: N818 (it says what happened)
    """TLC ended without a verdict, or with one the model cannot follow: there is a mistake in the modules, or here."""


def camel(name: str) -> str:
    """Name a field or a rule as TLA+ does."""
    return name.title().replace("_", "")


def retrace(
    model: Model, broken: Property, states: Sequence[object], state_of: Callable[[Any], object]
) -> tuple[Case, tuple[Action, ...]]:
    """Find the case that fails, and the model's actions that lead there through the states TLC printed."""
    world, actions = model.initial, list[Action]()
    for wanted in states[1:]:
        steps = ((action, model.step(world, action)) for action in model.actions)
        action, after = next((one for one in steps if one[1] is not None and state_of(one[1]) == wanted), (None, None))
        if after is None:
            raise TlcFailed(f"after {', '.join(map(str, actions))} the model cannot reach what TLC did: {wanted}")
        world = after
        actions.append(action)
    for case in broken.cases:
        if not case.holds(world):
            return case, tuple(actions)
    raise TlcFailed(f"{broken.id} is broken for TLC, but not for the model, after {', '.join(map(str, actions))}")


def twin_of(world: World) -> dict[str, Any]:
    """Give the state of RRef.tla that is this world. No two worlds share one: the forks minted are those with a holder."""
    net, kinds = world.network, [kind.__name__ for kind in (*CONTROL, *USER_CALLS)]
    holders = ["Nobody" if one.holder is None else worker_name(one.holder) for one in world.lineage]
    acks = {("Ack", message) for message in _about(net.flying[len(kinds) :], kinds)}
    flying = _about(net.flying[: len(kinds)], kinds) | acks
    return {
        "owner": dict(enumerate(map(_plain, world.owners))),
        "user": dict(enumerate(map(_plain, world.users))),
        "holder": dict(enumerate(holders)),
        "parent": {fork: -1 if one.parent is None else one.parent for fork, one in enumerate(world.lineage)},
        "net": {
            "flying": flying,
            "unanswered": _about(net.unanswered, kinds),
            "processed": _about(net.processed, kinds),
        },
        "budget": {name: left for name, left in _plain(world.budgets).items() if name != "cuts"},
        "closing": world.closing,
        "repeated": net.repeated,
        "app": _application(world.application),
    }


def _application(application: Application) -> dict[str, Any]:
    return {**_plain(application), "has": {fork: _plain(handle) for fork, handle in enumerate(application.has)}}


def _about(table: tuple[IdSet, ...], kinds: list[str]) -> set[Any]:
    return {(kind, fork) for kind, forks in zip(kinds, table, strict=False) for fork in forks.members()}


def _plain(value: Any) -> Any:
    if isinstance(value, IdSet):
        return set(value.members())
    if hasattr(value, "_asdict"):
        return {_small(name): _plain(part) for name, part in value._asdict().items()}
    return _small(value.name) if isinstance(value, Enum) else value


def _small(name: str) -> str:
    return name[0].lower() + camel(name)[1:]


BRACKETS: Final = {"{}": "set()", "<<": "(", ">>": ",)", "[": "{", "]": "}", "(": "{", ")": "}"}
WORDS: Final = {":>": ":", "@@": ",", "TRUE": "True", "FALSE": "False"}
TOKEN: Final = re.compile(r'"\w*"|(?P<field>\w+) \|->|TRUE|FALSE|(?P<worker>[A-Za-z]\w*)|\{\}|<<|>>|:>|@@|[][()]')


def read_state(text: str) -> dict[str, Any]:
    """Read a state as TLC prints it: records and functions become dicts, the rest is called the same in Python."""
    pairs = re.findall(r"^/\\ (\w+) = (.*?)(?=^/\\ |\Z)", text, re.MULTILINE | re.DOTALL)
    return {name: ast.literal_eval(TOKEN.sub(_literal, " ".join(value.split()))) for name, value in pairs}


def _literal(token: re.Match[str]) -> str:
    if token["field"]:
        return f'"{token["field"]}":'
    return f'"{token["worker"]}"' if token["worker"] else (BRACKETS | WORDS).get(token[0], token[0])
