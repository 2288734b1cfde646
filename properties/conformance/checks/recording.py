"""What a backend must record of the calls in an autograd context (A2 to A9)."""

from __future__ import annotations

from farref.properties.conformance.kit.check import check
from farref.properties.conformance.kit.gradient_world import FAST, finds_gradients, goes_back
from farref.properties.conformance.kit.programs import call, fetch, here, leaf, remote
from farref.properties.conformance.kit.world import World

THERE_AND_BACK = [leaf("p", "A", 2), leaf("q", "B", 3), call("y", "B", "mul", "p", "q")]


@check("A2", needs=[*FAST, "drop", "restart"], after=["A13"], alone=True, again=1)
def contexts_of_a_second_life(world: World) -> None:
    """Workers that shut down and begin again in the same processes find nothing of the gradients they had before."""
    goes_back(world, THERE_AND_BACK, ["y"])
    world.drop("A", "c")
    world.stop()
    world.start(again=1)
    goes_back(world, THERE_AND_BACK, ["y"])


@check("A3", needs=[*FAST, "drop", "probe", "probe.contexts", "fault.lose"], after=["A25"])
def a_lost_release(world: World) -> None:
    """A release that the network loses is told again, until every worker knows."""
    world.fault("lose", "A", message="CleanupContext", times=3)
    goes_back(world, THERE_AND_BACK, ["y"])
    world.drop("A", "c")
    world.empties(15.0)


@check("A4", needs=["backward", "drop", "probe", "probe.contexts"])
def calls_carry_the_context(world: World) -> None:
    """Every worker that a call in a context leads to knows the context, also by way of another, until it is released."""
    world.backward("A", "c", [leaf("q", "B", 3), call("y", "B", "mul", "q", 2, through=["C"])])
    for one in ("B", "C"):
        world.settles(one, 1.0, contexts=1)
    world.drop("A", "c")
    world.empties()


@check("A4.unpaired", needs=["backward", "drop", "probe", "probe.contexts"], after=["A4"])
def calls_without_gradients_carry_the_context(world: World) -> None:
    """A call in a context carries it even if no tensor in it needs a gradient."""
    world.backward("A", "c", [call("y", "B", "mul", 3, 2)])
    world.settles("B", 1.0, contexts=1)
    world.drop("A", "c")
    world.empties()


@check("A7", needs=FAST, after=["A13"])
def a_leaf_is_sent(world: World) -> None:
    """A leaf that is sent as an argument gets its gradient where it is."""
    goes_back(world, THERE_AND_BACK, ["y"])


@check("A7.parameter", needs=[*FAST, "parameter"], after=["A7"])
def a_parameter_is_sent(world: World) -> None:
    """A parameter is a tensor like any other: sent as an argument, it gets its gradient where it is."""
    goes_back(world, [leaf("p", "A", 2, parameter=True), leaf("q", "B", 3), call("y", "B", "mul", "p", "q")], ["y"])


@check("A7.unrecorded", needs=[*FAST, "recording"], after=["A13.fetch"], alone=True, timeout=3)
def sent_with_recording_off(world: World) -> None:
    """What is sent with recording off is part of no pair on either side, and does no harm to a later pass."""
    steps = [leaf("p", "A", 2), leaf("q", "B", 3), remote("r", "B", "mul", "p", "q", recording=False), fetch("y", "r")]
    world.backward("A", "c", steps, ["y"])
    finds_gradients(world, steps, {"q": 2})


@check("A8", needs=FAST, after=["A13"])
def the_same_tensor_twice(world: World) -> None:
    """The same tensor twice in one call is two inputs, and their gradients add up."""
    goes_back(world, [leaf("p", "A", 5), call("y", "B", "mul", "p", "p")], ["y"])


@check("A8.self", needs=FAST, after=["A8"])
def a_call_to_oneself(world: World) -> None:
    """A call to oneself is a call like any other."""
    goes_back(world, [leaf("p", "A", 5), call("y", "A", "mul", "p", 3), here("z", "mul", "y", "p")], ["z"])


@check("A8.contexts", needs=[*FAST, "drop", "concurrent"], after=["A13"])
def contexts_at_the_same_time(world: World) -> None:
    """Gradients are in their context: passes of several at the same time, over the same leaves, do not mix."""
    leaves = [leaf("p", "A", 2), leaf("q", "B", 3)]
    world.backward("A", "c0", leaves)
    programs = [[call("y", "B", "mul", "p", "q"), here("z", "mul", "y", number)] for number in range(1, 5)]
    passes = [world.begin_backward("A", f"c{number}", steps, ["z"]) for number, steps in enumerate(programs, start=1)]
    for one in passes:
        one.wait()
    for number in range(1, 5):
        finds_gradients(world, leaves, {"p": 3 * number, "q": 2 * number}, f"c{number}")


@check("A9", needs=FAST, after=["A13"], alone=True, timeout=3)
def a_call_that_failed(world: World) -> None:
    """A call that failed stays recorded: a FAST pass that it keeps from ending says so, and does not wait for ever."""
    steps = [leaf("p", "A", 2), call("x", "B", "fail", "p", may_fail=True), call("y", "B", "mul", "p", 3)]
    world.refuses(["error", "refused"], world.begin_backward("A", "c", steps, ["y"]), 5.0)
