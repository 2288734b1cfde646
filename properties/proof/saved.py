"""A counterexample to induction as a file, which is believed only after its formulas were looked up in it again."""

from __future__ import annotations

from typing import Final

import msgspec

from farref.properties.proof.induction.counterexample import Counterexample
from farref.properties.proof.induction.prove import Failure
from farref.properties.proof.induction.questions import groups
from farref.properties.proof.induction.tell import Told, tell
from farref.properties.proof.induction.theory import Theorem
from farref.properties.proof.logic.formulas import Sort, Variable
from farref.properties.proof.logic.small import Fact, Follower, Small, Thing, compiled
from farref.properties.proof.solvers.solver import Answer
from farref.properties.proof.subjects import SUBJECTS

FORMAT: Final = "farref-induction/1"


class SavedError(Exception):
    """A file is not a counterexample to induction; the message says why."""


class Saved(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What was asked, and a state in which the answer is no."""

    format: str
    subject: str
    theorem: str
    without: str | None
    step: str
    lost: str
    at: dict[str, Thing]
    things: dict[str, tuple[Thing, ...]]
    facts: tuple[Fact, ...]
    functions: tuple[Fact, ...]
    """Each with its arguments, and then what it gives."""


class _Header(msgspec.Struct):
    format: str = ""


def is_saved(content: bytes) -> bool:
    """Say whether a file claims to be a counterexample to induction."""
    try:
        return msgspec.json.decode(content, type=_Header).format == FORMAT
    except msgspec.DecodeError:
        return False


def encode(told: Told, subject: str, theorem: str, without: str | None) -> bytes:
    """Write a counterexample as the content of a file."""
    world = told.found.before
    facts = tuple(sorted(world.facts, key=str))
    functions = tuple(sorted(((*key, value) for key, value in world.functions.items()), key=str))
    saved = Saved(
        FORMAT, subject, theorem, without, told.place, told.lost, told.found.at, dict(world.things), facts, functions
    )
    return msgspec.json.format(msgspec.json.encode(saved), indent=1) + b"\n"


def decode(content: bytes) -> Told:
    """Read a counterexample, and look up in its state that the hypotheses hold and the claim does not."""
    try:
        saved = msgspec.json.decode(content, type=Saved)
        theorem = next(one for one in SUBJECTS[saved.subject].theorems if one.id == saved.theorem)
        failure = _question(saved, theorem)
        return _looked_up(saved, failure, theorem)
    except msgspec.DecodeError as error:
        raise SavedError(f"not a counterexample to induction: {error}") from error
    except (KeyError, StopIteration) as error:
        raise SavedError("it names something that the proof does not have") from error


def _question(saved: Saved, theorem: Theorem) -> Failure:
    """Find the question that was asked."""
    about = SUBJECTS[saved.subject]
    rules = about.sound if saved.without is None else {**about.sound, saved.without: not about.sound[saved.without]}
    group, claim = next(
        (group, claim)
        for group in groups(theorem, rules)
        for claim in group.claims
        if (group.place, claim.id) == (saved.step, saved.lost)
    )
    denied = ~claim.make()
    return Failure(group.place, claim.id, claim.text, Answer.YES, group.hypotheses, denied, group.case)


def _looked_up(saved: Saved, failure: Failure, theorem: Theorem) -> Told:
    world = Small(saved.things, frozenset(saved.facts), {one[:-1]: one[-1] for one in saved.functions})
    parameters, given = [_variable(name, saved) for name in saved.at], list(saved.at.values())
    for formula in (*failure.hypotheses, failure.denied):
        try:
            holds = compiled(formula, parameters)(world, *given)
        except NameError as error:
            raise SavedError("it does not say where the step is taken") from error
        if not holds:
            raise SavedError("its state is not a counterexample: a hypothesis is false there, or the claim is true")
    after = (
        None if failure.case is None else Follower(theorem.theory.state, failure.case.after, parameters)(world, *given)
    )
    return tell(failure, Counterexample(world, saved.at, after), theorem.theory)


def _variable(name: str, saved: Saved) -> Variable:
    if not name.isidentifier():  # it becomes part of a Python function
        raise SavedError(f"{name!r} is not a parameter of a step")
    sort = next(sort for sort, things in saved.things.items() if saved.at[name] in things)
    return Variable(name, Sort(sort, ""))
