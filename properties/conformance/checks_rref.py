"""What a backend must do with references when nothing goes wrong."""

from __future__ import annotations

from farref.properties.conformance.check import check
from farref.properties.conformance.world import World


@check("R20", needs=["create", "fetch"])
def a_value_can_be_fetched(world: World) -> None:
    """The creator fetches the value that the owner's function computed."""
    world.create("A", "x", "B", "echo", [7])
    got = world.fetch("A", "x")
    world.expect(got == 7, f"the value is {got!r}, not 7")
    if "drop" in world.session.identity.capabilities:
        world.drop("A", "x")


@check("R21", needs=["create", "fetch", "share", "drop", "call", "concurrent", "function.slow", "function.value_of"],
       after=["R20"])  # fmt: skip
def an_early_use_survives_a_brief_third_party(world: World) -> None:
    """Code on the owner that was given an RRef before its value is there gets that value, whoever comes and goes."""
    world.create("A", "x", "B", "slow", [1.0, 7])
    early = world.begin_call("A", "B", "value_of", {"rref": "x"})
    world.share("A", "x", "C")
    world.drop("C", "x")
    got = early.wait()
    world.expect(got == 7, f"it got {got!r}, not 7")
    world.drop("A", "x")
