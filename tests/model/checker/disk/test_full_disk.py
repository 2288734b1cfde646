"""A search on a disk that is really full: what it found stays, and it goes on when there is room (`spec/evidence/large.md`).

The disk is a small file system in memory that only the command sees. Where it cannot be made, the test is skipped.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

WORLD = ("--workers", "2", "--forks", "3", "--drops", "1", "--format", "json")
APART = ("unshare", "--mount", "--map-root-user")
FARREF = (sys.executable, "-m", "farref", "check", "rref", *WORLD)


def test_a_search_on_a_full_disk_is_incomplete_and_goes_on_when_there_is_room(tmp_path: Path) -> None:
    disk, part, whole = tmp_path / "disk", tmp_path / "part.json", tmp_path / "whole.json"
    disk.mkdir()
    _refuse_without_a_disk(disk)
    begun = apart(
        _mount("size=3m", disk),
        f"{shlex.join([*FARREF, '--disk', str(disk / 'states')])} > {part}; test $? = 4",
        _mount("remount,size=99m", disk),
        f"{shlex.join([*FARREF, '--resume', str(disk / 'states')])} > {whole}",
    )
    assert begun.returncode == 0, begun.stderr
    assert read(part)["verdict"] == "incomplete"
    assert "there is no room" in part.read_text()
    assert 0 < read(part)["distinct"] < read(whole)["distinct"]
    in_memory = json.loads(subprocess.run(FARREF, check=True, capture_output=True).stdout)
    for name in ("verdict", "distinct", "generated", "depth"):
        assert read(whole)[name] == in_memory[name], name


def _refuse_without_a_disk(disk: Path) -> None:
    try:
        made = apart(_mount("size=1m", disk))
    except FileNotFoundError:
        pytest.skip("there is no `unshare` here")
    if made.returncode:
        pytest.skip(f"no file system of a test's own can be made here: {made.stderr.strip()}")


def _mount(options: str, disk: Path) -> str:
    return f"mount -t tmpfs -o {options} none {shlex.quote(str(disk))}"


def apart(*commands: str) -> subprocess.CompletedProcess[str]:
    """Run commands where nobody else sees what they mount; the first that fails is the last."""
    return subprocess.run([*APART, "sh", "-c", " && ".join(commands)], capture_output=True, text=True)


def read(file: Path) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(file.read_text())
    return told
