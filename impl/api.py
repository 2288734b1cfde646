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

from farref.impl import remains
from farref.impl.core.core import Core
from farref.impl.core.ids import Incarnation, WorkerId
from farref.impl.core.journal import LoggedCore
from farref.impl.core.observe import WorkerTables, observe
from farref.impl.errors import RpcError
from farref.impl.options import check_backend, chosen_settings, meeting_place, position
from farref.impl.rref import RRef
from farref.impl.settings import Settings, WorkerInfo, check_settings, limit_of
from farref.impl.spelling import also_called
from farref.impl.transport.boards import Book, Endpoint, Folder, Transport, names_in
from farref.impl.transport.handshake import Identity
from farref.impl.transport.joining import Joined, join
from farref.impl.transport.mesh import Meeting, Met, agree_on_secret, meet, share_memory
from farref.impl.transport.places import check_not_met, stay, who_is_there
from farref.impl.transport.rendezvous import ZERO, host, shared_secret
from farref.impl.transport.streams import check_address, check_transport
from farref.impl.transport.visiting import visit
from farref.impl.values.bodies import Arguments
from farref.impl.worker import forking as forking
from farref.impl.worker import leaving
from farref.impl.worker.futures import Future
from farref.impl.worker.interrupts import uninterrupted
from farref.impl.worker.logfile import journal_in
from farref.impl.worker.mending import Mending
from farref.impl.worker.peers import excluded_of, functions_of, peers_of, unsettled_of
from farref.impl.worker.process import be_nobody, become, check_idle, joining, leave_place
from farref.impl.worker.process import current as current
from farref.impl.worker.report import Reporter
from farref.impl.worker.worker import Worker

INIT_TIMEOUT_S: Final = 30.0
SHUTDOWN_TIMEOUT_S: Final = 10.0
MEETING_S_MAX: Final = 2_000_000.0
"""About as long as a socket can be told to wait."""
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
    init_method: str | None = None,
    key: str | None = None,
    directory: str | Path | None = None,
    transport: Transport = "unix",
    settings: Settings | None = None,
    timeout: float = INIT_TIMEOUT_S,
    check: Callable[[], None] = lambda: None,
    make_core: MakeCore = Core,
    log: str | Path | None = None,
) -> WorkerInfo:
    """Join a world: meet its other workers in a directory, which must be nobody else's to enter, or at an address.

    `init_method` says where: `"tcp://host:port"`, where rank 0 listens, `"env://"` or `"file://..."`, as in PyTorch. At an
    address every worker needs the same `key`, or `FARREF_KEY`, or certificates (`Settings.tls`). `options` says what is read of
    `backend` and `rpc_backend_options`, and where a place, a rank and a size come from that are not given.
    `init_rpc(name, rank, world_size, directory=...)` is an older form, and means the same. `timeout` is how long the meeting
    may take, in seconds; 0 means for ever.

    `check` is called while waiting, and may raise to give up. `make_core` may give another core. `log` is
    a file for what this worker does (`spec/log.md`); it is written by a core of its own, in place of any other.
    """
    if isinstance(backend, int):
        rank, world_size, backend = backend, rank if world_size is None else world_size, None
    check_names([name])
    check_backend(backend)
    rank, size = position(rank, world_size)
    chosen = chosen_settings(settings, rpc_backend_options)
    place = meeting_place(directory, init_method, rpc_backend_options)
    check_settings(chosen)
    _check_rank(rank, size)
    board = _board(place, transport, chosen, key)
    if chosen.allow_pickle:
        warnings.warn("allow_pickle=True: any worker of this world can run any code on this one", stacklevel=2)
    with joining:
        check_idle()
        deadline = time.monotonic() + min(limit_of(timeout), MEETING_S_MAX)
        make = make_core if log is None else partial(LoggedCore, journal=journal_in(Path(log)))
        meeting = Meeting(board, size, chosen, deadline)
        worker = _arrived(name, WorkerId(rank), meeting, check, make)
        if isinstance(board, Folder):
            worker.intake.reporter = Reporter(worker, board.path)
        become(worker, stay(board.path, worker.rank) if isinstance(board, Folder) else None)
        worker.reactor.begin()
    return worker.info(worker.rank)


