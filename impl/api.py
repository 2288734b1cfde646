"""The functions an application calls, with PyTorch's names. Each acts for the one worker that this process is."""

from __future__ import annotations

import re
import socket
import time
import warnings
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace as replace_identity
from functools import partial
from pathlib import Path
from typing import Any, Final

from msgspec.structs import replace

from farref.impl.core.core import Core
from farref.impl.core.ids import Incarnation, WorkerId
from farref.impl.core.journal import LoggedCore
from farref.impl.core.observe import WorkerTables, observe
from farref.impl.errors import RpcError
from farref.impl.options import check_backend, chosen_settings, meeting_place, position
from farref.impl.rref import RRef
from farref.impl.settings import Settings, WorkerInfo, check_settings, limit_of
from farref.impl.spelling import also_called
from farref.impl.transport.handshake import Identity
from farref.impl.transport.joining import ask, listen_anew
from farref.impl.transport.mesh import Meeting, agree_on_secret, leave_name, meet, names, place_of, share_memory
from farref.impl.transport.places import check_not_met, stay, who_is_there
from farref.impl.transport.streams import Transport, check_transport
from farref.impl.values.bodies import Arguments
from farref.impl.worker import forking as forking
from farref.impl.worker import leaving
from farref.impl.worker.futures import Future
from farref.impl.worker.interrupts import uninterrupted
from farref.impl.worker.logfile import journal_in
from farref.impl.worker.mending import Mending
from farref.impl.worker.peers import functions_of, peers_of
from farref.impl.worker.process import be_nobody, become, check_idle, joining, leave_place
from farref.impl.worker.process import current as current
from farref.impl.worker.report import Reporter
from farref.impl.worker.worker import Worker

INIT_TIMEOUT_S: Final = 30.0
SHUTDOWN_TIMEOUT_S: Final = 10.0
MEETING_S_MAX: Final = 2_000_000.0
"""About as long as a socket can be told to wait."""
TOLD_MAX: Final = 5
NAME: Final = re.compile(r"[A-Za-z0-9_:-]{1,127}")

MakeCore = Callable[[WorkerId, Collection[WorkerId], Incarnation], Core]


def check_names(given: Collection[str]) -> None:
    """Refuse names that do not tell workers apart, or that PyTorch would refuse too."""
    for name in given:
        if not isinstance(name, str) or not NAME.fullmatch(name):
            raise RpcError(f"{name!r} is no name: 1 to 127 letters, digits, '-', '_' or ':' are")
    if len(set(given)) != len(given):
        raise RpcError(f"names must be unique, and are {', '.join(given)}")


def init_rpc(
    name: str,
    backend: object = None,
    rank: int = -1,
    world_size: int | None = None,
    rpc_backend_options: object = None,
    *,
    directory: str | Path | None = None,
    transport: Transport = "unix",
    settings: Settings | None = None,
    timeout: float = INIT_TIMEOUT_S,
    check: Callable[[], None] = lambda: None,
    make_core: MakeCore = Core,
    log: str | Path | None = None,
) -> WorkerInfo:
    """Join a world: meet its other workers in a directory, which must be nobody else's to enter.

    `options` says what is read of `backend` and `rpc_backend_options`, and where a directory, a rank and a size come from that
    are not given. `init_rpc(name, rank, world_size, directory=...)` is an older form, and means the same. `timeout` is how
    long the meeting may take, in seconds; 0 means for ever.

    `check` is called while waiting, and may raise to give up. `make_core` may give another core. `log` is
    a file for what this worker does (`spec/log.md`); it is written by a core of its own, in place of any other.
    """
    if isinstance(backend, int):
        rank, world_size, backend = backend, rank if world_size is None else world_size, None
    check_names([name])
    check_backend(backend)
    rank, size = position(rank, world_size)
    chosen = chosen_settings(settings, rpc_backend_options)
    place = meeting_place(directory, rpc_backend_options)
    check_settings(chosen)
    check_transport(transport, chosen)
    _check_place(place, rank, size)
    if chosen.allow_pickle:
        warnings.warn("allow_pickle=True: any worker of this world can run any code on this one", stacklevel=2)
    with joining:
        check_idle()
        deadline = time.monotonic() + min(limit_of(timeout), MEETING_S_MAX)
        make = make_core if log is None else partial(LoggedCore, journal=journal_in(Path(log)))
        meeting = Meeting(place, size, transport, chosen, deadline)
        worker = _joined(name, WorkerId(rank), meeting, make)
        if worker is None:
            check_not_met(place, size)
            worker = _met(name, WorkerId(rank), meeting, check, make)
        worker.intake.reporter = Reporter(worker, place)
        become(worker, stay(place, worker.rank))
        worker.reactor.begin()
    return worker.info(worker.rank)


def _met(name: str, me: WorkerId, meeting: Meeting, check: Callable[[], None], make: MakeCore) -> Worker:
    """Meet the other workers, and make the worker that is connected to them."""
    place = meeting.directory
    world, key = agree_on_secret(place)
    leave_name(place, me, name)
    incarnation = Incarnation(time.time_ns())
    identity = Identity(me, incarnation, world, key)
    streams, lives, listener = meet(meeting, identity, check)
    called = names(place, meeting.world_size)
    try:
        check_names(called.values())
        arena, windows = share_memory(streams, meeting)
    except BaseException:
        for stream in (listener, *streams.values()):
            stream.close()
        place_of(place, me, incarnation).unlink(missing_ok=True)
        raise
    core = make(me, called, incarnation)
    core.here.lives.update(lives)
    worker = Worker(core, called, streams, meeting.settings, arena, windows)
    _begin(worker, meeting, identity, listener)
    return worker


