"""The links of a worker that is driven: they break as the driver says, and are made again (`silence.py`)."""

from __future__ import annotations

from farref.impl.core.ids import WorkerId
from farref.impl.core.messages import AnyMessage
from farref.impl.worker.worker import Worker
from farref.properties.twin.backends.held_core import HeldCore, wait_until
from farref.properties.twin.backends.silence import LosingStream, end_stream, fall_silent


class DrivenLinks:
    """The links of one worker."""

    def __init__(self, worker: Worker, core: HeldCore) -> None:
        self.worker, self.core = worker, core

    def can_be_cut(self, peer: WorkerId) -> bool:
        """Say whether a stream to a peer would be made again: to the dead none is."""
        return peer not in self.core.dead and not self.worker.closing

    def cut_link(self, peer: WorkerId) -> None:
        """Have all that is written to a peer from now on get lost. Until there is a new stream, nothing arrives."""
        self.core.here.lives[peer] = self.core.met[peer]
        fall_silent(self.worker.connections[peer])

    def repair(self) -> None:
        """Have no link cut that was in the life before."""
        for peer, connection in self.worker.connections.items():
            if isinstance(connection.stream, LosingStream):
                self.await_stream(peer, end_stream(connection))

    def break_stream(self, peer: WorkerId) -> int:
        """End the stream to a peer, and give its number."""
        return end_stream(self.worker.connections[peer])

    def await_stream(self, peer: WorkerId, epoch: int) -> None:
        """Wait until the stream to a peer was made again."""
        connection = self.worker.connections[peer]
        wait_until(lambda: connection.epoch > epoch and not connection.broken, "a broken stream is not made again")

    def await_exactly(self, source: WorkerId, sent: list[AnyMessage]) -> None:
        """Wait until all has come that a peer has sent in this life; nothing may come more often."""

        def came(message: AnyMessage) -> int:
            return self.core.came.count((source, message))

        wait_until(
            lambda: all(came(message) >= sent.count(message) for message in sent), "a message was lost with its stream"
        )
        again = [message for message in sent if came(message) > sent.count(message)]
        if again:
            raise ValueError(f"worker {source} has sent {again[0]} {sent.count(again[0])} times; it came more often")
