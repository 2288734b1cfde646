"""What a violated property means to somebody who runs into it, in a sentence or two.

Like a story it is made from what is there, here from the world in which the run ends: one property can be broken in several
ways, and a sentence that fits most of them would be false of the others.
"""

from __future__ import annotations

from typing import Final

from farref.model.checker.interface import Counterexample
from farref.model.rref.ids import ForkId, RRefId
from farref.model.rref.user import Fetch, User
from farref.properties.rref.claims import CLAIMS
from farref.properties.rref.consequences import needed_by
from farref.properties.rref.replay import RRefMoment

THE_END: Final = "nothing more will happen"


def meaning(counterexample: Counterexample, end: RRefMoment) -> str:
    """Say what a counterexample means, which ends with this step."""
    if counterexample.property.id in CLAIMS:
        return CLAIMS[counterexample.property.id].text
    loop, text = counterexample.loop_start, _meaning(counterexample, end)
    told = text if loop is None else text.replace(THE_END, f"what follows step {loop} repeats for ever")
    return told[0].upper() + told[1:]


def _meaning(counterexample: Counterexample, end: RRefMoment) -> str:
    name, about = counterexample.property.id, counterexample.case.rpartition(" ")[2]
    match name, about[0], about[1:]:
        case _, "x", number:
            return _of_rref(name, end, RRefId(int(number)))
        case _, "f", number:
            return _of_fork(name, end, end.model.bounds.rref_of(ForkId(int(number))), ForkId(int(number)))
        case "P6", _, _:
            return (
                "a message that had been processed already has changed a table: what is counted depends on how often"
                " the network delivers."
            )
        case _:  # P7
            return f"{THE_END}, and something is left: a graceful shutdown waits for it for ever."


def _of_rref(name: str, end: RRefMoment, rref: RRefId) -> str:
    match name:
        case "P1":
            return _dropped_too_early(end, rref)
        case "P2":
            return _entries(end, rref)
        case "P3":
            return f"{THE_END}, and something of x{rref} is left: a leak for as long as the process lives."
        case "G3":
            return f"the table of {end.owner(rref)} is wrong about its own code, which holds x{rref} or waits for it."
        case _:  # P5
            waits = f"code on {end.owner(rref)} still waits for the value of x{rref}: it hangs."
            return f"{THE_END}, and {waits if rref in end.after.application.waits else _orphaned(end, rref)}"


def _of_fork(name: str, end: RRefMoment, rref: RRefId, fork: ForkId) -> str:
    owner = end.owner(rref)
    match name:
        case "P1":
            return _dropped_too_early(end, rref)
        case "P3":
            return f"{THE_END}, and something of f{fork} is left: a leak for as long as the process lives."
        case "P4":
            return f"{THE_END}, and the call that carries f{fork} still waits for its arguments: it never runs."
        case "P5":
            return _unanswered(end, rref, fork)
        case "P8":
            return _confirmation(end, rref, fork)
        case "P9":
            return _waits(end, rref, fork)
        case "P10":
            counts = fork in end.after.owners[rref].forks
            who = (
                f"{owner} counts f{fork}, which nobody holds"
                if counts
                else f"{owner} does not count f{fork}, which lives"
            )
            return f"{who}, and no message about it is under way: the two sides disagree."
        case "G3":
            return f"the record of f{fork} is wrong about what {end.holder(fork)} was given, or waits for."
        case "P11":
            return f"{owner} has answered a fetch of x{rref} with f{fork}, and has no value for it."
        case "P12":
            return f"{end.holder(fork)} could still use f{fork}, and should be refused."
        case "G1":
            return (
                f"{owner} counts f{fork}, and nobody is left who would tell it to stop: while it does, the entry stays."
            )
        case _:  # G2
            return f"the parent of f{fork} no longer waits for it, though it is not confirmed: the value may go before that."


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
