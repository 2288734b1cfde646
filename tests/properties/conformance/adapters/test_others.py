"""The adapters of other systems: small, and each judged by a few checks where its system is installed."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from farref.judging.plan import Asked, make_plan
from farref.properties.conformance.adapters.agent import Life
from farref.properties.conformance.conversation.validation import validate
from farref.properties.conformance.kit.available import availability
from farref.properties.conformance.kit.document import Verdict
from farref.properties.conformance.kit.named import NAMED, target
from farref.properties.conformance.kit.runner import Runner

FOLDER = Path(__file__).parents[4] / "properties" / "conformance" / "adapters" / "others"
START_S = 120.0
LINES = {".py": 80, ".java": 250, ".mjs": 250}
KEPT_CHECKS = ("R4.unharmed", "R16.pending", "R26.fetch")
"""What each of them keeps."""
BROKEN = {
    "managers": {"R24.quick": Verdict.EXPECTED_FAIL},
    "rpyc": {"R2.forked": Verdict.EXPECTED_FAIL},
    "foolscap": {"R2.owners": Verdict.PASS, "R24.quick": Verdict.PASS},
    "ray": {"R39": Verdict.BY_DESIGN},
    "java-rmi": {"R38.zombie": Verdict.BY_DESIGN},
    "capnweb": {"R16.chain": Verdict.EXPECTED_FAIL},
}
"""A finding of each, but of the one that has none."""
MISSING = {one.backend: one.missing for one in availability()}

each = pytest.mark.parametrize("backend", BROKEN)


def skip_unless_there(backend: str) -> None:
    if MISSING[backend]:
        pytest.skip(f"{backend} is not judged: {MISSING[backend]} is missing")


@pytest.mark.parametrize(
    "path", [one for one in sorted(FOLDER.iterdir()) if one.suffix in LINES], ids=lambda one: one.name
)
def test_an_adapter_is_small(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= LINES[path.suffix]


def test_every_system_has_a_finding_or_keeps_all() -> None:
    assert set(BROKEN) == {name for name in NAMED if name not in ("simulated", "processes", "torch", "torch-faulty")}


@each
def test_it_speaks_the_protocol(backend: str) -> None:
    skip_unless_there(backend)
    assert [one.mistake for one in validate(target(backend).command, START_S) if one.mistake] == []


@each
def test_it_is_judged_as_is_known(backend: str) -> None:
    skip_unless_there(backend)
    plan = make_plan(target(backend), Asked(only=(*KEPT_CHECKS, *BROKEN[backend]), runs=1, start_seconds=START_S))
    rows = {row.id: row for row in Runner(plan).run().clauses}
    wanted = {**dict.fromkeys(KEPT_CHECKS, Verdict.PASS), **BROKEN[backend]}
    assert {name: rows[name].verdict for name in wanted} == wanted, {name: rows[name].message for name in wanted}


def test_a_worker_of_rpyc_can_be_reached_as_soon_as_it_has_joined(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    skip_unless_there("rpyc")
    from farref.properties.conformance.adapters.others import rpyc

    monkeypatch.setattr("rpyc.utils.server.ThreadedServer.start", lambda _server: None)  # its thread has not run yet
    agent = rpyc.RpycAgent()
    agent.join(Life(("A",), "A", str(tmp_path), {}))
    with socket.socket(socket.AF_UNIX) as peer:
        peer.connect(agent.place("A"))
    agent.server.listener.close()
