"""Programs that run by themselves, between real workers in a storm: what comes out is compared with the model's oracle.

Here nothing is held still. Workers call each other with the functions that every application uses, passes run while messages
overtake each other, and the only things that are looked at are those an application can see: the gradients after each pass,
bit by bit; how each pass ended; and, after the release, that nothing is left on any worker.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from random import Random
from typing import Any, Final

from farref.impl import api, autograd
from farref.impl.autograd import ContextId
from farref.impl.core.effects import Effect
from farref.impl.errors import RemoteError, RpcError
from farref.impl.functions import function
from farref.impl.tape import Tensor
from farref.impl.worker.worker import Worker
from farref.properties.twin.backends.autograd.storm import StormCore
from farref.properties.twin.backends.autograd.tensors import Terms, WorkerTensors
from farref.properties.twin.backends.patience import is_exhausted
from farref.properties.twin.backends.rref.driven_application import DrivenApplication, this_application

PATIENCE_S: Final = 20.0
PAUSE_S: Final = 0.002
WELL: Final = "ended well"
BUSY: Final = "PassBusy"


@dataclass(frozen=True)
class Call:
    """A call that sends tensors; its function may raise after it has received them."""

    source: int
    target: int
    terms: Terms
    raises: bool


@dataclass(frozen=True)
class PlannedPass:
    """A call of `backward`."""

    root: int
    terms: Terms
    seed: int
    smart: bool
    raising: int | None  # the pair whose backward rule raises
    timeout: float


@dataclass(frozen=True)
class Plan:
    """A whole program."""

    workers: int
    calls: tuple[Call, ...]
    passes: tuple[PlannedPass, ...]


@dataclass(frozen=True)
class Seen:
    """What an application saw after a pass: how it ended, and each worker's gradient."""

    ended: str
    gradients: tuple[float | None, ...]


class StormApplication(DrivenApplication):
    """A program that runs by itself."""

    def __init__(self, worker: Worker, core: Any) -> None:
        super().__init__(worker, core)
        self.tensors = WorkerTensors()

    def rest(self) -> None:
        """Wait for nothing: here all goes on by itself."""

    def told(self) -> tuple[list[Effect], Any]:
        """Tell nothing: what matters is asked for."""
        return [], None

    @property
    def storm(self) -> StormCore:
        """The core of this worker."""
        assert isinstance(self.worker.core, StormCore)
        return self.worker.core

    def begin(self, seed: str, drops: bool, duplicates: bool) -> None:
        """Begin without tensors, in new weather."""
        with self.worker.lock:
            self.tensors, self.storm.weather = WorkerTensors(), Random(f"{seed}/{self.worker.rank}")
            self.storm.drops, self.storm.duplicates = drops, duplicates

    def run(self, plan: Plan) -> list[Seen]:
        """Run a program, on its creator."""
        try:
            with autograd.context() as context:
                for pair, call in enumerate(plan.calls):
                    api.rpc_sync(call.source, pass_on, [pair, call.target, list(map(list, call.terms)), call.raises])
                return [self._pass(context, one, plan) for one in plan.passes]
        except RpcError as error:
            raise RuntimeError(f"the program fails: {error}") from error

    def _pass(self, context: ContextId, planned: PlannedPass, plan: Plan) -> Seen:
        if planned.raising is not None:
            api.rpc_sync(plan.calls[planned.raising].source, arm, [planned.raising, True])
        begin, ended = time.monotonic(), BUSY
        arguments = [context, list(map(list, planned.terms)), planned.seed, planned.smart, planned.timeout]
        while ended == BUSY and not is_exhausted(
            begin, PATIENCE_S
        ):  # a worker may not have heard yet that the last pass is over
            ended = api.rpc_sync(planned.root, begin_pass, arguments)
        if planned.raising is not None:
            api.rpc_sync(plan.calls[planned.raising].source, arm, [planned.raising, False])
        known = {0, *(worker for call in plan.calls for worker in (call.source, call.target))}
        shown = [api.rpc_sync(worker, show, [context]) if worker in known else None for worker in range(plan.workers)]
        return Seen(ended, tuple(shown))

    def end(self) -> tuple[str | None, dict[str, int]]:
        """Wait until nothing is left, and say what is; and what the weather has done."""
        begin, core = time.monotonic(), self.storm
        while not is_exhausted(begin, PATIENCE_S):
            with self.worker.lock:
                if core.is_empty() and not core.kept and not self.worker.passes.works:
                    faults, core.faults = dict(core.faults), type(core.faults)()
                    core.weather = None
                    return None, faults
            time.sleep(PAUSE_S)
        return f"left after a release: {list(core.engine.contexts)}, {list(core.engine.passes)}", {}


# -- what workers do for each other --------------------------------------------------------------------------------------


def _tensors() -> WorkerTensors:
    driven: Any = this_application()
    tensors: WorkerTensors = driven.tensors
    return tensors


def _terms(written: list[list[int]]) -> Terms:
    return tuple((pair, weight) for pair, weight in written)


@function
def pass_on(pair: int, target: int, terms: list[list[int]], raises: bool) -> None:
    """Compute what a pair sends, and send it."""
    tensors = _tensors().sent_with(pair, _terms(terms), with_decoy=pair % 2 == 1)
    future = api.rpc_async(target, keep, [pair, tensors, raises])
    try:
        future.wait()
    except RemoteError:
        if not raises:
            raise


@function
def keep(pair: int, tensors: list[Tensor], raises: bool) -> None:
    """Keep what came with a pair, or fail."""
    if raises:
        raise ValueError(f"pair {pair} is not wanted")
    _tensors().keep(pair, tensors)


@function
def arm(pair: int, raising: bool) -> None:
    """Have a pair's backward rule raise, or no longer."""
    (_tensors().raising.add if raising else _tensors().raising.discard)(pair)


@function
def begin_pass(context: ContextId, terms: list[list[int]], seed: int, smart: bool, timeout: float) -> str:
    """Run a pass from here, and say how it ended."""
    root = _tensors().computed(_terms(terms), seed)
    try:
        autograd.backward(context, [root], retain_graph=True, mode="smart" if smart else "fast", timeout=timeout)
    except autograd.PassFailed as error:
        return type(error).__name__
    return WELL


@function
def show(context: ContextId) -> float | None:
    """Look at the gradient of this worker's parameter."""
    found = autograd.get_gradients(context)
    if any(decoy in found for decoy in _tensors().decoys):
        raise ValueError("a tensor that nobody used has a gradient (A22)")
    leaf = _tensors().leaf
    return float(found[leaf].data) if leaf in found else None
