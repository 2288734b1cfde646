"""What a backend must do when a value is used: fetches, early use on the owner, and the end of an entry (R20 to R23)."""

from __future__ import annotations

from farref.properties.conformance.kit.check import check
from farref.properties.conformance.kit.world import BEGUN, World

MANY = 40
"""More than the threads of any usual pool."""
MANY_VALUES = 150
SEVERAL = 4


@check("R20", needs=["create", "fetch"])
def a_value_can_be_fetched(world: World) -> None:
    """The creator fetches the value that the owner's function computed."""
    world.create("A", "x", "B", "echo", [7])
    world.finds("A", "x", 7)


@check("R20.again", needs=["create", "fetch"], after=["R20"])
def a_value_can_be_fetched_again(world: World) -> None:
    """A value can be fetched as often as one likes, and is the same each time."""
    world.create("A", "x", "B", "echo", [7])
    for _ in range(3):
        world.finds("A", "x", 7)


@check("R20.unharmed", needs=["create", "fetch"], after=["R20"])
def a_value_arrives_unharmed(world: World) -> None:
    """A value arrives as it is, and of the same type."""
    value = [1, {"two": [2.5, "deux"]}, True, None]
    world.create("A", "x", "B", "echo", [value])
    world.finds("A", "x", value)


@check("R20.apart", needs=["create", "fetch", "concurrent", "function.slow"], after=["R20"])
def fetches_are_not_confused(world: World) -> None:
    """Fetches that wait at the same time each give their own value."""
    names = [f"x{number}" for number in range(SEVERAL)]
    for number, name in enumerate(names):
        world.create("A", name, "B", "slow", [0.5, number])
    for number, fetching in enumerate([world.begin_fetch("A", name) for name in names]):
        world.gives(fetching, number)


