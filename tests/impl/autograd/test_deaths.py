"""Workers that die in a pass, or between passes (A21)."""

from __future__ import annotations

import threading

import pytest

from farref.impl import PeerDied, launch, rpc_sync
from farref.impl.autograd import backward, context, get_gradients
from farref.impl.errors import PassPeerDied
from farref.impl.tape import tensor
from tests.impl.far import autograd as far
from tests.impl.far import faults as far_faults
from tests.impl.settling import eventually


def test_A21_everybody_comes_out_of_a_pass_in_which_a_worker_dies() -> None:
    x = tensor(2.0, requires_grad=True)
    with launch(["B", "C"], allow=[far.__name__]) as world:
        rpc_sync("C", far.parameter, ["w", 7.0])
        with context() as context_id:
            loss = rpc_sync("B", far.slow_rule_through, ["C", x]) + rpc_sync("C", far.times, ["w", x])
            threading.Timer(0.3, world.kill, ["B"]).start()
            with pytest.raises(PassPeerDied, match="B died"):
                backward(context_id, [loss])
            assert get_gradients(context_id) == {}
            assert rpc_sync("C", far.gradient, [context_id, "w"]) is None
            eventually(lambda: rpc_sync("C", far.tasks) == 0)
            backward(context_id, [rpc_sync("C", far.times, ["w", x])])
            assert get_gradients(context_id)[x].item() == 7.0
            with pytest.raises(PassPeerDied, match="B died"):
                backward(context_id, [loss])
            with pytest.raises(PeerDied):
                rpc_sync("B", far.nothing)
        eventually(lambda: far.contexts() + rpc_sync("C", far.contexts) == 0)


def test_A29_R44_a_pass_without_a_lost_worker_is_right_and_so_is_one_with_its_successor() -> None:
    x = tensor(2.0, requires_grad=True)
    with launch(["B", "C"], allow=[far.__name__]) as world:
        for name in ("B", "C"):
            rpc_sync(name, far.parameter, ["w", 7.0])
        with context() as made:
            loss = rpc_sync("B", far.times, ["w", x]) + rpc_sync("C", far.times, ["w", x])
            world.kill("B")
            with pytest.raises(PassPeerDied, match="worker B died"):
                backward(made, [loss], timeout=20)
        with context() as made:
            backward(made, [rpc_sync("C", far.times, ["w", x])])
            assert get_gradients(made)[x].item() == 7.0
        world.restart("B")
        rpc_sync("B", far.parameter, ["w", 5.0])
        with context() as made:
            backward(made, [rpc_sync("B", far.times, ["w", x]) + rpc_sync("C", far.times, ["w", x])])
            assert get_gradients(made)[x].item() == 12.0
            assert rpc_sync("B", far.gradient, [made, "w"]) == 2.0
        eventually(lambda: far.contexts() + sum(rpc_sync(name, far.contexts) for name in ("B", "C")) == 0)


def test_A21_a_context_goes_with_its_creator() -> None:
    with launch(["B", "C"], allow=[far.__name__]) as world:
        rpc_sync("B", far.open_and_keep, ["C"])
        assert rpc_sync("C", far.contexts) == 1
        world.kill("B")
        eventually(lambda: rpc_sync("C", far.contexts) == 0)


def test_A21_a_pass_over_a_link_that_both_its_ends_know_is_broken_fails_at_once() -> None:
    """Whoever cannot send on tells the root, which cannot find out itself: both workers live, and answer it."""
    x = tensor(2.0, requires_grad=True)
    with launch(["B", "C"], allow=[far.__name__, far_faults.__name__], shutdown_timeout=1), context() as made:
        loss = rpc_sync("B", far.through, [["C"], x])
        rpc_sync("B", far_faults.declare_dead, ["C"])
        with pytest.raises(PassPeerDied, match="C died"):
            backward(made, [loss], timeout=20)
        eventually(lambda: rpc_sync("B", far.tasks) == 0)
