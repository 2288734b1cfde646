"""Messages of distributed autograd that nobody should send, of every kind, and a worker that has something to lose to them.

The victim has a context with a pass of its own under way, which waits for the peer. Half of the ids that messages name are of
these, the others are anything.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from types import SimpleNamespace
from typing import Final

import numpy as np

from farref.impl.core.autograd.ids import ContextId, ForwardId, PassId
from farref.impl.core.autograd.messages import (
    Abort,
    Cause,
    CleanupContext,
    Closed,
    Commit,
    Committed,
    Counted,
    EngineBody,
    Fault,
    Forget,
    Kind,
    Mark,
    PropagateGradients,
    Report,
    Resume,
    Seek,
    Settled,
    Waits,
)
from farref.impl.core.ids import CallId, Incarnation, WorkerId
from farref.impl.core.messages import Call, ForwardCall, Wrapped
from farref.impl.tape import Tensor, tensor
from farref.impl.tape.passes import root_of
from farref.impl.values.gradients import write_gradients
from farref.impl.values.reports import write_error
from farref.impl.values.tensors import Passage, attach
from farref.impl.worker.futures import Future
from farref.impl.worker.worker import Worker

VICTIM, PEER, NOBODY = WorkerId(0), WorkerId(1), WorkerId(7)
VICTIMS_LIFE, PEERS_LIFE = Incarnation(9), Incarnation(5)
NUMBERS_MAX: Final = 12
SENDS: Final = 3
CONTEXT: Final = ContextId(VICTIM, VICTIMS_LIFE, 1)
SENT: Final = [ForwardId(VICTIM, VICTIMS_LIFE, 2 + number) for number in range(SENDS)]
RECEIVED: Final = ForwardId(PEER, PEERS_LIFE, 1)
PASS: Final = PassId(CONTEXT, VICTIM, VICTIMS_LIFE, 2 + SENDS, smart=True, retain=False)
"""What the victim has (see `engage`)."""


def worker(random: Random) -> WorkerId:
    """Choose a worker; now and then one that is not there."""
    return random.choice([VICTIM, VICTIM, VICTIM, PEER, PEER, PEER, NOBODY])


def _minted(random: Random) -> tuple[WorkerId, Incarnation, int]:
    rank = worker(random)
    return rank, VICTIMS_LIFE if rank == VICTIM else PEERS_LIFE, random.randrange(NUMBERS_MAX)


def context_id(random: Random) -> ContextId:
    """Name some context."""
    return random.choice([CONTEXT, ContextId(*_minted(random))])


def forward_id(random: Random) -> ForwardId:
    """Name some call."""
    return random.choice([random.choice(SENT), RECEIVED, ForwardId(*_minted(random)), ForwardId(*_minted(random))])


def pass_id(random: Random) -> PassId:
    """Name some pass; if it is not the victim's own, it may be one of the peer's in the same context."""
    other = PassId(context_id(random), *_minted(random), random.random() < 0.5, random.random() < 0.5)
    return random.choice([PASS, other])


def _counted(random: Random) -> Counted:
    return Counted(random.choice(list(Kind)), worker(random), random.choice([None, forward_id(random)]))


def _several(random: Random) -> tuple[Counted, ...]:
    return tuple(_counted(random) for _ in range(random.randrange(3)))


def _gradients(random: Random) -> bytes:
    """Write gradients that fit, that do not, and what is none."""
    fitting = write_gradients((np.ones(3),) * random.choice([1, 1, 2]))
    wrong = write_gradients((random.choice([None, np.ones(4), np.ones((3, 1), np.int8)]),))
    return random.choice([fitting, fitting, wrong, random.randbytes(random.randrange(30))])


def _fault(random: Random) -> Fault | None:
    error = random.choice([b"", random.randbytes(9), write_error(ValueError("hostile"), "peer", "f")])
    return random.choice([None, Fault(random.choice(list(Cause)), worker(random), "é" * random.randrange(9), error)])


def _waits(random: Random) -> tuple[Waits, ...] | None:
    waits = tuple(Waits(forward_id(random), "m:f") for _ in range(random.randrange(3)))
    return random.choice([None, waits])


def _counts(random: Random) -> dict[WorkerId, int]:
    return {worker(random): random.randrange(-1, 4) for _ in range(random.randrange(3))}


BODIES: Final[dict[type, Callable[[Random], EngineBody]]] = {
    PropagateGradients: lambda r: PropagateGradients(pass_id(r), forward_id(r), _gradients(r)),
    Mark: lambda r: Mark(pass_id(r), forward_id(r)),
    Seek: lambda r: Seek(pass_id(r)),
    Resume: lambda r: Resume(pass_id(r)),
    Report: lambda r: Report(pass_id(r), _counted(r), _several(r), _waits(r), _fault(r)),
    Commit: lambda r: Commit(pass_id(r)),
    Committed: lambda r: Committed(pass_id(r)),
    Abort: lambda r: Abort(pass_id(r)),
    CleanupContext: lambda r: CleanupContext(context_id(r)),
    Closed: lambda r: Closed(context_id(r), _counts(r), _counts(r), _counts(r)),
    Settled: lambda r: Settled(context_id(r), worker(r), worker(r)),
    Forget: lambda r: Forget(context_id(r), tuple(worker(r) for _ in range(r.choice([0, 0, 0, 1])))),
}
"""How to make each control message of autograd."""


def body(random: Random) -> EngineBody:
    """Make some control message of autograd."""
    return random.choice(list(BODIES.values()))(random)


def forwarded(random: Random, message: Wrapped, tensors: int) -> ForwardCall:
    """Let a message carry a context, mostly with as many tensors as it has."""
    claimed = random.choice([tensors, tensors, tensors, 0, 1, -1, 2**40])
    return ForwardCall(context_id(random), forward_id(random), claimed, message)


def some_tensor(random: Random) -> Tensor:
    """Make a tensor that travels, with a gradient to come or without."""
    shape = random.choice([(3,), (), (0,), (2, 2)])
    return tensor(np.ones(shape), requires_grad=random.random() < 0.7)


def engage(victim: Worker) -> None:
    """Give a new worker a context with calls out and one in, and let it begin a pass that waits for the peer."""
    engine, leaf = victim.core.engine, tensor(np.ones(3), requires_grad=True)
    assert engine.open_context() == CONTEXT
    call, passage = Call(CallId(1), "m:f", (), b""), Passage(CONTEXT, "m:f", True, [leaf * 2.0])
    assert [engine.wrap(PEER, call, passage).forward for _ in SENT] == SENT
    received = tensor(np.ones(3), requires_grad=True)
    content = SimpleNamespace(node=attach([received]))
    assert engine.arrive(PEER, ForwardCall(CONTEXT, RECEIVED, 1, call), content) is None
    root = root_of([(received * leaf).sum()])
    begun, effects = engine.begin(CONTEXT, root, (np.ones(()),), PASS.smart, PASS.retain)
    assert begun == PASS
    victim.passes.waiting[PASS] = Future(victim.reactor, "backward")
    victim.perform(effects)
