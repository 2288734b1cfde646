"""What one property sees first, and mostly alone: a mistake of the protocol, and a world in which little else is broken by it.

The table of rules shows what most properties are there for: some rule breaks them first. The others have each a mistake of
their own here: a rule that is off in another world, or a handler of the model that is another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Final

from farref.model.autograd import root, task
from farref.model.autograd.messages import Fault
from farref.model.autograd.world import Bounds as AutogradBounds
from farref.model.rref import user, view_steps
from farref.model.rref.world import Bounds
from farref.model.threads import caller
from farref.model.threads.world import Bounds as ThreadBounds

Handler = Callable[..., Any]


@dataclass(frozen=True)
class Alone:
    """A mistake, and the world in which one property sees it first."""

    says: str
    world: Any
    rule: str | None = None
    place: ModuleType = user
    handler: str = ""
    instead: Callable[[Handler], Handler] | None = None

    @contextmanager
    def made(self) -> Iterator[None]:
        """Let the model make the mistake, for a while. A rule is left out elsewhere."""
        if self.instead is None:
            yield
            return
        right = getattr(self.place, self.handler)
        setattr(self.place, self.handler, self.instead(right))
        try:
            yield
        finally:
            setattr(self.place, self.handler, right)


def _held_is_usable(_: Handler) -> Handler:
    return user.is_held


def _nobody_is_told(_: Handler) -> Handler:
    return lambda record: (record, ())


def _nothing_is_installed(_: Handler) -> Handler:
    return lambda *given: None


def _the_last_pass_counts(original: Handler) -> Handler:
    return lambda worker, value: original(worker._replace(gradient=None), value)


def _the_root_is_blamed(original: Handler) -> Handler:
    return lambda record, fault, blamed, setting: original(
        record, fault, record.root if fault is Fault.UNREACHED else blamed, setting
    )


def _nobody_leaves(_: Handler) -> Handler:
    return lambda world, me: world


ALONE: Final[Mapping[tuple[str, str], Alone]] = {
    ("rref", "P6"): Alone(
        "a copy of a control message takes effect", Bounds(2, forks=2, duplicates=1), rule="processes_once"
    ),
    ("rref", "P12"): Alone(
        "a handle whose creation timed out can be used",
        Bounds(2, forks=1, timeouts=1, fetches=1),
        place=user, handler="is_usable", instead=_held_is_usable,
    ),
    ("rref", "G3"): Alone(
        "a fetch is given up, and the record says that somebody waits",
        Bounds(2, forks=1, timeouts=1, fetches=1),
        place=user, handler="abandon_fetch", instead=_nobody_is_told,
    ),
    ("rref", "Vend"): Alone(
        "nobody installs a view",
        Bounds(2, forks=1, exclusions=1),
        place=view_steps, handler="install", instead=_nothing_is_installed,
    ),
    ("autograd", "S2"): Alone(
        "the gradient of a pass takes the place of those before it",
        AutogradBounds("AB: B>r0 s0>A", passes=2),
        place=task, handler="_accumulate", instead=_the_last_pass_counts,
    ),
    ("autograd", "S11"): Alone(
        "`backward` returns before a worker without a parameter has left the pass",
        AutogradBounds("AB: B>r0"),
        rule="returns_after_commit",
    ),
    ("autograd", "T1"): Alone(
        "FAST names its root in place of the worker that waits in vain",
        AutogradBounds("unused-result"),
        place=root, handler="fail", instead=_the_root_is_blamed,
    ),
    ("threads", "E8"): Alone(
        "a caller that has its answer goes round instead of leaving",
        ThreadBounds(callers=1, background=2, frames=1, own=0, tasks=0, interrupts=0, spawn_failures=0, waits=True),
        place=caller, handler="_out", instead=_nobody_leaves,
    ),
}  # fmt: skip
"""By subject and property."""
