"""How a pass ends: the ledger finds the moment when nothing is under way, and gradients are shown as a whole or not at all.

Any number of passes, workers and messages. A message is processed once, and may cause any set of further messages. The worker
that processed it reports to the root what it caused. The root keeps a ledger: the messages that it knows of, and those whose
report it has entered. When these are the same, the pass stands still (A14), and the root may commit. Until then gradients are
kept aside.

What gradients there are, and whether their sum is right, is no matter of this proof.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from farref.properties.proof.autograd.rules import Rules
from farref.properties.proof.induction.theory import Case
from farref.properties.proof.logic.formulas import (
    Applied,
    Formula,
    Related,
    Sort,
    Term,
    Variable,
    all_of,
    any_of,
    every,
    iff,
    implies,
    same,
    some,
)
from farref.properties.proof.logic.relations import Relation, Relations, relation

MESSAGE, WORKER, PASS = Sort("Message", "m"), Sort("Worker", "w"), Sort("Pass", "p")


def pass_of(message: Term) -> Term:
    """Name the pass that a message belongs to; it carries the id (A12)."""
    return Applied("pass_of", (message,), PASS)


def target(message: Term) -> Term:
    """Name the worker that a message is for."""
    return Applied("target", (message,), WORKER)


def caused_now(message: Term) -> Formula:
    """Say that a step causes a message: any set of messages that were not sent before."""
    return Related("caused_now", (message,))


@dataclass(frozen=True)
class State(Relations):
    """Passes at their roots, messages, and what workers have of each pass."""

    # The root's decision
    running: Relation = relation("runs", PASS)
    committed: Relation = relation("is committed", PASS)
    failed: Relation = relation("has failed", PASS)
    returned: Relation = relation("has returned to its caller", PASS)

    # A message, from being sent to being in the ledger
    sent: Relation = relation("was sent", MESSAGE)
    flying: Relation = relation("is under way", MESSAGE)
    processed: Relation = relation("was processed", MESSAGE)
    reported: Relation = relation("has its report under way", MESSAGE)
    entered: Relation = relation("has its report in the ledger", MESSAGE)
    known: Relation = relation("is known to the root", MESSAGE)
    from_root: Relation = relation("was sent by the root", MESSAGE)
    caused: Relation = relation("was caused by {}", MESSAGE, MESSAGE)

    # What a worker has of a pass
    takes_part: Relation = relation("takes part in {}", WORKER, PASS)
    staged: Relation = relation("keeps gradients of {} aside", WORKER, PASS)
    shown: Relation = relation("shows gradients of {}", WORKER, PASS)
    committing: Relation = relation("is about to hear that {} is committed", WORKER, PASS)
    aborting: Relation = relation("is about to hear that {} has failed", WORKER, PASS)

    def begun(self, one: Term) -> Formula:
        """Say that a pass was begun."""
        return any_of(self.running(one), self.committed(one), self.failed(one))


M, W, P = Variable("m", MESSAGE), Variable("w", WORKER), Variable("p", PASS)
Step = Case[State]


# -- the ledger --------------------------------------------------------------------------------------------------------


def balanced(s: State, one: Term) -> Formula:
    """Say that the ledger of a pass is balanced: every message that the root knows of is entered (A14)."""
    return every(MESSAGE, lambda m: implies(same(pass_of(m), one), iff(s.known(m), s.entered(m))))


def first_unentered(s: State, one: Term) -> Formula:
    """A finite set that is not empty has a first element: here, of the messages sent and not entered, the one sent first.

    Whatever caused it was sent before it, and so is not in the set.
    """

    def is_open(m: Term) -> Formula:
        return all_of(same(pass_of(m), one), s.sent(m), ~s.entered(m))

    def is_first(m: Variable) -> Formula:
        return is_open(m) & every(MESSAGE, lambda cause: implies(s.caused(m, cause), ~is_open(cause)))

    return implies(some(MESSAGE, is_open), some(MESSAGE, is_first))


# -- steps -------------------------------------------------------------------------------------------------------------


def begin(s: State, rules: Rules) -> Iterator[Step]:
    """A root begins a pass."""
    yield Step("Begin", ~s.begun(P), s.at(P, running=True))


def root_sends(s: State, rules: Rules) -> Iterator[Step]:
    """The root sends messages, and knows of them: the first ones, or more after a standstill (A13, A16)."""
    sent = _sending(s).but(
        known=lambda m: s.known(m) | caused_now(m), from_root=lambda m: s.from_root(m) | caused_now(m)
    )
    yield Step("the root sends", s.running(P) & _are_new(s, P), sent)


def process(s: State, rules: Rules) -> Iterator[Step]:
    """A worker processes a message, keeps a gradient aside, causes further messages, and reports (A13, A14, A17)."""
    taken = _sending(s).at(M, flying=False, processed=True, reported=True)
    taken = taken.but(caused=lambda m, cause: s.caused(m, cause) | (caused_now(m) & same(cause, M)))
    guard = all_of(s.flying(M), same(target(M), W), _are_new(s, pass_of(M)))
    if rules["passes_have_identity"]:
        guard = guard & same(pass_of(M), P)  # otherwise the worker takes it for whatever pass it is in
    kept = taken.at(W, P, takes_part=True, staged=True)
    yield Step("Process", guard, kept if rules["stages_until_commit"] else kept.at(W, P, staged=False, shown=True))


def enter(s: State, rules: Rules) -> Iterator[Step]:
    """A report arrives: the root enters the message and learns what it caused (A14)."""
    learned = s.at(M, reported=False, entered=True).but(known=lambda m: s.known(m) | s.caused(m, M))
    yield Step("Enter a report", s.reported(M) & s.running(pass_of(M)), learned)


def commit(s: State, rules: Rules) -> Iterator[Step]:
    """The root commits when the ledger is balanced, and tells all who take part (A14, A17)."""
    guard = s.running(P) & balanced(s, P) if rules["notices_standstill"] else s.running(P)
    after = s.at(P, running=False, committed=True)
    told = after.but(committing=lambda w, one: s.committing(w, one) | (same(one, P) & s.takes_part(w, one)))
    yield Step("Commit", guard, told, (first_unentered(s, P),))


def fail(s: State, rules: Rules) -> Iterator[Step]:
    """The pass fails or times out, and all who take part are told. After the decision that changes nothing (A18, A20)."""
    guard = s.running(P) if rules["decision_is_final"] else s.running(P) | s.committed(P)
    after = s.at(P, running=False, failed=True)
    told = after.but(aborting=lambda w, one: s.aborting(w, one) | (same(one, P) & s.takes_part(w, one)))
    yield Step("Fail", guard, told)


def hear(s: State, rules: Rules) -> Iterator[Step]:
    """A worker hears of the decision: it shows what it kept aside, or forgets it (A17, A18)."""
    shows = s.at(W, P, committing=False, takes_part=False, staged=False, shown=s.shown(W, P) | s.staged(W, P))
    yield Step("Commit at a worker", s.committing(W, P), shows)
    yield Step("Abort at a worker", s.aborting(W, P), s.at(W, P, aborting=False, takes_part=False, staged=False))
    yield Step("a latecomer is told", s.takes_part(W, P) & s.failed(P), s.at(W, P, aborting=True))


def come_back(s: State, rules: Rules) -> Iterator[Step]:
    """`backward` returns once every worker has heard (A17)."""
    all_heard = every(WORKER, lambda w: ~s.committing(w, P))
    guard = s.committed(P) & all_heard if rules["returns_after_commit"] else s.committed(P)
    yield Step("Return", guard, s.at(P, returned=True))


def steps(s: State, rules: Rules) -> Iterator[Step]:
    """List everything that can happen."""
    for step in (begin, root_sends, process, enter, commit, fail, hear, come_back):
        yield from step(s, rules)


def _are_new(s: State, of: Term) -> Formula:
    return every(MESSAGE, lambda m: implies(caused_now(m), ~s.sent(m) & same(pass_of(m), of)))


def _sending(s: State) -> State:
    return s.but(sent=lambda m: s.sent(m) | caused_now(m), flying=lambda m: s.flying(m) | caused_now(m))
