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
from typing import Final

from farref.properties.proof.autograd.rules import Rules
from farref.properties.proof.induction.theory import Case, Situation, Theorem, Theory, clause
from farref.properties.proof.logic.formulas import (
    Applied,
    Formula,
    Related,
    Sort,
    Term,
    Variable,
    all_of,
    any_of,
    at_most_one,
    every,
    iff,
    implies,
    none_of,
    same,
    some,
)
from farref.properties.proof.logic.relations import Named, Relation, Relations, empty, relation

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

    Whatever caused it was sent before it, and so is not in the set. That it has a cause, or is the root's, is clause L8.
    """

    def is_open(m: Term) -> Formula:
        return all_of(same(pass_of(m), one), s.sent(m), ~s.entered(m))

    def is_first(m: Variable) -> Formula:
        return is_open(m) & (s.from_root(m) | some(MESSAGE, lambda cause: s.caused(m, cause) & ~is_open(cause)))

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


# -- the invariant -----------------------------------------------------------------------------------------------------


@clause("L1", "A20", PASS)
def decisions(s: State, p: Term) -> Formula:
    """A pass runs, is committed, or has failed; only a committed one returns."""
    return at_most_one(s.running(p), s.committed(p), s.failed(p)) & implies(s.returned(p), s.committed(p))


@clause("L2", "A14", MESSAGE)
def lives(s: State, m: Term) -> Formula:
    """A message is sent, processed, reported and entered, in this order, and in a pass that was begun."""
    return all_of(
        implies(s.flying(m), s.sent(m) & ~s.processed(m)),
        implies(s.processed(m), s.sent(m)),
        ~(s.reported(m) & s.entered(m)),
        iff(s.processed(m), s.reported(m) | s.entered(m)),
        implies(s.sent(m), (s.flying(m) | s.processed(m)) & s.begun(pass_of(m))),
    )


@clause("L3", "A14", MESSAGE, MESSAGE)
def causes(s: State, m: Term, cause: Term) -> Formula:
    """A cause was processed in the same pass; once its report is entered, the root knows of what it caused."""
    learned = implies(s.entered(cause), s.known(m))
    return implies(s.caused(m, cause), all_of(s.processed(cause), s.sent(m), same(pass_of(m), pass_of(cause)), learned))


@clause("L4", "A14", MESSAGE)
def roots(s: State, m: Term) -> Formula:
    """The root knows what it sent itself, and knows of nothing that was not sent."""
    return implies(s.from_root(m), s.known(m)) & implies(s.known(m), s.sent(m))


@clause("L5", "A14, S11", MESSAGE)
def still(s: State, m: Term) -> Formula:
    """Of a committed pass every message is in the ledger."""
    return implies(s.committed(pass_of(m)) & s.sent(m), s.entered(m))


@clause("L6", "A17, S8", WORKER, PASS)
def shown(s: State, w: Term, p: Term) -> Formula:
    """Only a committed pass is shown or about to be, and only a failed one is about to be forgotten."""
    return implies(s.shown(w, p) | s.committing(w, p), s.committed(p)) & implies(s.aborting(w, p), s.failed(p))


@clause("L7", "A17", WORKER, PASS)
def told(s: State, w: Term, p: Term) -> Formula:
    """Whoever takes part in a committed pass is about to hear of it; whoever keeps gradients aside takes part."""
    return implies(s.committed(p), iff(s.takes_part(w, p), s.committing(w, p))) & implies(
        s.staged(w, p), s.takes_part(w, p)
    )


@clause("L8", "A14", MESSAGE)
def origins(s: State, m: Term) -> Formula:
    """Every message was sent by the root, or something caused it."""
    return implies(s.sent(m), s.from_root(m) | some(MESSAGE, lambda cause: s.caused(m, cause)))


@clause("L9", "A17", MESSAGE)
def all_of_it(s: State, m: Term) -> Formula:
    """What was processed of a pass that did not fail is kept aside, or shown."""
    w, p = target(m), pass_of(m)
    return implies(s.processed(m) & ~s.failed(p), s.staged(w, p) | s.shown(w, p))


@clause("L10", "A12", WORKER, PASS)
def nothing_else(s: State, w: Term, p: Term) -> Formula:
    """What a worker keeps aside or shows of a pass, a message of this very pass has brought."""
    brought = some(MESSAGE, lambda m: all_of(s.processed(m), same(pass_of(m), p), same(target(m), w)))
    return implies(s.staged(w, p) | s.shown(w, p), brought)


@clause("L11", "A17", WORKER, PASS)
def returns(s: State, w: Term, p: Term) -> Formula:
    """Once `backward` has returned, nobody is still to hear of the commit."""
    return implies(s.returned(p), ~s.committing(w, p))


# -- what follows ------------------------------------------------------------------------------------------------------


@clause("S11", "A14", MESSAGE)
def nothing_is_under_way_after_the_commit(s: State, m: Term) -> Formula:
    """Nothing of a committed pass is under way."""
    return implies(s.committed(pass_of(m)), none_of(s.flying(m), s.reported(m)))


@clause("S11 workers", "A14", WORKER, PASS)
def nobody_is_in_a_pass_that_returned(s: State, w: Term, p: Term) -> Formula:
    """Once `backward` has returned, no worker takes part in its pass."""
    return implies(s.returned(p), ~s.takes_part(w, p))


@clause("S8", "A17", WORKER, PASS)
def nothing_is_shown_of_a_failed_pass(s: State, w: Term, p: Term) -> Formula:
    """Nothing is shown of a pass that failed, or that is still running."""
    return implies(s.failed(p) | s.running(p), ~s.shown(w, p))


@clause("A17", "A17", MESSAGE)
def all_is_shown_at_the_return(s: State, m: Term) -> Formula:
    """Once `backward` has returned, every worker that got a gradient shows it."""
    return implies(s.returned(pass_of(m)) & s.processed(m), s.shown(target(m), pass_of(m)))


@clause("A14", "A14", PASS)
def balanced_means_still(s: State, p: Term) -> Formula:
    """Where the ledger of a running pass is balanced, nothing of the pass is under way."""
    open_ = some(MESSAGE, lambda m: all_of(same(pass_of(m), p), s.sent(m), ~s.entered(m)))
    return implies(all_of(s.running(p), balanced(s, p), first_unentered(s, p)), ~open_)


# -- the theorem -------------------------------------------------------------------------------------------------------

PASSES: Final = Theory(
    name="passes",
    state=State.arbitrary(),
    initial=empty,
    steps=steps,
    functions={"pass_of": ((MESSAGE,), PASS), "target": ((MESSAGE,), WORKER)},
    constant=(Named("caused_now", "is caused by this step", (MESSAGE,)),),
)


def situations(s: State) -> Iterator[Situation]:
    """List what the invariant must leave possible."""
    other = Variable("q", MESSAGE)
    chain = all_of(s.caused(M, other), s.running(pass_of(M)), s.flying(M), s.entered(other))
    yield Situation("a message that another caused is under way", chain)
    half = s.shown(W, P) & some(WORKER, lambda w: s.committing(w, P))
    yield Situation("one worker shows its gradients, another is still to hear", half)
    yield Situation("a message of a failed pass is still under way", s.failed(pass_of(M)) & s.flying(M))


COMMIT: Final = Theorem(
    id="passes",
    text="A pass is committed only when nothing of it is under way, and is shown as a whole or not at all: A14, S8, S11.",
    theory=PASSES,
    invariant=(decisions, lives, causes, roots, still, shown, told, origins, all_of_it, nothing_else, returns),
    goals=(
        nothing_is_under_way_after_the_commit,
        nobody_is_in_a_pass_that_returned,
        nothing_is_shown_of_a_failed_pass,
        all_is_shown_at_the_return,
        balanced_means_still,
    ),
    situations=tuple(situations(PASSES.state)),
)