def _joined(name: str, place: WorkerId, meeting: Meeting, make: MakeCore) -> Worker | None:
    """Join a world that has met, in the place of a worker that was excluded, if it takes this one in (R44)."""
    if not who_is_there(meeting.directory, meeting.world_size):
        return None
    world, key = agree_on_secret(meeting.directory)
    identity = Identity(place, Incarnation(time.time_ns()), world, key)
    told = ask(meeting, identity, name)
    if isinstance(told, str):
        return None
    identity = replace_identity(identity, rank=told.rank)
    listener = listen_anew(meeting, identity)
    core = make(told.rank, told.names, identity.incarnation)
    core.here.lives.update({rank: life for rank, life in told.lives.items() if rank != told.rank})
    excluded = {rank for rank, _ in told.view.excluded}
    peers = [rank for rank in told.names if rank not in excluded and rank != told.rank]
    worker = Worker(core, told.names, dict.fromkeys(peers), meeting.settings)
    _begin(worker, meeting, identity, listener)
    with worker.lock:
        worker.perform(core.members.install(told.view))
        worker.perform(core.members.bury(told.buried))
    return worker


def _begin(worker: Worker, meeting: Meeting, identity: Identity, listener: socket.socket) -> None:
    """Let streams be made again, and have somebody decide who is a member."""
    worker.intake.mend_with(Mending(worker, meeting, identity, listener))
    worker.membership.begin(meeting.directory)


def _check_place(directory: Path, rank: int, world_size: int) -> None:
    if not 0 <= rank < world_size:
        raise RpcError(f"a world of {world_size} has the ranks 0 to {world_size - 1}, and not {rank}")
    if directory.stat().st_mode & 0o077:
        raise RpcError(f"{directory} can be entered by others; it has the key of the world, so its mode must be 0700")


def shutdown(graceful: bool = True, timeout: float = SHUTDOWN_TIMEOUT_S) -> WorkerTables:
    """Leave the world (R32). What could not be released is returned, and warned of if leaving was graceful.

    So is what still had no answer when the time was up. Whoever waits for one of these gets `NotRunning`. `timeout` is in
    seconds; 0 means for ever.
    """
    left, complaints = leave(graceful, timeout)
    for complaint in complaints:
        warnings.warn(complaint, stacklevel=2)
    return left


def leave(graceful: bool, timeout: float) -> tuple[WorkerTables, list[str]]:
    """Leave the world, and say what is left and what there is to complain of, if leaving was graceful."""
    worker, limit = current(), limit_of(timeout)
    leaving.claim(worker)
    leave_place()
    try:
        left, unanswered = leaving.shut_down(worker, graceful, limit)
    finally:
        be_nobody()
    if isinstance(worker.core, LoggedCore):
        worker.core.end()
    me, complaints = worker.names[worker.rank], []
    if graceful and unanswered:
        told = ", ".join(unanswered[:TOLD_MAX]) + (" and others" if len(unanswered) > TOLD_MAX else "")
        complaints.append(f"{me} left after {timeout} s without an answer from {told}")
    if graceful and not left.is_empty() and worker.core.here.fenced is None:
        complaints.append(f"{me} could not release everything: {left}")
    return left, complaints


def rpc_sync(
    to: object,
    func: Callable[..., Any] | str,
    args: Arguments = None,
    kwargs: Mapping[str, Any] | None = None,
    timeout: float | None = None,
) -> Any:
    """Call a function on another worker and wait for its result.

    `timeout` is in seconds; none or -1 means that of all calls (`rpc_timeout`), 0 means for ever.
    """
    return current().call(to, func, args, {} if kwargs is None else kwargs, timeout).wait()


def rpc_async(
    to: object,
    func: Callable[..., Any] | str,
    args: Arguments = None,
    kwargs: Mapping[str, Any] | None = None,
    timeout: float | None = None,
) -> Future:
    """Call a function on another worker; its result is a future.

    `timeout` is in seconds; none or -1 means that of all calls (`rpc_timeout`), 0 means for ever.
    """
    return current().call(to, func, args, {} if kwargs is None else kwargs, timeout)


def remote(
    to: object,
    func: Callable[..., Any] | str,
    args: Arguments = None,
    kwargs: Mapping[str, Any] | None = None,
    timeout: float | None = None,
) -> RRef:
    """Call a function on another worker and leave its result there; get a reference to it at once.

    `timeout` is in seconds; none or -1 means that of all calls (`rpc_timeout`), 0 means for ever.
    """
    return current().remote(to, func, args, {} if kwargs is None else kwargs, timeout)


@also_called(name="worker_name")
def get_worker_info(worker_name: object = None) -> WorkerInfo:
    """Describe this worker, or the one named."""
    worker = current()
    return worker.info(worker.rank if worker_name is None else worker.find(worker_name))


def get_debug_info() -> WorkerTables:
    """Look at every table of this worker, at how it stands with each peer, and at the functions that run."""
    worker = current()
    with uninterrupted:
        with worker.lock:
            worker.perform([])
            tables = replace(observe(worker.core), peers=peers_of(worker), functions=functions_of(worker))
        worker.flush()
    return tables
