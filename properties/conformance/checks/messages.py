"""What a backend must do with calls, and with control messages that the network loses, delays and repeats (R2 to R7)."""

from __future__ import annotations

from farref.properties.conformance.kit.check import check
from farref.properties.conformance.kit.world import World

LONG = 10.0
"""How long a message may take that was lost a few times."""
LOST = 3
PAIRS = 5
LETTERS = 70_000
"""More than sixteen bits can count."""


@check("R2", needs=["create", "share", "fetch", "drop", "probe", "restart"], after=["R16", "R26"], alone=True, again=1)
def a_second_life(world: World) -> None:
    """Workers that shut down and begin again in the same processes can create, share, fetch and let go as before."""
    world.create("A", "x", "B", "echo", [6])
    world.fetch("A", "x")
    world.drop("A", "x")
    world.stop()
    world.start(again=1)
    world.create("A", "x", "B", "echo", [7])
    world.share("A", "x", "C")
    world.finds("C", "x", 7)
    world.drop("A", "x")
    world.drop("C", "x")
    world.empties()


OWNERS = ["create", "share", "fetch", "drop"]


@check("R2.owners", needs=OWNERS, after=["R16"], workers="ABCD")
def two_owners_are_told_apart(world: World) -> None:
    """Values of two owners, passed on to one worker, are told apart by it, however alike the owners are."""
    tell_apart(world, "echo")


@check("R2.forked", needs=[*OWNERS, "function.heirloom"], after=["R16"], workers="ABCD")
def what_was_there_before_the_workers(world: World) -> None:
    """Objects of two owners that were there before the workers started are told apart by whoever is given both."""
    tell_apart(world, "heirloom")


def tell_apart(world: World, function: str) -> None:
    """Let A have values made on B and on C by the same calls, and pass them on to D, which must find each."""
    for turn in range(PAIRS):
        for owner in ("B", "C"):
            name, args = f"{owner}{turn}", [f"{owner}{turn}"] if function == "echo" else []
            world.create("A", name, owner, function, args)
            world.share("A", name, "D")
        for owner in ("B", "C"):
            world.finds("D", f"{owner}{turn}", f"{owner}{turn}" if function == "echo" else owner)
        for owner in ("B", "C"):
            world.drop("D", f"{owner}{turn}")
            world.drop("A", f"{owner}{turn}")


@check("R3", needs=["call", "concurrent", "function.count"], after=["R4"])
def calls_take_effect_once(world: World) -> None:
    """Each call takes effect once, whoever else calls at the same time."""
    before = world.call("A", "B", "count", "R3")
    world.expect(isinstance(before, int), f"it gives {before!r}, which is no number")
    calls = [world.begin_call(one, "B", "count", "R3") for one in ("A", "C") * 10]
    got = sorted(str(call.wait()) for call in calls)
    wanted = sorted(str(before + number) for number in range(1, 21))
    world.expect(got == wanted, f"the calls were counted as {', '.join(got)}")


@check("R3.overtaken", needs=["create", "share", "fetch", "drop", "probe", "fault.delay"], after=["R16"])
def messages_overtake_a_creation(world: World) -> None:
    """A creation may arrive after everything that refers to it, and all goes on as if it had come first."""
    world.fault("delay", "A", message="RemoteCall", seconds=0.7)
    world.create("A", "x", "B", "echo", [7])
    world.share("A", "x", "C")
    world.finds("C", "x", 7)
    world.finds("A", "x", 7)
    world.drop("A", "x")
    world.drop("C", "x")
    world.empties()


@check("R4", needs=["call"])
def a_call_gives_its_result(world: World) -> None:
    """A call gives what the function returned."""
    world.gives(world.begin_call("A", "B", "echo", 7), 7)


@check("R4.unharmed", needs=["call"], after=["R4"])
def values_arrive_unharmed(world: World) -> None:
    """Arguments and results arrive as they were sent, and of the same type."""
    value = [1, {"two": [2.5, "deux"]}, True, None, -0.5, 2**40, "", [], {}, "naïve \u2260 \U0001f600"]
    world.gives(world.begin_call("A", "B", "echo", value), value)


@check("R4.large", needs=["call"], after=["R4"])
def long_values_arrive_whole(world: World) -> None:
    """A long value arrives whole, in whatever letters it is written."""
    text = "é" * LETTERS
    got = world.call("A", "B", "echo", text)
    world.expect(got == text, f"of {LETTERS} letters there came {len(got) if isinstance(got, str) else got!r}")


@check("R4.apart", needs=["call", "concurrent"], after=["R4"])
def results_are_not_confused(world: World) -> None:
    """Calls that are under way at the same time each give their own result, to the one who called."""
    calls = [(number, world.begin_call("AC"[number % 2], "B", "echo", number)) for number in range(20)]
    for number, call in calls:
        world.gives(call, number)


