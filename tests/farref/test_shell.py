"""farref in a shell: readers that leave, output that cannot be written, any encoding, and kills."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PATIENCE = 600


def run(command: str, **environment: str) -> tuple[int, str, str]:
    """Run a command in a shell; `farref` is ours, and a pipe ends as its first part does."""
    line = f'set -o pipefail; farref() {{ {shlex.quote(sys.executable)} -m farref "$@"; }}; {command}'
    done = subprocess.run(
        ["bash", "-c", line], cwd=ROOT, capture_output=True, env={**os.environ, **environment}, timeout=PATIENCE
    )
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def test_a_reader_that_leaves_changes_no_verdict() -> None:
    assert run("farref check rref --workers 2 --forks 1 --quiet | true")[::2] == (0, "")
    assert run("farref check rref --workers 2 --forks 1 --quiet --profile torch --format json | true")[::2] == (1, "")
    assert run("farref check --help | true")[0] in (0, 141)


@pytest.mark.parametrize("redirection", [">/dev/full", ">&-"])
@pytest.mark.parametrize("words", ["spec", "spec R7", "check rref --workers 2 --forks 1 --quiet"])
def test_output_that_cannot_be_written_is_told_in_a_line(words: str, redirection: str) -> None:
    code, _, err = run(f"farref {words} {redirection}")
    assert (code, err.count("\n")) == (3, 1)
    assert err.startswith("farref: ")


NARROW = {
    "ASCII": {"PYTHONIOENCODING": "ascii"},
    "Latin-1": {"PYTHONIOENCODING": "latin-1"},
    "the C locale": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
}


@pytest.mark.parametrize("environment", NARROW.values(), ids=NARROW)
def test_any_encoding_will_do(environment: dict[str, str]) -> None:
    for words, told in {"check rref --workers 2 --forks 1 --quiet": "HOLDS", "spec R7": "### R7"}.items():
        code, out, err = run(f"farref {words}", **environment)
        assert (code, err) == (0, "")
        assert told in out


PRESSED = """
import os, signal, sys
from farref.__main__ import main

class Presses:
    def find_spec(self, name, *_):
        if name == "farref.cli":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Presses())
main()
"""


def test_ctrl_c_while_modules_are_imported_is_no_accident() -> None:
    done = subprocess.run([sys.executable, "-c", PRESSED], cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE)
    assert (done.returncode, done.stdout, done.stderr) == (4, "", "farref: interrupted\n")


@pytest.mark.usefixtures("tlc_is_here")
def test_a_polite_kill_takes_tlc_along(tmp_path: Path) -> None:
    words = ("check", "rref", "--engine", "tlc", "--workers", "3", "--forks", "3", "--drops", "2", "--quiet")
    command, environment = [sys.executable, "-m", "farref", *words], {**os.environ, "TMPDIR": str(tmp_path)}
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=pipe, stderr=pipe, text=True)
    try:
        while not list(tmp_path.glob("farref-tlc-*/states")):
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    assert (process.returncode, err) == (4, "")
    assert "INCOMPLETE" in out
    assert "note: interrupted" in out
    assert not list(tmp_path.iterdir())
    assert str(tmp_path) not in subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True).stdout
