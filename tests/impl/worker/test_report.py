"""A worker reports about itself. What goes wrong with that costs the report, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from farref.impl import get_debug_info, launch, rpc_sync
from farref.impl.worker import report
from tests.impl.conftest import place as place
from tests.impl.far import references as far
from tests.impl.settling import eventually


def test_a_report_that_cannot_be_made_is_the_last_and_the_world_goes_on(
    place: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    tried: list[object] = []

    def fail(worker: object) -> None:
        tried.append(worker)
        raise LookupError("no such peer")

    monkeypatch.setattr(report, "peers_of", fail)
    told: list[str] = []
    with launch(["A"], allow=[far.__name__], report_seconds=0.01, rpc_timeout=20):
        eventually(lambda: "no such peer" in (told.append(capfd.readouterr().err) or "".join(told)))  # type: ignore[func-returns-value]
        assert [rpc_sync("A", far.echo, [number]) for number in range(20)] == list(range(20))
        assert len(tried) == 1
        assert get_debug_info().is_empty()
    assert place