def _board(place: Path | Endpoint, transport: Transport, settings: Settings, key: str | None) -> Folder | Book:
    """Say where workers find each other, and refuse a place that is not safe."""
    if isinstance(place, Path):
        check_transport(transport, settings)
        if place.stat().st_mode & 0o077:
            raise RpcError(f"{place} can be entered by others; it has the key of the world, so its mode must be 0700")
        return Folder(place, transport)
    check_address(settings)
    return Book(place, shared_secret(key, settings.tls))


def _arrived(name: str, rank: WorkerId, meeting: Meeting, check: Callable[[], None], make: MakeCore) -> Worker:
    """Make the worker that has met the others, or has joined them."""
    identity, found = _arrive(name, rank, meeting, check)
    if isinstance(found, Met):
        return _met(found, identity, meeting, make)
    return _joined(found, identity, meeting, make)


def _arrive(name: str, rank: WorkerId, meeting: Meeting, check: Callable[[], None]) -> tuple[Identity, Met | Joined]:
    """Meet the other workers; or join a world that has met, in the place of a worker that was excluded (R44)."""
    board, life = meeting.board, Incarnation(time.time_ns())
    if isinstance(board, Book):
        identity = Identity(rank, life, *board.secret())
        return identity, (host if rank == ZERO else visit)(meeting, board, identity, name, check)
    if who_is_there(board.path, meeting.world_size):
        identity = Identity(rank, life, *agree_on_secret(board.path))
        if (joined := join(meeting, board, identity, name)) is not None:
            return identity, joined
        check_not_met(board.path, meeting.world_size)
    identity = Identity(rank, life, *agree_on_secret(board.path))
    board.enter(rank, name)
    return identity, meet(meeting, board, identity, check)


def _met(met: Met, identity: Identity, meeting: Meeting, make: MakeCore) -> Worker:
    """Make the worker that has met all others."""
    called = names_in(meeting.board, range(meeting.world_size))
    try:
        check_names(called.values())
        arena, windows = share_memory(met.streams, meeting)
    except BaseException:
        for stream in (met.listener, *met.streams.values()):
            stream.close()
        meeting.board.withdraw(identity.rank, identity.incarnation)
        raise
    core = make(identity.rank, called, identity.incarnation)
    core.here.lives.update(met.lives)
    worker = Worker(core, called, met.streams, meeting.settings, arena, windows)
    _begin(worker, meeting, identity, met.listener)
    return worker


def _joined(joined: Joined, identity: Identity, meeting: Meeting, make: MakeCore) -> Worker:
    """Make the worker that has joined a world which had met."""
    told = joined.admission
    core = make(told.rank, told.names, identity.incarnation)
    core.here.lives.update({rank: life for rank, life in told.lives.items() if rank != told.rank})
    excluded = {rank for rank, _ in told.view.excluded}
    peers = [rank for rank in told.names if rank not in excluded and rank != told.rank]
    worker = Worker(core, told.names, dict.fromkeys(peers), meeting.settings)
    _begin(worker, meeting, replace_identity(identity, rank=told.rank), joined.listener)
    with worker.lock:
        worker.perform(core.members.install(told.view))
        worker.perform(core.members.bury(told.buried))
    return worker


def _begin(worker: Worker, meeting: Meeting, identity: Identity, listener: socket.socket) -> None:
    """Let streams be made again, and have somebody decide who is a member."""
    worker.intake.mend_with(Mending(worker, meeting, identity, listener))
    worker.membership.begin(meeting.board)


def _check_rank(rank: int, world_size: int) -> None:
    if not 0 <= rank < world_size:
        raise RpcError(f"a world of {world_size} has the ranks 0 to {world_size - 1}, and not {rank}")


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
        complaints.append(f"{me} left after {timeout} s without an answer from {remains.first(unanswered)}")
    if graceful and not left.is_empty() and worker.core.here.fenced is None:
        complaints.append(f"{me} could not release everything: {remains.told(worker, left)}")
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
    """Look at every table of this worker, at how it stands with each peer, who is excluded, and the functions that run."""
    worker = current()
    with uninterrupted:
        with worker.lock:
            worker.perform([])
            tables = replace(
                observe(worker.core),
                peers=peers_of(worker),
                functions=functions_of(worker),
                excluded=excluded_of(worker, worker.core.dead),
                unsettled=unsettled_of(worker),
            )
        worker.flush()
    return tables
