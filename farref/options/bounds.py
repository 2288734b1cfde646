"""The flags that say how large a world is: one for every bound of everything that is checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any, Final

import click

from farref.options.groups import Command, Decorator, option, with_options
from farref.options.numbers import WholeNumber
from farref.properties.autograd.limits import wrong_graph
from farref.properties.protocol import AnySubject
from farref.properties.protocols import CHECKED, PROTOCOLS

BOUNDS_HELP: Final = {
    "workers": "Number of processes. In rref, worker B owns the first RRef.",
    "rrefs": "Number of RRefs.",
    "forks": "Number of forks that may exist of each RRef. A fork is one counted reference.",
    "drops": "Number of control messages that the network may lose.",
    "duplicates": "Number of control messages that the network may deliver twice.",
    "timeouts": "Number of waits that may time out: creations and fetches in rref, passes in autograd.",
    "fetches": "Number of values that may be fetched.",
    "failures": "Number of calls that may fail to be sent or understood; in autograd also backward functions that raise.",
    "results": "RRefs may be shared in results of calls, not only in arguments.",
    "owner_shares": "The owner may share an RRef, not only its users.",
    "self_shares": "A worker may share an RRef with itself.",
    "shutdown": "The run ends with a graceful shutdown.",
    "graph": "Graph that the forward pass recorded: a name, or one spelled out. 'every' stands for all graphs with the "
    "given workers and pairs.",
    "pairs": "Number of calls that carry tensors.",
    "passes": "Number of calls of backward().",
    "detached": "Number of calls that may be made while recording is switched off.",
    "crashes": "Number of workers that may die.",
    "cuts": "Number of links that may break while both ends live. What is on one waits until it is made again.",
    "exclusions": "Number of views that may be issued, each of which excludes one more worker.",
    "joins": "Number of workers that are not there at first, and join in place of one that is excluded.",
    "lost_owners": "An owner may be excluded too, not only workers that own nothing.",
    "smart": "Passes run in the mode SMART, not FAST.",
    "forward": "The calls of the forward pass are steps of the run too, not only the backward passes.",
    "release": "The context may be released during the run.",
    "callers": "Number of threads of the application. The first one is the main thread.",
    "background": "Number of background threads that there can be. Two are there from the beginning.",
    "frames": "Number of calls that the application makes of other workers.",
    "own": "Number of calls that the application makes of its own worker.",
    "tasks": "Number of calls that come from other workers.",
    "interrupts": "Number of interrupts of the main thread.",
    "spawn_failures": "Number of threads that the system refuses to start.",
    "waits": "The application may wait for its calls, not only go on.",
}


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
    """Add a flag for every bound of everything that is checked, with its default; None where it was not given."""
    return with_options(command, _flags(list(CHECKED.values()), "", _defaults))


def protocol_bounds_options(command: Command) -> Command:
    """Add a flag for every bound of the protocols, with its default; None where it was not given."""
    return with_options(command, _flags([*PROTOCOLS.values()], "", _defaults))


def drawn_bounds_options(command: Command) -> Command:
    """Add the flags of the protocols where a bound that is not given is drawn."""
    drawn = " (drawn for each schedule unless given)"
    return with_options(command, _flags([*PROTOCOLS.values()], drawn, lambda _name, _having: ""))


def _flags(
    subjects: list[AnySubject], remark: str, otherwise: Callable[[str, list[AnySubject]], str]
) -> list[Decorator]:
    both: list[AnySubject] = [*PROTOCOLS.values()]
    shared = [name for name in bound_names(both) if all(name in bound_names([one]) for one in both)]
    return [
        *(_flag(f"Bounds of both protocols{remark}", name, both, otherwise) for name in shared),
        *(
            _flag(f"Bounds of {one.name}{remark}", name, [one], otherwise)
            for one in subjects
            for name in bound_names([one])
            if name not in shared
        ),
    ]


def _flag(
    group: str, name: str, having: list[AnySubject], otherwise: Callable[[str, list[AnySubject]], str]
) -> Decorator:
    flag, default = name.replace("_", "-"), having[0].bounds.__dataclass_fields__[name].default
    text = f"{BOUNDS_HELP[name]} {otherwise(name, having)}".strip()
    if isinstance(default, bool):
        return option(group, f"--{flag}/--no-{flag}", name, default=None, help=text)
    return option(group, f"--{flag}", name, type=_kind(name, default, having), default=None, help=text)


def _kind(name: str, default: object, having: list[AnySubject]) -> GraphName | WholeNumber:
    if isinstance(default, str):
        return GraphName()
    limits = [one.limits_of(name) for one in having]
    return WholeNumber(min(low for low, _ in limits), max(high for _, high in limits))


def bound_names(subjects: list[AnySubject]) -> list[str]:
    """List the bounds of some subjects, each once."""
    return list(dict.fromkeys(bound.name for one in subjects for bound in fields(one.bounds)))


def _defaults(name: str, having: list[AnySubject]) -> str:
    told = {one.name: _default(one.bounds.__dataclass_fields__[name].default) for one in having}
    if len(set(told.values())) == 1:
        return f"Default {next(iter(told.values()))}."
    return f"Default {', '.join(f'{value} ({name})' for name, value in told.items())}."


def _default(value: Any) -> str:
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else str(value)


def bounds_given(given: dict[str, Any], about: AnySubject) -> dict[str, Any]:
    """Collect the bounds that were given; refuse those of another subject."""
    named = [name for name in bound_names(list(CHECKED.values())) if given.get(name) is not None]
    own = bound_names([about])
    for name in named:
        if name not in own:
            known = ", ".join(f"--{one.replace('_', '-')}" for one in own)
            raise click.UsageError(f"--{name.replace('_', '-')} is not a bound of {about.name}; there are {known}")
    return {name: given[name] for name in named}
