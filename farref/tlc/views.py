"""What TLC is told of views (RRefViews.tla): one or several worlds, and what is claimed of them.

A run of TLC begins with the choice of a world, so one start of Java is enough for many: all mutants, or all bounds. The module
was written from the clauses and has steps of its own, so it finds other numbers of states than our engines.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from farref.properties.proof.views.rules import RULES
from farref.tlc.rref import camel

MODULE: Final = "MCRRefViews"
OWNER: Final = "B"
USERS: Final = ("A", "C", "D", "E")
PROMISES: Final = (
    *("NothingIsDroppedEarly", "BuriedAreHeardByNobody", "NothingIsNamedAgain"),
    *("NothingIsLeft", "EverybodyIsBuried"),
)
"""What R46 promises, as the module names it."""
NUMBERS: Final = ("forks", "views", "drops", "copies", "fetches", "owner_shares")

WORLDS: Final = """\
----------------------------- MODULE ViewWorlds -----------------------------
\\* The worlds that are looked at.  Written by farref/tlc/views.py.
CONSTANTS {names}

TheWorlds == <<
{worlds}
>>
=============================================================================
"""

CONFIG: Final = """\
\\* Written by farref/tlc/views.py.
SPECIFICATION Spec
CONSTANTS
    {names}
    Users = {{{users}}}
    Owner = {owner}
    Authority = Authority
    Worlds <- TheWorlds"""


@dataclass(frozen=True)
class ViewWorld:
    """How large a world with views is, what may happen in it, and which rules are followed."""

    users: int = 2  # workers beside the owner
    joiners: int = 0  # workers that may join later
    forks: int = 2
    views: int = 1
    drops: int = 0
    copies: int = 0
    fetches: int = 0
    results: bool = False  # forks are shared in results, too
    owner_shares: bool = False
    owner_is_losable: bool = False  # the owner may be excluded, and not only users
    without: str = ""  # the rule that is not followed
    is_story: bool = False  # the search is led to one place; see MCRRefViews.tla


def worlds_module(worlds: Sequence[ViewWorld]) -> str:
    """Write the module of the worlds."""
    names = ", ".join((OWNER, *_users(worlds)))
    return WORLDS.format(names=names, worlds=",\n".join(map(_world, worlds)))


def render_config(worlds: Sequence[ViewWorld], claims: Sequence[str], *, constraint: str | None = None) -> str:
    """Write the .cfg that claims something of every state of some worlds."""
    users = _users(worlds)
    names = " ".join(f"{name} = {name}" for name in (OWNER, *users))
    lines = [CONFIG.format(names=names, users=", ".join(users), owner=OWNER)]
    lines += ["SYMMETRY Alike"] if len(users) > 1 and all(_is_even(one, users) for one in worlds) else []
    lines += [f"CONSTRAINT {constraint}"] if constraint else []
    return "\n".join([*lines, *(f"INVARIANT {name}" for name in claims)]) + "\n"


def _is_even(world: ViewWorld, users: Sequence[str]) -> bool:
    """Say whether no user differs from another: then TLC need not tell them apart."""
    return world.users == len(users) and not world.is_story


def _users(worlds: Sequence[ViewWorld]) -> tuple[str, ...]:
    return USERS[: max(one.users + one.joiners for one in worlds)]


def _world(world: ViewWorld) -> str:
    users, joiners = USERS[: world.users], USERS[world.users : world.users + world.joiners]
    values = {
        "users": _set(users),
        "joiners": _set(joiners),
        "losable": _set((*users, OWNER) if world.owner_is_losable else users),
        "kinds": '{"Call", "Return"}' if world.results else '{"Call"}',
        "rules": _set(f'"{_small(name)}"' for name in RULES if name != world.without),
        "story": f"<<{', '.join(users[:3])}>>" if world.is_story else "<<>>",
    }
    values |= {_small(name): str(getattr(world, name)).upper() for name in NUMBERS}
    return "    [" + ", ".join(f"{name} |-> {value}" for name, value in values.items()) + "]"


def _set(names: Iterable[str]) -> str:
    return "{" + ", ".join(names) + "}"


def _small(name: str) -> str:
    return name[0] + camel(name)[1:]
