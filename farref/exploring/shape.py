"""The one JSON shape that the page reads, whether a server answers or everything is in the file (`farref explore`).

A document tells of a world and where a walk begins. A node is one state under some rules: its tables, what is under way, what
is broken, and every action that can happen with the node it leads to. A move is the label of an action, or the name of a rule
behind `SWITCH`: from there on that rule is off if it was on, and on if it was off.
"""

from __future__ import annotations

from typing import Final

import msgspec

FORMAT: Final = "farref-explorer/1"
SWITCH: Final = "~"

Move = str
NodeId = str


class Row(msgspec.Struct, frozen=True):
    """A line of a table. Its key says which line of another state it is to be compared with."""

    key: str
    cells: tuple[str, ...]


class Table(msgspec.Struct, frozen=True):
    """A table of a worker, or of the world as a whole."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]


class Worker(msgspec.Struct, frozen=True):
    """Everything that one worker knows."""

    name: str
    tables: tuple[Table, ...]


class Message(msgspec.Struct, frozen=True):
    """A message, and where it comes from and goes to."""

    label: str
    source: str
    target: str


class Turn(msgspec.Struct, frozen=True):
    """An action that can happen: its sentence, and the node it leads to."""

    label: Move
    worker: str
    text: str
    to: NodeId
    message: Message | None = None
    fate: str | None = None


class Edge(msgspec.Struct, frozen=True):
    """A pair of a gradient program: tensors went from source to target, and the gradient comes back."""

    pair: int
    source: str
    target: str
    state: str  # not recorded, recorded, under way, arrived


class Leaf(msgspec.Struct, frozen=True):
    """The parameter of a worker: the gradient that a pass keeps aside, and the one that can be seen."""

    worker: str
    staged: str
    gradient: str


class Node(msgspec.Struct, frozen=True, omit_defaults=True):
    """One state, under some rules."""

    id: NodeId
    off: tuple[str, ...]  # the rules that are not followed
    workers: tuple[Worker, ...]
    whole: tuple[Table, ...]  # what belongs to no worker
    flying: tuple[Message, ...]
    broken: dict[str, tuple[str, ...]]  # by property: the cases that do not hold here
    reached: tuple[str, ...]  # the situations that are met here
    turns: tuple[Turn, ...]
    switches: dict[str, NodeId]  # by rule: the node that switching it leads to
    edges: tuple[Edge, ...] = ()
    leaves: tuple[Leaf, ...] = ()


class Lane(msgspec.Struct, frozen=True):
    """A worker, and what is written below its name."""

    name: str
    note: str


class Rule(msgspec.Struct, frozen=True):
    """A rule that can be switched."""

    name: str
    clause: str
    text: str


class Sentence(msgspec.Struct, frozen=True):
    """What must hold always, or in the end, or what some run must reach; and for each case its own sentence."""

    id: str
    clause: str
    kind: str  # always, eventually, sometimes
    text: str
    cases: dict[str, str]


class Document(msgspec.Struct, frozen=True, omit_defaults=True):
    """A world, where the walk begins, and the run that it is opened with."""

    format: str
    subject: str
    world: str  # the key of the world: a link fits any page with the same key
    title: str
    notes: tuple[str, ...]
    lanes: tuple[Lane, ...]
    rules: tuple[Rule, ...]
    sentences: tuple[Sentence, ...]
    first: NodeId
    run: tuple[Move, ...]
    nodes: dict[NodeId, Node]
    is_part: bool = False  # the page has some of the nodes, and nobody to ask for others
    loop_start: int | None = None


class Walked(msgspec.Struct, frozen=True):
    """The nodes of a walk after the first, as far as its moves can be taken, and why it goes no further."""

    nodes: tuple[Node, ...]
    stopped: str = ""


class Found(msgspec.Struct, frozen=True):
    """The shortest way to what was looked for, or why there is none."""

    moves: tuple[Move, ...] | None
    said: str
