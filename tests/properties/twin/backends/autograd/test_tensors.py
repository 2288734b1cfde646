"""Pairs with several tensors that are used: the model's one tensor, split by the sender and put together by the receiver."""

from __future__ import annotations

import pytest

from farref.properties.twin.backends.autograd import tensors
from farref.properties.twin.backends.autograd.simulated import SimulatedAutograd
from farref.properties.twin.campaign import campaign
from farref.properties.zoo.catalogue import AUTOGRAD_MUTANTS

SCHEDULES = 150
MISTAKES = ("one_gradient_of_a_pair_is_taken", "gradients_of_a_pair_are_mixed_up")


def test_what_is_split_can_be_put_together() -> None:
    assert all(sum(sent * received for sent, received in shares) == 1 for shares in tensors.SHARES)
    assert max(map(len, tensors.SHARES)) > 2


def test_gradients_in_another_order_are_another_gradient() -> None:
    for pair, shares in enumerate(tensors.SHARES):
        gradients = [received * 7.0 for _, received in shares]
        assert tensors.whole_gradient(pair, gradients) == 7.0
        assert len(shares) == 1 or tensors.whole_gradient(pair, gradients[::-1]) != 7.0


def test_a_gradient_that_is_missing_is_noticed() -> None:
    with pytest.raises(ValueError, match="pair 1 has 2 tensors that are used, and 1 gradients"):
        tensors.whole_gradient(1, [2.0])


@pytest.mark.parametrize("name", MISTAKES)
def test_one_tensor_in_each_pair_does_not_show_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """That several do is seen where all mutants are (`tests/properties/zoo/test_mutants.py`)."""
    monkeypatch.setattr(tensors, "SHARES", tensors.SHARES[:1])
    with AUTOGRAD_MUTANTS[name].alive():
        tally = campaign(SimulatedAutograd, seed=1, schedules_max=SCHEDULES)
    assert tally.disagreement is None
