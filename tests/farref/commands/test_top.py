"""`farref top`: who of a world is stuck, and why."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from farref.impl import Cluster, RpcError, RRef, get_debug_info, launch, remote, rpc_async, rpc_sync
from tests.farref.conftest import Farref
from tests.impl.conftest import place as place
from tests.impl.far import references as far
from tests.impl.settling import eventually
from tests.impl.worker.test_pauses import standing_still


@pytest.fixture
def world(place: Path, farref: Farref) -> Iterator[Cluster]:
    """Two workers and the driver, each of whom has reported."""
    assert place
    with launch(["A", "B"], allow=["tests.impl.far.references"], rpc_timeout=30, report_seconds=0.1) as cluster:
        eventually(lambda: seen(farref).keys() == {"driver", "A", "B"})
        yield cluster


def seen(farref: Farref, *arguments: str) -> dict[str, Any]:
    """What `farref top` says of each worker."""
    result = farref("top", "--once", "--format", "json", *arguments)
    if result.exit_code == 2:  # nobody has reported yet
        return {}
    assert result.exit_code == 0, result.stderr
    (one,) = json.loads(result.stdout)["worlds"]
    return {worker["worker"]: worker for worker in one["workers"]}


def test_a_worker_that_is_stopped_is_named_with_the_reason(world: Cluster, farref: Farref) -> None:
    with standing_still(world, "A"):
        told = seen(farref)
        assert told["A"]["state"] == "stuck"
        assert "its process is stopped" in told["A"]["why"][0]
        assert "stuck" not in (told["driver"]["state"], told["B"]["state"])
        assert seen(farref, str(world.pid("B"))).keys() == told.keys(), "a world is found by a process in it"
        pretty = farref("top", "--once").stdout
        assert "its process is stopped" in pretty
    eventually(lambda: seen(farref)["A"]["state"] != "stuck")


@pytest.mark.usefixtures("world")
def test_calls_references_and_functions_are_told_by_peer_and_with_their_age(farref: Farref) -> None:
    held = [remote("A", far.echo, [n]) for n in range(3)]
    asked = [rpc_async("A", far.held_back, [n]) for n in range(2)]
    eventually(lambda: rpc_sync("A", far.tables)[0] == 3)
    a = next(peer for peer in get_debug_info().peers if peer.name == "A")
    assert (a.link, a.calls, a.references_held, a.references_given) == ("up", 2, 3, 0)
    assert a.oldest == "tests.impl.far.references:held_back on A"
    assert a.oldest_s > 0
    eventually(lambda: len(seen(farref)["A"]["report"]["functions"]) == 2)
    told = seen(farref)["A"]["report"]
    driver = next(peer for peer in told["peers"] if peer["name"] == "driver")
    assert (driver["serving"], driver["references_given"]) == (2, 3)
    assert told["functions"][0]["function"] == "tests.impl.far.references:held_back"
    rpc_sync("A", far.release)
    assert [future.wait() for future in asked] == [0, 1]
    del held


def test_a_dead_peer_is_told_with_the_reason(world: Cluster, farref: Farref) -> None:
    world.kill("B")
    eventually(lambda: "worker B died" in " ".join(seen(farref)["A"]["why"]))
    assert (seen(farref)["B"]["state"], seen(farref)["B"]["why"]) == ("gone", ["its process has ended"])
    assert next(peer for peer in get_debug_info().peers if peer.name == "B").link == "dead"


def test_R41_who_is_lost_is_told_with_what_is_kept_for_it_and_for_whom_all_wait(world: Cluster, farref: Farref) -> None:
    here, at_b = RRef("value"), remote("B", far.echo, [1])
    rpc_sync("A", far.keep, [here])
    at_b.to_here()
    with standing_still(world, "B"):
        rpc_async("A", far.keep, [at_b])  # which A may not use before B counts it
        eventually(lambda: [len(one.children) for one in get_debug_info().users] == [1])
        world.kill("A")
        eventually(lambda: get_debug_info().unsettled == (2,))
        shown = get_debug_info()
        (lost,) = shown.excluded
        assert (lost.worker, lost.name, lost.phase, lost.view) == (1, "A", "excluded", 1)
        assert "worker A died" in lost.reason
        assert lost.forks == tuple(fork for fork, _ in shown.entries[0].forks)
        assert lost.children == tuple(fork for fork, _ in shown.users[0].children)
        assert (len(lost.forks), len(lost.children)) == (1, 1)
        eventually(lambda: bool(seen(farref)["driver"]["report"]["members"]["unsettled"]))
        told = seen(farref)["driver"]
        assert "view 1 is not buried: B did not settle it yet" in told["why"]
        members = told["report"]["members"]
        assert [members[name] for name in ("view", "settled", "buried", "heirs", "gone")] == [1, 1, 0, 0, 0]
        assert [(one["name"], one["forks"], one["children"]) for one in members["excluded"]] == [("A", 1, 1)]
        assert "driver 1 1 0 0 B A (1) excluded 1 1 1" in " ".join(farref("top", "--once").stdout.split())
    eventually(lambda: seen(farref)["driver"]["report"]["members"]["gone"] == 1)
    members = seen(farref)["driver"]["report"]["members"]
    assert (members["excluded"], members["buried"], members["unsettled"]) == ([], 1, [])
    (lost,) = get_debug_info().excluded
    assert (lost.phase, lost.forks, lost.children) == ("buried", (), ())
    assert "not buried" not in farref("top", "--once").stdout


def test_ctrl_c_ends_it_without_a_word(world: Cluster) -> None:
    command = [sys.executable, "-m", "farref", "top", "--format", "json", str(world.pid("A"))]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as looking:
        assert looking.stdout is not None
        assert json.loads(looking.stdout.readline())["worlds"]
        looking.send_signal(signal.SIGINT)
        _, errors = looking.communicate()
    assert (looking.returncode, errors) == (0, "")


def test_where_no_world_is_it_says_so(place: Path, farref: Farref) -> None:
    for arguments in ([], [str(place)], [str(os.getpid())], [str(place / "nothing")]):
        result = farref("top", "--once", *arguments)
        assert result.exit_code == 2
        assert "no world runs" in result.stderr


def test_reports_can_be_left_out(place: Path, farref: Farref) -> None:
    with launch(["A"], report_seconds=0):
        assert farref("top", "--once").exit_code == 2
    assert not list(place.iterdir())
    for wrong in (-1, float("nan"), "often"):
        with pytest.raises(RpcError, match="report_seconds"), launch(["A"], report_seconds=wrong):  # type: ignore[arg-type]
            pass


REPORT: dict[str, Any] = {
    "format": "farref-report/1",
    "worker": "A",
    "rank": 0,
    "pid": os.getpid(),
    "time": 0.0,
    "every_s": 1.0,
    "running": 1,
    "waiting": 0,
    "entries": 0,
    "references": 0,
    "functions": [{"function": "m:f", "seconds": 60.0}],
    "peers": [],
    "members": {"view": 0, "settled": 0, "buried": 0, "heirs": 0, "unsettled": [], "gone": 0, "excluded": []},
}


def test_a_worker_that_does_not_report_is_stuck_and_what_runs_is_told(place: Path, farref: Farref) -> None:
    (place / "0.report.json").write_text(json.dumps(REPORT))
    (place / "1.report.json").write_text("{ half of one")
    told = seen(farref, str(place))["A"]
    assert told["state"] == "stuck"
    assert told["why"][0].startswith("no report for ")
    assert told["why"][1] == "m:f runs since 60 s"


def test_a_peer_that_takes_nothing_in_is_told(place: Path, farref: Farref) -> None:
    names = ("serving", "received_bytes", "calls", "fetches", "references_held", "references_given")
    peer = dict.fromkeys(names, 0) | {"name": "B", "link": "full", "reason": "", "queued_bytes": 70, "oldest": "f on B"}
    peer |= {"oldest_s": 9.0, "unanswered": 4, "retries": 6, "worker": 1}
    report = REPORT | {"time": 4e9, "functions": [], "peers": [peer]}
    (place / "0.report.json").write_text(json.dumps(report))
    told = seen(farref, str(place))["A"]
    assert told["state"] == "waiting"
    assert told["why"] == [
        "B takes too little in: 70 bytes wait for it",
        "waits for B since 9 s: f on B",
        "B has not answered 4 control messages, sent again 6 times",
    ]
