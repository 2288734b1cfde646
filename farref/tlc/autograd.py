"""What TLC is told of distributed autograd, and which of its states is which world of the model.

Autograd.tla keeps sets where the model keeps tables, and its state is one record. It is given the graphs as a module of its
own: AutogradGraphs.tla has those with a name; for others it is written anew, with the ones in question.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from enum import Enum
from typing import Any, Final

from farref.model.autograd.graphs import GRAPHS, Entry, Exit, Flow, Graph, Leaf, Root, Send
from farref.model.autograd.ledger import Line
from farref.model.autograd.messages import (
    AboutContext,
    AboutPair,
    AboutWorker,
    Calls,
    Fault,
    ForwardCall,
    Message,
    PropagateGradients,
    Report,
    Settled,
    Told,
)
from farref.model.autograd.network import Network
from farref.model.autograd.release import Release
from farref.model.autograd.root import Pass
from farref.model.autograd.rules import AutogradRules
from farref.model.autograd.spelling import is_spelled
from farref.model.autograd.worker import Task, Worker
from farref.model.autograd.world import EVERY, Bounds, World
from farref.model.values import IdSet
from farref.tlc.claims import claimed, specification
from farref.tlc.rref import camel

FAULTS: Final = ("drops", "duplicates", "timeouts", "failures", "detached", "crashes", "cuts")
CONSTANTS: Final = (*FAULTS, "exclusions", "smart", "forward", "release")

HEADER: Final = """\
\\* Written by farref/tlc/autograd.py.
SPECIFICATION {specification}
CONSTANTS
    Graphs <- {graphs}"""

GRAPHS_MODULE: Final = """\
--------------------------- MODULE AutogradGraphs ---------------------------
\\* The graphs that have a name.  Written by farref/tlc/autograd.py.
EXTENDS Integers, TLC

