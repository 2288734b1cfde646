"""What a backend must do when a pass fails, or somebody dies in it (A12, A17 to A21)."""

from __future__ import annotations

from farref.properties.conformance.kit.check import check
from farref.properties.conformance.kit.gradient_world import FAST, finds_gradients, goes_back, sees_nothing
from farref.properties.conformance.kit.programs import call, fetch, here, leaf, remote
from farref.properties.conformance.kit.verbs import Pending
from farref.properties.conformance.kit.world import BEGUN, World

SOON = 4.0
LATE = 1.2
"""How late a gradient is."""
AFTERWARDS = 1.5
"""How long after that one looks, as a busy machine is later still."""

HALF_DONE = [
    leaf("q", "B", 3),
    call("x", "B", "mul", "q", 2),
    call("y", "B", "mul", "q", 5),
    call("t", "C", "trap", "y"),
    here("z", "add", "x", "t"),
]
"""The pass fails on C, and B has got one of two gradients."""


TRAP = [leaf("q", "B", 3), call("y", "B", "trap", "q")]


@check("A12", needs=[*FAST, "retain"], after=["A13.fetch"], alone=True, timeout=2)
def the_pass_after_a_failed_one(world: World) -> None:
    """A pass that ends well has its own gradients, whatever an earlier one left half done."""
    steps = [leaf("q", "B", 3), remote("r", "B", "late", "q", 0.5), fetch("x", "r"), fetch("y", "r")]
    world.fails(world.begin_backward("A", "c", steps, ["x"], retain=True))
    again = [here("v", "mul", "x", 10), here("w", "mul", "y", 100), here("z", "add", "v", "w")]
    world.backward("A", "c", again, ["z"], retain=True)
    world.pause(1.0)
    finds_gradients(world, steps, {"q": 10 + 100})


@check("A12.phantom", needs=[*FAST, "probe", "probe.passes"], after=["A18.told"], alone=True, timeout=4)
def a_pass_that_nobody_ordered(world: World) -> None:
    """A gradient that comes after its pass has failed begins no new one."""
    steps = [
        leaf("p", "A", 2),
        call("x", "B", "trap", "p"),
        call("y", "C", "late", "p", LATE),
        here("z", "add", "x", "y"),
    ]
    world.fails(world.begin_backward("A", "c", steps, ["z"]))
    world.pause(LATE + AFTERWARDS)
    for worker in world.workers:
        world.settles(worker, 1.0, passes=0)


@check("A17.late", needs=FAST, after=["A18.told"], alone=True, timeout=4)
def a_gradient_after_the_error(world: World) -> None:
    """When a pass has failed nothing of it can be seen, then or later, also of a gradient that was under way."""
    steps = [
        leaf("p", "A", 2), leaf("q", "B", 3), call("x", "B", "trap", "q"), call("y", "C", "late", "p", LATE),
        here("z", "add", "x", "y"),
    ]  # fmt: skip
    world.fails(world.begin_backward("A", "c", steps, ["z"]))
    world.pause(LATE + AFTERWARDS)
    sees_nothing(world, "A", "B")


@check("A18", needs=[*FAST, "probe", "probe.passes"], after=["A18.told"], alone=True, timeout=4)
def everybody_leaves(world: World) -> None:
    """A pass that has failed is left by every worker."""
    world.fails(world.begin_backward("A", "c", HALF_DONE, ["z"]))
    for worker in world.workers:
        world.settles(worker, 1.5, passes=0)


@check("A18.told", needs=FAST, after=["A13"], alone=True, timeout=4)
def an_error_is_told(world: World) -> None:
    """A pass in which something raises fails at once, with an error that names the worker."""
    failure = world.refuses(["error"], world.begin_backward("A", "c", TRAP, ["y"]), 3.0)
    world.names(failure, "B")


