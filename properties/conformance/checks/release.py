"""What a backend must do when a context is released (A24, A25)."""

from __future__ import annotations

from contextlib import suppress

from farref.properties.conformance.checks.unreached import UNUSED_CALL
from farref.properties.conformance.conversation.session import Hang, OperationFailed
from farref.properties.conformance.kit.check import check
from farref.properties.conformance.kit.gradient_world import FAST, finds_gradients, goes_back, sees_nothing
from farref.properties.conformance.kit.programs import call, leaf, remote
from farref.properties.conformance.kit.world import BEGUN, World

LATE = ["backward", "drop", "probe", "probe.contexts"]
VOLLEY = 30
ROUNDS = 5


@check("A24", needs=[*FAST, "drop", "concurrent"], after=["A13"], alone=True, timeout=4)
def released_while_a_pass_runs(world: World) -> None:
    """If a context is released while a pass runs in it the pass fails: what it is about is gone."""
    world.backward("A", "c", [leaf("q", "B", 3), call("y", "B", "late", "q", 1.5)])
    running = world.begin_backward("A", "c", [], ["y"])
    world.pause(2 * BEGUN)
    world.drop("A", "c")
    world.refuses(["error", "refused", "unknown"], running)


@check("A24.left", needs=[*FAST, "drop", "concurrent", "probe", "probe.passes"], after=["A25"], alone=True, timeout=4)
def no_pass_survives_its_context(world: World) -> None:
    """When a context is released every worker leaves the passes in it, also one that waits in vain."""
    running = world.begin_backward("A", "c", UNUSED_CALL, ["z"])
    world.pause(2 * BEGUN)
    world.drop("A", "c")
    with suppress(OperationFailed, Hang):  # whether the pass ends is what A14 says
        running.wait(1.0)
    world.empties(3.0)


@check("A24.other", needs=[*FAST, "drop", "concurrent"], after=["A13"], timeout=6)
def another_context_is_released(world: World) -> None:
    """A pass is not affected by the release of a context that it is not in."""
    steps = [leaf("q", "B", 3), call("y", "B", "late", "q", 1.5)]
    world.backward("A", "d", [leaf("p", "A", 2), call("x", "B", "mul", "p", 5)], ["x"])
    running = world.begin_backward("A", "c", steps, ["y"])
    world.pause(2 * BEGUN)
    world.drop("A", "d")
    running.wait()
    finds_gradients(world, steps, {"q": 1})


@check("A24.gone", needs=[*FAST, "drop"], after=["A13"])
def gradients_go_with_their_context(world: World) -> None:
    """Of a context that was released its creator can see no gradient."""
    goes_back(world, [leaf("p", "A", 2), leaf("q", "B", 3), call("y", "B", "mul", "p", "q")], ["y"])
    world.drop("A", "c")
    sees_nothing(world, "A")


@check("A25", needs=[*FAST, "drop", "probe", "probe.contexts"], after=["A13.relay"])
def released_and_forgotten(world: World) -> None:
    """A context that is released is forgotten by every worker that knew it, also by way of another."""
    goes_back(world, [leaf("p", "A", 2), leaf("s", "C", 3), call("y", "C", "mul", "p", "s", through=["B"])], ["y"])
    world.drop("A", "c")
    world.empties()


@check("A25.failed", needs=[*FAST, "drop", "probe", "probe.contexts"], after=["A25", "A18.told"], alone=True, timeout=4)
def released_after_a_failure(world: World) -> None:
    """A context in which a pass has failed is forgotten like any other."""
    world.fails(world.begin_backward("A", "c", [leaf("q", "B", 3), call("y", "B", "trap", "q")], ["y"]))
    world.drop("A", "c")
    world.empties()


@check("A25.busy", needs=[*LATE, "call", "concurrent", "function.busy"], after=["A25"], alone=True)
def released_while_a_worker_is_busy(world: World) -> None:
    """A call that waits for a busy worker when its context is released does not bring back the context."""
    busy = world.begin_call("C", "B", "busy", 1.5)
    world.pause(2 * BEGUN)
    world.backward("A", "c", [leaf("p", "A", 2), remote("r", "B", "mul", "p", 3)])
    world.drop("A", "c")
    busy.wait()
    world.empties(3.0)


@check("A25.late", needs=LATE, after=["A25"], alone=True)
def released_while_calls_are_under_way(world: World) -> None:
    """Calls that arrive late do not bring back a context that was released, however many are under way."""
    world.backward("A", "c", [leaf("p", "A", 2), leaf("q", "B", 3)])
    for turn in range(ROUNDS):
        world.backward("A", f"c{turn}", [remote(f"r{turn}.{one}", "B", "mul", "p", "q") for one in range(VOLLEY)])
        world.drop("A", f"c{turn}")
    world.drop("A", "c")
    world.empties(3.0)
