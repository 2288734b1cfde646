"""farref as a process of its own: what goes to which stream, and how Ctrl-C ends it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TALKATIVE = """\
from farref import __main__
from farref.terminal import progress
assert progress.PLAIN_SECONDS
progress.PLAIN_SECONDS = 0
__main__.main()
"""
"""farref, but it tells its progress whenever there is any: at the end of each level at the latest."""

FOR_EVER = ("check", "rref", "--workers", "4", "--forks", "4", "--drops", "2")
PATIENCE = 600  # seconds, for a machine with much else to do


def start(*words: str, talkative: bool = False) -> subprocess.Popen[str]:
    command = [sys.executable, *(("-c", TALKATIVE) if talkative else ("-m", "farref")), *words]
    return subprocess.Popen(command, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def finish(*words: str, talkative: bool = False) -> tuple[int, str, str]:
    process = start(*words, talkative=talkative)
    out, err = process.communicate(timeout=PATIENCE)
    return process.returncode, out, err


def interrupt(*words: str, after: tuple[str, ...]) -> tuple[int, str, str]:
    """Press Ctrl-C as soon as lines with these patterns have been told, in this order."""
    process = start(*words, talkative=True)
    try:
        for wanted in after:
            wait_for(wanted, process)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    assert "Traceback" not in err
    return process.returncode, out, err


def wait_for(wanted: str, process: subprocess.Popen[str]) -> None:
    assert process.stderr is not None
    while not re.search(wanted, line := process.stderr.readline()):
        assert line, f"it ended without telling {wanted!r}"


def test_json_is_all_there_is_on_stdout_and_progress_goes_to_stderr() -> None:
    words = ("check", "rref", "--workers", "2", "--forks", "1", "--format", "json")
    code, out, err = finish(*words, talkative=True)
    assert code == 0
    assert json.loads(out)["verdict"] == "holds"
    assert all("states/s" in line for line in err.splitlines())
    assert len(err.splitlines()) >= json.loads(out)["depth"] - 1


def test_quiet_is_quiet() -> None:
    code, out, err = finish("check", "rref", "--workers", "2", "--forks", "1", "--quiet", talkative=True)
    assert (code, err) == (0, "")
    assert "HOLDS" in out


def test_interrupted_search_tells_what_it_found() -> None:
    code, out, _ = interrupt(*FOR_EVER, "--format", "json", after=("depth 5,",))
    answer = json.loads(out)
    assert code == 4
    assert answer["verdict"] == "incomplete"
    assert "interrupted" in answer["notes"]
    assert answer["depth"] >= 5
    assert answer["distinct"] > 5


def test_interrupted_portfolio_tells_what_was_not_run() -> None:
    code, out, _ = interrupt("check", "rref", "--engine", "reference", after=(r"1 of \d+, one fork: .* depth 2,",))
    assert code == 4
    assert "INCOMPLETE" in out
    assert "not run: " in out


def test_interrupted_table_has_the_rows_so_far() -> None:
    begins = r"one fork: .* depth 2,"  # each row begins with the first configuration
    words = ("check", "rref", "--each", "rule", "--engine", "reference", "--format", "json")
    code, out, _ = interrupt(*words, after=(begins, begins))
    assert code == 4
    answer = json.loads(out)
    assert answer["verdict"] == "incomplete"
    assert len(answer["rows"]) >= 1


needs_dask = pytest.mark.skipif(
    find_spec("distributed") is None, reason="Dask is not installed; it comes with the extra [dask]"
)

CAMPAIGNS = [
    ("rref",),
    ("rref", "--jobs", "2"),
    pytest.param(("rref", "--cluster", "local"), marks=needs_dask),
    ("rref", "--backend", "processes"),
    ("rref", "--backend", "storm"),
    ("autograd",),
    ("autograd", "--backend", "processes"),
    ("autograd", "--backend", "storm"),
]


@pytest.mark.parametrize("asked", CAMPAIGNS, ids=" ".join)
def test_interrupted_campaign_tells_what_it_did(asked: tuple[str, ...]) -> None:
    code, out, err = interrupt("fuzz", *asked, "--seconds", "600", "--format", "json", after=("schedules",))
    answer = json.loads(out)
    assert code == 4
    assert answer["verdict"] == "incomplete"
    assert "interrupted" in answer["notes"]
    assert answer["schedules"] > 0
    assert "Traceback" not in err


@pytest.mark.parametrize(
    "more",
    [("--jobs", "2"), ("--backend", "processes"), pytest.param(("--cluster", "local"), marks=needs_dask)],
    ids=["jobs", "processes", "cluster"],
)
def test_a_campaign_that_is_interrupted_at_once_is_quiet(more: tuple[str, ...]) -> None:
    """As a terminal does it: everybody gets the signal, also those that have just been started."""
    command = [sys.executable, "-m", "farref", "fuzz", "rref", *more, "--seconds", "600"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, text=True, stdout=pipe, stderr=pipe, start_new_session=True) as process:
        deadline = time.monotonic() + PATIENCE
        while not spawned(process.pid) and time.monotonic() < deadline:
            time.sleep(0.005)
        time.sleep(0.2)
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, "interrupted" in out) == (4, True)
    assert "Traceback" not in err
    assert "Error" not in err
    assert not spawned(process.pid)


def spawned(group: int) -> list[int]:
    """List the processes that a command has started."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if os.getpgid(int(place.name)) == group and b"spawn_main" in (place / "cmdline").read_bytes():
                found.append(int(place.name))
    return found


def test_a_campaign_that_is_killed_takes_its_workers_along(tmp_path: Path) -> None:
    words = ("fuzz", "rref", "--backend", "processes", "--seconds", "600")
    command, environment = [sys.executable, "-c", TALKATIVE, *words], {**os.environ, "TMPDIR": str(tmp_path)}
    process = subprocess.Popen(command, cwd=ROOT, env=environment, text=True, stderr=subprocess.PIPE)
    try:
        wait_for("schedules", process)
        assert list(tmp_path.glob("farref-pool-*"))
    finally:
        process.kill()
    process.communicate(timeout=PATIENCE)  # whoever still lives has the other end of the pipe
    deadline = time.monotonic() + PATIENCE
    while list(tmp_path.glob("farref-pool-*")) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not list(tmp_path.glob("farref-pool-*"))


def test_the_reader_of_the_output_may_leave() -> None:
    process = start("spec")
    assert process.stdout is not None
    process.stdout.close()
    assert process.wait(timeout=PATIENCE) == 0
    assert process.stderr is not None
    assert "Traceback" not in process.stderr.read()


def test_help_teaches() -> None:
    code, out, _ = finish("check", "--help")
    assert code == 0
    assert "farref check rref --profile torch --claim N1" in out
