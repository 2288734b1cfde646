"""How `farref conform` ends: with adapters that cannot be used, with nothing checked, and with Ctrl-C."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from farref.judging import publish
from farref.terminal.interrupts import held_back
from tests.farref.conformance import TOY

Farref = Callable[..., Result]
ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--", "no-such-program"), "no-such-program cannot be started"),
        (("--", sys.executable, "-c", "print('hello')"), "not an answer to anything"),
        (("--", sys.executable, "-c", "import sys; sys.exit('I am broken')"), "I am broken"),
        (("--backend", "no.such:Adapter"), "No module named 'no'"),
        (("--backend", "json:nothing"), "has no attribute 'nothing'"),
    ],
)
def test_an_adapter_that_cannot_be_used(farref: Farref, words: tuple[str, ...], complaint: str) -> None:
    result = farref("conform", *words)
    assert result.exit_code == 3
    assert result.stdout == ""
    assert complaint in result.stderr
    assert result.stderr.count("\n") == 1


def test_what_an_adapter_says_moves_no_cursor(farref: Farref) -> None:
    words = ("--", sys.executable, "-c", "import sys; sys.exit('broken \x1b[2J' + 'x' * 100_000)")
    for asked in (("conform", *words), ("conform", "--validate-adapter", *words)):
        output = farref(*asked).output
        assert "broken \ufffd[2J" in output
        assert "\x1b" not in output
        assert len(output) < 3000


def test_one_adapter_that_cannot_be_used_beside_one_that_can(farref: Farref) -> None:
    asked = ("conform", "--backend", "no.such:Adapter", "--backend", TOY, "--only", "R20", "--quiet")
    result = farref(*asked)
    assert result.exit_code == 3
    assert "No module named" in result.stderr
    assert "toy 1.0" in result.stdout


def test_nothing_declared_is_nothing_checked(farref: Farref, tmp_path: Path) -> None:
    path = tmp_path / "idle.py"
    path.write_text(
        "class Idle:\n    name, version, capabilities = 'idle', '1', ['fecth']\n"
        "    def start(self, workers, options): pass\n    def stop(self): return []\n"
    )
    result = farref("conform", "--backend", str(path), "--quiet")
    assert result.exit_code == 4
    assert "NOTHING CHECKED" in result.stdout
    assert "the adapter declares what no check knows: fecth" in result.stdout


STUBBORN = """
import json, pathlib, sys, time
for line in sys.stdin:
    request = json.loads(line)
    if request["verb"] == sys.argv[1]:
        pathlib.Path(sys.argv[2]).touch()
        time.sleep(3600)
    print(json.dumps({"id": request["id"], "ok": {"name": "stubborn", "version": "1", "capabilities": ["create", "fetch"]}}),
          flush=True)
if sys.argv[1] == "the end":
    pathlib.Path(sys.argv[2]).touch()
    time.sleep(3600)
"""
"""An adapter that hangs at some verb, or does not end with its stdin."""


def interrupted(verb: str, tmp_path: Path, *words: str) -> tuple[str, list[str]]:
    """Press Ctrl-C when an adapter hangs at a verb; give what was printed, and what was told besides."""
    there = tmp_path / "there"
    adapter = ("--", sys.executable, "-c", STUBBORN, verb, str(there))
    command = [sys.executable, "-m", "farref", "conform", "--only", "R20", *words, *adapter]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        while not there.exists():
            assert process.poll() is None
            time.sleep(0.05)
        adapters = children(process.pid)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert len(adapters) == 1
    assert process.returncode == 4
    assert "Traceback" not in err
    assert not is_alive(adapters[0])
    return out, err.splitlines()


@pytest.mark.parametrize("verb", ["hello", "start"])
def test_ctrl_c_leaves_no_process(verb: str, tmp_path: Path) -> None:
    out, told = interrupted(verb, tmp_path)
    assert out == ""
    assert told[-1] == "farref: interrupted"


def test_ctrl_c_loses_no_verdict(tmp_path: Path) -> None:
    out, told = interrupted("start", tmp_path, "--only", "R4", "--format", "json")
    rows = {row["id"]: (row["verdict"], row["message"]) for row in json.loads(out)["clauses"]}
    assert rows["R4"] == ("skipped", "the backend does not declare call")
    assert rows["R20"] == ("untested", "the run was interrupted")
    assert told[-1] == "farref: interrupted"


def test_ctrl_c_at_the_end_loses_no_verdict(tmp_path: Path) -> None:
    out, told = interrupted("the end", tmp_path, "--format", "json", "--runs", "1")
    verdicts = {row["verdict"] for row in json.loads(out)["clauses"]}
    assert "fail" in verdicts
    assert "untested" not in verdicts
    assert told[-1] == "farref: interrupted"


@pytest.mark.parametrize("verb", ["hello", "start"])
def test_ctrl_c_loses_no_report_of_another_backend(verb: str, tmp_path: Path) -> None:
    out, told = interrupted(verb, tmp_path, "--backend", TOY, "--format", "json")
    assert json.loads(out)["backend"] == "toy"
    assert told[-1] == "farref: interrupted"


def test_ctrl_c_loses_no_report_of_another_day(farref: Farref, tmp_path: Path) -> None:
    saved = tmp_path / "saved.json"
    farref("conform", "--backend", TOY, "--only", "R20", "-o", str(saved))
    out, _ = interrupted("hello", tmp_path, "--from", str(saved), "--format", "json")
    assert json.loads(out)["backend"] == "toy"


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_while_the_report_is_written(farref: Farref, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    as_usual = publish.rendered

    def rendered(*given: Any) -> str:
        signal.raise_signal(signal.SIGINT)
        return as_usual(*given)

    monkeypatch.setattr(publish, "rendered", rendered)
    path = tmp_path / "report.json"
    result = farref("conform", "--backend", TOY, "--only", "R20", "-o", str(path))
    assert json.loads(path.read_bytes())["backend"] == "toy"
    assert result.exit_code == 4
    assert result.stderr.endswith("farref: interrupted\n")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.usefixtures("ctrl_c")
def test_a_second_ctrl_c_is_not_held_back() -> None:
    heard = []

    def impatient() -> None:
        with held_back():
            for press in (1, 2, 3):
                heard.append(press)
                signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        impatient()
    assert heard == [1, 2]


LATE = """
import atexit, os, signal, sys
atexit.register(os.kill, os.getpid(), signal.SIGINT)
from farref.__main__ import main
main()
"""


def test_ctrl_c_after_the_end_changes_nothing() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", LATE, "spec", "R1"], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert (ran.returncode, ran.stderr) == (0, "")


def children(pid: int) -> list[int]:
    ran = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, timeout=60)
    return [int(word) for word in ran.stdout.split()]


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
