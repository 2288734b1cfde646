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
    root_of,
    steps,
    target,
)
from farref.properties.proof.induction.theory import Situation, Theorem, Theory, clause
from farref.properties.proof.logic.formulas import (
    Formula,
    Term,
    Variable,
    all_of,
    any_of,
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
    followed = any_of(s.reported(m), s.entered(m), s.spoiled(m), s.failed(pass_of(m)))
    return all_of(
        implies(s.flying(m), s.sent(m) & ~s.processed(m)),
        implies(s.processed(m), s.sent(m) & followed),
        implies(any_of(s.reported(m), s.entered(m), s.refused(m), s.unpaired(m)), s.processed(m)),
        at_most_one(s.entered(m), s.reported(m)) & at_most_one(s.entered(m), s.refused(m), s.unpaired(m)),
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
    """What was processed of a pass that did not fail is kept aside, or shown, unless its worker has given up."""
    w, p = target(m), pass_of(m)
    given_up = s.running(p) & (s.refused(m) | s.left(w, p))
    return implies(s.processed(m) & ~s.failed(p), any_of(s.staged(w, p), s.shown(w, p), given_up))


@clause("B10", "A12", WORKER, PASS)
def nothing_else(s: State, w: Term, p: Term) -> Formula:
    """What a worker keeps aside or shows of a pass, a message of this very pass has brought, or it is the root's own."""
    brought = some(MESSAGE, lambda m: all_of(s.processed(m), same(pass_of(m), p), same(target(m), w)))
    return implies(s.staged(w, p) | s.shown(w, p), same(w, root_of(p)) | brought)


@clause("B11", "A17", WORKER, PASS)
def returns(s: State, w: Term, p: Term) -> Formula:
    """Once `backward` has returned, nobody is still to hear of the commit."""
    return implies(s.returned(p), ~s.committing(w, p))


@clause("B12", "A18, A19", WORKER, PASS)
def found(s: State, w: Term, p: Term) -> Formula:
    """Whoever takes part is known to the root, or has a report under way."""
    told = some(MESSAGE, lambda m: all_of(s.reported(m), ~s.refused(m), same(pass_of(m), p), same(target(m), w)))
    return implies(s.takes_part(w, p), s.engaged(w, p) | told)


@clause("B13", "A18", WORKER, PASS)
def followed(s: State, w: Term, p: Term) -> Formula:
    """Whoever is known takes part, or has left; and if the pass has failed, it has left or is about to hear of that."""
    return all_of(
        implies(s.engaged(w, p), s.takes_part(w, p) | s.left(w, p)),
        implies(all_of(s.engaged(w, p), s.takes_part(w, p), s.failed(p)), s.aborting(w, p)),
    )


@clause("B14", "A18", WORKER, PASS)
def leaving(s: State, w: Term, p: Term) -> Formula:
    """Whoever has left a pass that still runs has a report under way that ends it."""
    ends = some(MESSAGE, lambda m: all_of(s.reported(m), s.refused(m), same(pass_of(m), p), same(target(m), w)))
    return implies(s.left(w, p) & s.running(p), ends)


@clause("B15", "A12", WORKER, PASS)
def gone(s: State, w: Term, p: Term) -> Formula:
    """Whoever has left takes part no more; and only in a pass that was begun anybody takes part, or has left."""
    anything = any_of(s.takes_part(w, p), s.left(w, p), s.engaged(w, p))
    return implies(s.left(w, p), ~s.takes_part(w, p)) & implies(anything, s.begun(p))


@clause("B16", "A11", MESSAGE)
def joined(s: State, m: Term) -> Formula:
    """Whoever processed a message without refusing it takes part, or has left."""
    w, p = target(m), pass_of(m)
    return implies(s.processed(m) & ~s.refused(m), s.takes_part(w, p) | s.left(w, p))


@clause("B17", "A18", MESSAGE)
def faults(s: State, m: Term) -> Formula:
    """A fault in a pass that runs is about to be reported, or its worker had left before."""
    unreported = all_of(s.running(pass_of(m)), s.spoiled(m), ~s.reported(m))
    return implies(unreported, s.refused(m) & s.left(target(m), pass_of(m)))


@clause("B18", "A10", WORKER, PASS, PASS)
def one_pass(s: State, w: Term, p: Term, q: Term) -> Formula:
    """A worker takes part in one pass at a time."""
    return implies(s.takes_part(w, p) & s.takes_part(w, q), same(p, q))


@clause("B19", "A10", PASS, PASS)
def one_call(s: State, p: Term, q: Term) -> Formula:
    """A root has one pass at a time that has not ended."""
    return implies(all_of(s.unended(p), s.unended(q), same(root_of(p), root_of(q))), same(p, q))


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
    functions={"pass_of": ((MESSAGE,), PASS), "target": ((MESSAGE,), WORKER), "root_of": ((PASS,), WORKER)},
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


INVARIANT: Final = (
    decisions, lives, causes, roots, still, shown, told, origins, all_of_it, nothing_else, returns,
    found, followed, leaving, gone, joined, faults, one_pass, one_call,
)  # fmt: skip

COMMIT: Final = Theorem(
    id="passes",
    text="A pass is committed only when nothing of it is under way, and is shown as a whole or not at all: A14, S8, S11.",
    theory=PASSES,
    invariant=INVARIANT,
    goals=(
        nothing_is_under_way_after_the_commit,
        nobody_is_in_a_pass_that_returned,
        nothing_is_shown_of_a_failed_pass,
        all_is_shown_at_the_return,
        balanced_means_still,
    ),
    situations=tuple(situations(PASSES.state)),
)
