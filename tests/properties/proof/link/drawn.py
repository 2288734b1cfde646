"""States of the proofs about autograd as worlds of the model, whether or not a run leads there."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any, Final

from farref.model.autograd import messages as msg
from farref.model.autograd.ids import CREATOR, PairId, PassId
from farref.model.autograd.ledger import Line, counted_number
from farref.model.autograd.root import Pass, Phase
from farref.model.autograd.worker import Context, Worker
from farref.model.autograd.world import Bounds
from farref.model.ids import WorkerId
from farref.model.values import IdSet, Table, no_ids
from farref.properties.proof.induction.theory import Theory
from farref.properties.proof.induction.worlds import SmallWorlds
from farref.properties.proof.link import pass_paths, passes, releases
from farref.properties.proof.link.grounded import Frame
from farref.properties.proof.logic.formulas import Applied, Formula, Related, Sort, Variable, same
from farref.properties.proof.logic.small import Fact, Small
from tests.properties.proof.asking import SOLVER


def states(
    theory: Theory[Any], hypotheses: Sequence[Formula], frame: Frame, sorts: dict[str, Sort], number: int
) -> Iterator[Small]:
    """Give states that satisfy some formulas and some facts that were drawn. Functions give what the model's graph gives."""
    named = {thing: Variable(str(thing), sorts[sort]) for sort, things in frame.things.items() for thing in things}
    fixed = [
        same(Applied(str(name), tuple(named[one] for one in arguments), named[value].sort), named[value])
        for (name, *arguments), value in frame.functions.items()
    ]
    sizes = {sort: len(frame.things[name]) for name, sort in sorts.items()}
    worlds, drawn = SmallWorlds([*hypotheses, *fixed], theory, SOLVER, sizes), random.Random(0)
    relations = [one for one in theory.state.vocabulary() if one.sorts]
    for _ in range(number):
        wanted = [
            Related(one.name, tuple(named[drawn.choice(frame.things[sort.name])] for sort in one.sorts))
            for one in drawn.sample(relations, 3)
        ]
        found = worlds.find(wanted)
        if found is not None:
            state = {fact for fact in found[0].facts if fact[0] not in [one.name for one in theory.constant]}
            yield Small(found[0].things, frozenset(state), found[0].functions)


def every_fact(theory: Theory[Any], frame: Frame) -> Iterator[Fact]:
    """List everything that could be said of the things of a frame."""
    for one in theory.state.vocabulary():
        yield from ((one.name, *things) for things in product(*(frame.things[sort.name] for sort in one.sorts)))


# -- releases ----------------------------------------------------------------------------------------------------------


def released(state: Small, bounds: Bounds) -> releases.Linked:
    """Give the world that a state of the proof of releases is."""

    def calls(name: str) -> IdSet:
        return IdSet((name, f"c{one}") in state.facts for one in bounds.pair_ids)

    def workers(name: str) -> IdSet:
        return IdSet((name, f"w{one}") in state.facts for one in bounds.worker_ids)

    empty, past = releases.LinkedModel(bounds).initial.world, releases.Past(*map(calls, ("sent", "arrived", "failed")))
    table = Table(_worker(who, empty.workers[who], past, workers, bounds) for who in bounds.worker_ids)
    carried: dict[msg.Message, Any] = dict.fromkeys(bounds.places)
    carried |= {msg.ForwardCall(PairId(one)): True for one in calls("flying").members()}
    carried |= {msg.Settled(PairId(one)): True for one in calls("settling").members()}
    carried |= {msg.CleanupContext(WorkerId(who)): True for who in workers("cleaning").members()}
    carried |= {msg.Forget(WorkerId(who)): frozenset() for who in workers("forgetting").members()}
    carried |= {msg.Closed(WorkerId(who)): _calls(table[who]) for who in workers("reporting").members()}
    known = {
        field: (calls if name in ("owed", "accounted") else workers)(name) for name, field in releases.KNOWN.items()
    }
    world = empty._replace(
        workers=table,
        release=empty.release._replace(**known),
        network=empty.network._replace(carried=Table(carried.values())),
        released=CREATOR not in workers("open"),
    )
    return releases.Linked(world, past)


def _worker(who: WorkerId, blank: Worker, past: releases.Past, workers: Any, bounds: Bounds) -> Worker:
    phase = next((value for name, value in releases.CONTEXTS.items() if who in workers(name)), Context.ABSENT)
    pairs = bounds.catalogue[0].pairs
    sent, failed = (
        IdSet(one and pair.source == who for one, pair in zip(calls, pairs, strict=True))
        for calls in (past.sent, past.failed)
    )
    got = IdSet(one and pair.target == who for one, pair in zip(past.arrived, pairs, strict=True))
    kept = blank._replace(context=phase, sent=sent, sends=sent, got=got, recvs=got, failed=failed)
    return kept._replace(resurrected=who in workers("resurrected"))


def _calls(worker: Worker) -> msg.Calls:
    settled = {*worker.got.members(), *worker.failed.members()}
    return msg.Calls(frozenset(map(PairId, worker.sent.members())), frozenset(map(PairId, settled)))


# -- passes ------------------------------------------------------------------------------------------------------------

PHASES: Final = {
    "returned": Phase.SUCCEEDED, "committed": Phase.COMMITTING, "failed": Phase.FAILED, "running": Phase.RUNNING
}  # fmt: skip


def passed(state: Small, bounds: Bounds) -> passes.Linked:
    """Give the world that a state of the proof of passes is. No worker has recorded a recv, so a gradient causes nothing."""
    return Drawn(state, bounds).linked()


