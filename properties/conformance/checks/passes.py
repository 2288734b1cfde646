"""What a backend must do in a backward pass when nothing goes wrong (A10 to A14, A17, A22, A23)."""

from __future__ import annotations

import time
from collections.abc import Sequence

from farref.properties.conformance.kit.check import check
from farref.properties.conformance.kit.gradient_world import FAST, finds_gradients, goes_back, sees_nothing
from farref.properties.conformance.kit.programs import Step, call, fetch, here, leaf, remote
from farref.properties.conformance.kit.world import BEGUN, World

CHAIN = [leaf("q", "B", 3), call("y", "B", "mul", "q", 2), here("z", "mul", "y", 5)]

GRAPHS: dict[str, tuple[str, Sequence[Step], str]] = {
    "local": ("a parameter of the root's own", [leaf("p", "A", 2), here("z", "mul", "p", 7)], "z"),
    "back": (
        "what comes back from a call with an argument",
        [leaf("p", "A", 2), leaf("q", "B", 3), call("y", "B", "mul", "p", "q"), here("z", "mul", "y", "p")],
        "z",
    ),
    "diamond": (
        "two results of one parameter",
        [leaf("q", "B", 3), call("x", "B", "mul", "q", 2), call("y", "B", "mul", "q", "q"), here("z", "mul", "x", "y")],
        "z",
    ),
    "relay": (
        "a call by way of another worker",
        [leaf("p", "A", 2), leaf("s", "C", 3), call("y", "C", "mul", "p", "s", through=["B"])],
        "y",
    ),
    "branches": (
        "results of two workers",
        [
            leaf("q", "B", 2), leaf("s", "C", 3), call("x", "B", "mul", "q", 5), call("y", "C", "mul", "s", "x"),
            here("z", "add", "x", "y"),
        ],
        "z",
    ),
    "fetch": (
        "a value that was left on another worker",
        [leaf("p", "A", 2), leaf("q", "B", 3), remote("r", "B", "mul", "p", "q"), fetch("y", "r")],
        "y",
    ),
}  # fmt: skip


def _enter(word: str, about: str, steps: Sequence[Step], root: str) -> None:
    def gradients_of_one_process(world: World) -> None:
        goes_back(world, steps, [root])

    gradients_of_one_process.__doc__ = f"A pass over {about} gives the gradients that one process would have given."
    check(f"A13.{word}", needs=FAST, after=["A8"])(gradients_of_one_process)


@check("A13", needs=FAST)
def a_parameter_of_another_worker(world: World) -> None:
    """A pass gives a parameter on another worker the gradient that one process would have given it."""
    goes_back(world, CHAIN, ["z"])


for _word, (_about, _steps, _root) in GRAPHS.items():
    _enter(_word, _about, _steps, _root)


@check("A10", needs=FAST, after=["A13"])
def a_root_without_a_gradient(world: World) -> None:
    """A pass from a root that needs no gradient is refused, and does no harm."""
    world.fails(world.begin_backward("A", "c", [*CHAIN, here("n", "mul", 2, 3)], ["n"]))
    world.backward("A", "c", [], ["z"])
    finds_gradients(world, CHAIN, {"q": 10})


@check("A10.twice", needs=FAST, after=["A8"])
def the_same_root_twice(world: World) -> None:
    """The gradient of each root is 1, and the same root twice counts twice."""
    goes_back(world, [*CHAIN, here("w", "mul", "y", 7)], ["z", "w", "w"])


@check("A10.busy", needs=[*FAST, "concurrent"], after=["A13"])
def a_pass_while_another_runs(world: World) -> None:
    """A second pass of a context on the same worker is refused while one runs, which ends well all the same."""
    steps = [leaf("q", "B", 3), call("y", "B", "late", "q", 1.5)]
    running = world.begin_backward("A", "c", steps, ["y"])
    world.pause(2 * BEGUN)
    world.refuses(["error", "refused"], world.begin_backward("A", "c", [], ["y"]))
    running.wait()
    finds_gradients(world, steps, {"q": 1})


@check("A11", needs=[*FAST, "concurrent"], after=["A13"])
def a_call_while_a_pass_runs(world: World) -> None:
    """What is recorded while a pass runs is no part of it, and does not keep it from ending."""
    steps = [leaf("p", "A", 2), leaf("q", "B", 3), call("x", "B", "mul", "p", "q"), call("y", "B", "late", "x", 1.5)]
    world.backward("A", "c", steps)
    running = world.begin_backward("A", "c", [], ["y"])
    world.pause(2 * BEGUN)
    world.backward("A", "c", [call("w", "B", "mul", "p", "q")])
    running.wait()
    finds_gradients(world, steps, {"p": 3, "q": 2})