{definitions}
=============================================================================
"""


def render_config(bounds: Bounds, rules: AutogradRules, claims: Sequence[str], *, symmetry: bool = False) -> str:
    """Write the .cfg that says what holds in this world, by these rules. There is no symmetry: every worker has its place."""
    del symmetry
    sizes = (len(bounds.worker_ids), len(bounds.pair_ids), len(bounds.pass_ids))
    constants: dict[str, Any] = dict(zip(("WorkerCount", "PairCount", "PassCount"), sizes, strict=True))
    constants |= {camel(name): getattr(bounds, name) for name in CONSTANTS}
    constants |= {camel(name): value for name, value in vars(rules).items()}
    lines = [HEADER.format(specification=specification(claims), graphs=_definition(bounds.graph))]
    lines += [f"    {name} = {str(value).upper()}" for name, value in constants.items()]
    return "\n".join([*lines, *map(claimed, claims)]) + "\n"


def graphs_module(bounds: Bounds | None = None) -> str:
    """Write the module of graphs: those with a name, or those of some bounds."""
    if bounds is not None and (bounds.graph == EVERY or is_spelled(bounds.graph)):
        return _graphs_module({bounds.graph: bounds.catalogue})
    return _graphs_module({name: (graph,) for name, graph in GRAPHS.items()})


def _graphs_module(catalogues: Mapping[str, Sequence[Graph]]) -> str:
    return GRAPHS_MODULE.format(definitions="\n\n".join(_catalogue(*one) for one in catalogues.items()))


def _catalogue(name: str, graphs: Sequence[Graph]) -> str:
    return f"{_definition(name)} == <<\n" + ",\n".join(map(_graph, graphs)) + "\n>>"


def _graph(graph: Graph) -> str:
    ends = [f"{pair} :> [source |-> {one.source}, target |-> {one.target}]" for pair, one in enumerate(graph.pairs)]
    pairs = f"({' @@ '.join(ends)})" if ends else "<<>>"
    flows = ",\n        ".join(map(_flow, graph.flows))
    roots = ", ".join(map(str, sorted(graph.roots)))
    return f"    [pairs |-> {pairs},\n     flows |-> {{\n        {flows}}},\n     roots |-> {{{roots}}}]"


def _flow(flow: Flow) -> str:
    entry, exit_ = (f'<<"{kind}", {number}>>' for kind, number in (_end(flow.entry), _end(flow.exit)))
    return f"[entry |-> {entry}, exit |-> {exit_}, weight |-> {flow.weight}]"


def _end(end: Entry | Exit) -> tuple[str, int]:
    match end:
        case Root(worker):
            return "root", worker
        case Leaf(worker):
            return "leaf", worker
        case Send(pair):
            return "send", pair
        case _:
            return "recv", end.pair


def _definition(name: str) -> str:
    return "SpelledGraphs" if is_spelled(name) else f"{camel(name.replace('-', '_'))}Graphs"


# -- states ------------------------------------------------------------------------------------------------------------

CALLS: Final = ("sends", "recvs", "sent", "got", "failed")
NONE: Final = -1
NOTHING: Final = {"value": 0, "caused": (), "expected": (), "fault": "none", "blamed": NONE}
NOTHING_OF_CALLS: Final = {"sent": (), "settled": (), "dead": ()}


def twin_of(world: World, bounds: Bounds) -> Hashable:
    """Give the state of Autograd.tla that is this world. No two worlds share one."""
    return _record(
        graph=0 if world.graph is None else world.graph + 1,
        workers=_function(enumerate(map(_worker, world.workers))),
        passes=tuple(_pass(one, number, bounds) for number, one in enumerate(world.passes, start=1)),
        detached=_members(world.detached),
        release=_release(world.release),
        net=_network(world.network, bounds),
        budget=_record(**{name: getattr(world.budgets, name) for name in FAULTS}),
        dead=_members(world.dead),
        excluded=_function(enumerate(world.excluded or (0,) * len(world.workers))),
        apart=frozenset(frozenset(divmod(link, len(world.workers))) for link in world.apart.members()),
        released=world.released,
    )


def _worker(worker: Worker) -> Hashable:
    sets = {name: _members(getattr(worker, name)) for name in (*CALLS, "mourned", "unheard")}
    return _record(
        context=_name(worker.context),
        gradient=_value(worker.gradient),
        task=_task(worker.task),
        newest=_function(enumerate(worker.newest)),
        resurrected=worker.resurrected,
        **sets,
    )


def _task(task: Task) -> Hashable:
    return _record(
        number=task.number,
        seed=task.seed,
        expected=_members(task.expected),
        arrivals=_function(enumerate(task.arrivals)),
        totals=_function(enumerate(task.totals)),
        marked=_members(task.marked),
        staged=_value(task.staged),
    )


def _pass(record: Pass, number: int, bounds: Bounds) -> Hashable:
    pairs, workers = range(len(bounds.pair_ids)), range(len(bounds.worker_ids))
    counted: list[Hashable] = [(kind, number, pair) for kind in ("PropagateGradients", "Mark") for pair in pairs]
    counted += [(kind, number, worker) for kind in ("Seek", "Resume") for worker in workers]
    lines = list(zip(counted, record.ledger, strict=True))
    return _record(
        root=_value(record.root),
        phase=_name(record.phase),
        fault=_name(record.fault),
        blamed=_value(record.blamed),
        caused=frozenset(one for one, line in lines if line in (Line.CAUSED, Line.BALANCED)),
        processed=frozenset(one for one, line in lines if line in (Line.PROCESSED, Line.BALANCED)),
        expected=_members(record.expected),
        engaged=_members(record.engaged),
        committed=_members(record.committed),
    )


def _release(release: Release) -> Hashable:
    return _record(**{name: _members(part) for name, part in release._asdict().items()})


def _network(network: Network, bounds: Bounds) -> Hashable:
    messages = list(bounds.places)
    carried = frozenset(
        _record(message=_message(message), content=_content(message, content))
        for message, content in zip(messages, network.carried, strict=True)
        if content is not None
    )
    lost = frozenset(_message(messages[place]) for place in network.lost.members())
    processed = frozenset(_message(messages[place]) for place in network.processed.members())
    return _record(carried=carried, lost=lost, processed=processed)


def _message(message: Message) -> Hashable:
    kind = type(message).__name__
    match message:
        case Report(of):
            return kind, _message(of)
        case AboutPair(number, pair):
            return kind, number, pair
        case AboutWorker(number, worker):
            return kind, number, worker
        case AboutContext(worker):
            return kind, worker
        case Settled(pair, failed):
            return kind, pair, failed
        case _:
            return kind, message.pair


def _content(message: Message, content: object) -> Hashable:
    told: dict[str, Any]
    match content:
        case Told(caused, expected, fault, blamed):
            told = {"caused": frozenset(map(_message, caused)), "expected": expected, "fault": _name(fault)}
            told["blamed"] = _value(blamed)
        case Calls(sent, settled):
            told = {"sent": sent, "settled": settled}
        case frozenset():
            told = {"dead": content}
        case int() if isinstance(message, PropagateGradients | ForwardCall):
            told = {"value": int(content)}  # whether a call is recorded is 1 or 0 there
        case _:
            told = {}
    return _record(
        **{
            name: frozenset(one) if isinstance(one, tuple) else one
            for name, one in {**NOTHING, **NOTHING_OF_CALLS, **told}.items()
        }
    )


def _members(ids: IdSet) -> Hashable:
    return frozenset(ids.members())


def _value(value: int | None) -> int:
    return NONE if value is None else value


def _name(member: Enum) -> str:
    return "timedOut" if member is Fault.TIMED_OUT else member.name.lower()


def _record(**fields: Hashable) -> Hashable:
    return frozenset(fields.items())


def _function(pairs: Iterator[tuple[int, Hashable]] | enumerate[Any]) -> Hashable:
    return frozenset(pairs) or ()


# -- what TLC prints ---------------------------------------------------------------------------------------------------

TOKEN: Final = re.compile(r'<<|>>|\|->|:>|@@|[{}\[\](),]|"[^"]*"|-?\d+|\w+')
WORDS: Final = {"TRUE": True, "FALSE": False}


def read_state(text: str) -> Hashable:
    """Read a state as TLC prints it: records and functions become sets of pairs, sequences tuples."""
    tokens = TOKEN.findall(text.split("world = ", 1)[1])
    return _read(tokens[::-1])


def _read(tokens: list[str]) -> Hashable:
    """Read one value off the end of the tokens, which are in reverse."""
    token = tokens.pop()
    match token:
        case "<<":
            return tuple(_read_until(tokens, ">>"))
        case "{":
            return frozenset(_read_until(tokens, "}"))
        case "[" | "(":
            return frozenset(_read_pairs(tokens, "]" if token == "[" else ")"))
        case _:
            return token[1:-1] if token[0] == '"' else WORDS.get(token, token) if token[0].isalpha() else int(token)


def _read_until(tokens: list[str], end: str) -> Iterator[Hashable]:
    while tokens[-1] != end:
        yield _read(tokens)
        if tokens[-1] == ",":
            tokens.pop()
    tokens.pop()


def _read_pairs(tokens: list[str], end: str) -> Iterator[tuple[Hashable, Hashable]]:
    while tokens[-1] != end:
        key = _read(tokens)
        tokens.pop()
        yield key, _read(tokens)
        if tokens[-1] in (",", "@@"):
            tokens.pop()
    tokens.pop()
