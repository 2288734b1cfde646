"""The flags that say how large a world is: one for every bound of every protocol."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any, Final, TypeVar

import click

from farref.properties.autograd.limits import wrong_graph
from farref.properties.protocol import AnyProtocol
from farref.properties.protocols import PROTOCOLS

Command = TypeVar("Command", bound=Callable[..., Any])

BOUNDS_HELP: Final = {
    "workers": "Processes; of RRefs, B owns the first.",
    "rrefs": "Remote references.",
    "forks": "Forks of each RRef: handles that ever exist.",
    "drops": "Control messages the network may lose.",
    "duplicates": "Control messages it may deliver once more.",
    "timeouts": "Creations, fetches and passes the application may give up.",
    "fetches": "Values it may ask for.",
    "failures": "Calls that cannot be sent or understood, and backward rules that raise.",
    "results": "Share in results as well as in arguments.",
    "owner_shares": "The owner shares as well as users.",
    "self_shares": "Share with oneself as well as with others.",
    "shutdown": "End with a graceful shutdown.",
    "graph": "What the forward pass recorded, by name or spelled out; every graph of a size, by --workers and --pairs.",
    "pairs": "Calls with tensors in them.",
    "passes": "Calls of backward().",
    "detached": "Calls made with recording switched off.",
    "crashes": "Workers that die.",
    "smart": "SMART, not FAST.",
    "forward": "Calls are steps too, not only passes.",
    "release": "The context is released at some time.",
}


class WholeNumber(click.IntRange):
    """A whole number within limits; whatever else is given, the answer says what is allowed."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read the number."""
        try:
            return int(super().convert(value, param, ctx))
        except click.BadParameter:
            upwards = "upwards" if self.max is None else f"to {self.max:g}"
            self.fail(f"{value!r} is not a whole number from {self.min} {upwards}", param, ctx)


class GraphName(click.ParamType[str]):
    """A graph, by its name or spelled out as 'AB BA: A>r1 s1>r0 s0>A'."""

    name = "graph"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Read the name."""
        wrong = wrong_graph(value)
        if wrong is not None:
            self.fail(wrong, param, ctx)
        return str(value)


def bounds_options(command: Command) -> Command:
    """Add a flag for every bound of any protocol, with its default; None where it was not given."""
    return _with_flags(command, _defaults)


def drawn_bounds_options(command: Command) -> Command:
    """Add the same flags where a bound that is not given is drawn."""
    return _with_flags(command, lambda _name, having: f"Drawn unless given ({', '.join(one.name for one in having)}).")


def _with_flags(command: Command, otherwise: Callable[[str, list[AnyProtocol]], str]) -> Command:
    subjects = list(PROTOCOLS.values())
    for name in reversed(bound_names(subjects)):
        having = [one for one in subjects if name in bound_names([one])]
        flag, default = name.replace("_", "-"), having[0].bounds.__dataclass_fields__[name].default
        text = f"{BOUNDS_HELP[name]} {otherwise(name, having)}"
        if isinstance(default, bool):
            command = click.option(f"--{flag}/--no-{flag}", name, default=None, help=text)(command)
        else:
            kind = _kind(name, default, having)
            command = click.option(f"--{flag}", name, type=kind, default=None, help=text)(command)
    return command


def _kind(name: str, default: object, having: list[AnyProtocol]) -> GraphName | WholeNumber:
    if isinstance(default, str):
        return GraphName()
    limits = [one.limits_of(name) for one in having]
    return WholeNumber(min(low for low, _ in limits), max(high for _, high in limits))


def bound_names(subjects: list[AnyProtocol]) -> list[str]:
    """List the bounds of some protocols, each once."""
    return list(dict.fromkeys(bound.name for one in subjects for bound in fields(one.bounds)))


def _defaults(name: str, having: list[AnyProtocol]) -> str:
    told = {one.name: _default(one.bounds.__dataclass_fields__[name].default) for one in having}
    if len(set(told.values())) == 1 and len(told) > 1:
        return f"Default {next(iter(told.values()))}."
    return f"Default {', '.join(f'{value} ({name})' for name, value in told.items())}."


def _default(value: Any) -> str:
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else str(value)


def bounds_given(given: dict[str, Any], about: AnyProtocol) -> dict[str, Any]:
    """Collect the bounds that were given; refuse those of another protocol."""
    named = [name for name in bound_names(list(PROTOCOLS.values())) if given.get(name) is not None]
    own = bound_names([about])
    for name in named:
        if name not in own:
            known = ", ".join(f"--{one.replace('_', '-')}" for one in own)
            raise click.UsageError(f"--{name.replace('_', '-')} is no bound of {about.name}; there are {known}")
    return {name: given[name] for name in named}
