"""The moments of a run of threads. There are no messages in it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NoReturn

from farref.model.threads.actions import Action, Arrive, OnThread
from farref.model.threads.model import ThreadModel
from farref.model.threads.world import MAIN, Bounds, World
from farref.properties.threads.families import thread_name
from farref.properties.traces.replay import NETWORK, Moment


class ThreadMoment(Moment[ThreadModel, World, Action, NoReturn]):
    """One step of a run of threads."""

    def in_flight(self, world: World) -> Iterable[NoReturn]:
        """List the messages that are under way: none are modelled."""
        del world
        return ()

    def ends(self, message: NoReturn) -> NoReturn:
        """Say whom a message is from and for: there is none."""
        raise AssertionError(message)

    @property
    def actor(self) -> str:
        """Which thread takes this step, or that the network does."""
        match self.action:
            case OnThread(thread):
                return thread_name(thread, self.model.bounds)
            case Arrive():
                return NETWORK
            case _:
                return thread_name(MAIN, self.model.bounds)


def familiar(bounds: Bounds, actions: Iterable[Action]) -> tuple[Action, ...]:
    """Give a run as it is: the threads have their names."""
    del bounds
    return tuple(actions)
