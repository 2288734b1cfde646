"""What a backend must do when time is up: a timeout is an answer to the application, and nothing else (R27, R31)."""

from __future__ import annotations

from farref.properties.conformance.conversation.session import OperationFailed
from farref.properties.conformance.kit.check import check
from farref.properties.conformance.kit.world import World

LATE = 1.2
"""How long a creation takes that is given less time."""
SHORT = 0.3
IDLE = 4.0
"""So much longer than a timeout that a busy machine tells them apart."""

TIMED = ["create", "fetch", "drop", "timeout", "function.slow"]


def refused(world: World, worker: str, name: str) -> bool:
    """Say whether a worker may no longer use a handle, because its creation took too long."""
    try:
        world.fetch(worker, name)
    except OperationFailed as failure:
        world.expect(failure.kind in ("timeout", "refused"), f"it is refused as {failure.kind}: {failure}")
        return True
    return False


@check("R27", needs=[*TIMED, "probe", "probe.forks"], after=["R26"], alone=True)
def a_creation_takes_too_long(world: World) -> None:
    """A creation that takes longer than its creator waits leaves nothing on the owner, once it is let go."""
    world.create("A", "x", "B", "slow", [LATE, 7], timeout=SHORT)
    world.pause(2 * SHORT)
    world.drop("A", "x")
    world.pause(LATE)
    world.empties(2.0)


@check("R27.late", needs=[*TIMED, "share", "probe", "fault.delay"], after=["R26"], alone=True)
def a_creation_arrives_too_late(world: World) -> None:
    """A handle whose creation timed out is refused, for good, and leaves nothing when it is let go."""
    world.fault("delay", "A", message="RemoteCall", seconds=LATE)
    world.create("A", "x", "B", "echo", [7], timeout=SHORT)
    world.pause(2 * SHORT)
    world.refuses(["timeout", "refused"], world.begin_fetch("A", "x"))
    world.refuses(["timeout", "refused"], world.begin_share("A", "x", "C"))
    world.pause(LATE)
    world.refuses(["timeout", "refused"], world.begin_fetch("A", "x"))
    world.drop("A", "x")
    world.empties()


@check("R27.refused", needs=TIMED, after=["R20"], alone=True)
def refused_for_good(world: World) -> None:
    """A handle that was refused because its creation took too long is refused for good."""
    world.create("A", "x", "B", "slow", [LATE, 7], timeout=SHORT)
    world.pause(2 * SHORT)
    before = refused(world, "A", "x")
    world.pause(LATE)
    after = refused(world, "A", "x")
    world.expect(after or not before, "it was refused, and then it was not")


@check("R27.each", needs=TIMED, after=["R20"], alone=True)
def each_timeout_is_its_own(world: World) -> None:
    """Of two creations that both take too long, each is treated as such."""
    world.create("A", "x", "B", "slow", [LATE, 7], timeout=SHORT)
    world.create("A", "y", "B", "slow", [LATE, 8], timeout=SHORT)
    world.pause(2 * LATE)
    first, second = refused(world, "A", "x"), refused(world, "A", "y")
    said = "refused" if first else "not refused"
    world.expect(first == second, f"both creations took too long; the first is {said}, unlike the second")


@check("R27.fetch", needs=TIMED, after=["R20"])
def a_fetch_takes_too_long(world: World) -> None:
    """A fetch that takes too long fails as such, and the value can be fetched later."""
    world.create("A", "x", "B", "slow", [IDLE, 7])
    world.refuses(["timeout"], world.begin_fetch("A", "x", timeout=SHORT), IDLE)
    world.finds("A", "x", 7)


