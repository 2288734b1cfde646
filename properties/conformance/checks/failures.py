"""What a backend must do when a message cannot be written or read, and when a peer stays silent (R28 to R30)."""

from __future__ import annotations

from contextlib import suppress

from farref.properties.conformance.conversation.session import OperationFailed
from farref.properties.conformance.kit.check import check
from farref.properties.conformance.kit.world import World

UNWRITABLE = {"unwritable": True}
UNREADABLE = {"unreadable": True}
FAILING = ["create", "fetch", "call", "drop", "probe", "probe.forks"]


def nothing_is_left(world: World, *args: object, function: str = "hold") -> None:
    """A user shares a reference in a call that fails; when it lets go, nothing must be left."""
    world.create("A", "x", "B", "echo", [7])
    world.finds("A", "x", 7)
    world.fails(world.begin_call("A", "C", function, *args))
    world.drop("A", "x")
    world.empties(3.0)


@check("R28", needs=[*FAILING, "argument.unwritable", "function.hold"], after=["R26", "R4.raises"], alone=True)
def a_share_that_cannot_be_written(world: World) -> None:
    """A reference in a call that cannot be written is withdrawn: nothing is left once its user lets go."""
    nothing_is_left(world, {"rref": "x"}, UNWRITABLE)


@check(
    "R28.unreadable", needs=[*FAILING, "argument.unreadable", "function.hold"], after=["R26", "R4.raises"], alone=True
)
def a_share_that_cannot_be_read(world: World) -> None:
    """A reference in a call that its receiver cannot read is withdrawn: nothing is left once its user lets go."""
    nothing_is_left(world, UNREADABLE, {"rref": "x"})


@check("R28.missing", needs=[*FAILING, "function.missing"], after=["R26", "R4.raises"], alone=True)
def a_share_with_a_function_that_is_missing(world: World) -> None:
    """A reference in a call of a function that the receiver does not have is withdrawn."""
    nothing_is_left(world, {"rref": "x"}, function="missing")


@check("R28.owner", needs=[*FAILING, "local", "argument.unwritable", "function.hold"], after=["R13.silent"], alone=True)
def an_owners_share_that_cannot_be_written(world: World) -> None:
    """An owner that cannot write a call no longer counts the reference that was in it."""
    world.create("B", "x", "B", None, [7])
    world.fails(world.begin_call("B", "C", "hold", {"rref": "x"}, UNWRITABLE))
    world.settles("B", 3.0, forks=0)
    world.drop("B", "x")
    world.empties(3.0)


@check("R28.owner_missing", needs=[*FAILING, "local", "function.missing"], after=["R13.silent"], alone=True)
def an_owners_share_with_a_function_that_is_missing(world: World) -> None:
    """An owner no longer counts a reference that was in a call of a function which the receiver does not have."""
    world.create("B", "x", "B", None, [7])
    world.fails(world.begin_call("B", "C", "missing", {"rref": "x"}))
    world.settles("B", 3.0, forks=0)


@check(
    "R29",
    needs=["create", "fetch", "drop", "probe", "argument.unreadable"],
    after=["R26", "R10.raises"],
    alone=True,
    timeout=2,
)
def a_creation_that_cannot_be_read(world: World) -> None:
    """A creation whose arguments the owner cannot read leaves nothing once its creator lets go."""
    world.create("A", "x", "B", "echo", [UNREADABLE])
    world.fails(world.begin_fetch("A", "x"))
    world.drop("A", "x")
    world.empties(3.0)


@check("R29.told", needs=["create", "fetch", "argument.unreadable"], after=["R20", "R10.raises"], alone=True, timeout=2)
def a_creation_that_cannot_be_read_is_told(world: World) -> None:
    """Whoever fetches what a failed creation should have made is told that it failed, and does not wait in vain."""
    world.create("A", "x", "B", "echo", [UNREADABLE])
    world.refuses(["error", "refused", "unknown"], world.begin_fetch("A", "x"))


@check(
    "R29.missing",
    needs=["create", "fetch", "drop", "probe", "function.missing"],
    after=["R26", "R10.raises"],
    alone=True,
    timeout=2,
)
def a_creation_with_a_function_that_is_missing(world: World) -> None:
    """A creation by a function that the owner does not have is told as an error, and leaves nothing."""
    world.create("A", "x", "B", "missing", [])
    world.refuses(["error", "refused", "unknown"], world.begin_fetch("A", "x"))
    world.drop("A", "x")
    world.empties(3.0)


@check("R29.unwritable", needs=["create", "fetch", "drop", "probe", "argument.unwritable"], after=["R26"], alone=True)
def a_creation_that_cannot_be_written(world: World) -> None:
    """A creation whose arguments cannot be written fails at once, and leaves nothing."""
    what = {"owner": "B", "function": "echo", "args": [UNWRITABLE], "timeout": None}
    world.fails(world.begin("create", worker="A", name="x", **what))
    world.empties(3.0)


@check("R29.cargo", needs=["create", "fetch", "drop", "probe", "probe.forks", "argument.unreadable", "function.hold"],
       after=["R29", "R26"], alone=True, timeout=2)  # fmt: skip
def the_cargo_of_a_creation_that_cannot_be_read(world: World) -> None:
    """A reference among arguments that the owner of a creation cannot read is withdrawn."""
    world.create("A", "x", "B", "echo", [7])
    world.finds("A", "x", 7)
    world.create("A", "y", "C", "hold", [{"rref": "x"}, UNREADABLE])
    world.fails(world.begin_fetch("A", "y"))
    world.drop("A", "x")
    world.drop("A", "y")
    world.empties(3.0)


@check("R30", needs=["create", "fetch", "drop", "probe", "probe.forks", "fault.pause"], after=["R26"])
def a_silent_owner(world: World) -> None:
    """A worker whose messages stay unanswered for a while goes on trying, and nothing is lost."""
    world.create("A", "x", "B", "echo", [7])
    world.finds("A", "x", 7)
    world.fault("pause", "B", seconds=1.5)
    world.drop("A", "x")
    world.gives(world.begin_call("A", "C", "echo", 5), 5, deadline=1.4)
    world.empties()


@check("R30.paused", needs=["create", "share", "fetch", "timeout", "fault.pause"], after=["R16"], alone=True, timeout=1)
def a_request_to_a_silent_owner(world: World) -> None:
    """If an owner is silent for longer than calls may take, who asks it to be counted goes on asking."""
    world.create("A", "x", "B", "echo", [7])
    world.finds("A", "x", 7)
    world.fault("pause", "B", seconds=2.0)
    with suppress(OperationFailed):  # whoever shares may be told that it took too long
        world.begin_share("A", "x", "C").wait()
    world.pause(4.0)
    world.finds("C", "x", 7)


@check("R30.lost", needs=["create", "share", "fetch", "drop", "fault.lose"], after=["R6.request"], alone=True)
def there_is_no_last_attempt(world: World) -> None:
    """However often a request to be counted is lost, its worker lives and makes it again."""
    world.fault("lose", "C", message="ForkRequest", times=6)
    world.create("A", "x", "B", "echo", [7])
    world.begin_share("A", "x", "C").wait(30.0)
    world.finds("C", "x", 7)