@check("A17", needs=[*FAST, "concurrent"], after=["A13.branches"])
def gradients_are_kept_aside(world: World) -> None:
    """No gradient can be seen before the whole pass has ended well, and then all can."""
    leaves = [leaf("q", "B", 2), leaf("s", "C", 3)]
    world.backward("A", "c", [*leaves, call("x", "B", "mul", "q", 5), call("y", "C", "late", "s", 2.5)])
    running = world.begin_backward("A", "c", [here("z", "add", "x", "y")], ["z"])
    before, end = len(world.entries), time.monotonic() + 1.0
    while time.monotonic() < end:  # the pass cannot be decided for much longer
        del world.entries[before:]
        sees_nothing(world, "B", "C")
        world.pause(0.1)
    running.wait()
    finds_gradients(world, leaves, {"q": 5, "s": 1})


@check("A13.fractions", needs=FAST, after=["A13"])
def gradients_need_not_be_whole(world: World) -> None:
    """A gradient is what it is, also if it is no whole number."""
    goes_back(world, [leaf("q", "B", 0.75), call("y", "B", "mul", "q", 0.5), here("z", "mul", "y", -0.25)], ["z"])


@check("A13.anywhere", needs=FAST, after=["A13"])
def a_pass_begins_anywhere(world: World) -> None:
    """Any worker can open a context and go back in it: all are alike."""
    for worker, other in (("B", "C"), ("C", "A")):
        steps = [leaf("p", worker, 2), leaf("q", other, 3), call("y", other, "mul", "p", "q")]
        world.backward(worker, f"on {worker}", steps, ["y"])
        finds_gradients(world, steps, {"p": 3, "q": 2}, context=f"on {worker}")


@check("A22", needs=FAST, after=["A13"])
def no_path_no_gradient(world: World) -> None:
    """A leaf that no path from the roots leads to has no gradient."""
    goes_back(world, [*CHAIN, leaf("r", "B", 4), leaf("p", "A", 5)], ["z"])


@check("A22.part", needs=FAST, after=["A22"])
def a_part_of_a_pair_that_is_not_used(world: World) -> None:
    """A tensor that was sent along with others and is not used has no gradient, and not one of zero."""
    goes_back(world, [leaf("p", "A", 2), leaf("r", "A", 3), call("y", "B", "first", "p", "r")], ["y"])


@check("A22.zero", needs=FAST, after=["A13"])
def a_gradient_of_zero(world: World) -> None:
    """A leaf that a path leads to has a gradient, also if it is zero."""
    goes_back(world, [leaf("q", "B", 3), call("y", "B", "mul", "q", 0)], ["y"])


@check("A23", needs=[*FAST, "retain"], after=["A8"])
def passes_add_up(world: World) -> None:
    """The gradients of several passes in one context add up."""
    steps = [*CHAIN, here("w", "mul", "y", 7)]
    world.backward("A", "c", steps, ["z"], retain=True)
    world.backward("A", "c", [], ["w"], retain=True)
    world.backward("A", "c", [], ["z"])
    finds_gradients(world, steps, {"q": 10 + 14 + 10})


@check("A23.apart", needs=[*FAST, "retain"], after=["A23"])
def gradients_of_leaves_stay_apart(world: World) -> None:
    """Leaves that got one gradient together keep theirs apart: what a later pass adds to one is not the other's."""
    leaves = [leaf("p", "B", 2), leaf("q", "B", 3)]
    world.backward("A", "c", [*leaves, call("y", "B", "add", "p", "q")], ["y"], retain=True)
    world.backward("A", "c", [call("w", "B", "mul", "p", 5)], ["y", "w"])
    finds_gradients(world, leaves, {"p": 1 + 1 + 5, "q": 1 + 1})


@check("A23.freed", needs=[*FAST, "retain"], after=["A23"], alone=True, timeout=3)
def a_pass_over_what_was_freed(world: World) -> None:
    """A pass that needs what an earlier one has freed fails and says so, and what was seen stays as it was."""
    steps = [leaf("q", "B", 3), call("y", "B", "mul", "q", "q")]
    world.backward("A", "c", steps, ["y"])
    world.refuses(["error", "refused"], world.begin_backward("A", "c", [], ["y"]))
    finds_gradients(world, steps, {"q": 6})
