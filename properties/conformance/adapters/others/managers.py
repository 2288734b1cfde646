"""multiprocessing.managers: each worker serves what it owns as a manager does; references are proxies, which it counts.

A proxy that is passed on goes as the bytes that a queue would carry: whoever sends it may let go before the other has read it.
"""

from __future__ import annotations

import pickle
import platform
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from multiprocessing import current_process
from multiprocessing.managers import BaseManager
from pathlib import Path
from typing import Any, Final

from farref.properties.conformance.adapters.agent import Life
from farref.properties.conformance.adapters.agents import AgentsAdapter
from farref.properties.conformance.adapters.desk import DECLARED, DeskAgent, computed

READ_AFTER_S: Final = 0.05
"""Whoever gets something through a queue has other things to do first."""


class Adapter(AgentsAdapter):
    """The managers of the standard library."""

    name, version = "multiprocessing.managers", platform.python_version()
    capabilities = DECLARED
    agent = f"{__name__}:ManagersAgent"


class ManagersAgent(DeskAgent):
    """One worker: a server, which the others ask."""

    def join(self, life: Life) -> None:
        """Serve, and find the others."""
        self.sit(life)
        current_process().authkey = b"of this world"
        BaseManager.register("Cell", exposed=["get"], create_method=False)
        made = {"method_to_typeid": {"make": "Cell"}}
        BaseManager.register("root", callable=lambda: self, exposed=["make", "run", "keep"], **made)  # type: ignore[arg-type]
        server = BaseManager(f"{life.directory}/{life.name}.socket").get_server()
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.meet("")

    def at(self, worker: str, verb: str, *args: Any) -> Any:
        """Ask a worker for something."""
        manager: Any = BaseManager(f"{self.life.directory}/{worker}.socket")
        try:
            manager.connect()
            return getattr(manager.root(), verb)(*args)
        except (ConnectionError, EOFError, FileNotFoundError) as error:
            raise ConnectionError(f"worker {worker} has died: {type(error).__name__}") from None

    def value(self, reference: Any) -> Any:
        """Read a proxy."""
        try:
            return reference.get()
        except (ConnectionError, EOFError, FileNotFoundError) as error:
            raise ConnectionError(f"worker {Path(reference._token.address).stem} has died: {error}") from None

    def create(self, name: str, owner: str, function: str | None, args: Sequence[Any], _timeout: None) -> None:
        """Have a value made on its owner, also if that is this worker: it is the server that makes a proxy of it."""
        self.desk[name] = self.at(owner, "make", function, self.given(args))

    def share(self, name: str, to: str) -> None:
        """Pass a proxy on, in bytes."""
        self.at(to, "keep", name, pickle.dumps(self.held(name)))

    def keep(self, name: str, written: bytes) -> None:
        """Take a proxy, and read it later."""
        self.desk[name] = computed(lambda: (threading.Event().wait(READ_AFTER_S), pickle.loads(written))[1])

    def held(self, name: str) -> Any:
        """Find what is on the desk, once it has been read."""
        found = super().held(name)
        self.desk[name] = found.result() if isinstance(found, Future) else found
        return self.desk[name]
