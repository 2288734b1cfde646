"""The picture of R33: a tree of forks in the middle of a run of the model, with the forks that its owner counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from farref.model.ids import worker_name
from farref.model.rref.addressing import holder
from farref.model.rref.ids import ForkId
from farref.model.rref.messages import Call
from farref.model.rref.network import is_under_way
from farref.model.rref.user import Handle, User
from farref.model.rref.world import Bounds, World
from farref.rendering import svg
from tests.model.rref.play import Play

BOUNDS: Final = Bounds(workers=4, forks=6)
RUN: Final = (
    "CreateRemote(x0, A)",
    "Deliver(RemoteCall(f0))",
    "Deliver(UserAccept(f0))",
    "UserShare(f0, C, Call)",
    "UserShare(f0, D, Call)",
    *(f"Deliver({message}(f{fork}))" for fork in (1, 2) for message in ("Call", "ForkRequest")),
    *(f"Deliver(Ack(ForkRequest(f{fork})))" for fork in (1, 2)),
    *(f"Deliver(ChildAccept(f{fork}))" for fork in (1, 2)),
    "LetGo(f0)",
    "Deliver(UserDelete(f0))",
    "UserShare(f1, D, Call)",
    "Deliver(Call(f3))",
    "LetGo(f1)",
    "UserShare(f2, A, Call)",
    "UserShare(f2, C, Call)",
    *(f"Deliver({message})" for message in ("Call(f5)", "ForkRequest(f5)", "Ack(ForkRequest(f5))")),
)
"""A created x and shared it with C and D, and is gone. C shared on and let go; D shared with A and with C."""

PLACES: Final = {0: (330, 130), 1: (190, 240), 2: (470, 240), 3: (190, 350), 4: (390, 350), 5: (560, 350)}
"""Where each fork stands."""


@dataclass(frozen=True)
class Fork:
    """What the picture says of a fork."""

    name: str
    state: str
    is_counted: bool
    is_there: bool
    parent: ForkId | None
    is_pinned: bool


def forks() -> dict[int, Fork]:
    """Take the run, and say of each fork where it stands."""
    world = Play(BOUNDS)(*RUN).world
    return {fork: _fork(world, ForkId(fork)) for fork in PLACES}


def _fork(world: World, fork: ForkId) -> Fork:
    user, on_its_way = world.users[fork], is_under_way(world.network, Call, fork)
    held = ", let go" if user.handle is Handle.NONE else ""
    states = {User.PENDING: f"pending{held}", User.CONFIRMED: f"confirmed{held}"}
    state = "on its way" if on_its_way else states.get(user.phase, "deleted")
    counted, parent = fork in world.owners[0].forks, world.lineage[fork].parent
    pinned = parent is not None and fork in world.users[parent].children
    name = f"f{fork}, {worker_name(holder(world, fork))}"
    return Fork(name, state, counted, on_its_way or user.phase is not User.ABSENT, parent, pinned)


def picture() -> str:
    """Draw the tree: counted forks filled, what lives and is not counted tied to a parent that cannot go."""
    found = forks()
    counted = ", ".join(f"f{fork}" for fork, one in found.items() if one.is_counted)
    body = [
        svg.rectangle(180, 16, 300, 44, fill=svg.OWNER, stroke=svg.LINE, radius=6),
        svg.text(330, 43, f"owner B counts {counted}", size=14, anchor="middle", bold=True),
        svg.line([(330, 60), (330, 108)], colour=svg.LINE, dashed=True),
    ]
    body += [piece for fork, one in found.items() for piece in _edge(fork, one)]
    body += [piece for fork, one in found.items() for piece in _node(fork, one)]
    title = "A tree of forks, and the forks that the owner counts"
    told = ". ".join(f"{one.name}: {one.state}{', counted' if one.is_counted else ''}" for one in found.values())
    return svg.document(680, 480, title, told, [*body, *_legend()], style=svg.DARK_STYLE)


def _edge(fork: int, one: Fork) -> list[str]:
    if one.parent is None:
        return []
    (x, y), (up_x, up_y) = PLACES[fork], PLACES[one.parent]
    colour, width = (svg.RED, 3.0) if one.is_pinned else (svg.LINE, 1.5)
    return [svg.line([(up_x, up_y + 21), (x, y - 21)], colour=colour, width=width)]


def _node(fork: int, one: Fork) -> list[str]:
    x, y = PLACES[fork]
    fill = svg.OWNER if one.is_counted else svg.PAPER
    stroke, ink = (svg.BLUE, svg.INK) if one.is_there else (svg.LINE, svg.GREY)
    return [
        svg.rectangle(x - 62, y - 21, 124, 42, fill=fill, stroke=stroke, radius=9),
        svg.text(x, y - 3, one.name, size=12.5, anchor="middle", bold=True, colour=ink),
        svg.text(x, y + 13, one.state, size=11, anchor="middle", colour=ink),
    ]


def _legend() -> list[str]:
    lines = (
        "Filled: counted. Red: the parent lists this child, and cannot go before its accept (R24).",
        "Whoever lives or travels is counted, or hangs by red lines on a fork that is.",
    )
    return [svg.text(24, 430 + 20 * place, one, size=12.5) for place, one in enumerate(lines)]
