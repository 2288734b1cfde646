"""Real worker processes with real streams between them, started once and asked to take one step at a time.

Each process has a pipe to the driver. A question is a step of its desk (`desk.py`); the answer is what the step gave, or the
error it ended with, and everything that happened in that worker since it was last asked. A process ends when its pipe does,
so it never outlives its driver.
"""

from __future__ import annotations

import os
import pickle
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Concatenate, Final, Generic, ParamSpec, TypeVar

import multiprocess  # type: ignore[import-untyped]

from farref.impl import api
from farref.impl.api import MakeCore
from farref.impl.core.effects import Effect
from farref.impl.core.ids import WorkerId
from farref.impl.errors import RpcError
from farref.impl.worker.worker import Worker
from farref.properties.processes import ignore_ctrl_c, undisturbed
from farref.properties.twin.backends.held_core import PATIENCE_S, HeldCore
from farref.properties.twin.backends.patience import is_exhausted, patience
from farref.properties.twin.backends.rref.desk import Desk, open_desk

START_S: Final = 60.0
ANSWER_S: Final = 3 * PATIENCE_S
FAREWELL_S: Final = 2.0
GLANCE_S: Final = 1.0

Asked = ParamSpec("Asked")
Given = TypeVar("Given")
AnyDesk = TypeVar("AnyDesk", bound=Desk)
Prepare = Callable[[], None]
"""Changes a process before it becomes a worker."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a step gave or ended with, and what has happened in its worker."""

    given: Any
    error: RpcError | None
    crash: str | None
    effects: list[Effect]
    seen: Any  # all that the worker has inside, in the words of its desk; nothing after a crash


class WorkerCrashed(Exception):  # noqa: N818 (it says what happened)
    """A worker did not take a step, or did not answer: an error that no application may see."""


class Pool(Generic[AnyDesk]):
    """Some workers that know each other, each with a desk of some kind."""

    def __init__(
        self,
        size: int,
        prepare: Prepare | None,
        make_desk: Callable[[Worker, HeldCore], AnyDesk],
        make_core: MakeCore = HeldCore,
    ) -> None:
        self.size = size
        self.directory = tempfile.mkdtemp(prefix="farref-pool-")
        context = multiprocess.get_context("spawn")
        self._processes: list[Any] = []
        self._pipes: list[Any] = []
        with undisturbed():
            for rank in range(size):
                here, there = context.Pipe()
                arguments = (rank, size, self.directory, there, prepare, make_desk, make_core)
                process = context.Process(target=_work, args=arguments, daemon=True)
                process.start()
                there.close()
                self._processes.append(process)
                self._pipes.append(here)
        for rank in range(size):
            self._answer(rank, START_S)

    def ask(
        self,
        worker: WorkerId,
        step: Callable[Concatenate[AnyDesk, Asked], Given],
        *args: Asked.args,
        **kwargs: Asked.kwargs,
    ) -> tuple[Given, Answer]:
        """Let a worker take a step."""
        try:
            self._pipes[worker].send_bytes(pickle.dumps((step, args, kwargs)))
        except OSError as error:
            raise WorkerCrashed(f"the process of worker {worker} has ended") from error
        answer = self._answer(worker, ANSWER_S)
        return answer.given, answer

    def close(self) -> None:
        """Let every process end."""
        for pipe in self._pipes:
            pipe.close()
        for process in self._processes:
            process.join(FAREWELL_S)
            process.kill()
            process.join()
        shutil.rmtree(self.directory, ignore_errors=True)

    def _answer(self, worker: int, seconds: float) -> Answer:
        pipe = self._pipes[worker]
        try:
            begin = time.monotonic()
            while not pipe.poll(GLANCE_S):
                if is_exhausted(begin, seconds):
                    raise WorkerCrashed(f"worker {worker} does not answer")
            answer: Answer = pickle.loads(pipe.recv_bytes())
        except (EOFError, OSError) as error:
            raise WorkerCrashed(f"the process of worker {worker} has ended") from error
        if answer.crash is not None:
            raise WorkerCrashed(f"on worker {worker}: {answer.crash}")
        return answer


# -- in the worker's process -------------------------------------------------------------------------------------------


def _work(
    rank: int, size: int, directory: str, pipe: Any, prepare: Prepare | None, make_desk: Any, make_core: MakeCore
) -> None:
    ignore_ctrl_c()  # the driver hangs up
    if prepare is not None:
        prepare()
    api.init_rpc(f"worker{rank}", rank, size, directory=directory, timeout=patience(START_S), make_core=make_core)
    desk = open_desk(make_desk)
    pipe.send_bytes(pickle.dumps(Answer(None, None, None, *desk.told())))
    while True:
        try:
            step, args, kwargs = pickle.loads(pipe.recv_bytes())
            pipe.send_bytes(pickle.dumps(_take(desk, step, args, kwargs)))
        except (EOFError, OSError):
            shutil.rmtree(directory, ignore_errors=True)
            os._exit(0)  # the driver is gone, and perhaps in no state to clean up


def _take(desk: Desk, step: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Answer:
    given, refusal = None, None
    try:
        try:
            given = step(desk, *args, **kwargs)
        except RpcError as error:
            refusal = type(error)(str(error))
        desk.rest()
        return Answer(given, refusal, None, *desk.told())
    except Exception as error:
        return Answer(None, None, f"{type(error).__name__}: {error}", [], None)
