"""A small campaign of hostile frames, and that a campaign finds what it looks for. `decoder_campaign` is the large one."""

from __future__ import annotations

from random import Random
from typing import get_args

import pytest

from farref.impl import functions
from farref.impl.core.autograd.ledger import Pass
from farref.impl.core.autograd.messages import PassBody
from farref.impl.core.messages import Control, ControlBody, ForwardCall, Wrapped
from farref.impl.transport.frames import Frame
from farref.impl.values import codec as values
from tests.impl.transport.decoder_campaign import FoundError, campaign
from tests.impl.transport.hostile import DAMAGES, message
from tests.impl.transport.hostile_autograd import PASS


def test_hostile_frames_are_read_or_refused() -> None:
    counts = campaign(6000, seed=1)
    assert sum(counts.values()) == 6000
    for damage in DAMAGES:
        assert any(outcome.startswith(f"open, {damage.__name__},") for outcome in counts)
    assert counts["open, oversized, refused"] > counts["open, oversized, waits for more"] > 0
    assert counts["handshake, refused"] > 100
    assert counts["sealed, refused"] > 100 * counts["sealed, taken"]


def test_every_kind_of_message_is_among_them() -> None:
    made = [message(Random(number))[0] for number in range(4000)]
    assert {type(one) for one in made} == set(get_args(Frame))
    bodies = [one.body for one in made if isinstance(one, Control)]
    assert {type(body) for body in bodies} == set(get_args(ControlBody))
    assert {type(one.message) for one in made if isinstance(one, ForwardCall)} == set(get_args(Wrapped))
    assert {body.pass_id == PASS for body in bodies if isinstance(body, PassBody)} == {True, False}


def test_an_engine_that_raises_something_else_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def careless(*_: object) -> None:
        raise KeyError("nobody reports this")

    monkeypatch.setattr(Pass, "enter", careless)
    with pytest.raises(FoundError, match=r"frame .* of seed 1.*nobody reports this"):
        campaign(20_000, seed=1)


def test_a_decoder_that_raises_something_else_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def careless(code: int) -> int:
        return [code][code]

    monkeypatch.setattr(values, "_checked", careless)
    monkeypatch.setattr(values, "WireError", ZeroDivisionError)
    with pytest.raises(FoundError, match=r"frame .* of seed 2"):
        campaign(6000, seed=2)


def test_a_stream_that_does_not_look_at_seals_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("farref.impl.transport.sealed.hmac.compare_digest", lambda *_: True)
    with pytest.raises(FoundError, match=r"touched came out|let in"):
        campaign(1000, seed=3)


def test_a_function_that_runs_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(functions._registered, "m:f", lambda *_, **__: None)
    with pytest.raises(FoundError, match="m:f ran"):
        campaign(4000, seed=4)
