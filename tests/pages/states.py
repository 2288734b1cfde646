"""`spec/states.md`: what can happen to an entry, a user, a pass and a context, from the tables that the model has of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from farref.model.autograd import root, worker
from farref.model.rref import owner, user
from farref.model.tables import Event, Transitions
from tests.conformance_tables import table
from tests.pages.drawings import Edge, state_diagram


@dataclass(frozen=True)
class Machine:
    """Something that has phases: what it is called, its phases in this protocol, and its table."""

    name: str
    phases: tuple[IntEnum, ...]
    transitions: Transitions


MACHINES: Final = {
    "entry": Machine("An entry on its owner (R8)", tuple(owner.Entry), owner.TRANSITIONS),
    "user": Machine(
        "A user's record (R9)", (user.User.ABSENT, user.User.PENDING, user.User.CONFIRMED), user.TRANSITIONS
    ),
    "pass": Machine("A pass at its root (A10)", tuple(root.Phase), root.TRANSITIONS),
    "context": Machine("A context on a worker (A8)", tuple(worker.Context), worker.TRANSITIONS),
}


def drawing(name: str) -> str:
    """Draw the ways of a machine from phase to phase. Events with the same ends and the same messages share an arrow."""
    machine = MACHINES[name]
    grouped: dict[tuple[str, str, str], list[str]] = {}
    for event, source, target, sends in _ways(machine):
        if source != target:
            grouped.setdefault((source.name, target.name, sends), []).append(event)
    edges = [Edge(source, target, ", ".join(events), sends) for (source, target, sends), events in grouped.items()]
    names = [phase.name for phase in machine.phases]
    ordered = sorted(edges, key=lambda edge: (names.index(edge.source), names.index(edge.target)))
    return state_diagram(machine.name, names, ordered)


def events_table(name: str) -> str:
    """Say what follows each event in each phase: where it leads, and what may be sent."""
    machine = MACHINES[name]
    cells: dict[tuple[str, IntEnum], list[str]] = {}
    for event, source, target, sends in _ways(machine):
        way = "stays" if source == target else target.name
        cells.setdefault((event, source), []).append(f"{way} + {sends}" if sends else way)
    events = dict.fromkeys(event for event, _ in cells)
    rows = [
        (f"`{event}`", *(" / ".join(cells.get((event, phase), ["—"])) for phase in machine.phases)) for event in events
    ]
    return table(("event", *(phase.name for phase in machine.phases)), rows)


def _ways(machine: Machine) -> Iterator[tuple[str, IntEnum, IntEnum, str]]:
    for (event, source), outcomes in machine.transitions.items():
        for target, sends in sorted(outcomes.items()):
            yield _event(event), source, target, _names(sends)


def _event(event: Event) -> str:
    return f"{event[0].__name__}({event[1].__name__})" if isinstance(event, tuple) else str(event.__name__)


def _names(kinds: Iterable[type]) -> str:
    return ", ".join(sorted(kind.__name__ for kind in kinds))
