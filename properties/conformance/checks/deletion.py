"""What a backend must do when references are let go: nothing goes early, nothing stays (R8, R9, R24 to R26)."""

from __future__ import annotations

from farref.properties.conformance.kit.check import check
from farref.properties.conformance.kit.world import BEGUN, World

ROUNDS = 10


@check("R8", needs=["create", "share", "fetch", "drop", "probe", "probe.owned", "probe.forks"], after=["R16"])
def what_the_owner_counts(world: World) -> None:
    """An owner keeps one entry for each RRef, and counts each reference of others once."""
    world.create("A", "x", "B", "echo", [1])
    world.create("C", "y", "B", "echo", [2])
    world.share("A", "x", "C")
    world.settles("B", owned=2, forks=3)
    world.drop("A", "x")
    world.settles("B", owned=2, forks=2)
    world.drop("C", "x")
    world.settles("B", owned=1, forks=1)
    world.drop("C", "y")
    world.settles("B", owned=0, forks=0)


@check("R9", needs=["create", "share", "drop", "probe", "probe.children", "probe.pending"], after=["R16"])
def what_a_user_keeps(world: World) -> None:
    """A user that is confirmed, and whose children have accepted, waits for nothing."""
    world.create("A", "x", "B", "echo", [7])
    world.share("A", "x", "C")
    world.settles("A", pending=0, children=0)
    world.settles("C", pending=0, children=0)


@check("R24", needs=["create", "fetch", "drop", "probe", "probe.forks", "fault.pause", "function.value_of"],
       after=["R16"])  # fmt: skip
def a_parent_waits_for_its_child(world: World) -> None:
    """A parent that has let go is counted until its child has accepted, which may take long, and no longer."""
    world.create("A", "x", "B", "echo", [7])
    world.fetch("A", "x")
    world.fault("pause", "C", seconds=1.0)
    world.create("A", "y", "C", "value_of", [{"rref": "x"}])
    world.drop("A", "x")
    world.keeps("B", 0.5, forks=1)
    world.finds("A", "y", 7)
    world.settles("B", forks=0)


@check("R24.quick", needs=["create", "share", "fetch", "drop", "probe"], after=["R16"])
def parents_that_go_at_once(world: World) -> None:
    """Whoever shares may let go at once: the value stays for those it was shared with."""
    for turn in range(ROUNDS):
        world.create("A", f"x{turn}", "B", "echo", [turn])
        world.share("A", f"x{turn}", "C")
        world.drop("A", f"x{turn}")
    got = [world.fetch("C", f"x{turn}") for turn in range(ROUNDS)]
    world.expect(got == list(range(ROUNDS)), f"the values are {got}")


@check("R25", needs=["create", "drop", "probe", "probe.forks", "fault.delay"], after=["R26"])
def a_creation_that_is_late(world: World) -> None:
    """A handle that is dropped before its creation has arrived leaves nothing on the owner."""
    world.fault("delay", "A", message="RemoteCall", seconds=0.7)
    world.create("A", "x", "B", "echo", [7])
    world.drop("A", "x")
    world.pause(1.0)
    world.empties()
    world.create("A", "y", "B", "echo", [8])
    world.drop("A", "y")
    world.empties()


@check("R25.quick", needs=["create", "drop", "probe"], after=["R26"])
def creators_that_go_at_once(world: World) -> None:
    """A handle that is dropped before it is confirmed leaves nothing."""
    for turn in range(ROUNDS):
        world.create("A", f"x{turn}", "B", "echo", [turn])
        world.drop("A", f"x{turn}")
    world.empties()


@check("R26", needs=["create", "fetch", "drop", "probe"], after=["R20"])
def letting_go(world: World) -> None:
    """When the application lets go of a handle, nothing is left of it on any worker."""
    world.create("A", "x", "B", "echo", [7])
    world.fetch("A", "x")
    world.drop("A", "x")
    world.empties()


@check("R26.fetch", needs=["create", "fetch", "drop", "concurrent", "function.slow"], after=["R26"])
def dropped_while_it_is_fetched(world: World) -> None:
    """Code that waits for a fetch still holds the handle, whatever else lets go of it."""
    world.create("A", "x", "B", "slow", [1.0, 7])
    fetching = world.begin_fetch("A", "x")
    world.pause(BEGUN)
    world.drop("A", "x")
    world.gives(fetching, 7)
    world.leaves_nothing()


@check(
    "R26.runs", needs=["create", "fetch", "drop", "call", "concurrent", "function.later"], after=["R24.quick", "R26"]
)
def dropped_while_a_function_runs_with_it(world: World) -> None:
    """A function that was given a reference has the value until it ends, even if its caller lets go."""
    world.create("A", "x", "B", "echo", [7])
    world.fetch("A", "x")
    late = world.begin_call("A", "C", "later", {"rref": "x"}, 1.0)
    world.pause(BEGUN)
    world.drop("A", "x")
    world.gives(late, 7)
    world.empties()


@check("R26.twice", needs=["create", "share", "fetch", "drop", "probe"], after=["R16", "R24.quick"])
def shared_twice_with_the_same_worker(world: World) -> None:
    """A reference that is shared with a worker twice is let go by it twice: nothing is left of the first."""
    world.create("A", "x", "B", "echo", [7])
    world.share("A", "x", "C")
    world.share("A", "x", "C")
    world.finds("C", "x", 7)
    world.drop("C", "x")
    world.drop("A", "x")
    world.empties()


@check("R26.self", needs=["create", "share", "fetch", "drop", "probe"], after=["R26.twice"])
def a_user_shares_with_itself(world: World) -> None:
    """A user can share a reference with its own worker, and nothing is left of either when it lets go."""
    world.create("A", "x", "B", "echo", [7])
    world.share("A", "x", "A")
    world.finds("A", "x", 7)
    world.settles("B", owned=1, forks=1)
    world.drop("A", "x")
    world.empties()
