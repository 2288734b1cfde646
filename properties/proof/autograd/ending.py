"""Why passes end, on their root and on everybody else: what L1 and L3 come to, for any number of workers and messages.

Three facts, each of them about states or single steps:

1. *Quiet is clean.* Where nothing is under way, a pass that still runs stands still, and its root sees that: the ledger is
balanced. And nobody takes part in a pass that has ended. 2. *The measure.* Every step makes a number smaller, except for
copies, and except for what changes nothing. The number counts what can still be sent, so it is a number only because a
context has recorded finitely many pairs. 3. *Progress.* A report that arrives can always be taken, and a pass that all have
heard of can always return.

So a pass that was begun comes to an end, if what is under way arrives (A3), and if its root decides at a standstill (A14 to
A16).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from farref.properties.proof.autograd.passes import (
    MESSAGE,
    PASS,
    WORKER,
    M,
    P,
    State,
    Step,
    W,
    balanced,
    pass_of,
    steps,
)
from farref.properties.proof.autograd.passes_invariant import COMMIT, PASSES
from farref.properties.proof.autograd.rules import Rules
from farref.properties.proof.induction.theory import Lemma, Theorem
from farref.properties.proof.logic.formulas import (
    Formula,
    Term,
    any_of,
    at_most,
    every,
    implies,
    less,
    none_of,
    plus,
    same,
    some,
    worth,
)

S: Final = PASSES.state

BEGINNING: Final = "Begin"
IDLE: Final = ("the root sends", "the network copies", "a copy arrives", "a worker hears of a newer pass")
"""The steps that may leave the measure as it is. A root that sends something makes it smaller."""


def quiet(s: State) -> Formula:
    """Say that no message, no report and no news of a decision is under way."""
    message = some(MESSAGE, lambda m: s.flying(m) | s.reported(m))
    news = some(WORKER, lambda w: some(PASS, lambda p: s.committing(w, p) | s.aborting(w, p)))
    return none_of(message, news)


def quiet_is_clean() -> Iterator[Lemma]:
    """What L1 and L3 say of a quiet state."""
    part, given = "a quiet state is clean", (quiet(S),)
    stands = every(PASS, lambda p: implies(S.running(p), balanced(S, p)))
    yield Lemma("L1", part, stands, given, "A pass that runs stands still, and its root sees that.")
    ended = every(WORKER, lambda w: every(PASS, lambda p: implies(S.takes_part(w, p), S.running(p))))
    yield Lemma("L3", part, ended, given, "Nobody takes part in a pass that has ended.")


def something_can_be_done() -> Iterator[Lemma]:
    """A report that arrives can be taken, and a pass that all have heard of can return."""
    told = any_of(S.running(P), S.failed(P))
    arrived = (S.reported(M), same(P, pass_of(M)))
    yield Lemma(
        "progress", "a report is under way", told, arrived, "Then the pass runs, or has failed, and hears of it."
    )
    heard = every(WORKER, lambda w: ~S.committing(w, P))
    back = S.returned(P) | heard
    yield Lemma("progress", "a pass is committed", back, (S.committed(P), quiet(S)), "Then it can return.")


# -- the measure -------------------------------------------------------------------------------------------------------


WEIGHTS: Final = {"unsent": 4, "flying": 3, "reported": 2, "undecided": 2, "told": 1, "unreturned": 1}
"""What each of these weighs. A message weighs less and less, and so does what a worker is still to hear of a pass."""


def of_message(s: State, m: Term) -> Term:
    """Weigh a message, or its report."""
    return plus(_worth(~s.sent(m), "unsent"), _worth(s.flying(m), "flying"), _worth(s.reported(m), "reported"))


def of_worker(s: State, w: Term, p: Term) -> Term:
    """Weigh what a worker is still to hear of a pass."""
    undecided = none_of(s.committed(p), s.failed(p))
    return plus(_worth(undecided, "undecided"), _worth(s.committing(w, p) | s.aborting(w, p), "told"))


def _worth(condition: Formula, name: str) -> Term:
    return worth(condition, WEIGHTS[name])


def the_measure_shrinks(rules: Rules) -> Iterator[Lemma]:
    """No step makes anything heavier, but for one worker that is told late; and that is less than what arrived weighed."""
    for case in steps(S, rules):
        if case.name == BEGINNING:
            continue
        is_idle, given = case.name in IDLE, (case.guard, *case.finite)
        before, after = _here(S), _here(case.after)
        shrinks = at_most(after, before) if is_idle else less(after, before)
        text = "The measure does not grow." if is_idle else "The measure shrinks."
        yield Lemma("measure", case.name, shrinks, given, text, case)
        yield Lemma("measure elsewhere", case.name, _elsewhere(case), given, "Nothing else gets heavier.", case)


def _here(s: State) -> Term:
    return plus(of_message(s, M), of_worker(s, W, P), _worth(~s.returned(P), "unreturned"))


def _elsewhere(case: Step) -> Formula:
    def message(m: Term) -> Formula:
        return same(m, M) | at_most(of_message(case.after, m), of_message(S, m))

    def worker(w: Term, p: Term) -> Formula:
        return (same(w, W) & same(p, P)) | at_most(of_worker(case.after, w, p), of_worker(S, w, p))

    return every(MESSAGE, message) & every(WORKER, lambda w: every(PASS, lambda p: worker(w, p)))


# -- the theorem -------------------------------------------------------------------------------------------------------


def lemmas(rules: Rules) -> Iterator[Lemma]:
    """List the three facts."""
    yield from quiet_is_clean()
    yield from something_can_be_done()
    yield from the_measure_shrinks(rules)


ENDING: Final = Theorem(
    id="ending",
    text="A pass that was begun ends, and nobody is left in it, if what is under way arrives: L1 and L3, without releases.",
    theory=PASSES,
    invariant=(),
    known=COMMIT.invariant,
    lemmas=lemmas,
)
