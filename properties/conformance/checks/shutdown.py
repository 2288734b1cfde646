"""What a backend must do at the end, and when a worker dies (R32, R34)."""

from __future__ import annotations

from collections.abc import Callable

from farref.properties.conformance.kit.check import check
from farref.properties.conformance.kit.world import BEGUN, World

SOON = 4.0
"""How long it may take to notice that a worker has died."""
HOW_SOON = "the clause says what must hold once a peer is declared dead; that it is so within seconds only SHOULD be"
STOPPING = 12.0
RUNNING = 3.0
"""How long a function runs that a shutdown must wait for."""

STOP = ["create", "fetch", "stop.graceful"]
KILL = ["create", "fetch", "fault.kill"]


@check("R32", needs=[*STOP, "call", "concurrent", "function.later"], after=["R26.runs", "R32.held"], alone=True)
def a_function_uses_a_reference(world: World) -> None:
    """A shutdown waits for running functions, and takes no reference away from them."""
    world.create("A", "x", "B", "echo", [7])
    world.finds("A", "x", 7)
    late = world.begin_call("A", "C", "later", {"rref": "x"}, 2.5)
    world.pause(BEGUN)
    stopping = world.begin("stop")
    world.gives(late, 7)
    stopping.wait(STOPPING)


def ends_after(world: World, act: Callable[[], object]) -> None:
    """Begin something that runs for `RUNNING` seconds on another worker; a shutdown must not end meanwhile."""
    act()
    world.pause(BEGUN)
    stopping = world.begin("stop")
    world.pause(RUNNING / 2)
    world.expect(not stopping.done, "it has ended, and a function still runs", stopping.entry)
    stopping.wait(STOPPING)


@check("R32.running", needs=[*STOP, "call", "concurrent", "function.slow"], after=["R32.held"], alone=True)
def a_function_runs(world: World) -> None:
    """A shutdown does not end before a function that was called and still runs."""
    ends_after(world, lambda: world.begin_call("A", "C", "slow", RUNNING, 7))


@check("R32.creation", needs=[*STOP, "concurrent", "function.slow"], after=["R32.held"], alone=True)
def a_creation_runs(world: World) -> None:
    """A shutdown does not end before a function that computes a value, though nobody waits for it."""
    ends_after(world, lambda: world.create("A", "x", "C", "slow", [RUNNING, 7]))


@check("R32.fetch", needs=[*STOP, "concurrent", "fault.delay"], after=["R32.held"], alone=True)
def a_fetch_is_under_way(world: World) -> None:
    """A shutdown waits for fetches that are under way, and takes no value away from them."""
    world.fault("delay", "A", message="FetchCall", seconds=1.0)
    world.create("A", "x", "B", "echo", [7])
    fetching = world.begin_fetch("A", "x")
    world.pause(BEGUN)
    stopping = world.begin("stop")
    world.gives(fetching, 7, deadline=4.0)
    stopping.wait(STOPPING)


@check("R32.held", needs=[*STOP, "share"], after=["R16"], alone=True)
def handles_that_are_still_held(world: World) -> None:
    """A shutdown lets go of all handles, and leaves nothing behind."""
    world.create("A", "x", "B", "echo", [7])
    world.create("C", "y", "A", "echo", [8])
    world.share("A", "x", "C")
    left = world.stop(STOPPING)
    world.expect(left == [], f"what could not be released: {left}")


@check("R32.dead", needs=[*STOP, "share", "fault.kill"], after=["R32.held"], alone=True)
def a_peer_has_died(world: World) -> None:
    """A shutdown ends in time, also if a worker has died."""
    world.create("A", "x", "B", "echo", [7])
    world.share("A", "x", "C")
    world.kill("C")
    world.stop(STOPPING)


@check("R34", needs=[*KILL, "share", "drop", "call"], after=["R19.held", "R24.quick"], alone=True)
def the_others_go_on(world: World) -> None:
    """When a worker has died the others can create, share, fetch and call as before."""
    world.kill("C")
    world.create("A", "x", "B", "echo", [7])
    world.share("A", "x", "B")
    world.finds("A", "x", 7)
    world.drop("A", "x")
    world.finds("B", "x", 7)
    world.gives(world.begin_call("B", "A", "echo", 5), 5)


@check("R34.call", needs=["call", "fault.kill"], after=["R4", "R34.waiting"], alone=True, should=HOW_SOON)
def a_call_to_a_dead_worker(world: World) -> None:
    """A call to a worker that has died fails soon, with an error that names it."""
    world.call("A", "B", "echo", 5)
    world.kill("B")
    world.names(world.refuses(["dead", "refused", "error"], world.begin_call("A", "B", "echo", 5), SOON), "B")


