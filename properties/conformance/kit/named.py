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
    comes_with_python: str | None = None
    """What it is called, if it has the version of Python."""
    command: tuple[str, ...] = ()
    """How its adapter is started, if it is not written in Python."""


ADAPTERS: Final = "farref.properties.conformance.adapters"
OTHERS: Final = f"{ADAPTERS}.others"
CAPNWEB: Final = Path(__file__).parents[1] / "adapters" / "others" / "capnweb.mjs"

NAMED: Final = {
    "simulated": Named(f"{ADAPTERS}.simulated.adapter:Adapter", None),
    "processes": Named(f"{ADAPTERS}.processes.adapter:Adapter", None),
    "torch": Named(f"{ADAPTERS}.torch.adapter:Adapter", "torch-2.13.toml", "torch", ("torch",)),
    "torch-faulty": Named(f"{ADAPTERS}.torch_faulty.adapter:Adapter", "torch-faulty-2.13.toml", "torch", ("torch",)),
    "managers": Named(f"{OTHERS}.managers:Adapter", "managers.toml", comes_with_python="multiprocessing.managers"),
    "rpyc": Named(f"{OTHERS}.rpyc:Adapter", "rpyc-6.0.toml", "backends", ("rpyc",)),
    "foolscap": Named(f"{OTHERS}.foolscap:Adapter", None, "backends", ("foolscap",)),
    "ray": Named(f"{OTHERS}.ray:Adapter", "ray-2.60.toml", "backends", ("ray",)),
    "java-rmi": Named(
        f"{OTHERS}.rmi:Adapter", "java-rmi-17.toml", programs=("java", "javac"), install="a JDK, 17 or later"
    ),
    "capnweb": Named(
        "",
        "capnweb-0.12.toml",
        command=("node", str(CAPNWEB)),
        programs=("node",),
        npm=("capnweb",),
        install="Node 20 or later; npm install --no-save capnweb@0.12, where farref is run",
    ),
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
    if named and named.command:
        return Target(named.command, ("--backend", given), None, expectations)
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
