"""Each rule against HIPS autograd, which differentiates the same function written for numpy."""

from __future__ import annotations

import autograd.numpy
import numpy as np
import pytest
from autograd import make_vjp
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.impl.tape.cases import CASES, Case, found_by_the_tape, values, weights


@pytest.mark.parametrize("case", CASES, ids=[f"{case.rule}-{i}" for i, case in enumerate(CASES)])
@settings(max_examples=15, deadline=None)
@given(data=st.data(), seed=st.integers(0, 2**32 - 1))
def test_autograd_finds_the_same(case: Case, data: st.DataObject, seed: int) -> None:
    inputs = values(case, data.draw(st.just(case.sample) | case.shapes), seed)
    result, gradients = found_by_the_tape(case, inputs, seed)
    for position, gradient in enumerate(gradients):
        product, _ = make_vjp(lambda *arrays: case.of_numpy(autograd.numpy, *arrays), position)(*inputs)
        np.testing.assert_allclose(gradient, product(weights(result, seed)), rtol=1e-9, atol=1e-12)