@check("R34.waiting", needs=[*KILL, "call", "concurrent", "function.slow"], after=["R20"], alone=True, should=HOW_SOON)
def waits_that_only_the_dead_could_end(world: World) -> None:
    """Who waits for a worker that dies is told soon that it will not come."""
    world.create("A", "x", "B", "slow", [30.0, 7])
    waits = [world.begin_fetch("A", "x"), world.begin_call("C", "B", "slow", 30.0, 7)]
    world.pause(BEGUN)
    world.kill("B")
    for wait in waits:
        world.refuses(["dead", "refused", "error"], wait, SOON)


@check("R34.fetch", needs=KILL, after=["R20", "R34.waiting"], alone=True, should=HOW_SOON)
def a_fetch_from_a_dead_owner(world: World) -> None:
    """A fetch from an owner that has died fails soon."""
    world.create("A", "x", "B", "echo", [7])
    world.finds("A", "x", 7)
    world.kill("B")
    world.ends_without(["dead", "refused", "error"], world.begin_fetch("A", "x"), 7, SOON)


@check("R34.share", needs=[*KILL, "share"], after=["R16", "R34.waiting"], alone=True, should=HOW_SOON, timeout=6)
def a_reference_to_what_is_lost(world: World) -> None:
    """Nobody is handed a reference to what a dead worker owned: who tries to share one is told soon."""
    world.create("A", "x", "B", "echo", [7])
    world.finds("A", "x", 7)
    world.kill("B")
    sharing = world.begin_share("A", "x", "C")
    world.ends_without(["dead", "refused", "error"], sharing, None, SOON)


@check("R34.receiver", needs=[*KILL, "share"], after=["R16", "R34.waiting"], alone=True, should=HOW_SOON, timeout=6)
def a_share_with_the_dead(world: World) -> None:
    """Who shares a reference with a worker that has died is told soon."""
    world.create("A", "x", "B", "echo", [7])
    world.finds("A", "x", 7)
    world.kill("C")
    sharing = world.begin_share("A", "x", "C")
    world.refuses(["dead", "refused", "error"], sharing, SOON)


@check("R34.between", needs=[*KILL, "call", "concurrent", "function.slow"], after=["R20"], alone=True)
def a_wait_between_survivors(world: World) -> None:
    """Who waits for a worker that lives goes on waiting when another one dies, and gets what it waits for."""
    world.create("A", "x", "B", "slow", [1.5, 7])
    waits = [world.begin_fetch("A", "x"), world.begin_call("A", "B", "slow", 1.5, 7)]
    world.pause(BEGUN)
    world.kill("C")
    for wait in waits:
        world.gives(wait, 7)


@check("R34.heirs", needs=[*KILL, "share"], after=["R16", "R34"], alone=True)
def what_the_dead_have_shared(world: World) -> None:
    """What a worker has shared stays with those it shared it with when it dies, though it was the creator."""
    world.create("C", "x", "B", "echo", [7])
    world.share("C", "x", "A")
    world.finds("A", "x", 7)
    world.kill("C")
    world.finds("A", "x", 7)


@check("R34.drop", needs=[*KILL, "drop"], after=["R34.fetch"], alone=True, should=HOW_SOON)
def letting_go_of_what_is_lost(world: World) -> None:
    """Who lets go of a handle whose owner has died need not wait for it."""
    world.create("A", "x", "B", "echo", [7])
    world.finds("A", "x", 7)
    world.kill("B")
    world.held.clear()
    world.begin("drop", worker="A", name="x").wait(SOON)


@check(
    "R34.user", needs=[*KILL, "share", "drop", "probe", "probe.forks", "stop.graceful"], after=["R32.dead"], alone=True
)
def what_a_dead_user_held(world: World) -> None:
    """What a dead user held is released, or listed at the end: nothing is kept in silence."""
    leave_a_dead_user(world)
    try:
        world.settles("B", SOON, forks=0)
    except Exception:
        left = world.stop(STOPPING)
        world.expect(left != [], "B counts a fork of C, which is dead, and its shutdown does not say so")


@check(
    "R34.freed", needs=[*KILL, "share", "drop", "probe", "probe.forks"], after=["R16"], alone=True,
    may="the clause lets a backend keep them until the end, and list them there",
)  # fmt: skip
def what_a_dead_user_held_is_released(world: World) -> None:
    """The forks of a user that has died are released."""
    leave_a_dead_user(world)
    world.settles("B", SOON, owned=0, forks=0)


def leave_a_dead_user(world: World) -> None:
    """Let C die with a reference to a value of B that nobody else refers to."""
    world.create("A", "x", "B", "echo", [7])
    world.share("A", "x", "C")
    world.fetch("C", "x")
    world.drop("A", "x")
    world.settles("B", owned=1, forks=1)
    world.kill("C")
