"""What checks of distributed autograd say of a world: that gradients are those of the oracle, or that there are none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from farref.properties.conformance.conversation.session import OperationFailed
from farref.properties.conformance.kit.programs import Step, gradients_of
from farref.properties.conformance.kit.world import World

FAST: Final = ("backward", "gradients", "fast")
SMART: Final = ("backward", "gradients", "smart")


def goes_back(
    world: World, steps: Sequence[Step], roots: Sequence[str], mode: str = "fast", context: str = "c"
) -> None:
    """Break the clause unless a pass over a program gives every leaf the gradient that one process would have given it."""
    world.backward("A", context, steps, roots, mode=mode)
    finds_gradients(world, steps, gradients_of(steps, roots), context)


def finds_gradients(world: World, steps: Sequence[Step], wanted: Mapping[str, float], context: str = "c") -> None:
    """Break the clause unless the leaves of a program have these gradients, and the others none."""
    places = {step["leaf"]: step["on"] for step in steps if "leaf" in step}
    for worker in sorted(set(places.values())):
        expected = {name: wanted[name] for name, on in sorted(places.items()) if on == worker and name in wanted}
        if expected:
            got = dict(sorted(world.gradients(worker, context).items()))
            world.expect(got == expected, f"{worker} has the gradients {_shown(got)}, not {_shown(expected)}")
        else:
            sees_nothing(world, worker, context=context)


def sees_nothing(world: World, *workers: str, context: str = "c") -> None:
    """Break the clause if a worker can see a gradient. One that does not know the context sees none."""
    for worker in workers:
        try:
            got = world.gradients(worker, context)
        except OperationFailed:
            continue
        world.expect(not got, f"{worker} sees {_shown(got)}, where there must be no gradient")


def _shown(gradients: Mapping[str, Any]) -> str:
    return "{" + ", ".join(f"{name}: {_number(value)}" for name, value in gradients.items()) + "}"


def _number(value: Any) -> str:
    """Write a gradient, or whatever an adapter gives for one: one that is not a number comes as null."""
    return f"{value:g}" if type(value) in (int, float) else repr(value)
