"""rpyc: each worker is a server in a forked process; references are netrefs. A reference that a user passes on is relayed."""

from __future__ import annotations

import threading
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import rpyc
from rpyc.utils.server import ThreadedServer

from farref.properties.conformance.adapters.agent import Life
from farref.properties.conformance.adapters.agents import AgentsAdapter
from farref.properties.conformance.adapters.desk import DECLARED, DeskAgent

CONFIG: Final = {"allow_all_attrs": True, "allow_public_attrs": True, "sync_request_timeout": 30}


class Adapter(AgentsAdapter):
    """rpyc as it comes."""

    name, version = "rpyc", version("rpyc")
    capabilities = DECLARED | {"relay", "reclaims"}
    agent = f"{__name__}:RpycAgent"


class RpycAgent(DeskAgent):
    """One worker: a server, and connections to the others, one for each call that is under way: rpyc serves each in turn."""

    def join(self, life: Life) -> None:
        """Listen, in a folder that all know."""
        self.sit(life)
        self.idle: dict[str, list[Any]] = {name: [] for name in life.workers}
        agent = self

        class Service(rpyc.Service):  # type: ignore[misc]
            exposed_make = staticmethod(lambda function, args: agent.make(function, args))
            exposed_run = staticmethod(lambda function, args: agent.run(function, args))
            exposed_keep = staticmethod(lambda name, reference: agent.keep(name, reference))

        self.server = ThreadedServer(Service, socket_path=self.place(life.name), protocol_config=CONFIG)
        self.server.listener.listen()  # whoever comes before the thread runs waits
        threading.Thread(target=self.server.start, daemon=True).start()

    def place(self, worker: str) -> str:
        """Say where a worker listens."""
        return str(Path(self.life.directory, worker))

    def at(self, worker: str, verb: str, *args: Any) -> Any:
        """Ask a worker for something. A tuple is passed by value, and a list by reference. The end of a link is a death."""
        by_value = [tuple(one) if isinstance(one, list) else one for one in args]
        try:
            link = self.idle[worker].pop() if self.idle[worker] else self.linked(worker)
            answer = plain(getattr(link.root, verb)(*by_value))
        except (EOFError, ConnectionError) as error:
            raise ConnectionError(f"worker {worker} has died: {error}") from None
        self.idle[worker].append(link)
        return answer

    def linked(self, worker: str) -> Any:
        """Connect to a worker, and serve what comes back."""
        link = rpyc.utils.factory.unix_connect(self.place(worker), config=CONFIG)
        link.leads_to = worker
        rpyc.BgServingThread(link)
        return link

    def value(self, reference: Any) -> Any:
        """Read a reference. If its link has ended, so has whoever is at the other end; a relaying worker may be."""
        try:
            return plain(reference.get())
        except EOFError as error:
            whose = getattr(object.__getattribute__(reference, "____conn__"), "leads_to", "that relays it")
            raise ConnectionError(f"worker {whose} has died: {error}") from None


def plain(value: Any) -> Any:
    """Fetch what is in a list, which rpyc passes by reference, and the kit wants whole."""
    return [plain(one) for one in value] if isinstance(value, list | tuple) else value
