"""The protocols that farref knows, and what else it can check. These are the only lists of them."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from farref.properties.autograd.protocol import AUTOGRAD
from farref.properties.protocol import AnyProtocol, AnySubject
from farref.properties.rref.protocol import RREF
from farref.properties.threads.subject import THREADS

PROTOCOLS: Final[dict[str, AnyProtocol]] = {one.name: one for one in (RREF, AUTOGRAD)}
"""Each by its name."""

CHECKED: Final[dict[str, AnySubject]] = {**PROTOCOLS, THREADS.name: THREADS}
"""Everything that `farref check` knows, by its name."""


def protocol_of(bounds: Any) -> AnyProtocol:
    """Find the protocol that some bounds are about."""
    return next(one for one in PROTOCOLS.values() if one.bounds is type(bounds))


def subject_of(bounds: Any) -> AnySubject:
    """Find what some bounds are about, a protocol or not."""
    return next(one for one in CHECKED.values() if one.bounds is type(bounds))


@lru_cache(maxsize=64)
def sound_model(bounds: Any) -> Any:
    """Give the model of the sound protocol that some bounds are about."""
    protocol = protocol_of(bounds)
    return protocol.model(bounds, protocol.profiles["sound"])
