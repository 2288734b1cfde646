"""What the engine wants done, as values. The shell around it performs each in order."""

from __future__ import annotations

from typing import final

from msgspec import Struct

from farref.impl.core.autograd.ids import PassId
from farref.impl.core.autograd.ledger import Unreached
from farref.impl.core.autograd.messages import Begin, CountedBody, Fault
from farref.impl.core.autograd.task import Task
from farref.impl.core.ids import WorkerId


@final
class Work(Struct, frozen=True):
    """Let a task process a message (`Task.process`), and report with `Core.worked` or `Core.raised`.

    One after the other for each task, in the order given. It runs user code.
    """

    task: Task
    body: CountedBody | Begin


@final
class PassEnded(Struct, frozen=True):
    """A pass of ours has ended: well, or with a fault and what there is to say about it (A17, A18)."""

    pass_id: PassId
    fault: Fault | None = None
    unreached: tuple[Unreached, ...] = ()
    late: tuple[WorkerId, ...] = ()


@final
class TakeForDead(Struct, frozen=True):
    """Somebody has declared this worker dead (A21). Where views decide there is nothing to do: the view will come (A29)."""

    worker: WorkerId


EngineEffect = Work | PassEnded | TakeForDead
