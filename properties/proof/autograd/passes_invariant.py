"""Why a pass is shown as a whole or not at all: the invariant of `passes.py`, and what follows from it."""

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
    W,
    balanced,
    first_unentered,
    pass_of,
    steps,
    target,
)
from farref.properties.proof.induction.theory import Situation, Theorem, Theory, clause
from farref.properties.proof.logic.formulas import (
    Formula,
    Term,
    Variable,
    all_of,
    at_most_one,
    iff,
    implies,
    none_of,
    same,
    some,
)
from farref.properties.proof.logic.relations import Named, empty

# -- the invariant -----------------------------------------------------------------------------------------------------


@clause("B1", "A20", PASS)
def decisions(s: State, p: Term) -> Formula:
    """A pass runs, is committed, or has failed; only a committed one returns."""
    return at_most_one(s.running(p), s.committed(p), s.failed(p)) & implies(s.returned(p), s.committed(p))


@clause("B2", "A14", MESSAGE)
def lives(s: State, m: Term) -> Formula:
    """A message is sent, processed, reported and entered, in this order, and in a pass that was begun."""
    return all_of(
        implies(s.flying(m), s.sent(m) & ~s.processed(m)),
        implies(s.processed(m), s.sent(m)),
        ~(s.reported(m) & s.entered(m)),
        iff(s.processed(m), s.reported(m) | s.entered(m)),
        implies(s.sent(m), (s.flying(m) | s.processed(m)) & s.begun(pass_of(m))),
    )


@clause("B3", "A14", MESSAGE, MESSAGE)
def causes(s: State, m: Term, cause: Term) -> Formula:
    """A cause was processed in the same pass; once its report is entered, the root knows of what it caused."""
    learned = implies(s.entered(cause), s.known(m))
    return implies(s.caused(m, cause), all_of(s.processed(cause), s.sent(m), same(pass_of(m), pass_of(cause)), learned))


@clause("B4", "A14", MESSAGE)
def roots(s: State, m: Term) -> Formula:
    """The root knows what it sent itself, and knows of nothing that was not sent."""
    return implies(s.from_root(m), s.known(m)) & implies(s.known(m), s.sent(m))


@clause("B5", "A14, S11", MESSAGE)
def still(s: State, m: Term) -> Formula:
    """Of a committed pass every message is in the ledger."""
    return implies(s.committed(pass_of(m)) & s.sent(m), s.entered(m))


@clause("B6", "A17, S8", WORKER, PASS)
def shown(s: State, w: Term, p: Term) -> Formula:
    """Only a committed pass is shown or about to be, and only a failed one is about to be forgotten."""
    return implies(s.shown(w, p) | s.committing(w, p), s.committed(p)) & implies(s.aborting(w, p), s.failed(p))


@clause("B7", "A17", WORKER, PASS)
def told(s: State, w: Term, p: Term) -> Formula:
    """Whoever takes part in a committed pass is about to hear of it; whoever keeps gradients aside takes part."""
    return implies(s.committed(p), iff(s.takes_part(w, p), s.committing(w, p))) & implies(
        s.staged(w, p), s.takes_part(w, p)
    )


@clause("B8", "A14", MESSAGE)
def origins(s: State, m: Term) -> Formula:
    """Every message was sent by the root, or something caused it."""
    return implies(s.sent(m), s.from_root(m) | some(MESSAGE, lambda cause: s.caused(m, cause)))


@clause("B9", "A17", MESSAGE)
def all_of_it(s: State, m: Term) -> Formula:
    """What was processed of a pass that did not fail is kept aside, or shown."""
    w, p = target(m), pass_of(m)
    return implies(s.processed(m) & ~s.failed(p), s.staged(w, p) | s.shown(w, p))


@clause("B10", "A12", WORKER, PASS)
def nothing_else(s: State, w: Term, p: Term) -> Formula:
    """What a worker keeps aside or shows of a pass, a message of this very pass has brought."""
    brought = some(MESSAGE, lambda m: all_of(s.processed(m), same(pass_of(m), p), same(target(m), w)))
    return implies(s.staged(w, p) | s.shown(w, p), brought)


@clause("B11", "A17", WORKER, PASS)
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