@check("R27.counted", needs=[*TIMED, "probe", "probe.forks"], after=["R27.fetch", "R22"])
def a_timeout_changes_no_count(world: World) -> None:
    """A fetch that took too long changes no count: its handle is counted until it is let go, and then nothing is left."""
    world.create("A", "x", "B", "slow", [LATE, 7])
    world.refuses(["timeout"], world.begin_fetch("A", "x", timeout=SHORT), IDLE)
    world.pause(LATE)
    world.settles("A", pending=0, children=0)
    world.settles("B", owned=1, forks=1)
    world.keeps("B", SHORT, owned=1, forks=1)
    world.drop("A", "x")
    world.empties()


@check("R27.call", needs=["call", "timeout", "function.slow"], after=["R4"])
def a_call_takes_too_long(world: World) -> None:
    """A call that takes too long fails as such, in time."""
    world.refuses(["timeout"], world.begin_call("A", "B", "slow", IDLE, 7, timeout=SHORT), IDLE)


@check("R27.enough", needs=[*TIMED, "call"], after=["R27.call", "R27.fetch"])
def enough_time_is_enough(world: World) -> None:
    """What takes less time than it is given is not cut short."""
    world.create("A", "x", "B", "slow", [LATE, 7], timeout=2 * IDLE)
    world.gives(world.begin_fetch("A", "x", timeout=2 * IDLE), 7)
    world.gives(world.begin_call("A", "B", "slow", LATE, 7, timeout=2 * IDLE), 7)


@check(
    "R27.cargo", needs=[*TIMED, "call", "probe", "probe.forks", "function.hold"], after=["R27.call", "R26"], alone=True
)
def a_reference_in_a_call_that_takes_too_long(world: World) -> None:
    """A reference in a call that nobody waits for any more is let go when the function ends."""
    world.create("A", "x", "B", "echo", [7])
    world.finds("A", "x", 7)
    world.refuses(["timeout"], world.begin_call("A", "C", "hold", {"rref": "x"}, LATE, timeout=SHORT))
    world.drop("A", "x")
    world.empties()


@check("R27.fires", needs=["create", "fetch", "call", "concurrent", "timeout", "fault.pause"], after=["R27.call"])
def a_timeout_always_fires(world: World) -> None:
    """Time is up when it is up, also if the other worker does nothing at all."""
    world.create("A", "x", "B", "echo", [7])
    world.finds("A", "x", 7)
    world.fault("pause", "B", seconds=2 * IDLE)
    fetching = world.begin_fetch("A", "x", timeout=SHORT)
    calling = world.begin_call("C", "B", "echo", 7, timeout=SHORT)
    world.ends_without(["timeout"], fetching, 7, IDLE)
    world.refuses(["timeout"], calling, IDLE)


@check("R27.default", needs=["call", "fetch", "create", "timeout", "function.slow"], after=["R27.call"], timeout=1)
def what_has_no_time_of_its_own(world: World) -> None:
    """What has no timeout of its own has that of the workers."""
    world.refuses(["timeout"], world.begin_call("A", "B", "slow", IDLE, 7), IDLE)
    world.create("A", "x", "B", "slow", [IDLE, 7])
    world.refuses(["timeout"], world.begin_fetch("A", "x"), IDLE)


@check("R31", needs=["create", "share", "probe", "confirmed"], after=["R16"])
def confirmed_in_the_end(world: World) -> None:
    """A handle is confirmed once its owner counts it, and always on the owner."""
    world.create("A", "x", "B", "echo", [7])
    world.share("A", "x", "C")
    world.share("A", "x", "B")
    for one in world.workers:
        world.confirms(one, "x", 2.0)


@check("R31.timeout", needs=[*TIMED, "probe", "probe.forks", "confirmed"], after=["R20"], alone=True)
def a_timeout_confirms_nothing(world: World) -> None:
    """A handle that is confirmed is counted by its owner: a creation that takes too long does not make it so."""
    world.create("A", "x", "B", "slow", [2 * LATE, 7], timeout=SHORT)
    world.pause(2 * SHORT)
    confirmed, counted = world.probe("A", "x")["confirmed"], world.probe("B")["forks"]
    world.expect(counted == 1 or not confirmed, f"A's x is confirmed, and its owner counts {counted} forks")