@check("R4.raises", needs=["call", "function.fail"], after=["R4"])
def a_call_that_raises(world: World) -> None:
    """A call gives the error that the function raised."""
    failure = world.refuses(["error"], world.begin_call("A", "B", "fail", "no such luck"))
    world.expect("no such luck" in failure.in_full, f"the error is another one: {failure}")


@check("R4.unwritable", needs=["call", "function.unwritable"], after=["R4.raises"])
def a_result_that_cannot_be_sent(world: World) -> None:
    """Whoever calls a function whose result cannot be sent gets an error, and does not wait in vain."""
    world.refuses(["error", "refused"], world.begin_call("A", "B", "unwritable"))
    world.gives(world.begin_call("A", "B", "echo", 7), 7)


@check("R4.nested", needs=["call", "function.nest"], after=["R4"], alone=True, timeout=4)
def nested_calls(world: World) -> None:
    """A call is processed, or its sender is told that it cannot be, however deep calls are nested."""
    world.gives(world.begin_call("A", "B", "nest", 40, "B", "A"), 40, deadline=6.0)


@check("R4.late", needs=["call", "timeout", "fault.pause", "function.count"], after=["R4", "R27.call"])
def a_late_call_is_not_repeated(world: World) -> None:
    """A call that nobody waits for any more is not sent again: it takes effect once, or not at all."""
    world.fault("pause", "B", seconds=1.0)
    world.refuses(["timeout"], world.begin_call("A", "B", "count", f"R4 {world.seed}", timeout=0.3))
    world.pause(1.2)
    again = world.call("A", "B", "count", f"R4 {world.seed}")
    world.expect(again in (1, 2), f"the next call is number {again}")


@check("R6", needs=["create", "fetch", "drop", "probe", "probe.forks", "fault.lose"], after=["R26"])
def a_lost_delete(world: World) -> None:
    """A deletion that the network loses is told again, until the owner knows."""
    world.fault("lose", "A", message="UserDelete", times=LOST)
    world.create("A", "x", "B", "echo", [7])
    world.fetch("A", "x")
    world.drop("A", "x")
    world.empties(LONG)


@check("R6.request", needs=["create", "share", "fetch", "fault.lose"], after=["R16"])
def a_lost_request(world: World) -> None:
    """A request to be counted that the network loses is made again, and the call that waits for it runs."""
    world.fault("lose", "C", message="ForkRequest", times=LOST)
    world.create("A", "x", "B", "echo", [7])
    world.begin_share("A", "x", "C").wait(LONG)
    world.held["C", "x"] = None
    world.finds("C", "x", 7)


@check(
    "R6.accept", needs=["create", "share", "fetch", "drop", "probe", "probe.forks", "fault.lose"], after=["R24.quick"]
)
def a_lost_accept(world: World) -> None:
    """An acceptance that the network loses is told again, and the parent can go."""
    world.fault("lose", "C", message="ChildAccept", times=LOST)
    world.create("A", "x", "B", "echo", [7])
    world.share("A", "x", "C")
    world.drop("A", "x")
    world.settles("B", LONG, owned=1, forks=1)
    world.finds("C", "x", 7)


@check("R7", needs=["create", "share", "drop", "probe", "probe.forks", "fault.duplicate"], after=["R16", "R26"])
def a_late_copy_of_a_request(world: World) -> None:
    """A late copy of a request to be counted does not bring back a fork that is deleted."""
    world.create("A", "x", "B", "echo", [7])
    world.fault("duplicate", "C", message="ForkRequest", seconds=0.7)
    world.share("A", "x", "C")
    world.drop("C", "x")
    world.drop("A", "x")
    world.empties()
    world.pause(1.0)
    world.empties(1.0)


@check("R7.delete", needs=["create", "share", "fetch", "drop", "probe", "probe.forks", "fault.duplicate"],
       after=["R24.quick", "R26"])  # fmt: skip
def a_late_copy_of_a_delete(world: World) -> None:
    """A late copy of a deletion takes nothing away from those who still refer to the value."""
    world.create("A", "x", "B", "echo", [7])
    world.share("A", "x", "C")
    world.fault("duplicate", "A", message="UserDelete", seconds=0.5)
    world.drop("A", "x")
    world.settles("B", owned=1, forks=1)
    world.share("C", "x", "A")
    world.pause(0.7)
    world.settles("B", 1.0, owned=1, forks=2)
    world.finds("A", "x", 7)


@check("R7.accept", needs=["create", "share", "fetch", "drop", "probe", "fault.duplicate"], after=["R24.quick", "R26"])
def a_late_copy_of_an_acceptance(world: World) -> None:
    """A late copy of an acceptance changes nothing for the parent's other children."""
    world.create("A", "x", "B", "echo", [7])
    world.fault("duplicate", "C", message="ChildAccept", seconds=0.3)
    world.share("A", "x", "C")
    world.drop("C", "x")
    world.share("A", "x", "C")
    world.drop("A", "x")
    world.pause(0.5)
    world.finds("C", "x", 7)
    world.drop("C", "x")
    world.empties()
