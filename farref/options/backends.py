"""The option that says which implementation is driven: by its name, or by the place of one's own."""

from __future__ import annotations

from typing import Any, Final

import click

from farref.options.groups import Decorator, option
from farref.properties.conformance.lockstep.adapted import Adapted, is_adapter
from farref.properties.twin.backend import MakeBackend
from farref.properties.twin.backends.known import BACKENDS, FREE_BACKENDS
from farref.properties.twin.loading import BackendError, Placed, is_place, load_class

PLACES: Final = "a file.py, a file.py:Class or a module:Class"
ADAPTED: Final = "adapter: and an adapter of farref conform that declares lockstep"
DRIVEN: Final = list(dict.fromkeys(name for known in BACKENDS.values() for name in known))
FREE: Final = list(dict.fromkeys(name for known in FREE_BACKENDS.values() for name in known))


def backend_option(group: str, names: list[str]) -> Decorator:
    """Make the option, with the names that it knows."""
    text = f"Implementation that is driven: {', '.join(names)}, {PLACES}, or {ADAPTED}. Default simulated."
    return option(group, "--backend", default="simulated", metavar="B", help=text)


def find_backend(subject: str, given: str, *, free: bool = False) -> MakeBackend:
    """Find what makes the backends of a protocol that were asked for."""
    known: dict[str, Any] = {**BACKENDS[subject], **(FREE_BACKENDS[subject] if free else {})}
    if given in known:
        made: MakeBackend = known[given]
        return made
    if is_adapter(given) and subject == Adapted.protocol:
        return Adapted(given)
    if is_place(given):
        try:
            load_class(given, subject)
        except BackendError as error:
            raise click.UsageError(str(error)) from error
        return Placed(given, subject)
    names = ", ".join(repr(name) for name in known)
    raise click.UsageError(f"{subject} has no backend {given!r}; there are {names}, {PLACES}, or {ADAPTED}")
