"""What the processes of a world do that a driver started: each joins, and is a worker until the driver leaves."""

from __future__ import annotations

import os
import signal
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from farref.impl import api
from farref.impl.core.ids import WorkerId
from farref.impl.errors import RpcError
from farref.impl.prompt import run_source
from farref.impl.settings import Settings
from farref.impl.starting import Driver, remove_server
from farref.impl.transport.streams import Transport
from farref.impl.worker.process import current
from farref.impl.worker.report import remove_world


@dataclass(frozen=True, slots=True)
class Plan:
    """What every process of a world has to know. The key is in the directory, which only this user can enter."""

    directory: str
    names: tuple[str, ...]
    transport: Transport
    settings: Settings
    driver: int
    init_timeout: float
    shutdown_timeout: float
    log: str | None
    source: str


def join(plan: Plan, rank: int, check: Any) -> None:
    """Join the world of a plan under the name that a rank has in it."""
    api.init_rpc(
        plan.names[rank],
        rank,
        len(plan.names),
        directory=plan.directory,
        transport=plan.transport,
        settings=plan.settings,
        timeout=plan.init_timeout,
        check=check,
        log=None if plan.log is None else Path(plan.log, f"{plan.names[rank]}.jsonl"),
    )


def work(plan: Plan, rank: int) -> None:
    """Be a worker until the driver leaves."""
    for polite in (signal.SIGINT, signal.SIGTERM):
        # Sent to all of a group: the driver decides, and its end is noticed. Programs that a worker starts would inherit
        # SIG_IGN, and do not inherit a handler.
        signal.signal(polite, lambda *_: None)
    driven_by = Driver(plan.driver)
    threading.Thread(target=_watch, args=(plan, driven_by), daemon=True).start()
    run_source(plan.source)
    try:
        join(plan, rank, lambda: None)
    except (RpcError, OSError) as error:
        _end_without(plan, driven_by)  # the driver is gone, and has taken the directory along: nothing to complain of
        sys.exit(f"worker {plan.names[rank]} cannot join its world: {error}")
    worker = current()
    driver = WorkerId(0)
    news = worker.membership.news
    while not worker.reached.get(driver) and driver not in worker.core.dead:
        news.wait()
        news.clear()
    _, complaints = api.leave(driver not in worker.core.dead, plan.shutdown_timeout)
    with suppress(OSError):  # the directory is gone, or the disk is full
        if complaints:
            Path(plan.directory, f"{rank}.left").write_text("\n".join(complaints))
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):  # closed, or nobody reads it any more
            stream.flush()
    _end_without(plan, driven_by)
    os._exit(0)


def _watch(plan: Plan, driven_by: Driver) -> None:
    """End this process, and what the world left on disk, as soon as its driver is gone."""
    driven_by.is_gone(None)
    _end_without(plan, driven_by)


def _end_without(plan: Plan, driven_by: Driver) -> None:
    """End this process if its driver is gone, and with it what the world left on disk."""
    if driven_by.is_gone():
        remove_world(plan.directory)
        remove_server()
        os._exit(1)
