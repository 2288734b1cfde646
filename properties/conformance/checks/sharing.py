"""What a backend must do when a reference is passed to somebody else (R14 to R19)."""

from __future__ import annotations

from farref.properties.conformance.checks.creation import MEANWHILE, RUNNING
from farref.properties.conformance.kit.check import check
from farref.properties.conformance.kit.world import World

SHARING = ["create", "share", "fetch"]


@check("R14", needs=[*SHARING, "drop", "local"], after=["R13"])
def the_owner_shares_and_lets_go(world: World) -> None:
    """An owner that shares may let go at once: whoever it shared with has the value."""
    world.create("B", "x", "B", None, [7])
    world.share("B", "x", "C")
    world.drop("B", "x")
    world.finds("C", "x", 7)


@check("R14.counted", needs=[*SHARING, "drop", "probe", "probe.forks", "local"], after=["R14"])
def the_owner_counts_what_it_shares(world: World) -> None:
    """An owner counts those it has shared with, each once, until they let go."""
    world.create("B", "x", "B", None, [7])
    world.share("B", "x", "A")
    world.share("B", "x", "C")
    world.settles("B", owned=1, forks=2)
    world.drop("A", "x")
    world.settles("B", owned=1, forks=1)
    world.drop("C", "x")
    world.settles("B", forks=0)


@check("R15", needs=[*SHARING, "local", "probe", "confirmed"], after=["R14"])
def confirmed_on_arrival(world: World) -> None:
    """A reference that comes from its owner is confirmed on arrival."""
    world.create("B", "x", "B", None, [7])
    world.share("B", "x", "C")
    world.expect(world.probe("C", "x")["confirmed"], "C has x from its owner, and it is not confirmed")


@check("R16", needs=SHARING, after=["R20"])
def a_user_shares_with_a_user(world: World) -> None:
    """A user can share a reference with another user, which fetches the value."""
    world.create("A", "x", "B", "echo", [7])
    world.share("A", "x", "C")
    world.finds("C", "x", 7)


@check("R16.pending", needs=[*SHARING, "function.slow"], after=["R16"])
def a_pending_user_shares(world: World) -> None:
    """A creator may share before its own creation is confirmed, and the call that carries the reference runs."""
    world.create("A", "x", "B", "slow", [1.0, 7])
    world.share("A", "x", "C")
    world.finds("C", "x", 7)


@check("R16.counted", needs=["create", "call", "fetch", "concurrent", "probe", "probe.forks", "function.hold"],
       after=["R16"])  # fmt: skip
def an_argument_is_counted(world: World) -> None:
    """A function that was given a reference runs only when the owner counts it."""
    world.create("A", "x", "B", "echo", [7])
    world.fetch("A", "x")
    holding = world.begin_call("A", "C", "hold", {"rref": "x"}, 1.0)
    world.settles("B", within=0.9, owned=1, forks=2)
    holding.wait()
    world.settles("B", owned=1, forks=1)


@check("R16.each", needs=["create", "call", "fetch", "drop", "concurrent", "probe", "probe.forks", "function.slow",
       "function.witness"], after=["R12", "R14.counted", "R16.counted"])  # fmt: skip
def each_argument_is_counted(world: World) -> None:
    """Of several references in one call each is counted, for as long as the function has them."""
    for number, name in enumerate(("x", "y")):
        world.create("A", name, "B", "echo", [number])
        world.fetch("A", name)
    world.create("A", "late", "A", "slow", [RUNNING, 2])
    running = world.begin_call("A", "C", "witness", "R16.each", {"rref": "x"}, {"rref": "y"}, {"rref": "late"})
    world.settles("B", within=MEANWHILE, owned=2, forks=4)
    world.gives(running, [0, 1, 2])
    world.settles("B", owned=2, forks=2)
    world.drop("A", "x", "y", "late")
    world.empties()


@check("R16.parked", needs=["create", "call", "fetch", "concurrent", "probe", "probe.forks", "fault.delay", "function.slow",
       "function.count", "function.witness"], after=["R16.each", "R20.once"])  # fmt: skip
