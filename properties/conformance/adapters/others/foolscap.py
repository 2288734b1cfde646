"""Foolscap: each worker is a Tub in a process. A reference that is passed on is a gift, and leads to its owner."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from foolscap.api import DeadReferenceError, Referenceable, RemoteException, Tub
from foolscap.util import allocate_tcp_port
from twisted.internet import defer, error, reactor
from twisted.internet.threads import blockingCallFromThread

from farref.properties.conformance.adapters.agent import Life
from farref.properties.conformance.adapters.agents import AgentsAdapter
from farref.properties.conformance.adapters.desk import DECLARED, Cell, DeskAgent, computed


class Adapter(AgentsAdapter):
    """Foolscap as it comes. A reactor does not survive a fork, so nothing of it is imported before the workers are there."""

    name, version = "Foolscap", version("foolscap")
    capabilities = DECLARED - {"function.heirloom"} | {"reclaims"}
    agent = f"{__name__}:FoolscapAgent"
    preloaded = "farref.properties.conformance.adapters.desk"


def _deferred(result: Any) -> Any:
    waiting = defer.Deferred()
    result.add_done_callback(lambda _: reactor.callFromThread(waiting.callback, None))
    return waiting.addCallback(lambda _: result.result())


class _Cell(Cell, Referenceable):  # type: ignore[misc]
    def remote_get(self) -> Any:
        return _deferred(self.value)


class FoolscapAgent(DeskAgent, Referenceable):  # type: ignore[misc]
    """One worker, and what it offers to the others."""

    cell, remote_make, remote_keep = _Cell, DeskAgent.make, DeskAgent.keep

    def remote_run(self, function: str, args: list[Any]) -> Any:
        """Compute something for another."""
        return _deferred(computed(lambda: self.run(function, args)))

    def join(self, life: Life) -> None:
        """Listen on the loopback, and find the others."""
        self.sit(life)
        computed(lambda: reactor.run(installSignalHandlers=False))
        furls = self.meet(blockingCallFromThread(reactor, self._listen, allocate_tcp_port()))
        self.roots = {name: blockingCallFromThread(reactor, self.tub.getReference, furls[name]) for name in furls}

    def _listen(self, port: int) -> Any:
        self.tub = Tub()
        self.tub.setOption("expose-remote-exception-types", False)
        self.tub.listenOn(f"tcp:{port}:interface=127.0.0.1")
        self.tub.setLocation(f"tcp:127.0.0.1:{port}")
        return self.tub.startService() or self.tub.registerReference(self)

    def collect(self) -> None:
        """Find garbage in the reactor: a reference that ends in another thread is noticed when the reactor wakes up."""
        blockingCallFromThread(reactor, super().collect)

    def at(self, worker: str, verb: str, *args: Any) -> Any:
        """Ask a worker for something; nobody asks oneself through a tub."""
        return getattr(self, verb)(*args) if worker == self.name else self._asked(self.roots[worker], verb, *args)

    def value(self, reference: Any) -> Any:
        """Read a reference."""
        return reference.get() if isinstance(reference, Cell) else self._asked(reference, "get")

    def _asked(self, whom: Any, verb: str, *args: Any) -> Any:
        try:
            return blockingCallFromThread(reactor, whom.callRemote, verb, *args)
        except (DeadReferenceError, error.ConnectError, error.ConnectionClosed) as died:
            names = [name for name, root in self.roots.items() if root.getRemoteTubID() == whom.getRemoteTubID()]
            raise ConnectionError(f"worker {names} has died: {type(died).__name__}") from None
        except RemoteException as raised:
            raise RuntimeError(raised.failure.getErrorMessage()) from None
