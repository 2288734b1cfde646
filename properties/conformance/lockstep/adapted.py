"""A backend of the twin by the command of its adapter, for `farref fuzz` and `farref replay`."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from farref.properties.conformance.conversation.session import AdapterError, Hang, Session
from farref.properties.conformance.kit.named import UnknownBackendError, target
from farref.properties.conformance.kit.steps import LOCKSTEP
from farref.properties.conformance.kit.verbs import DEADLINE
from farref.properties.conformance.lockstep.stepped import Stepped
from farref.properties.twin.loading import BackendError

PREFIX: Final = "adapter:"
"""What stands before an adapter where a backend of the twin is named."""


def is_adapter(given: str) -> bool:
    """Say whether an adapter is meant."""
    return given.startswith(PREFIX)


@dataclass(frozen=True)
class Adapted:
    """Makes backends of an adapter, in whatever process it is asked to: each has an adapter of its own."""

    given: str
    protocol: ClassVar[str] = Stepped.protocol

    def command(self) -> tuple[str, ...]:
        """Give the command that starts the adapter: a name, a file or a module that the kit knows, or a command."""
        words = tuple(shlex.split(self.given.removeprefix(PREFIX)))
        if len(words) != 1:
            return words
        try:
            return target(words[0]).command
        except UnknownBackendError as error:
            raise BackendError(
                f"{self.given}: {error}".replace("a command after --", "a command of several words")
            ) from error

    def __call__(self) -> Stepped:
        """Make one."""
        return Driven(self.command(), self.given)


class Driven(Stepped):
    """An adapter that is started with the backend, and again if it has ended."""

    def __init__(self, command: tuple[str, ...], given: str) -> None:
        super().__init__(self._asked, given)
        self._command = command
        self._session: Session | None = None
        self._talk()

    def _talk(self) -> Session:
        if self._session is None:
            try:
                self._session = Session(self._command)
            except AdapterError as error:
                raise BackendError(f"{self.name}: {error}") from error
            if LOCKSTEP not in self._session.identity.capabilities:
                self._put_down()
                raise BackendError(f"{self.name} does not declare {LOCKSTEP}, so it cannot be driven step by step")
            self.name = self._session.identity.name
        return self._session

    def _asked(self, verb: str, request: dict[str, Any]) -> Any:
        try:
            return self._talk().ask(verb, request).wait(DEADLINE)
        except (AdapterError, Hang):  # the next run begins with a new one
            self._put_down()
            raise

    def _put_down(self) -> None:
        self.is_started = False
        if self._session is not None:
            self._session.put_down()
            self._session = None

    def close(self) -> None:
        """Stop the workers, and let the adapter end."""
        self._stop()
        self._put_down()
