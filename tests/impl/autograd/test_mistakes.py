"""Distributed autograd: what is given by mistake is refused at once, in one sentence that says what is allowed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from farref.impl import Cluster, RRef, launch, remote
from farref.impl.autograd import DistributedOptimizer, StepFailed, backward, context, get_gradients
from farref.impl.tape import SGD, Tensor, tensor
from farref.impl.tape import backward as tape_backward
from tests.impl.far import autograd as far


@pytest.fixture(scope="module", autouse=True)
def world() -> Iterator[Cluster]:
    with launch(["A"], allow=[far.__name__, "tests.impl.far.references"], rpc_timeout=20) as cluster:
        yield cluster


def a_loss() -> Tensor:
    return (tensor([1.0], requires_grad=True) * 2).sum()


def a_parameter() -> RRef:
    """One on A, which has imported what optimizers need there once the value is there."""
    parameter = remote("A", far.parameter_rref, [[1.0]])
    parameter.to_here()
    return parameter


@pytest.mark.parametrize("wrong", [None, 3, "context", []])
def test_what_is_no_context_is_refused(wrong: Any) -> None:
    optimizer = DistributedOptimizer(SGD, [a_parameter()], lr=1.0)
    uses: list[Callable[[], object]] = [
        lambda: backward(wrong, [a_loss()]),
        lambda: get_gradients(wrong),
        lambda: RRef(a_loss()).backward(wrong),
        lambda: remote("A", "tests.impl.far.references:echo").backward(wrong),
        lambda: optimizer.step(wrong),
    ]
    for use in uses:
        with pytest.raises(TypeError, match=r"^a context is what `with autograd.context\(\) as context` gives"):
            use()


def test_the_backward_of_one_process_says_which_one_is_for_contexts() -> None:
    told = r"not a ContextId.* farref\.impl\.autograd\.backward"
    with context() as current_context, pytest.raises(TypeError, match=told):
        tape_backward(current_context, [a_loss()])  # type: ignore[arg-type]


def test_parameters_are_references_to_tensors_and_there_is_one() -> None:
    told = r"the parameters are a list of RRefs to tensors, such as \[RRef\(tensor\)\], and"
    for wrong in ([tensor([1.0])], [3], 5, RRef(tensor([1.0]))):
        with pytest.raises(TypeError, match=told):
            DistributedOptimizer(SGD, wrong, lr=1.0)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=f"{told} there are none"):
        DistributedOptimizer(SGD, [], lr=1.0)
    with pytest.raises(StepFailed, match=r"on A: .*parameter 1 is no tensor, but int$"):
        DistributedOptimizer(SGD, [a_parameter(), remote("A", "tests.impl.far.references:echo", [3])], lr=1.0)
