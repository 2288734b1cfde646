"""A27: one optimizer over parameters on several workers."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator

import numpy as np
import pytest

from farref.impl import Cluster, RRef, launch, remote, rpc_sync
from farref.impl.autograd import DistributedOptimizer, backward, context
from farref.impl.core.autograd.ids import ContextId
from farref.impl.errors import ContextReleased, RefusedFunction, StepFailed
from farref.impl.tape import SGD, Adagrad, Adam, AdamW, Optimizer, RMSprop, Tensor, tensor
from tests.impl.far import autograd as far
from tests.impl.far import optimizers as far_optimizers


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[Cluster]:
    with launch(["B", "C"], allow=[far.__name__, far_optimizers.__name__]) as world:
        yield world


def parameters() -> list[RRef]:
    """One on each worker, and a second one on B."""
    starts = (("B", [1.0, 2.0]), ("C", [3.0, 4.0]), ("driver", [5.0, 6.0]), ("B", [7.0, 8.0]))
    return [remote(place, far.parameter_rref, [start]) for place, start in starts]


def values(held: list[RRef]) -> list[list[float]]:
    return [rpc_sync(rref.owner_rank(), far.value_of, [rref]).tolist() for rref in held]


def loss_of(tensors: list[Tensor], scale: float) -> Tensor:
    total = tensors[0] * scale
    for one in tensors[1:]:
        total = total * one
    return total.sum()


def learn(held: list[RRef], scale: float) -> ContextId:
    """Run a pass over these parameters. For use in a context."""
    context_id = far.current_context()
    backward(context_id, [loss_of([rref.to_here() for rref in held], scale)])
    return context_id


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (SGD, {"lr": 0.1, "momentum": 0.9}),
        (Adagrad, {"lr": 0.1}),
        (RMSprop, {"lr": 0.1}),
        (Adam, {"lr": 0.1}),
        (AdamW, {"lr": 0.1, "weight_decay": 0.1}),
    ],
)
def test_parameters_move_as_in_one_process(kind: type[Optimizer], options: dict[str, float]) -> None:
    held = parameters()
    near = [tensor(start, requires_grad=True) for start in values(held)]
    far_optimizer, near_optimizer = DistributedOptimizer(kind, held, **options), kind(near, **options)
    for scale in (0.1, 0.2, -0.1):
        with context():
            far_optimizer.step(learn(held, scale))
        near_optimizer.zero_grad()
        loss_of(near, scale).backward()
        near_optimizer.step()
    assert values(held) == [one.data.tolist() for one in near]


def test_a_parameter_without_a_gradient_is_skipped_and_others_are_left_alone() -> None:
    held = parameters()
    before = values(held)
    optimizer = DistributedOptimizer(SGD, held[:2], lr=1.0, momentum=0.9, weight_decay=0.1)
    with context():
        optimizer.step(learn([held[1], held[2]], 1.0))
    after = values(held)
    assert [a == b for a, b in zip(before, after, strict=True)] == [True, False, True, True]
    with context() as context_id:
        optimizer.step(context_id)
    assert values(held) == after


def test_a_step_applies_the_gradients_of_its_context_only() -> None:
    held = parameters()[:1]
    optimizer = DistributedOptimizer(SGD, held, lr=1.0)
    with context() as context_id:
        learn(held, 100.0)
        with far.no_context(), context() as other:
            learn(held, 1.0)
            optimizer.step(other)
        np.testing.assert_array_equal(values(held), [[0.0, 1.0]])
        optimizer.step(context_id)
    np.testing.assert_array_equal(values(held), [[-100.0, -99.0]])
    with pytest.raises(ContextReleased):
        optimizer.step(context_id)


def test_steps_on_one_worker_run_one_after_the_other() -> None:
    optimizers = [DistributedOptimizer(far_optimizers.Watched, parameters()[:1], lr=1.0) for _ in range(4)]

    def step(optimizer: DistributedOptimizer) -> None:
        with context() as context_id:
            optimizer.step(context_id)

    threads = [threading.Thread(target=step, args=[optimizer]) for optimizer in optimizers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert rpc_sync("B", far_optimizers.steps_together) == 1


def test_errors_of_all_owners_surface_and_what_others_did_stays_done() -> None:
    held = parameters()
    failing, moving = (
        DistributedOptimizer(far_optimizers.Failing, held[:2], lr=1.0),
        DistributedOptimizer(SGD, held[2:3], lr=1.0),
    )
    failing.remote_optimizers |= moving.remote_optimizers
    before = values(held)
    with context():
        learned = learn(held, 1.0)
        with pytest.raises(StepFailed, match=r"B: .*no step on B.*C: .*no step on C") as caught:
            failing.step(learned)
    assert set(caught.value.errors) == {"B", "C"}
    assert [a == b for a, b in zip(before, values(held), strict=True)] == [True, True, False, True]


def test_what_cannot_be_made_says_where() -> None:
    with pytest.raises(StepFailed, match=r"C: .*not on C"):
        DistributedOptimizer(far_optimizers.Unmakeable, parameters(), lr=1.0)
    with pytest.raises(StepFailed, match="no optimizer"):
        DistributedOptimizer(far_optimizers.NoOptimizer, parameters(), lr=1.0)  # type: ignore[arg-type]
    with pytest.raises(RefusedFunction, match="no name"):
        DistributedOptimizer(3, parameters(), lr=1.0)  # type: ignore[arg-type]


def test_A27_a_worker_has_the_optimizer_though_its_program_never_imports_it() -> None:
    """It is called there by name, and a worker imports no more than the program does."""
    asked = "import sys, farref.impl; sys.exit('farref.impl.autograd.optimizer' not in sys.modules)"
    assert subprocess.run([sys.executable, "-c", asked], timeout=60).returncode == 0
