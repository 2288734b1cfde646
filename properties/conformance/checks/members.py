"""What a backend must do when workers are silent, cut off, killed or started again (R36 to R44).

What follows from R34 alone needs `fault.kill` only. Where something must be given back that a dead worker held, the backend has
to say that it does so (`reclaims`); R34 lets it keep that until it ends.
"""

from __future__ import annotations

from contextlib import suppress

from farref.properties.conformance.conversation.session import OperationFailed
from farref.properties.conformance.kit.check import check
from farref.properties.conformance.kit.world import BEGUN, World

SHARED = ["create", "share", "fetch", "drop"]
COUNTED = ["probe", "probe.owned"]
KILLED = [*SHARED, *COUNTED, "fault.kill"]
LOST = ["dead", "refused", "error"]
SOON = 4.0
"""How long it may take until a death is noticed, and so how long one must look whether anything is lost by it."""
SILENCE = 2
"""After so many seconds without a word a worker is taken for dead."""
ASLEEP = 3.0 * SILENCE
WAKING = 2.0
RECLAIMED = 20.0
"""How long a value may stay that only the dead held: longer than any lease that an adapter should choose."""
KEPT = 1.0


@check("R36", needs=[*SHARED, *COUNTED, "fault.pause"], after=["R24.quick", "R26"], alone=True)
def silence_for_a_moment(world: World) -> None:
    """A worker that says nothing for a moment loses nothing: what it held is there when it goes on."""
    world.create("A", "x", "B", "echo", [7])
    world.share("A", "x", "C")
    world.drop("A", "x")
    world.fault("pause", "C", seconds=1.0)
    world.keeps("B", KEPT, owned=1)
    world.finds("C", "x", 7)
    world.drop("C", "x")
    world.empties()


@check("R36.cut", needs=[*SHARED, *COUNTED, "fault.cut"], after=["R24.quick", "R26"], alone=True)
def a_broken_link(world: World) -> None:
    """A link that breaks between two workers that live costs nothing: they connect again, and no count has changed."""
    world.create("A", "x", "B", "echo", [7])
    world.finds("A", "x", 7)
    world.fault("cut", "A", to="B")
    world.keeps("B", KEPT, owned=1)
    world.finds("A", "x", 7)
    world.share("A", "x", "C")
    world.drop("A", "x")
    world.finds("C", "x", 7)
    world.drop("C", "x")
    world.empties()


def sleep_through(world: World) -> None:
    """Let C, which has a value of B, stand still for longer than anybody waits for it, and wake up."""
    world.create("A", "x", "B", "echo", [7])
    world.share("A", "x", "C")
    world.finds("C", "x", 7)
    world.drop("A", "x")
    world.collect()
    world.fault("pause", "C", seconds=ASLEEP)


@check("R38", needs=[*SHARED, "fault.pause", "silence"], after=["R24.quick"], alone=True, silence=SILENCE)
def nobody_is_harmed(world: World) -> None:
    """The others go on while a worker stands still for too long, and nothing of theirs is lost when it wakes."""
    sleep_through(world)
    world.create("A", "y", "B", "echo", [8])
    world.finds("A", "y", 8)
    world.pause(ASLEEP + WAKING)
    with suppress(OperationFailed):
        world.begin("drop", worker="C", name="x").wait()
    world.held.pop(("C", "x"))
    world.finds("A", "y", 8)


@check("R38.zombie", needs=[*SHARED, "fault.pause", "silence"], after=["R24.quick"], alone=True, silence=SILENCE)
def who_wakes_too_late(world: World) -> None:
    """A worker that wakes too late has its values, or is refused as somebody who was excluded; no value is simply gone."""
    sleep_through(world)
    world.pause(ASLEEP / 2)
    world.collect()  # what is given up while C sleeps goes before C wakes
    world.pause(ASLEEP / 2 + WAKING)
    fetching = world.begin_fetch("C", "x")
    try:
        world.gives(fetching, 7)
    except OperationFailed as failure:
        said = f"C was not told that it is excluded; it met {failure.kind} ({failure})"
        world.expect(failure.kind in ("refused", "dead"), said, fetching.entry, fails=["refused", "dead"])


@check("R39", needs=KILLED, after=["R16", "R34", "R34.heirs"], alone=True)
def the_owner_keeps_it_for_the_heir(world: World) -> None:
    """If the worker in the middle dies, the owner keeps the value for the one that has it from there."""
    leave_an_heir(world)


@check("R39.heir", needs=[*KILLED, "reclaims"], after=["R39"], alone=True)
def the_heir_lets_go(world: World) -> None:
    """What an heir has from a worker that died is kept while the heir holds it, and given back when it lets go."""
    leave_an_heir(world)
    world.drop("A", "x")
    world.settles("B", RECLAIMED, owned=0, forks=0)