@check("A18.exception", needs=FAST, after=["A18.told"], alone=True, timeout=4)
def an_exception_is_told(world: World) -> None:
    """A pass in which something raises fails with an error that has the exception."""
    failure = world.fails(world.begin_backward("A", "c", TRAP, ["y"]), 3.0)
    world.expect("gradient" in failure.in_full, f"the error does not say that a gradient cannot be computed: {failure}")


@check("A18.next", needs=FAST, after=["A18.told"], alone=True, timeout=4)
def the_next_pass_is_not_affected(world: World) -> None:
    """After a pass that failed on its root the next one on the same context ends well."""
    steps = [leaf("q", "B", 3), call("y", "B", "mul", "q", 2), here("t", "trap", "y")]
    world.fails(world.begin_backward("A", "c", steps, ["t"]))
    world.backward("A", "c", [], ["y"])
    finds_gradients(world, steps, {"q": 2})


@check("A19", needs=[*FAST, "probe", "timeout"], after=["A20"], alone=True, timeout=1)
def latecomers(world: World) -> None:
    """Who hears of a pass only after it is over takes no part in it, and shows nothing of it."""
    steps = [leaf("s", "C", 3), call("x", "C", "mul", "s", 2), call("y", "B", "late", "x", 2.0)]
    world.fails(world.begin_backward("A", "c", steps, ["y"]))
    world.pause(4.0)  # B is late by two seconds, and the machine may be busy
    sees_nothing(world, "C")
    for worker in world.workers:
        world.settles(worker, 1.0, passes=0)


@check("A20", needs=[*FAST, "timeout"], after=["A13"], alone=True, timeout=1)
def a_pass_takes_too_long(world: World) -> None:
    """A pass that takes too long fails as such."""
    steps = [leaf("q", "B", 3), call("y", "B", "late", "q", 8.0)]
    world.refuses(["timeout"], world.begin_backward("A", "c", steps, ["y"]), 6.0)


@check("A21", needs=[*FAST, "concurrent", "fault.kill"], after=["A13.branches", "R34.waiting"], alone=True)
def a_worker_dies_in_a_pass(world: World) -> None:
    """If a worker dies that takes part in a pass, the pass fails soon."""
    world.refuses(["dead", "error"], die_in_a_pass(world), SOON)


@check("A21.named", needs=[*FAST, "concurrent", "fault.kill"], after=["A21", "R34.call"], alone=True)
def who_has_died_in_a_pass(world: World) -> None:
    """A pass that fails because a worker has died says who."""
    world.names(world.fails(die_in_a_pass(world)), "C")


@check(
    "A21.others",
    needs=[*FAST, "concurrent", "probe", "probe.passes", "fault.kill"],
    after=["A13.branches", "R34.waiting"],
    alone=True,
)
def the_others_leave_the_pass(world: World) -> None:
    """If a worker dies that takes part in a pass the others leave it, and can go back in another context."""
    world.fails(die_in_a_pass(world))
    for one in ("A", "B"):
        world.settles(one, SOON, passes=0)
    goes_back(world, [leaf("q", "B", 3), call("y", "B", "mul", "q", 2)], ["y"], context="d")


@check("A21.creator", needs=[*FAST, "probe", "probe.contexts", "fault.kill"], after=["A13", "R34.waiting"], alone=True)
def the_creator_dies(world: World) -> None:
    """If the creator of a context dies, the others forget the context."""
    world.backward("A", "c", [leaf("q", "B", 3), call("y", "B", "mul", "q", 2)])
    world.settles("B", contexts=1)
    world.kill("A")
    world.settles("B", SOON, contexts=0)
    world.held.clear()


def die_in_a_pass(world: World) -> Pending:
    """Let C die in a pass of A, in which B takes part too."""
    steps = [leaf("q", "B", 3), leaf("s", "C", 2), call("x", "B", "mul", "q", 5), call("y", "C", "late", "s", 30)]
    world.backward("A", "c", steps)
    running = world.begin_backward("A", "c", [here("z", "add", "x", "y")], ["z"])
    world.pause(2 * BEGUN)
    world.kill("C")
    return running
