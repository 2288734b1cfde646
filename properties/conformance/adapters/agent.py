"""What runs in the process of a worker that is judged: a loop that is given verbs through a pipe and carries them out.

The pipe has nothing to do with the RPC under test, which may be as slow or as broken as it likes. Every verb has a thread of
its own, so one that hangs holds up no other.
"""

from __future__ import annotations

import gc
import importlib
import os
import signal
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn

from farref.properties.conformance.conversation.host import describe, trace_of
from farref.properties.conformance.conversation.session import headline
from farref.properties.processes import heard, tell


@dataclass(frozen=True)
class Life:
    """One world, as a worker of it has to know it."""

    workers: tuple[str, ...]
    name: str
    directory: str
    options: Mapping[str, Any]
    is_again: bool = False
    """Whether it comes in the place of one that was killed."""

    @property
    def rank(self) -> int:
        """The number of this worker."""
        return self.workers.index(self.name)


class Agent:
    """One worker of a backend. Its methods are the verbs that name it, and two more: `join` and `leave` a world."""

    kinds: ClassVar[Mapping[str, tuple[type[BaseException], ...]]] = {}
    """Exceptions of the backend that are of a kind which their type does not show."""

    def join(self, life: Life) -> None:
        """Become a worker of a world."""
        raise NotImplementedError

    def leave(self) -> Sequence[str]:
        """Leave it in good order; say what could not be released."""
        raise NotImplementedError

    def describe(self, error: BaseException) -> dict[str, str]:
        """Say what kind of failure an exception is, of what type, and what it says."""
        said = describe(error) if isinstance(error, Exception) else describe(RuntimeError(repr(error)))
        kind = next((kind for kind, types in self.kinds.items() if isinstance(error, types)), said["kind"])
        return {**said, "kind": kind, "message": headline(said["message"])}


def serve(pipe: Any, place: str) -> NoReturn:
    """Carry out verbs until nobody is there to give any, with the agent that is found in a place (`module:class`)."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the kit, which hangs up
    module, _, name = place.partition(":")
    make: type[Agent] = getattr(importlib.import_module(module), name)
    gc.freeze()  # what was imported is nobody's garbage, and agents collect often
    agent, lock = make(), threading.Lock()
    for number, verb, args in heard(pipe):
        threading.Thread(target=_carry_out, args=(agent, pipe, lock, number, verb, args), daemon=True).start()
    os._exit(0)


def _carry_out(agent: Agent, pipe: Any, lock: threading.Lock, number: int, verb: str, args: Sequence[Any]) -> None:
    result: Any = None
    failure: dict[str, str] | None = None
    try:
        result = getattr(agent, verb)(*args)
    except BaseException as error:
        failure = {**agent.describe(error), "trace": trace_of(error)}
    with lock:
        tell(pipe, (number, result, failure))
