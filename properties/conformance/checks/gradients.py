"""Gradients of random programs, and what an optimizer makes of gradients (A26, A27)."""

from __future__ import annotations

import random

from farref.properties.conformance.kit.check import check
from farref.properties.conformance.kit.gradient_world import FAST, SMART, goes_back
from farref.properties.conformance.kit.programs import Step, call, draw, here, leaf, optimize
from farref.properties.conformance.kit.world import World

PROGRAMS = 40
OPTIMIZER = [*FAST, "fetch", "optimizer"]
LEAVES = [leaf("p", "A", 20), leaf("q", "B", 30)]
FORWARD: list[Step] = [call("x", "B", "mul", "q", 2), here("z", "mul", "x", "p")]
"""Gives p the gradient 60 and q the gradient 40."""


@check("A26", needs=[*FAST, "drop"], after=["A13.back", "A13.diamond", "A13.relay", "A13.branches", "A13.fetch"])
def random_programs(world: World) -> None:
    """A FAST pass over any program that uses all it computes gives the gradients that one process would have given."""
    for number in range(PROGRAMS):
        steps, root = draw(random.Random(f"FAST {world.seed} {number}"), world.workers, uses_all=True)
        goes_back(world, steps, [root], context=f"c{number}")
        world.drop("A", f"c{number}")


@check("A26.smart", needs=[*SMART, "drop"], after=["A16", "A16.hidden", "A26"])
def random_programs_with_loose_ends(world: World) -> None:
    """A SMART pass over any program, whatever of it was used, gives the gradients that one process would have given."""
    for number in range(PROGRAMS):
        steps, root = draw(random.Random(f"SMART {world.seed} {number}"), world.workers, uses_all=False)
        goes_back(world, steps, [root], "smart", context=f"c{number}")
        world.drop("A", f"c{number}")


def moved(world: World, **values: int) -> None:
    """Break the clause unless leaves have these values."""
    for name, value in values.items():
        worker = "A" if name == "p" else "B"
        got = world.fetch(worker, name)
        world.expect(got == value, f"{name} is {got}, not {value}")


@check("A27", needs=OPTIMIZER, after=["A13"])
def the_optimizer_moves_leaves(world: World) -> None:
    """A step of the optimizer moves every parameter by its gradient, each on the worker that has it."""
    world.backward("A", "c", [*LEAVES, *FORWARD], ["z"])
    world.backward("A", "c", [optimize("p", "q")])
    moved(world, p=20 - 60, q=30 - 40)


@check("A27.rate", needs=OPTIMIZER, after=["A27"])
def the_optimizer_has_a_rate(world: World) -> None:
    """A step moves a parameter by its gradient times the rate that the optimizer was given."""
    world.backward("A", "c", [*LEAVES, *FORWARD], ["z"])
    world.backward("A", "c", [optimize("p", "q", rate=3)])
    moved(world, p=20 - 3 * 60, q=30 - 3 * 40)


@check("A27.none", needs=OPTIMIZER, after=["A27"])
def a_parameter_without_a_gradient(world: World) -> None:
    """A parameter without a gradient stays as it is."""
    world.backward("A", "c", [*LEAVES, call("x", "B", "mul", "q", 2)], ["x"])
    world.backward("A", "c", [optimize("p", "q")])
    moved(world, p=20, q=28)


@check("A27.other", needs=[*OPTIMIZER, "drop"], after=["A27"])
def gradients_of_another_context(world: World) -> None:
    """A step applies the gradients of exactly its context, and none of another one that is open."""
    world.backward("A", "c", [*LEAVES, *FORWARD], ["z"])
    world.backward("A", "d", [call("y", "B", "mul", "q", 5)], ["y"])
    world.backward("A", "d", [optimize("p", "q")])
    moved(world, p=20, q=25)


@check("A27.stale", needs=[*OPTIMIZER, "drop"], after=["A27"])
def gradients_that_were_applied_before(world: World) -> None:
    """A step applies no gradient of an earlier context, to a parameter that has none in this one."""
    world.backward("A", "c", [*LEAVES, *FORWARD], ["z"])
    world.backward("A", "c", [optimize("p", "q", own=True)])
    moved(world, p=-40, q=-10)
    world.drop("A", "c")
    world.backward("A", "d", [call("y", "B", "mul", "q", 5)], ["y"])
    world.backward("A", "d", [optimize("p", "q", own=True)])
    moved(world, p=-40, q=-15)