def a_call_waits_until_its_argument_is_counted(world: World) -> None:
    """A function does not begin before the owner counts the reference that it was given, however long that takes."""
    world.fault("delay", "C", message="ForkRequest", seconds=1.0)
    world.create("A", "x", "B", "echo", [7])
    world.fetch("A", "x")
    world.create("A", "late", "A", "slow", [2 * RUNNING, 8])
    running = world.begin_call("A", "C", "witness", f"R16 {world.seed}", {"rref": "x"}, {"rref": "late"})
    world.until(lambda asked: world.call("A", "C", "count", f"R16 {world.seed}") > asked, "the function has not begun")
    counted = world.probe("B")["forks"]
    world.expect(counted == 2, f"the function has begun, and B counts {counted} of 2 forks")
    world.gives(running, [7, 8])


@check("R16.confirmed", needs=[*SHARING, "probe", "confirmed"], after=["R16"])
def an_argument_is_confirmed(world: World) -> None:
    """A reference that was passed as an argument is confirmed when the function has it."""
    world.create("A", "x", "B", "echo", [7])
    world.share("A", "x", "C")
    world.expect(world.probe("C", "x")["confirmed"], "C has x as an argument, and it is not confirmed")


@check("R16.chain", needs=[*SHARING, "drop", "probe"], after=["R24.quick"])
def a_chain_of_shares(world: World) -> None:
    """A reference may go from hand to hand; each lets go once it has passed it on, and the last has the value."""
    world.create("A", "x", "B", "echo", [7])
    for source, target in (("A", "C"), ("C", "A"), ("A", "C")):
        world.share(source, "x", target)
        world.drop(source, "x")
    world.finds("C", "x", 7)
    world.drop("C", "x")
    world.empties()


@check("R17", needs=["create", "fetch", "drop", "fault.delay", "function.value_of"], after=["R16"])
def accepts_after_confirmation(world: World) -> None:
    """A parent that lets go does not take the value with it while its child is not counted yet."""
    world.fault("delay", "C", message="ForkRequest", seconds=1.0)
    world.create("A", "x", "B", "echo", [7])
    world.fetch("A", "x")
    world.create("A", "y", "C", "value_of", [{"rref": "x"}])
    world.drop("A", "x")
    world.finds("A", "y", 7)


@check("R18", needs=["create", "fetch", "drop", "probe", "probe.forks", "function.hold"], after=["R16.counted"])
def accepts_before_user_code(world: World) -> None:
    """A parent that has let go is no longer counted while the function that it passed the reference to still runs."""
    world.create("A", "x", "B", "echo", [7])
    world.fetch("A", "x")
    world.create("A", "y", "C", "hold", [{"rref": "x"}, RUNNING])
    world.settles("B", within=MEANWHILE, forks=2)
    world.drop("A", "x")
    world.settles("B", within=MEANWHILE, forks=1)


@check("R19", needs=["create", "call", "function.value_of"], after=["R20"])
def sharing_with_the_owner(world: World) -> None:
    """A reference that is passed to its owner gives the value there."""
    world.create("A", "x", "B", "echo", [7])
    world.gives(world.begin_call("A", "B", "value_of", {"rref": "x"}), 7)


@check("R19.held", needs=[*SHARING, "drop", "probe", "probe.forks"], after=["R19"])
def the_owner_holds_it(world: World) -> None:
    """A reference that came home is no fork: the owner keeps the value for itself, and counts nobody."""
    world.create("A", "x", "B", "echo", [7])
    world.share("A", "x", "B")
    world.drop("A", "x")
    world.settles("B", forks=0)
    world.finds("B", "x", 7)
    world.drop("B", "x")
    world.empties()


@check("R19.self", needs=["create", "fetch", "call", "function.pass_on"], after=["R19", "R20.again"])
def the_owner_shares_with_itself(world: World) -> None:
    """An owner can pass a reference to itself, and nothing is lost by it."""
    world.create("A", "x", "B", "echo", [7])
    world.fetch("A", "x")
    world.gives(world.begin_call("A", "B", "pass_on", {"rref": "x"}, "B"), 7)
    world.finds("A", "x", 7)


@check("R19.own", needs=[*SHARING, "drop", "probe", "probe.forks", "local"], after=["R13.silent"])
def the_owner_shares_its_own_with_itself(world: World) -> None:
    """An owner that shares its own value with itself counts nobody, and nothing is left when it lets go."""
    world.create("B", "x", "B", None, [7])
    world.share("B", "x", "B")
    world.finds("B", "x", 7)
    world.settles("B", forks=0)
    world.drop("B", "x")
    world.empties()
