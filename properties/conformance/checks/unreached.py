"""What a backend must do with calls that no gradient comes back to: FAST says so, SMART goes on (A14 to A16, A22)."""

from __future__ import annotations

from collections.abc import Sequence

from farref.properties.conformance.kit.check import check
from farref.properties.conformance.kit.gradient_world import FAST, SMART, finds_gradients, goes_back
from farref.properties.conformance.kit.programs import Step, call, fetch, here, leaf, remote
from farref.properties.conformance.kit.world import World

SAYS_SO = 4.5
"""How long a FAST pass may take to say that it cannot end. Checks give calls less time."""

UNUSED_CALL = [leaf("p", "A", 2), call("y", "B", "mul", "p", 3), here("z", "mul", "p", 5)]
UNUSED_RESULT = [leaf("q", "B", 3), call("x", "B", "mul", "q", 2), call("y", "B", "mul", "q", 5)]
IGNORED_ARGUMENT = [leaf("p", "A", 2), leaf("q", "B", 3), call("y", "B", "first", "q", "p")]
FAILED_CALL = [leaf("p", "A", 2), call("x", "B", "fail", "p", may_fail=True), call("y", "B", "mul", "p", 3)]
EXTRA_FETCH = [leaf("q", "B", 3), remote("r", "B", "mul", "q", 2), fetch("x", "r"), fetch("y", "r")]
HIDDEN_PATH = [
    leaf("q", "B", 3),
    call("b", "B", "mul", "q", 2),
    call("c", "C", "mul", "b", 5),
    call("d", "C", "mul", "b", 7),
    call("e", "B", "mul", "q", 11),
    here("z", "add", "c", "e"),
]

RELAYED = [
    leaf("p", "A", 2),
    leaf("q", "C", 3),
    call("v", "C", "mul", "q", 2),
    call("w", "C", "mul", "q", 5),
    call("y", "B", "first", "p", "v"),
    here("z", "mul", "y", "w"),
]
"""C's leaf has two results. One of them goes on to B, which does not use it."""


@check("A14", needs=FAST, after=["A13"], alone=True, timeout=3)
def an_unused_call(world: World) -> None:
    """A FAST pass that waits in vain, for a call of its own that nobody used, fails as soon as nothing is under way."""
    world.refuses(["error", "refused"], world.begin_backward("A", "c", UNUSED_CALL, ["z"]), SAYS_SO)


@check("A15", needs=FAST, after=["A13.diamond"], alone=True, timeout=3)
def an_unused_result(world: World) -> None:
    """A FAST pass fails with an error that names the worker, if one of its results was not used; no timer is needed."""
    failure = world.refuses(["error", "refused"], world.begin_backward("A", "c", UNUSED_RESULT, ["x"]), SAYS_SO)
    world.names(failure, "B")


@check("A15.blames", needs=FAST, after=["A13.branches", "A15"], alone=True, timeout=3)
def who_is_to_blame(world: World) -> None:
    """A FAST pass that cannot end names the worker whose result was not used, and not another one that takes part."""
    steps = [
        leaf("q", "B", 3), leaf("s", "C", 4), call("x", "B", "mul", "q", 2), call("y", "C", "mul", "s", 5),
        call("unused", "C", "mul", "s", 7), here("z", "add", "x", "y"),
    ]  # fmt: skip
    failure = world.refuses(["error", "refused"], world.begin_backward("A", "c", steps, ["z"]), SAYS_SO)
    world.names(failure, "C", but_not="B")


@check("A15.argument", needs=FAST, after=["A13.back"], alone=True, timeout=3)
def an_ignored_argument(world: World) -> None:
    """A FAST pass fails with an error, if a function ignored an argument that needs a gradient."""
    world.refuses(["error", "refused"], world.begin_backward("A", "c", IGNORED_ARGUMENT, ["y"]), SAYS_SO)


@check("A15.fetch", needs=FAST, after=["A13.fetch"], alone=True, timeout=3)
def an_extra_fetch(world: World) -> None:
    """A FAST pass fails with an error that names the worker, if a value was fetched twice and used once."""
    failure = world.refuses(["error", "refused"], world.begin_backward("A", "c", EXTRA_FETCH, ["x"]), SAYS_SO)
    world.names(failure, "B")


@check("A15.elsewhere", needs=FAST, after=["A13"], timeout=3)
def an_unused_result_elsewhere(world: World) -> None:
    """A FAST pass ends well if what was not used is on a worker that takes no part."""
    steps = [leaf("q", "B", 3), leaf("s", "C", 4), call("x", "B", "mul", "q", 2), call("y", "C", "mul", "s", 5)]
    goes_back(world, steps, ["x"])


def _enter(id_: str, about: str, steps: Sequence[Step], root: str) -> None:
    def ends_well(world: World) -> None:
        goes_back(world, steps, [root], "smart")

    ends_well.__doc__ = f"A SMART pass ends well, with the right gradients, over {about}."
    check(id_, needs=SMART, after=["A8"])(ends_well)


_enter("A16", "an unused result", UNUSED_RESULT, "x")
_enter("A16.call", "an unused call", UNUSED_CALL, "z")
_enter("A16.argument", "an ignored argument", IGNORED_ARGUMENT, "y")
_enter("A16.failed", "a call that failed", FAILED_CALL, "y")
_enter("A16.fetch", "an extra fetch", EXTRA_FETCH, "x")
_enter("A16.hidden", "a gradient that comes by way of a worker which waits in vain itself", HIDDEN_PATH, "z")


@check("A22.relayed", needs=FAST, after=["A22"])
def nothing_is_passed_on(world: World) -> None:
    """What depends on a tensor that was not used, and on one that was, does not wait for the one that was not."""
    goes_back(world, RELAYED, ["z"])


@check("A22.marked", needs=SMART, after=["A16"])
def a_mark_is_about_a_pair(world: World) -> None:
    """A send that was marked because of one tensor of a pair is not waited for if another one gets nothing."""
    goes_back(world, [*RELAYED, call("unused", "B", "mul", "p", 7)], ["z"], mode="smart")


@check("A16.passes", needs=[*SMART, "retain"], after=["A16"])
def forward_and_back_again(world: World) -> None:
    """In one context one can go forward and back, and forward and back again: SMART leaves alone what was used before."""
    first, second = UNUSED_RESULT, [call("w", "B", "mul", "q", 7)]
    world.backward("A", "c", first, ["x"], mode="smart")
    world.backward("A", "c", second, ["w"], mode="smart")
    finds_gradients(world, first, {"q": 2 + 7})