class Drawn:
    """A state of the proof of passes, read piece by piece."""

    def __init__(self, state: Small, bounds: Bounds) -> None:
        self.state, self.bounds = state, bounds
        self.model = passes.LinkedModel(bounds)
        self.names, self.empty = self.model.names, self.model.initial

    def messages(self, name: str) -> IdSet:
        """List the messages of which something is said."""
        return IdSet((name, f"m{one}") in self.state.facts for one in range(len(self.names.counted)))

    def workers(self, name: str, number: PassId) -> IdSet:
        """List the workers of which something is said about a pass."""
        return IdSet((name, f"w{who}", f"p{number - 1}") in self.state.facts for who in self.bounds.worker_ids)

    def linked(self) -> passes.Linked:
        """Put the pieces together."""
        records = [self.record(number) for number in self.bounds.pass_ids]
        workers = Table(self.worker(who, records) for who in self.bounds.worker_ids)
        carried, processed = list(self.empty.world.network.carried), list(self.empty.world.network.processed)
        for message, content in [*self.counted(), *self.news(records)]:
            carried[self.bounds.places[message]] = content
        for message in self.spent():
            processed[self.bounds.places[message]] = True
        network = self.empty.world.network._replace(carried=Table(carried), processed=IdSet(processed))
        world = self.empty.world._replace(workers=workers, passes=Table(records), network=network)
        return passes.Linked(world, self.past())

    def past(self) -> pass_paths.Past:
        """Give what became of messages."""
        causes = {fact[1]: int(str(fact[2])[1:]) for fact in self.state.facts if fact[0] == "caused"}
        sent, processed, refused = (self.messages(name) for name in ("sent", "processed", "refused"))
        unpaired, from_root = self.messages("unpaired"), self.messages("from_root")
        cause = Table(causes.get(f"m{one}") for one in range(len(self.names.counted)))
        shown = Table(self.workers("shown", number) for number in self.bounds.pass_ids)
        return pass_paths.Past(sent, processed, refused, unpaired, from_root, cause, shown)

    def counted(self) -> Iterator[tuple[msg.Message, Any]]:
        """List the messages that are under way, and their reports."""
        flying, copied, reported = (self.messages(name) for name in ("flying", "copied", "reported"))
        for one, message in enumerate(self.names.counted):
            if one in flying or one in copied:
                yield message, 1
            if one in reported:
                yield msg.Report(message), self.told(one)

    def told(self, one: int) -> msg.Told:
        """Give what a report says."""
        caused = [
            m for number, m in enumerate(self.names.counted) if ("caused", f"m{number}", f"m{one}") in self.state.facts
        ]
        fault = msg.Fault.UNPAIRED if one in self.messages("unpaired") else msg.Fault.NONE
        return msg.Told(frozenset(caused), fault=msg.Fault.RAISED if one in self.messages("refused") else fault)

    def spent(self) -> Iterator[msg.Message]:
        """List what has taken effect."""
        processed, reported = self.messages("processed"), self.messages("reported")
        for one, message in enumerate(self.names.counted):
            yield from [message] if one in processed else []
            yield from [msg.Report(message)] if one in processed and one not in reported else []

    def news(self, records: list[Pass]) -> Iterator[tuple[msg.Message, Any]]:
        """List what is under way about decisions."""
        for number, record in zip(self.bounds.pass_ids, records, strict=True):
            for who in map(WorkerId, range(len(record.engaged))):
                told = [kind(number, who) for name, kind in passes.NEWS.items() if who in self.workers(name, number)]
                yield from ((one, True) for one in told)
                has_heard = record.phase is Phase.COMMITTING and who in record.engaged and not told
                yield from [(msg.Committed(number, who), True)] if has_heard and who != record.root else []

    def record(self, number: PassId) -> Pass:
        """Give what the root knows of a pass."""
        said = {fact[0] for fact in self.state.facts if fact[1:] == (f"p{number - 1}",)}
        phase = next((value for name, value in PHASES.items() if name in said), Phase.IDLE)
        blank = self.empty.world.passes[0]
        ledger, known, entered = list(blank.ledger), self.messages("known"), self.messages("entered")
        for one, message in enumerate(self.names.counted):
            if message.number == number:
                place = counted_number(message, len(self.bounds.pair_ids), len(self.bounds.worker_ids))
                ledger[place] = Line((one in known) + 2 * (one in entered))
        root = WorkerId(int(str(self.state.functions["root_of", f"p{number - 1}"])[1:]))
        committed = blank.committed.add(root) if phase is Phase.COMMITTING else blank.committed
        begun = blank._replace(phase=phase, ledger=Table(ledger), engaged=self.workers("engaged", number))
        return begun._replace(root=None if phase is Phase.IDLE else root, committed=committed)

    def worker(self, who: WorkerId, records: list[Pass]) -> Worker:
        """Give what a worker knows: the pass it is in, and the newest that it heard of."""
        worker = self.empty.world.workers[who]._replace(recvs=no_ids(len(self.bounds.pair_ids)))
        newest, task = worker.newest, worker.task
        for number, record in zip(self.bounds.pass_ids, records, strict=True):
            is_in = who in self.workers("takes_part", number)
            task = task._replace(number=number, expected=worker.sends) if is_in else task
            if record.root is not None and (is_in or who in self.workers("left", number)):
                newest = newest.put(record.root, number)
        return worker._replace(task=task, newest=newest)