def leave_an_heir(world: World) -> None:
    """Let C make a value on B, pass it to A and die at once. B must keep the value, and A have it."""
    world.create("C", "x", "B", "echo", [7])
    world.settles("B", owned=1)  # what C had still to send would die with it
    world.share("C", "x", "A")
    world.held.pop(("C", "x"))
    world.kill("C")
    world.keeps("B", SOON, owned=1)
    world.finds("A", "x", 7)


@check("R41", needs=[*KILLED, "reclaims"], after=["R34"], alone=True)
def what_a_dead_creator_held(world: World) -> None:
    """A value that only its creator had is given back when the creator dies."""
    world.create("C", "x", "B", "echo", [7])
    world.finds("C", "x", 7)
    world.held.clear()
    world.kill("C")
    world.settles("B", RECLAIMED, owned=0, forks=0)


@check("R41.freed", needs=[*KILLED, "reclaims"], after=["R41", "R24.quick"], alone=True)
def what_a_dead_receiver_held(world: World) -> None:
    """A value that a worker got from another is given back when that worker dies, and others stay."""
    world.create("A", "x", "B", "echo", [7])
    world.create("A", "y", "B", "echo", [8])
    world.share("A", "x", "C")
    world.share("A", "y", "C")
    world.drop("A", "x")
    world.held.pop(("C", "x"))
    world.held.pop(("C", "y"))
    world.settles("B", owned=2)
    world.kill("C")
    world.settles("B", RECLAIMED, owned=1)
    world.finds("A", "y", 8)


@check("R42", needs=[*KILLED, "reclaims"], after=["R34"], alone=True)
def a_parent_whose_child_has_died(world: World) -> None:
    """A worker that has shared with somebody who died can let go, and nothing is left."""
    world.create("A", "x", "B", "echo", [7])
    world.share("A", "x", "C")
    world.held.pop(("C", "x"))
    world.kill("C")
    world.drop("A", "x")
    world.settles("B", RECLAIMED, owned=0, forks=0)


@check("R42.parent", needs=[*KILLED, "reclaims", "concurrent", "fault.pause"], after=["R42"], alone=True)
def a_parent_whose_child_never_came_to_be(world: World) -> None:
    """A worker whose share was still under way when the receiver died can let go, and nothing is left."""
    world.create("A", "x", "B", "echo", [7])
    world.finds("A", "x", 7)
    world.fault("pause", "C", seconds=30.0)
    sharing = world.begin_share("A", "x", "C")
    world.pause(BEGUN)
    world.kill("C")
    with suppress(OperationFailed):
        sharing.wait(SOON)
    world.drop("A", "x")
    world.settles("B", RECLAIMED, owned=0, forks=0)


@check("R43", needs=["create", "fetch", "fault.kill"], after=["R34.fetch"], alone=True)
def the_lost_owner_is_named(world: World) -> None:
    """Who uses what a dead worker owned is told who has died."""
    world.create("A", "x", "B", "echo", [7])
    world.finds("A", "x", 7)
    world.kill("B")
    failure = world.ends_without(LOST, world.begin_fetch("A", "x"), 7, SOON)
    if failure is not None:
        world.names(failure, "B")


@check("R43.owner", needs=[*KILLED, "share"], after=["R34.share", "R34.drop"], alone=True)
def an_orphan_goes_with_its_last_handle(world: World) -> None:
    """A reference whose owner has died is refused, and goes with its last handle: nothing is left on whoever had it."""
    world.create("A", "x", "B", "echo", [7])
    world.share("A", "x", "C")
    world.kill("B")
    world.ends_without(LOST, world.begin_fetch("C", "x"), 7, SOON)
    for worker in ("A", "C"):
        world.drop(worker, "x")
        world.settles(worker, RECLAIMED, owned=0, pending=0, children=0)


@check("R44", needs=["create", "fetch", "call", "fault.kill", "fault.restart"], after=["R34"], alone=True)
def a_worker_comes_again(world: World) -> None:
    """A worker that was killed can be started again under its name, and the others can work with it."""
    world.kill("C")
    world.fault("restart", "C")
    world.create("A", "x", "C", "echo", [7])
    world.finds("A", "x", 7)
    world.gives(world.begin_call("C", "B", "echo", 5), 5)


@check("R44.again", needs=[*SHARED, "fault.kill", "fault.restart"], after=["R44"], alone=True)
def it_inherits_nothing(world: World) -> None:
    """A worker that is started again has nothing of what the one before it held or owned."""
    world.create("A", "x", "C", "echo", [7])
    world.create("C", "y", "B", "echo", [8])
    world.kill("C")
    world.fault("restart", "C")
    world.held.clear()
    world.fails(world.begin_fetch("C", "y"))
    world.ends_without(LOST, world.begin_fetch("A", "x"), 7, SOON)
    world.create("A", "z", "C", "echo", [9])
    world.finds("A", "z", 9)
    world.ends_without(LOST, world.begin_fetch("A", "x"), 7, SOON)