@check("R20.many", needs=["create", "fetch"], after=["R20"])
def a_value_is_kept_however_many_there_are(world: World) -> None:
    """A value stays as long as somebody refers to it, however many others come after it."""
    for number in range(MANY_VALUES):
        world.create("A", f"x{number}", "B", "echo", [number])
    for number in (0, MANY_VALUES // 2, MANY_VALUES - 1):
        world.finds("A", f"x{number}", number)


@check("R20.once", needs=["create", "fetch", "function.count"], after=["R20"])
def the_function_runs_once(world: World) -> None:
    """A fetch asks for the value and does not compute it again."""
    world.create("A", "x", "B", "count", [f"once{world.seed}"])
    first, second = world.fetch("A", "x"), world.fetch("A", "x")
    world.expect(first == second, f"it gave {first!r}, and then {second!r}")


@check("R20.parked", needs=["create", "fetch", "call", "concurrent", "function.slow"], after=["R20.again"])
def parked_fetches_hold_no_thread(world: World) -> None:
    """However many fetches wait for a value, the owner answers other calls meanwhile."""
    world.create("A", "x", "B", "slow", [2.0, 7])
    fetches = [world.begin_fetch("A", "x") for _ in range(MANY)]
    world.gives(world.begin_call("C", "B", "echo", 5), 5, deadline=1.5)
    values = [fetch.wait() for fetch in fetches]
    world.expect(values == [7] * MANY, f"the fetches gave {values}")


@check("R20.pins", needs=["create", "fetch", "drop", "probe", "timeout", "function.slow"], after=["R20", "R26"])
def an_abandoned_fetch(world: World) -> None:
    """A fetch that nobody waits for any more keeps its user until it is answered, and leaves nothing."""
    world.create("A", "x", "B", "slow", [1.0, 7])
    world.refuses(["timeout"], world.begin_fetch("A", "x", timeout=0.2))
    world.drop("A", "x")
    world.empties()


@check("R20.overtaken", needs=["create", "fetch", "drop", "concurrent", "fault.delay"], after=["R26.fetch"])
def a_fetch_that_a_deletion_overtakes(world: World) -> None:
    """A fetch that is under way gets the value, though its handle is let go before it arrives."""
    world.fault("delay", "A", message="FetchCall", seconds=1.0)
    world.create("A", "x", "B", "echo", [7])
    world.pause(BEGUN)  # so that nothing but the fetch keeps the user
    fetching = world.begin_fetch("A", "x")
    world.pause(BEGUN)
    world.drop("A", "x")
    world.gives(fetching, 7)
    world.leaves_nothing()


@check("R20.unwritable", needs=["create", "fetch", "drop", "function.unwritable"], after=["R10.raises"])
def a_value_that_cannot_be_sent(world: World) -> None:
    """Whoever fetches a value that cannot be sent is told so, and does not wait in vain."""
    world.create("A", "x", "B", "unwritable", [])
    world.refuses(["error", "refused"], world.begin_fetch("A", "x"))
    world.drop("A", "x")
    world.leaves_nothing()


EARLY = ["create", "fetch", "drop", "call", "concurrent", "function.slow", "function.value_of"]


@check("R21.argument", needs=EARLY, after=["R20"])
def an_early_use(world: World) -> None:
    """Code on the owner that was given an RRef before its value is there gets that value."""
    world.create("A", "x", "B", "slow", [0.7, 7])
    world.gives(world.begin_call("A", "B", "value_of", {"rref": "x"}), 7)
    world.drop("A", "x")
    world.leaves_nothing()


@check("R21", needs=[*EARLY, "share"], after=["R21.argument", "R16"])
def an_early_use_survives_a_brief_third_party(world: World) -> None:
    """Code on the owner that was given an RRef before its value is there gets that value, whoever comes and goes."""
    world.create("A", "x", "B", "slow", [1.0, 7])
    early = world.begin_call("A", "B", "value_of", {"rref": "x"})
    world.pause(BEGUN)
    world.share("A", "x", "C")
    world.drop("C", "x")
    world.gives(early, 7, deadline=4.0)
    world.drop("A", "x")
    world.leaves_nothing()


@check("R21.overtaken", needs=[*EARLY, "share", "fault.delay"], after=["R21", "R3.overtaken"])
def an_early_use_before_the_creation(world: World) -> None:
    """Code on the owner that was given an RRef before its creation has arrived gets the value, whoever comes and goes."""
    world.fault("delay", "A", message="RemoteCall", seconds=2.0)
    world.create("A", "x", "B", "echo", [7])
    early = world.begin_call("A", "B", "value_of", {"rref": "x"})
    world.pause(BEGUN)
    world.share("A", "x", "C")
    world.drop("C", "x")
    world.gives(early, 7)
    world.drop("A", "x")
    world.leaves_nothing()


@check("R21.self", needs=[*EARLY, "function.pass_on"], after=["R21.argument", "R19.self"])
def an_early_use_that_is_passed_on(world: World) -> None:
    """Code on the owner that was given an RRef early may pass it on, also to its own worker, and still gets the value."""
    world.create("A", "x", "B", "slow", [1.0, 7])
    world.gives(world.begin_call("A", "B", "pass_on", {"rref": "x"}, "B"), 7, deadline=4.0)


@check("R22", needs=["create", "drop", "probe", "probe.owned", "probe.forks"], after=["R20"])
def an_entry_goes(world: World) -> None:
    """When nobody refers to a value any more, its owner does not keep it."""
    world.create("A", "x", "B", "echo", [7])
    world.settles("B", owned=1, forks=1)
    world.drop("A", "x")
    world.settles("B", owned=0, forks=0)


@check("R22.local", needs=["create", "fetch", "drop", "call", "concurrent", "function.later"], after=["R19"])
def a_function_on_the_owner_keeps_the_value(world: World) -> None:
    """A function on the owner that was given an RRef has its value until it ends, even if all others let go."""
    world.create("A", "x", "B", "echo", [7])
    world.fetch("A", "x")
    late = world.begin_call("A", "B", "later", {"rref": "x"}, 1.0)
    world.pause(BEGUN)
    world.drop("A", "x")
    world.gives(late, 7)


@check("R23", needs=["create", "share", "fetch", "concurrent", "function.slow"], after=["R16"])
def all_who_wait_are_answered(world: World) -> None:
    """When the function ends, everybody who waits for the value gets it."""
    world.create("A", "x", "B", "slow", [0.7, 7])
    world.share("A", "x", "C")
    waiting = [world.begin_fetch(one, "x") for one in ("A", "C", "A", "C")]
    got = [fetch.wait() for fetch in waiting]
    world.expect(got == [7, 7, 7, 7], f"they got {got}")


@check("R23.raises", needs=["create", "share", "fetch", "function.fail"], after=["R10.raises", "R16"])
def all_who_wait_get_the_error(world: World) -> None:
    """When the function raises, everybody who asks for the value gets the error, now and later."""
    world.create("A", "x", "B", "fail", ["no such luck"])
    world.share("A", "x", "C")
    for one in ("A", "C", "A"):
        failure = world.refuses(["error"], world.begin_fetch(one, "x"))
        world.expect("no such luck" in failure.in_full, f"the error is another one: {failure}")


@check(
    "R23.misuse", needs=["create", "share", "fetch", "drop", "probe", "function.misuse"], after=["R10.raises", "R19"]
)
def an_error_can_be_shared_with_its_owner(world: World) -> None:
    """An RRef of which an operation of the backend's own raised can be shared with its owner, and leaves nothing."""
    world.create("A", "x", "B", "misuse", [])
    world.refuses(["error"], world.begin_fetch("A", "x"))
    world.share("A", "x", "B")
    world.drop("B", "x")
    world.drop("A", "x")
    world.empties()


@check("R23.passed_on", needs=["create", "call", "fetch", "drop", "probe", "function.fail", "function.value_of"],
       after=["R10.raises", "R26"])  # fmt: skip
def a_function_that_raises_lets_go(world: World) -> None:
    """A function that raises holds the RRefs among its arguments no longer: nothing is left of them."""
    world.create("A", "x", "B", "fail", ["no such luck"])
    world.refuses(["error"], world.begin_call("A", "C", "value_of", {"rref": "x"}))
    world.drop("A", "x")
    world.empties()


@check("R23.gone", needs=["create", "drop", "probe", "probe.owned", "function.slow"], after=["R22"])
def the_creator_has_gone(world: World) -> None:
    """If everybody has let go before the function ends, the value goes with its end."""
    world.create("A", "x", "B", "slow", [0.5, 7])
    world.drop("A", "x")
    world.empties()
