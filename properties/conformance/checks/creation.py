"""What a backend must do when a reference is made (R10 to R13)."""

from __future__ import annotations

from farref.properties.conformance.kit.check import check
from farref.properties.conformance.kit.world import World

RUNNING = 2.0
"""How long a function runs of which something must be seen meanwhile."""
MEANWHILE = 1.5


@check("R10", needs=["create", "probe", "probe.forks", "function.slow"], after=["R20"])
def registered_on_receipt(world: World) -> None:
    """The owner counts the creator while the function still runs."""
    world.create("A", "x", "B", "slow", [RUNNING, 7])
    world.settles("B", within=MEANWHILE, forks=1)


@check("R10.confirmed", needs=["create", "probe", "confirmed", "function.slow"], after=["R20"])
def confirmed_while_the_function_runs(world: World) -> None:
    """The creator is confirmed while the function still runs."""
    world.create("A", "x", "B", "slow", [RUNNING, 7])
    world.confirms("A", "x", within=MEANWHILE)


@check("R10.returns", needs=["create", "fetch", "function.slow"])
def creation_returns_at_once(world: World) -> None:
    """`remote()` returns a handle without waiting for the function."""
    creation = world.begin("create", worker="A", name="x", owner="B", function="slow", args=[RUNNING, 7], timeout=None)
    creation.wait(MEANWHILE)
    world.held["A", "x"] = None
    world.finds("A", "x", 7)


@check("R10.raises", needs=["create", "fetch", "drop", "function.fail"], after=["R20"])
def a_function_that_raises(world: World) -> None:
    """A function that raises makes its RRef ready all the same: whoever fetches it gets the error."""
    world.create("A", "x", "B", "fail", ["no such luck"])
    failure = world.refuses(["error"], world.begin_fetch("A", "x"), 5.0)
    world.expect("no such luck" in failure.in_full, f"the error is another one: {failure}")
    world.drop("A", "x")
    world.empties()


@check("R12", needs=["create", "fetch"])
def creation_on_oneself(world: World) -> None:
    """A worker can ask itself to run a function and keep the result."""
    world.create("A", "x", "A", "echo", [7])
    world.finds("A", "x", 7)


@check("R12.confirmed", needs=["create", "probe", "confirmed", "function.slow"], after=["R12"])
def confirmed_on_oneself(world: World) -> None:
    """A handle of an RRef that a worker has asked of itself is confirmed from the beginning."""
    world.create("A", "x", "A", "slow", [0.5, 7])
    world.expect(world.probe("A", "x")["confirmed"], "it is not confirmed")


@check("R12.early", needs=["create", "drop", "probe", "probe.owned", "function.slow"], after=["R12"])
def dropped_before_the_function_ends(world: World) -> None:
    """If the handle is dropped early, the running function keeps the entry, and nothing is left when it ends."""
    world.create("A", "x", "A", "slow", [0.5, 7])
    world.drop("A", "x")
    world.empties()


@check("R12.argument", needs=["create", "fetch", "drop", "local", "function.later"], after=["R12", "R13"])
def an_argument_to_oneself(world: World) -> None:
    """A function that a worker asks of itself holds the RRefs among its arguments until it ends."""
    world.create("A", "x", "A", None, [7])
    world.create("A", "y", "A", "later", [{"rref": "x"}, 0.5])
    world.drop("A", "x")
    world.finds("A", "y", 7)


@check("R13", needs=["create", "fetch", "local"])
def creation_from_a_value(world: World) -> None:
    """`RRef(value)` refers to a value that the worker has."""
    world.create("A", "x", "A", None, [7])
    world.finds("A", "x", 7)


@check("R13.silent", needs=["create", "drop", "probe", "probe.owned", "probe.forks", "local"], after=["R13"])
def dropped_unshared(world: World) -> None:
    """An RRef of one's own value counts no forks, and goes when it is dropped unshared."""
    world.create("A", "x", "A", None, [7])
    world.settles("A", forks=0)
    world.drop("A", "x")
    world.empties()
