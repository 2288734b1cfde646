"""farref as a process of its own: what goes to which stream, and how Ctrl-C ends it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]


def start(*words: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "farref", *words]
    return subprocess.Popen(command, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def finish(*words: str) -> tuple[int, str, str]:
    process = start(*words)
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


def interrupt(*words: str) -> tuple[int, str, str]:
    """Let a search run for a little, then press Ctrl-C."""
    process = start(*words)
    time.sleep(4)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


def test_json_is_all_there_is_on_stdout() -> None:
    code, out, err = finish("check", "rref", "--workers", "2", "--forks", "1", "--format", "json")
    assert (code, err) == (0, "")
    assert json.loads(out)["verdict"] == "holds"


def test_progress_goes_to_stderr() -> None:
    words = ("--workers", "4", "--forks", "4", "--drops", "2", "--seconds-max", "7")
    code, out, err = finish("check", "rref", *words, "--format", "json")
    assert code == 4
    assert json.loads(out)["verdict"] == "incomplete"
    assert "states/s" in err


def test_interrupted_search_tells_what_it_found() -> None:
    words = ("check", "rref", "--workers", "4", "--forks", "4", "--drops", "2", "--format", "json", "--quiet")
    code, out, err = interrupt(*words)
    answer = json.loads(out)
    assert (code, err) == (4, "")
    assert answer["verdict"] == "incomplete"
    assert "interrupted" in answer["notes"]
    assert answer["distinct"] > 0


def test_interrupted_portfolio_tells_what_was_not_run() -> None:
    code, out, err = interrupt("check", "rref", "--quiet", "--engine", "reference")
    assert (code, err) == (4, "")
    assert "INCOMPLETE" in out
    assert "not run: " in out


def test_interrupted_table_has_the_rows_so_far() -> None:
    code, out, err = interrupt(
        "check", "rref", "--each", "rule", "--engine", "reference", "--format", "json", "--quiet"
    )
    assert (code, err) == (4, "")
    answer = json.loads(out)
    assert answer["verdict"] == "incomplete"
    assert len(answer["rows"]) >= 1


def test_the_reader_of_the_output_may_leave() -> None:
    process = start("spec")
    assert process.stdout is not None
    process.stdout.close()
    assert process.wait(timeout=60) in (0, 1, 120)
    assert process.stderr is not None
    assert "Traceback" not in process.stderr.read()


def test_help_teaches() -> None:
    code, out, _ = finish("check", "--help")
    assert code == 0
    assert "farref check rref --profile torch --claim N1" in out
