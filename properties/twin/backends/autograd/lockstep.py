"""Engines driven by the model's actions, over any network in which nothing happens by itself.

Each action of the model is one step here, with these translations:

* The model's programs are graphs with weights. Here they are tensors (`tensors.py`).
* In the model a worker processes a counted message in one step. Here a task's work is done before the step is over (A5).
* The model's network has no acknowledgements, and no message twice (`traffic.py`).
* Where calls are no steps, the model lets everybody know the context whom a call or a root is about. Here calls are made one
  after the other before the run begins, and who then does not know the context is made to.
* A crashed worker is never asked again. Its process lives, as it is needed for the next run.
* The schedule is the authority (`views.py`). An excluded worker goes on until the schedule tells it so, and is not asked then.
* On a broken link nothing arrives until it is mended: what was to take effect at once waits too (`traffic.py`). Between
  real workers the stream itself breaks, and is made again (`silence.py`).

A *restless* backend also does what the model calls nothing at all: with each pair it sends a tensor that nobody uses (A22), and
it loses acknowledgements, so that messages come again after they have taken effect (R7).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import assert_never

from farref.impl.core.ids import WorkerId
from farref.impl.errors import RpcError
from farref.model.actions import (
    Cut,
    Deliver,
    DropMessage,
    Duplicate,
    Exclude,
    FailCall,
    Install,
    Mend,
    OnMessage,
    Retry,
)
from farref.model.autograd import actions as act
from farref.model.autograd.graphs import Entry, Flow, Graph, Leaf, Root, Send
from farref.model.autograd.ids import CREATOR, PairId, PassId
from farref.model.autograd.messages import ForwardCall, Settled
from farref.model.autograd.world import Bounds, seed_of
from farref.properties.autograd.observation import Observation, ReleaseView
from farref.properties.autograd.visible import Truth
from farref.properties.twin.backend import Refused
from farref.properties.twin.backends.autograd.impl_observer import ImplObserver, release_view
from farref.properties.twin.backends.autograd.names import Names, name
from farref.properties.twin.backends.autograd.network import AutogradNetwork
from farref.properties.twin.backends.autograd.seen import WorkerSeen
from farref.properties.twin.backends.autograd.tensors import LEAF, Terms
from farref.properties.twin.backends.autograd.traffic import State, Traffic
from farref.properties.twin.backends.autograd.views import Views


class AutogradLockstep:
    """Takes the model's actions on a network, and looks at what came of them."""

    def __init__(self, network: AutogradNetwork, bounds: Bounds, *, restless: bool) -> None:
        self.network, self.bounds, self.restless = network, bounds, restless
        self.names = Names(network.context)
        self.members = Views(len(bounds.worker_ids))
        self.traffic = Traffic(network, self.names, self.members, restless=restless)
        self.observer = ImplObserver(self.names)
        self.seen: dict[WorkerId, WorkerSeen] = {}
        self.crashed: set[WorkerId] = set()
        self.graph: Graph | None = None
        self.truth = Truth(smart=bounds.smart, is_recorded_at_once=not bounds.forward)
        if len(bounds.catalogue) == 1:
            self._choose(0)

    def perform(self, action: act.Action) -> None:
        """Take a step, and what follows from it."""
        self._perform(action)
        self.traffic.settle()

    def attempt(self, action: act.Action) -> bool:
        """Let the application try something; say whether it was let through."""
        ended = len(self.network.ended)
        try:
            self._perform(action)
        except RpcError:
            return False
        return not isinstance(action, act.TimeOut) or len(self.network.ended) > ended

    # Steps

    def _perform(self, action: act.Action) -> None:
        match action:
            case act.Choose(place):
                self._choose(place)
            case act.SendTensors(pair):
                self._send(pair, attached=True)
            case act.SendDetached(pair):
                self._send(pair, attached=False)
            case act.Backward(worker):
                self._begin(WorkerId(worker))
            case act.TimeOut(number):
                self.truth.timed_out = True
                self.network.time_out(next(one for one, known in self.names.passes.items() if known == number))
            case act.ReleaseContext():
                self.truth.released = True
                self.network.release_context()
            case act.Crash(worker):
                self.crashed.add(WorkerId(worker))
                self._fall_silent(WorkerId(worker))
            case act.Notice(worker, dead):
                self.network.notice(WorkerId(worker), WorkerId(dead))
            case Cut(one, other):
                self.traffic.cut(WorkerId(one), WorkerId(other))
            case Mend(one, other):
                self.traffic.mend(WorkerId(one), WorkerId(other))
            case Exclude() | Install() | act.Fence():
                self._follow(action)
            case OnMessage():
                self._befall(action)
            case _:
                assert_never(action)

    def _befall(self, action: act.Befalling) -> None:
        message = action.message
        self.truth.raised |= isinstance(action, act.Raise | FailCall)
        if isinstance(message, ForwardCall):
            self.names.settling = Settled(message.pair, isinstance(action, FailCall))
        else:
            self.names.settling = None
        match action:
            case Deliver():
                _each(self.network.deliver, self.traffic.take(message, State.ARRIVED))
            case Duplicate():
                copied, others = self.traffic.copy(message)
                self.network.duplicate(copied)
                _each(self.network.deliver, others)
            case DropMessage():
                _each(self.network.drop, self.traffic.lose(message))
            case Retry():
                self.traffic.send_again(message, self.seen.values())
            case act.Raise(gradients):
                [flight] = self.traffic.take(message, State.ARRIVED)
                self.network.deliver_raising(flight, gradients.pair)
            case FailCall():
                [call] = self.traffic.flights(message)
                is_told = call.source not in self.traffic.dead
                _each(self.network.fail if is_told else self.network.drop, self.traffic.take(message, State.ARRIVED))
            case _:
                assert_never(action)

    def _follow(self, action: act.Membership) -> None:
        worker = WorkerId(action.worker)
        match action:
            case Exclude():
                self.members.exclude(worker)
            case Install():
                self.network.install(worker, self.members.next_for(worker))
            case act.Fence():
                self.network.fence(worker, *self.members.view_without(worker))
                self._fall_silent(worker)
            case _:
                assert_never(action)

    def _fall_silent(self, worker: WorkerId) -> None:
        self.truth.dead.add(name(worker))
        self.network.crash(worker)
        self.traffic.bury(worker)
        self.seen.pop(worker, None)

    # The program

    def _choose(self, place: int) -> None:
        """Settle what the program is; where calls are no steps, make all of them."""
        self.graph = self.truth.graph = graph = self.bounds.catalogue[place]
        if self.bounds.forward:
            return
        for pair in graph.pair_ids:
            self.network.acquaint(WorkerId(graph.pairs[pair].source))
            self._send(pair, attached=True)
            self.traffic.settle()
            self._befall(Deliver(ForwardCall(pair)))
        for root in sorted(graph.roots):
            self.network.acquaint(WorkerId(root))

    def _send(self, pair: PairId, *, attached: bool) -> None:
        ends = self._graph().pairs[pair]
        source, target, terms = WorkerId(ends.source), WorkerId(ends.target), self._terms(Send(pair))
        forward = self.network.send_tensors(source, target, pair, terms, attached, self.restless)
        self.names.pairs[forward] = pair
        self.truth.detached |= set() if attached else {pair}

    def _begin(self, worker: WorkerId) -> None:
        number = PassId(len(self.names.passes) + 1)
        terms = self._terms(Root(worker))  # type: ignore[arg-type]
        pass_id = self.network.begin_pass(worker, terms, seed_of(number), self.bounds.smart)
        self.names.passes[pass_id] = number
        self.truth.roots[number] = name(worker)

    def _terms(self, entry: Entry) -> Terms:
        return tuple(_term(flow) for flow in self._graph().flows if flow.entry == entry)

    def _graph(self) -> Graph:
        if self.graph is None:
            raise Refused("no graph is chosen")
        return self.graph

    # What can be seen

    def observe(self) -> Observation:
        """Look at every living worker and at the network."""
        for one in self.network.look():
            self._remember(one)
            self.seen[one.worker] = one
        seen = [self.seen[worker] for worker in sorted(self.seen)]
        running = [run for one in seen for run in one.passes]
        unanswered = {view for one in seen for view in self.traffic.waiting(one.worker, one.unanswered)}
        return Observation(
            workers=tuple(map(self.observer.worker, seen)),
            passes=tuple(self.observer.passes(running, self.network.ended, self.crashed)),
            release=self._release(),
            flying=tuple(sorted(self.traffic.views())),
            unanswered=tuple(sorted(unanswered)),
            amiss=tuple(f"{name(one.worker)}: {complaint}" for one in seen for complaint in one.amiss),
        )

    def _remember(self, one: WorkerSeen) -> None:
        """Note that a worker has forgotten the context."""
        before = self.seen.get(one.worker)
        if before is not None and before.context is not None and one.context is None:
            self.truth.forgot.add(name(one.worker))

    def _release(self) -> ReleaseView | None:
        creator = self.seen.get(WorkerId(CREATOR))
        if creator is None or creator.release is None:
            return None
        return release_view(creator.worker, creator.release, creator.dead)


def _each(step: Callable[[int], None], flights: Iterable[int]) -> None:
    for flight in flights:
        step(flight)


def _term(flow: Flow) -> tuple[int, int]:
    return (LEAF if isinstance(flow.exit, Leaf) else flow.exit.pair), flow.weight
