"""Real worker processes with real streams between them, started once and asked to take one step at a time.

Each process has a pipe to the driver. A question is a step of its application (`driven_application.py`). The
answer is what the step gave, or the error it ended with, and everything that happened in that worker since it was last asked.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Concatenate, Final, Generic, ParamSpec, TypeVar

from farref.impl import api
from farref.impl.api import MakeCore
from farref.impl.core.effects import Effect
from farref.impl.core.ids import WorkerId
from farref.impl.errors import RpcError
from farref.impl.worker.worker import Worker
from farref.properties.processes import Child, ChildEnded, heard, ignore_ctrl_c, put_down, start_children, tell
from farref.properties.twin.backends.held_core import PATIENCE_S, HeldCore
from farref.properties.twin.backends.patience import is_exhausted, patience
from farref.properties.twin.backends.rref.driven_application import DrivenApplication, open_application

START_S: Final = 60.0
ANSWER_S: Final = 3 * PATIENCE_S
FAREWELL_S: Final = 2.0
GLANCE_S: Final = 1.0

Asked = ParamSpec("Asked")
Given = TypeVar("Given")
AnyDriven = TypeVar("AnyDriven", bound=DrivenApplication)
Prepare = Callable[[], None]
"""Changes a process before it becomes a worker."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a step gave or ended with, and what has happened in its worker."""

    given: Any
    error: RpcError | None
    crash: str | None
    effects: list[Effect]
    seen: Any  # all that the worker has inside, in the words of its application; nothing after a crash


class WorkerCrashed(Exception):  # noqa: N818 (it says what happened)
    """A worker did not take a step, or did not answer: an error that no application may see."""


class Pool(Generic[AnyDriven]):
    """Some workers that know each other, each with an application of some kind."""

    def __init__(
        self,
        size: int,
        prepare: Prepare | None,
        make_application: Callable[[Worker, HeldCore], AnyDriven],
        make_core: MakeCore = HeldCore,
    ) -> None:
        self.size = size
        self.directory = tempfile.mkdtemp(prefix="farref-pool-")
        given = [(rank, size, self.directory, prepare, make_application, make_core) for rank in range(size)]
        self.children: list[Child] = []
        try:
            self.children = start_children(_work, given)
            for rank in range(size):
                self._answer(rank, START_S)
        except BaseException:
            self.close()
            raise

    def ask(
        self,
        worker: WorkerId,
        step: Callable[Concatenate[AnyDriven, Asked], Given],
        *args: Asked.args,
        **kwargs: Asked.kwargs,
    ) -> tuple[Given, Answer]:
        """Let a worker take a step."""
        answer = self._answer(worker, ANSWER_S, (step, args, kwargs))
        return answer.given, answer

    def close(self) -> None:
        """Let every process end."""
        put_down(self.children, FAREWELL_S)
        shutil.rmtree(self.directory, ignore_errors=True)

    def _answer(self, worker: int, seconds: float, asked: object = None) -> Answer:
        child = self.children[worker]
        try:
            if asked is not None:
                child.tell(asked)
            begin = time.monotonic()
            while not child.has_said_something(GLANCE_S):
                if is_exhausted(begin, seconds):
                    raise WorkerCrashed(f"worker {worker} does not answer")
            answer: Answer = child.hear()
        except ChildEnded as error:
            raise WorkerCrashed(f"the process of worker {worker} has ended") from error
        if answer.crash is not None:
            raise WorkerCrashed(f"on worker {worker}: {answer.crash}")
        return answer


# -- in the worker's process -------------------------------------------------------------------------------------------


def _work(
    pipe: Any, rank: int, size: int, directory: str, prepare: Prepare | None, make_application: Any, make_core: MakeCore
) -> None:
    ignore_ctrl_c()  # the driver hangs up
    if prepare is not None:
        prepare()
    api.init_rpc(f"worker{rank}", rank, size, directory=directory, timeout=patience(START_S), make_core=make_core)
    driven = open_application(make_application)
    with suppress(OSError):
        tell(pipe, Answer(None, None, None, *driven.told()))
        for step, args, kwargs in heard(pipe):
            tell(pipe, _take(driven, step, args, kwargs))
    shutil.rmtree(directory, ignore_errors=True)
    os._exit(0)  # the driver is gone, and perhaps in no state to clean up


def _take(driven: DrivenApplication, step: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Answer:
    given, refusal = None, None
    try:
        try:
            given = step(driven, *args, **kwargs)
        except RpcError as error:
            refusal = type(error)(str(error))
        driven.rest()
        return Answer(given, refusal, None, *driven.told())
    except Exception as error:
        return Answer(None, None, f"{type(error).__name__}: {error}", [], None)
