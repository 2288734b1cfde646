"""What a message of a pass does on a worker that takes part, or could: the model's handlers are asked, case by case."""

from __future__ import annotations

from typing import Final

from farref.model.autograd import task as tsk
from farref.model.autograd.graphs import GRAPHS
from farref.model.autograd.ids import CREATOR, NO_PASS, PairId, PassId
from farref.model.autograd.messages import Fault, Mark, PropagateGradients
from farref.model.autograd.rules import SOUND
from farref.model.autograd.worker import Context, Worker, stranger
from farref.model.ids import WorkerId
from tests.conformance_tables import table

GRAPH: Final = GRAPHS["chain"]
ROOT, ME, OTHER_ROOT = WorkerId(0), WorkerId(1), WorkerId(2)
PASS: Final = PassId(2)
PAIR: Final = PairId(0)


def situations() -> dict[str, Worker]:
    """List the situations that a worker can be in when a message of a pass arrives."""
    recorded = stranger(3, 1)._replace(context=Context.OPEN, sends=stranger(3, 1).sends.add(PAIR))
    closed = stranger(3, 1)._replace(context=Context.CLOSED)
    return {
        "context closed": closed,
        "creator dead": closed._replace(context=Context.GONE, mourned=closed.mourned.add(CREATOR)),
        "in no pass": recorded,
        "in no pass, and this one is over": recorded._replace(newest=recorded.newest.put(ROOT, PASS)),
        "in this pass": _engaged(recorded, PASS, ROOT),
        "in an older pass of the same root": _engaged(recorded, PassId(1), ROOT),
        "in a pass of another root": _engaged(recorded, PassId(1), OTHER_ROOT),
    }


def _engaged(worker: Worker, number: PassId, root: WorkerId) -> Worker:
    return tsk._engage(worker, number, root)


def task_table() -> str:
    """Say what each message of a pass does in each situation."""
    rows = []
    for kind in ("PropagateGradients", "Mark", "Seek", "Resume", "Commit", "Abort"):
        rows.append((f"`{kind}`", *(_outcome(kind, worker) for worker in situations().values())))
    return table(("message", *situations()), rows)


def _outcome(kind: str, before: Worker) -> str:
    """Let a message take effect, and say what has become of the worker and what the root is told."""
    if kind == "Commit":
        return _left(before, tsk.on_commit(before, PASS, SOUND), "shows its gradients, leaves") + " + `Committed`"
    if kind == "Abort":
        return _left(before, tsk.on_abort(before, PASS, SOUND), "leaves")
    after, _, told = _take(kind, before)
    if told is None:
        return "dropped"
    if told.fault is not Fault.NONE:
        return f"`Report` of {told.fault.name}"
    return f"{_engagement(before, after)} + `Report`"


def _take(kind: str, before: Worker) -> tsk.Step:
    match kind:
        case "PropagateGradients":
            return tsk.on_gradients(before, ME, PropagateGradients(PASS, PAIR), 1, ROOT, GRAPH, SOUND)
        case "Mark":
            return tsk.on_mark(before, ME, Mark(PASS, PAIR), ROOT, GRAPH, SOUND)
        case "Seek":
            return tsk.on_seek(before, ME, PASS, GRAPH, SOUND)
        case _:
            return tsk.on_resume(before, ME, PASS, GRAPH, SOUND)


def _engagement(before: Worker, after: Worker) -> str:
    if before.task.number == after.task.number:
        return "processed"
    return "engages" if before.task.number == NO_PASS else "leaves that one, engages"


def _left(before: Worker, after: Worker, said: str) -> str:
    return "nothing" if before == after else said
