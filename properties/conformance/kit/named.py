"""The backends that are known by name: where their adapters are, and which of their failures are expected."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

EXPECTATIONS: Final = Path(__file__).parents[1] / "expectations"


@dataclass(frozen=True)
class Named:
    """A backend that ships with farref."""

    adapter: str
    """`module:attribute`."""
    expectations: str | None
    """The file of expectations that ships with it."""
    extra: str | None = None
    """The extra of farref that installs it."""
    packages: tuple[str, ...] = ()
    """What must be importable; the first is the judged system."""
    programs: tuple[str, ...] = ()
    """What must be on the PATH."""
    npm: tuple[str, ...] = ()
    """What Node must find."""
    install: str | None = None
    """How to get what is missing."""


ADAPTERS: Final = "farref.properties.conformance.adapters"

NAMED: Final = {
    "simulated": Named(f"{ADAPTERS}.simulated.adapter:Adapter", None),
    "processes": Named(f"{ADAPTERS}.processes.adapter:Adapter", None),
    "torch": Named(f"{ADAPTERS}.torch.adapter:Adapter", "torch-2.13.toml", "torch", ("torch",)),
    "torch-faulty": Named(f"{ADAPTERS}.torch_faulty.adapter:Adapter", "torch-faulty-2.13.toml", "torch", ("torch",)),
}


class UnknownBackendError(Exception):
    """Nothing can be made of what was given as a backend; the message says what could."""


@dataclass(frozen=True)
class Target:
    """A backend to be judged: how its adapter is started, and how the user calls it."""

    command: tuple[str, ...]
    words: tuple[str, ...]
    """What the user gives `farref conform` for it."""
    place: str | None
    """Where the adapter is, if it is written in Python."""
    expectations: Path | None = None
    extra: str | None = None


def target(given: str) -> Target:
    """Find a backend by its name, its file, or its module and attribute."""
    named = NAMED.get(given)
    place = given if named is None else named.adapter
    if named is None and not _is_place(given):
        raise UnknownBackendError(
            f"no backend is called {given!r}; give one of {', '.join(NAMED)}, a file.py, a module:attribute, "
            "or a command after --"
        )
    if place.endswith(".py") and not Path(place).is_file():
        raise UnknownBackendError(
            f"{place} is not a file; a backend is one of {', '.join(NAMED)}, a file.py or a module:attribute"
        )
    expectations = EXPECTATIONS / named.expectations if named and named.expectations else None
    return Target(hosted(place), ("--backend", given), place, expectations, named.extra if named else None)


def _is_place(given: str) -> bool:
    module, colon, attribute = given.partition(":")
    return given.endswith(".py") or bool(
        colon and attribute.isidentifier() and all(part.isidentifier() for part in module.split("."))
    )


def hosted(place: str) -> tuple[str, ...]:
    """Give the command that serves an adapter written in Python."""
    return (sys.executable, "-m", "farref.properties.conformance.conversation.host", place)


def spoken(command: tuple[str, ...]) -> Target:
    """Judge a program that speaks the protocol itself."""
    return Target(command, ("--", *command), None)
