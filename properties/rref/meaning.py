"""What a violated property means to somebody who runs into it, in a sentence or two.

Like a story it is made from what is there, here from the world in which the run ends: one property can be broken in several
ways, and a sentence that fits most of them would be false of the others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from farref.model.rref.ids import ForkId, RRefId
from farref.model.rref.user import Fetch, User
from farref.properties.rref.consequences import needed_by
from farref.properties.rref.replay import RRefMoment
from farref.properties.traces.story import THE_END, Meaning

OfRRef = Callable[[RRefMoment, RRefId], str]
OfFork = Callable[[RRefMoment, RRefId, ForkId], str]


def _of_rref(tell: OfRRef) -> Meaning:
    """Tell of the RRef that is concerned, or of that of the fork."""
    return lambda end, about: tell(end, _rref(end, about))


def _of_fork(tell: OfFork) -> Meaning:
    """Tell of the fork that is concerned."""
    return lambda end, about: tell(end, _rref(end, about), ForkId(int(about[1:])))


def _of_either(rref: OfRRef, fork: OfFork) -> Meaning:
    """Tell of the RRef or of the fork that is concerned."""

    def told(end: RRefMoment, about: str) -> str:
        named = _rref(end, about)
        return rref(end, named) if about[0] == "x" else fork(end, named, ForkId(int(about[1:])))

    return told


def _rref(end: RRefMoment, about: str) -> RRefId:
    number = int(about[1:])
    return RRefId(number) if about[0] == "x" else end.model.bounds.rref_of(ForkId(number))


def _dropped_too_early(end: RRefMoment, rref: RRefId) -> str:
    needed = " and ".join(needed_by(end, rref, end.after.owners[rref]))
    next_use = f"whoever names x{rref} next is given no entry, or another one"
    return f"{end.owner(rref)} has dropped its entry of x{rref}, although {needed}: {next_use}."


def _entries(end: RRefMoment, rref: RRefId) -> str:
    record = end.after.owners[rref]
    second = f"{end.owner(rref)} has made a second entry of x{rref}: the name no longer stands for one thing."
    if rref not in end.after.application.orphaned:
        return second
    return f"{_orphaned(end, rref)} {second}" if record.duplicated else _orphaned(end, rref)


def _orphaned(end: RRefMoment, rref: RRefId) -> str:
    return f"what waited for the value of x{rref} when {end.owner(rref)} dropped its entry is never answered."


def _unanswered(end: RRefMoment, rref: RRefId, fork: ForkId) -> str:
    if end.after.users[fork].fetch is Fetch.WAITING:
        return f"{THE_END}, and {end.holder(fork)} still waits for the value it asked for with f{fork}: it hangs."
    left = f"parked on {end.owner(rref)}" if fork in end.after.owners[rref].fetches else f"noted on {end.holder(fork)}"
    return f"{THE_END}, and the fetch of f{fork} is never answered: its caller gave up, and it stays {left}."


def _confirmation(end: RRefMoment, rref: RRefId, fork: ForkId) -> str:
    if end.after.users[fork].phase is User.CONFIRMED:
        return f"of f{fork}, confirmed_by_owner() says yes, and {end.owner(rref)} does not count it."
    return f"of f{fork}, confirmed_by_owner() says no, though it comes from {end.owner(rref)}, which counted it first."


def _waits(end: RRefMoment, rref: RRefId, fork: ForkId) -> str:
    user = end.after.users[fork]
    if user.owes_accept:
        return f"the parent of f{fork} waits until a function on {end.holder(fork)} ends: a slow one looks like a lost message."
    if user.phase is User.PENDING and fork == end.model.bounds.creator_fork(rref) and end.after.owners[rref].running:
        return f"{end.holder(fork)} waits until the function on {end.owner(rref)} ends: a slow one looks like a lost message."
    who = end.holder(fork) if user.phase is User.PENDING else end.sharer(fork)
    return f"{who} waits to hear that f{fork} is counted, and nothing is under way that tells it."


def _hangs(end: RRefMoment, rref: RRefId) -> str:
    waits = f"code on {end.owner(rref)} still waits for the value of x{rref}: it hangs."
    return f"{THE_END}, and {waits if rref in end.after.application.waits else _orphaned(end, rref)}"


def _miscounted(end: RRefMoment, rref: RRefId, fork: ForkId) -> str:
    counts, owner = fork in end.after.owners[rref].forks, end.owner(rref)
    who = f"{owner} counts f{fork}, which nobody holds" if counts else f"{owner} does not count f{fork}, which lives"
    return f"{who}, and no message about it is under way: the two sides disagree."


def _leak(end: RRefMoment, about: str) -> str:
    del end
    return f"{THE_END}, and something of {about} is left: a leak for as long as the process lives."


MEANINGS: Final[Mapping[str, Meaning]] = {
    "P1": _of_rref(_dropped_too_early),
    "Vcut": lambda _, worker: (
        f"{worker} is buried, and somebody who is not still hears it: what was let go can be shared once more."
    ),
    "Vend": lambda _, worker: f"{THE_END}, and {worker} is excluded and not buried: what it held is kept for ever.",
    "P2": _of_rref(_entries),
    "P3": _leak,
    "P4": lambda _, fork: f"{THE_END}, and the call that carries {fork} still waits for its arguments: it never runs.",
    "P5": _of_either(_hangs, _unanswered),
    "P6": (
        "a message that had been processed already has changed a table: what is counted depends on how often"
        " the network delivers."
    ),
    "P7": f"{THE_END}, and something is left: a graceful shutdown waits for it for ever.",
    "P8": _of_fork(_confirmation),
    "P9": _of_fork(_waits),
    "P10": _of_fork(_miscounted),
    "P11": _of_fork(
        lambda end, rref, fork: (
            f"{end.owner(rref)} has answered a fetch of x{rref} with f{fork}, and has no value for it."
        )
    ),
    "P12": _of_fork(lambda end, _, fork: f"{end.holder(fork)} could still use f{fork}, and should be refused."),
    "G1": _of_fork(
        lambda end, rref, fork: (
            f"{end.owner(rref)} counts f{fork}, and nobody is left who would tell it to stop: while it does, the entry stays."
        )
    ),
    "G2": lambda _, fork: (
        f"the parent of {fork} no longer waits for it, though it is not confirmed: the value may go before that."
    ),
    "G3": _of_either(
        lambda end, rref: (
            f"the table of {end.owner(rref)} is wrong about its own code, which holds x{rref} or waits for it."
        ),
        lambda end, _, fork: f"the record of f{fork} is wrong about what {end.holder(fork)} was given, or waits for.",
    ),
}
"""By property. One that is missing would be an error as soon as it is broken; a test finds out before."""
