"""How a pass ends: the ledger finds the moment when nothing is under way, and gradients are shown as a whole or not at all.

Any number of passes, workers and messages. A message is processed once, and may cause any set of further messages. The worker
that processed it reports to the root what it caused, or why it could not take part. The root keeps a ledger: the messages that
it knows of, and those whose report it has entered. When these are the same, the pass stands still (A14), and the root may
commit. Until then gradients are kept aside.

Which gradients are due is a matter of `exits.py`. What their sum is, is no matter of any proof here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from farref.properties.proof.autograd.rules import Rules
from farref.properties.proof.induction.theory import Case
from farref.properties.proof.logic.formulas import (
    TRUE,
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


def root_of(one: Term) -> Term:
    """Name the worker that calls `backward`."""
    return Applied("root_of", (one,), WORKER)


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
    copied: Relation = relation("has a copy under way", MESSAGE)
    processed: Relation = relation("was processed", MESSAGE)
    refused: Relation = relation("was processed by a worker that does not take part", MESSAGE)
    unpaired: Relation = relation("found no send that was recorded", MESSAGE)
    reported: Relation = relation("has its report under way", MESSAGE)
    entered: Relation = relation("has its report in the ledger", MESSAGE)
    known: Relation = relation("is known to the root", MESSAGE)
    from_root: Relation = relation("was sent by the root", MESSAGE)
    caused: Relation = relation("was caused by {}", MESSAGE, MESSAGE)

    # What a worker has of a pass
    takes_part: Relation = relation("takes part in {}", WORKER, PASS)
    left: Relation = relation("knows that {} is over for it", WORKER, PASS)
    staged: Relation = relation("keeps gradients of {} aside", WORKER, PASS)
    shown: Relation = relation("shows gradients of {}", WORKER, PASS)

    # What the root knows of a worker, and tells it
    engaged: Relation = relation("is known to take part in {}", WORKER, PASS)
    committing: Relation = relation("is about to hear that {} is committed", WORKER, PASS)
    aborting: Relation = relation("is about to hear that {} has failed", WORKER, PASS)

    def begun(self, one: Term) -> Formula:
        """Say that a pass was begun."""
        return any_of(self.running(one), self.committed(one), self.failed(one))

    def unended(self, one: Term) -> Formula:
        """Say that a pass was begun, and that `backward` has neither returned nor raised."""
        return self.running(one) | (self.committed(one) & ~self.returned(one))

    def spoiled(self, message: Term) -> Formula:
        """Say that a message ends its pass: its report tells of a fault, or there is none."""
        return self.refused(message) | self.unpaired(message)


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
    """A root that is in no pass, and whose passes have ended, begins one, and takes part in it (A10)."""
    root = root_of(P)
    ended = every(PASS, lambda q: implies(same(root_of(q), root), ~s.unended(q)))
    after = s.at(P, running=True).at(root, P, takes_part=True, staged=True, engaged=True)
    yield Step("Begin", all_of(~s.begun(P), ended, _is_free(s, root, P)), after)


def root_sends(s: State, rules: Rules) -> Iterator[Step]:
    """The root sends messages, and knows of them: the first ones, or more after a standstill (A13, A16)."""
    sent = _sending(s).but(
        known=lambda m: s.known(m) | caused_now(m), from_root=lambda m: s.from_root(m) | caused_now(m)
    )
    yield Step("the root sends", s.running(P) & _are_new(s, P), sent)


def process(s: State, rules: Rules) -> Iterator[Step]:
    """A worker processes a message, keeps a gradient aside, causes further messages, and reports (A13, A14, A17)."""
    effect = _processing(s, reported=True)
    effect = effect.but(caused=lambda m, cause: s.caused(m, cause) | (caused_now(m) & same(cause, M)))
    effect = effect.but(sent=_sending(s).sent, flying=lambda m: _processing(s, reported=True).flying(m) | caused_now(m))
    takes = all_of(same(target(M), W), _are_new(s, pass_of(M)), _is_admitted(s, rules))
    if rules["passes_have_identity"]:
        takes = takes & same(pass_of(M), P)  # otherwise the worker takes it for whatever pass it is in
    kept = effect.at(W, P, takes_part=True, staged=True)
    after = kept if rules["stages_until_commit"] else kept.at(W, P, staged=False, shown=True)
    yield Step("Process", s.flying(M) & takes, after)
    yield Step("the network copies", s.sent(M), s.at(M, copied=True))
    if rules["takes_effect_once"]:
        yield Step("a copy arrives", s.copied(M) & s.processed(M), s.at(M, copied=False))
    else:
        yield Step("a copy arrives", s.copied(M) & takes, after)


def spoil(s: State, rules: Rules) -> Iterator[Step]:
    """A worker cannot take part, or its backward rule raises. It reports that, unless it knows that the pass is over (A18)."""
    here = all_of(s.flying(M), same(target(M), W), same(pass_of(M), P))
    yield Step("Refuse", here, _processing(s, reported=True, refused=True))
    yield Step("Ignore", here & s.left(W, P), _processing(s, reported=False, refused=True))
    raised = _processing(s, reported=True, refused=True).at(W, P, takes_part=False, staged=False, left=True)
    yield Step("Raise", here & _is_admitted(s, rules), raised)
    joined = _processing(s, reported=True, unpaired=True).at(W, P, takes_part=True, staged=True)
    yield Step("Unpaired", here & _is_admitted(s, rules), joined)


def report(s: State, rules: Rules) -> Iterator[Step]:
    """A report arrives: the root learns what a message caused, fails with it, or answers one that comes too late."""
    here = all_of(s.reported(M), same(pass_of(M), P), same(target(M), W))
    read = s.at(M, reported=False)
    learned = read.at(M, entered=True).but(known=lambda m: s.known(m) | s.caused(m, M)).at(W, P, engaged=True)
    yield Step("Enter a report", all_of(here, s.running(P), ~s.spoiled(M)), learned)
    known = read.at(W, P, engaged=s.engaged(W, P) | s.unpaired(M))
    yield Step("a report tells of a fault", all_of(here, s.running(P), s.spoiled(M)), _failing(known, rules))
    answered = ~s.engaged(W, P) & ~s.refused(M)
    told = read.at(W, P, engaged=True, aborting=True) if rules["answers_latecomers"] else read
    yield Step("a late report is answered", all_of(here, s.failed(P), answered), told)
    yield Step("a late report", all_of(here, s.failed(P), ~answered), read)


def commit(s: State, rules: Rules) -> Iterator[Step]:
    """The root commits when the ledger is balanced, and tells all that it knows to take part (A14, A17)."""
    guard = s.running(P) & balanced(s, P) if rules["notices_standstill"] else s.running(P)
    after = s.at(P, running=False, committed=True)
    told = after.but(committing=lambda w, one: s.committing(w, one) | (same(one, P) & s.engaged(w, one)))
    yield Step("Commit", guard, told, (first_unentered(s, P),))


def fail(s: State, rules: Rules) -> Iterator[Step]:
    """The pass fails or times out. After the decision that changes nothing (A18, A20)."""
    guard = s.running(P) if rules["decision_is_final"] else s.running(P) | s.committed(P)
    yield Step("Fail", guard, _failing(s, rules))


def hear(s: State, rules: Rules) -> Iterator[Step]:
    """A worker hears of the decision, and shows what it kept aside, or forgets it (A17, A18)."""
    over = s.at(W, P, takes_part=False, staged=False, left=s.left(W, P) | s.takes_part(W, P))
    shows = over.at(W, P, committing=False, shown=s.shown(W, P) | s.staged(W, P))
    yield Step("Commit at a worker", s.committing(W, P), shows)
    yield Step("Abort at a worker", s.aborting(W, P), over.at(W, P, aborting=False))
    hears = all_of(s.begun(P), ~s.running(P), ~s.committing(W, P))
    yield Step("a worker hears of a newer pass", hears, over.at(W, P, left=True))


def come_back(s: State, rules: Rules) -> Iterator[Step]:
    """`backward` returns once every worker has heard (A17)."""
    all_heard = every(WORKER, lambda w: ~s.committing(w, P))
    guard = s.committed(P) & all_heard if rules["returns_after_commit"] else s.committed(P)
    yield Step("Return", guard & ~s.returned(P), s.at(P, returned=True))


def steps(s: State, rules: Rules) -> Iterator[Step]:
    """List everything that can happen."""
    for step in (begin, root_sends, process, spoil, report, commit, fail, hear, come_back):
        yield from step(s, rules)


# -- what the steps share ----------------------------------------------------------------------------------------------


def _are_new(s: State, of: Term) -> Formula:
    return every(MESSAGE, lambda m: implies(caused_now(m), ~s.sent(m) & same(pass_of(m), of)))


def _sending(s: State) -> State:
    return s.but(sent=lambda m: s.sent(m) | caused_now(m), flying=lambda m: s.flying(m) | caused_now(m))


def _processing(s: State, **becomes: bool) -> State:
    return s.at(M, flying=False, processed=True, **becomes)


def _is_free(s: State, who: Term, one: Term) -> Formula:
    return every(PASS, lambda q: implies(s.takes_part(who, q), same(q, one)))


def _is_admitted(s: State, rules: Rules) -> Formula:
    """Say that a worker takes part, or may begin to: the pass is not over for it, and it is in no other one (A10, A12)."""
    free = _is_free(s, W, P) if rules["one_pass_at_a_time"] else TRUE
    return s.takes_part(W, P) | (~s.left(W, P) & free)


def _failing(s: State, rules: Rules) -> State:
    """Let a pass fail, and tell all that are known to take part (A18)."""

    def told(w: Term, one: Term) -> Formula:
        known = s.engaged(w, one) if rules["aborts_everywhere"] else same(w, root_of(one))
        return s.aborting(w, one) | (same(one, P) & known)

    return s.at(P, running=False, failed=True).but(aborting=told)
