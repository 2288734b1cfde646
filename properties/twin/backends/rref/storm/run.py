"""One run in a storm: moves are taken one after the other, and after each all is judged (`judge.py`).

There is no model beside it. A move that cannot happen, as what it names is not there, is not taken: so moves can be left out
of a run, and the rest is a run again. At the end everybody lets go, all is delivered, and nothing may be left.
"""

from __future__ import annotations

from collections import deque
from typing import Final

from farref.impl.core.effects import Send
from farref.impl.core.ids import WorkerId
from farref.impl.core.messages import Ack, Control
from farref.impl.simulated.network import InFlight
from farref.properties.twin.backends.rref.storm import moves as mv
from farref.properties.twin.backends.rref.storm.judge import Judge, ViolatedError
from farref.properties.twin.backends.rref.storm.names import StormNames
from farref.properties.twin.backends.rref.storm.network import StormNetwork
from farref.properties.twin.backends.rref.storm.observer import StormObserver
from farref.properties.twin.backends.rref.storm.situations import Watch
from farref.properties.twin.backends.rref.storm.steps import CannotHappenError, Steps
from farref.properties.twin.backends.rref.storm.truth import StormTruth

LAST_MOVES_MAX: Final = 4000
"""How many moves the end of a run may take. What has not come to rest by then never will."""
COPIES_KEPT: Final = 8
"""How many copies of control messages from an earlier life stay under way, and how many of answers."""


class StormRun:
    """A world, and what has happened in it."""

    def __init__(self, workers: int) -> None:
        self.network, self.names = StormNetwork(workers), StormNames()
        self.truth = StormTruth(self.names)
        self.steps = Steps(self.network, self.names, self.truth)
        self.judge = Judge(self.names, self.truth, StormObserver(self.network, self.names, self.truth))
        self.watch = Watch(self.names, self.truth, self.network)
        self.moves: list[mv.Move] = []
        self.from_before: set[str] = set()  # messages of which copies from an earlier life may be under way

    def take(self, move: mv.Move) -> bool:
        """Take a move, and judge; say whether it could happen."""
        if isinstance(move, mv.Restart):
            return self._restart(move)
        return self._step(move, self.moves)

    def finish(self) -> None:
        """Take the run to its end, and see that nothing is left."""
        self._come_to_rest(None)
        self.judge.at_the_end()

    def _step(self, move: mv.Move, kept: list[mv.Move] | None = None) -> bool:
        self.watch.before(move)
        try:
            self.steps.take(move)
        except CannotHappenError:
            return False
        if kept is not None:
            kept.append(move)
        self._hear()
        self.watch.after(move)
        self.judge.after_move()
        return True

    def _hear(self) -> None:
        """Tell names and applications of everything that has happened, in its order."""
        heard = list(self.network.log)
        self.network.log.clear()
        for worker, effect in heard:
            if isinstance(effect, Send):
                self.names.enter_sent(worker, effect.target, effect.message)
            self.truth.hears(worker, effect)

    # The end of a run, and of a life

    def _restart(self, move: mv.Restart) -> bool:
        """Take all to rest, then let a worker begin its next life, with copies of its last messages under way."""
        if self.truth.dead or move.worker not in self.network.cores:
            return False
        self.moves.append(move)
        kept = self._come_to_rest(WorkerId(move.worker))
        self.judge.at_the_end()
        self._step(move)
        self.network.bring_back(kept)
        self.from_before |= {self.names.flight(one) for one in kept}
        return True

    def _come_to_rest(self, keeping: WorkerId | None) -> list[InFlight]:
        """Let everybody let go and deliver everything; give copies of what went from or to a worker last."""
        kept = {kind: deque[InFlight](maxlen=COPIES_KEPT) for kind in (Control, Ack)}
        for _ in range(LAST_MOVES_MAX):
            flights = self.network.in_flight()
            if flights and keeping in (flights[0].source, flights[0].target) and _is_kept(flights[0], keeping):
                kept[Ack if isinstance(flights[0].message, Ack) else Control].append(flights[0])
            move = mv.Deliver(self.names.flight(flights[0])) if flights else self._last_move()
            if move is None:
                return [*kept[Control], *kept[Ack]]
            self._step(move)
        raise ViolatedError((f"nothing comes to rest in {LAST_MOVES_MAX} moves",))

    def _last_move(self) -> mv.Move | None:
        """Give what is left to do where nothing is under way."""
        truth, cores = self.truth, self.network.cores
        for worker in cores:
            for dead in sorted(truth.dead):
                if (worker, dead) not in truth.noticed:
                    return mv.Notice(worker, dead)
        for rref in truth.running:
            return mv.Finish(rref, (), False)
        for (_, reference), number in truth.handles.items():
            if number:
                return mv.LetGo(self.names.handle(reference))
        for worker in cores:
            for _, _, body, _ in self.network.used_cores.at_rest(worker).channel.unanswered():
                return mv.Retry(self.names.control(body))
        return None


def _is_kept(flight: InFlight, worker: WorkerId | None) -> bool:
    """Say whether a copy may still arrive in the next life: answers, and what it sent (R7)."""
    return isinstance(flight.message, Ack) or (isinstance(flight.message, Control) and flight.source == worker)
