"""A backend of your own: a base class with three methods to write, and more to override where you need it.

    class Mine(OwnBackend):
        protocol = "rref"

        def start(self, bounds): ...      # begin anew, with nothing in any table
        def perform(self, action): ...    # take one step of the model
        def observe(self): ...            # show what there is

By default `observe` has to show everything: the `Observation` of the protocol (`rref/observation.py`,
`autograd/observation.py`). Most backends begin with less. `sees` says which part of the model's observation yours can show, in
any form that compares equal. `fixed` says which worlds it is asked about.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar


class OwnBackend(ABC):
    """An implementation held still between two steps: nothing happens in it unless an action says so."""

    protocol: ClassVar[str]
    """The protocol that it speaks: rref or autograd."""

    fixed: ClassVar[Mapping[str, Any]] = {}
    """Bounds that are the same in every world, such as `{"failures": 0}` for a backend that knows no failures."""

    restless = False
    """Whether it may also do what the model calls nothing at all. It may ignore this."""

    @property
    def name(self) -> str:
        """The name by which messages know it."""
        return type(self).__name__

    @abstractmethod
    def start(self, bounds: Any) -> None:
        """Begin anew, in a world of this size: nothing is left of the run before."""

    @abstractmethod
    def perform(self, action: Any) -> None:
        """Take the step that this action of the model stands for, completely. Whatever it raises is a disagreement."""

    @abstractmethod
    def observe(self) -> Any:
        """Show what there is now. It is compared with what `sees` gives of the model's observation."""

    def sees(self, observation: Any) -> Any:
        """Give the part of the model's observation that this backend can show: all of it, unless you say otherwise."""
        return observation

    def attempt(self, action: Any) -> bool:
        """Let the application try what it must be refused; say whether it was let through. Untried, nothing is."""
        del action
        return False

    def close(self) -> None:  # noqa: B027 (most have nothing to give back)
        """Give back whatever was started: nothing, unless you say otherwise."""
