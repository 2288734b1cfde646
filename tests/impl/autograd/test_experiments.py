"""Programs on which PyTorch waits for ever, times out, or is right: here SMART is right, and FAST is right or says why not.

The letters are those of a series of experiments with PyTorch 2.13, in which A, C and D blocked for good, B, E and F ended in
a timeout that left a worker in the pass, and G and H were right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest

from farref.impl import Cluster, RemoteError, launch, remote, rpc_sync
from farref.impl.autograd import backward, context, get_gradients
from farref.impl.core.autograd.ids import ContextId
from farref.impl.errors import UnreachedSends
from farref.impl.tape import Tensor, tensor
from tests.impl.far import autograd as far
from tests.impl.settling import eventually


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[Cluster]:
    with launch(["B", "C"], allow=[far.__name__]) as world:
        rpc_sync("B", far.parameter, ["w", 3.0])
        rpc_sync("C", far.parameter, ["w", 7.0])
        yield world


def experiment_A(x: Tensor) -> Tensor:
    """A result that is not used, and a loss that is local."""
    rpc_sync("B", far.double, [x])
    return x * x


def experiment_B(x: Tensor) -> Tensor:
    """Two results that share a parameter; one is not used."""
    rpc_sync("B", far.scaled, ["w", 5.0])
    return rpc_sync("B", far.scaled, ["w", 2.0]) * x.data  # type: ignore[no-any-return]


def experiment_C(x: Tensor) -> Tensor:
    """An argument that the function ignores."""
    return rpc_sync("B", far.ignore, [x, "w"]) * x  # type: ignore[no-any-return]


def experiment_D(x: Tensor) -> Tensor:
    """A call that raised, and a good one."""
    with suppress(RemoteError):
        rpc_sync("B", far.fail, [x])
    return rpc_sync("B", far.times, ["w", x])  # type: ignore[no-any-return]


def experiment_E(x: Tensor) -> Tensor:
    """Two calls with arguments; the result of one is not used."""
    rpc_sync("B", far.times, ["w", x])
    return rpc_sync("B", far.times, ["w", x])  # type: ignore[no-any-return]


def experiment_F(x: Tensor) -> Tensor:
    """A value that is fetched twice; one copy is not used."""
    kept = remote("B", far.times, ["w", x])
    kept.to_here()
    return kept.to_here() * 1.0  # type: ignore[no-any-return]


def experiment_G(x: Tensor) -> Tensor:
    """A result that is not used, of a worker that takes no part."""
    rpc_sync("C", far.scaled, ["w", 5.0])
    return rpc_sync("B", far.scaled, ["w", 2.0]) * x  # type: ignore[no-any-return]


def experiment_H(x: Tensor) -> Tensor:
    """The usual way around: use the other result, times 0."""
    used, other = rpc_sync("B", far.times, ["w", x]), rpc_sync("B", far.times, ["w", x])
    return used + other * 0.0  # type: ignore[no-any-return]


Experiment = Callable[[Tensor], Tensor]
RIGHT: dict[Experiment, tuple[float | None, float | None]] = {
    # The gradients of x = 2 here, and of w = 3 on B.
    experiment_A: (4.0, None),
    experiment_B: (None, 4.0),
    experiment_C: (3.0, 2.0),
    experiment_D: (3.0, 2.0),
    experiment_E: (3.0, 2.0),
    experiment_F: (3.0, 2.0),
    experiment_G: (6.0, 4.0),
    experiment_H: (3.0, 2.0),
}
FAST_FAILS = (experiment_A, experiment_B, experiment_C, experiment_D, experiment_E, experiment_F)


def check(context_id: ContextId, x: Tensor, here: float | None, there: float | None) -> None:
    found = get_gradients(context_id).get(x)
    assert (None if found is None else found.item()) == here
    assert rpc_sync("B", far.gradient, [context_id, "w"]) == there
    assert x.grad is None


@pytest.fixture(autouse=True)
def everything_is_forgotten() -> Iterator[None]:
    yield
    eventually(lambda: far.left_over() + rpc_sync("B", far.left_over) + rpc_sync("C", far.left_over) == 0)


@pytest.mark.parametrize("experiment", RIGHT)
def test_smart_is_right(experiment: Experiment) -> None:
    x = tensor(2.0, requires_grad=True)
    with context() as context_id:
        backward(context_id, [experiment(x)])
        check(context_id, x, *RIGHT[experiment])


@pytest.mark.parametrize("experiment", [one for one in RIGHT if one not in FAST_FAILS])
def test_fast_is_right_where_every_send_is_reached(experiment: Experiment) -> None:
    x = tensor(2.0, requires_grad=True)
    with context() as context_id:
        backward(context_id, [experiment(x)], mode="fast")
        check(context_id, x, *RIGHT[experiment])


@pytest.mark.parametrize("experiment", FAST_FAILS)
def test_fast_names_the_sends_that_get_no_gradient_and_leaves_nothing(experiment: Experiment) -> None:
    x = tensor(2.0, requires_grad=True)
    with context() as context_id:
        loss = experiment(x)
        with pytest.raises(UnreachedSends, match=r"(driver|B): call \d.*far\.autograd:|(B): call \d.*the value of"):
            backward(context_id, [loss], mode="fast")
        check(context_id, x, None, None)
        eventually(lambda: far.tasks() + rpc_sync("B", far.tasks) == 0)
        backward(context_id, [loss])
        check(context_id, x, *RIGHT[experiment])
