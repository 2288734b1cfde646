"""The same mistake in the model and in the implementation, so that the two agree: only a property can see it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final

from farref.model.autograd import root
from farref.model.autograd.world import Bounds as AutogradBounds
from farref.model.rref import user
from farref.model.rref.world import Bounds
from farref.model.values import no_ids
from farref.properties.protocols import PROTOCOLS, sound_model
from farref.properties.zoo.creature import TWINS, Creature
from farref.properties.zoo.mutants import autograd, rref_owner, rref_user

MUTANTS: Final = {**rref_owner.MUTANTS, **rref_user.MUTANTS, **autograd.MUTANTS}
EQUAL: Final = "the oracle"
"""Where such mistakes come from: whoever writes the model may err as whoever writes the implementation does."""
Patch = tuple[Any, str, Callable[..., Any]]
"""A module of the model, the name of a handler in it, and what gives the mistaken one from the right one."""


@dataclass(frozen=True)
class Shared:
    """A mistake made twice: in the model by a rule that is off or a handler that is another, elsewhere by mutants."""

    name: str
    protocol: str
    mutants: tuple[str, ...]
    rules: tuple[str, ...] = ()
    patch: Patch | None = None
    world: Any = None  # where Hypothesis looks for it, if it is rare elsewhere
    without: tuple[str, ...] = ()  # what it does not look at: there the two mistakes are not the same

    @contextmanager
    def made(self) -> Iterator[None]:
        """Let both be mistaken, for a while."""
        with ExitStack() as stack:
            for name in self.mutants:
                stack.enter_context(MUTANTS[name].alive())
            stack.enter_context(_mistaken_model(self))
            yield


@contextmanager
def _mistaken_model(shared: Shared) -> Iterator[None]:
    profiles: Any = PROTOCOLS[shared.protocol].profiles
    sound = profiles["sound"]
    module, handler, instead = shared.patch or (user, "_release", lambda original: original)
    right = getattr(module, handler)
    profiles["sound"] = replace(sound, **dict.fromkeys(shared.rules, False))
    setattr(module, handler, instead(right))
    sound_model.cache_clear()
    try:
        yield
    finally:
        profiles["sound"] = sound
        setattr(module, handler, right)
        sound_model.cache_clear()


def _many_children_do_not_pin(original: Callable[..., Any]) -> Callable[..., Any]:
    """Take three children, or more, for none."""

    def stays_for(record: user.UserRRef, rules: Any) -> Any:
        is_many = len([*record.children.members()]) >= 3
        return original(record._replace(children=no_ids(len(record.children))) if is_many else record, rules)

    return stays_for


RREF_MISTAKES = (
    Shared(
        "three outstanding children do not pin",
        "rref",
        ("many_children_do_not_pin",),
        patch=(user, "stays_for", _many_children_do_not_pin),
        world=Bounds(workers=2, forks=4),
    ),
    Shared(
        "a delete does not wait for confirmation",
        "rref",
        ("pending_user_goes",),
        ("user_waits_for_confirmation",),
        without=("failures",),
    ),
    Shared("a fetch does not pin", "rref", ("fetch_does_not_pin",), ("fetch_pins_user",)),
    Shared("a copy takes effect", "rref", ("copies_take_effect",), ("processes_once",), without=("failures",)),
    Shared(
        "the entry ignores local references",
        "rref",
        ("local_references_do_not_count",),
        ("entry_counts_local_references",),
    ),
    Shared(
        "a child accepts before it is counted",
        "rref",
        ("child_accepts_on_arrival_only",),
        ("accepts_after_confirmation",),
    ),
    Shared("children do not pin", "rref", ("parent_goes_before_its_children",), ("parent_waits_for_children",)),
    Shared(
        "the owner shares without counting", "rref", ("owner_shares_without_counting",), ("owner_registers_shares",)
    ),
    Shared("a timeout confirms", "rref", ("timeout_confirms",), ("timeout_is_only_an_answer",)),
)


def _nobody_is_missed(_: Callable[..., Any]) -> Callable[..., Any]:
    """Commit a pass whoever still waits."""
    return lambda _: []


AUTOGRAD_MISTAKES = (
    Shared(
        "a pass is committed whoever still waits",
        "autograd",
        ("nobody_is_missed",),
        patch=(root, "missing", _nobody_is_missed),
    ),
    Shared(
        "a pass returns before it is committed",
        "autograd",
        ("a_pass_returns_before_it_is_committed",),
        ("returns_after_commit",),
    ),
    Shared(
        "a newer pass is refused",
        "autograd",
        ("a_newer_pass_is_refused",),
        ("newer_pass_supersedes",),
        world=AutogradBounds(graph="relay", passes=2, timeouts=1),
    ),
)


@dataclass(frozen=True, kw_only=True)
class EqualMistake(Creature):
    """Model and implementation with the same mistake."""

    shared: Shared

    @property
    def protocol(self) -> str:
        """The protocol that both get wrong."""
        return self.shared.protocol


def _creature(shared: Shared) -> EqualMistake:
    return EqualMistake(
        name="both." + shared.name.replace(" ", "_"),
        says=f"Model and implementation agree on a mistake: {shared.name}.",
        clause=MUTANTS[shared.mutants[0]].clause,
        origin=EQUAL,
        caught_by=(TWINS[shared.protocol],),
        shared=shared,
    )


EQUAL_MISTAKES: Final = {one.name: one for one in map(_creature, (*RREF_MISTAKES, *AUTOGRAD_MISTAKES))}
"""All of them, by name."""
