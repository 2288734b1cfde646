"""Workers on two machines, and a link between them that is cut: healed in time, and not (R36, R38, R41, R44; Z11 to Z15).

The machines are network namespaces that the test makes and removes. Without the right to make them, it is skipped.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.impl.far import partitioned, visitor

ROOT = Path(__file__).parents[3]
PLACE = "10.211.55.1:29511"


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True)


@dataclass
class Machines:
    """Two namespaces with one link between them, and the processes on them."""

    left: str = field(default_factory=lambda: f"farref-l{os.getpid()}")
    right: str = field(default_factory=lambda: f"farref-r{os.getpid()}")
    link: str = "wire0"
    started: list[subprocess.Popen[str]] = field(default_factory=list)

    def make(self, undo: ExitStack) -> None:
        for machine in (self.left, self.right):
            ip("netns", "add", machine)
            undo.callback(ip, "netns", "del", machine)
            ip("-n", machine, "link", "set", "lo", "up")
        ip("-n", self.left, "link", "add", self.link, "type", "veth", "peer", "name", self.link, "netns", self.right)
        for number, machine in enumerate((self.left, self.right), 1):
            ip("-n", machine, "addr", "add", f"10.211.55.{number}/24", "dev", self.link)
            ip("-n", machine, "link", "set", self.link, "up")
        undo.callback(self.end)  # before the machines go

    def run(self, machine: str, module: str, *words: str, silence: str) -> subprocess.Popen[str]:
        """Start a process on a machine."""
        environment = {**os.environ, "FARREF_KEY": "a key of the tests", "VISITOR_SILENCE": silence}
        command = ["ip", "netns", "exec", machine, sys.executable, "-m", module, *words]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        self.started.append(subprocess.Popen(command, cwd=ROOT, env=environment, text=True, **pipes))  # type: ignore[call-overload]
        return self.started[-1]

    def end(self) -> None:
        for process in self.started:
            process.kill()
            process.communicate()


@pytest.fixture
def machines() -> Iterator[Machines]:
    if shutil.which("ip") is None:
        pytest.skip("there is no ip command here to make network namespaces with")
    made = Machines()
    with ExitStack() as undo:
        try:
            made.make(undo)
        except subprocess.CalledProcessError as error:
            pytest.skip(f"network namespaces cannot be made here: {error.stderr.strip()}")
        yield made


def begin(machines: Machines, story: str, silence: str) -> tuple[subprocess.Popen[str], subprocess.Popen[str]]:
    """Start rank 0 and A on one machine, B on the other."""
    words = (story, PLACE, machines.link)
    host = machines.run(machines.left, partitioned.__name__, *words, silence=silence)
    machines.run(machines.left, visitor.__name__, "A", "1", "3", PLACE, silence=silence)
    return host, machines.run(machines.right, visitor.__name__, "B", "2", "3", PLACE, silence=silence)


def test_R36_a_link_that_heals_in_time_loses_nothing_and_nobody(machines: Machines) -> None:
    host, _ = begin(machines, "healed", silence="12")
    _, said = host.communicate(timeout=120)
    assert (host.returncode, said) == (0, "")
    assert [one.wait(60) for one in machines.started] == [0, 0, 0], "all leave together"


def test_R38_R41_R44_a_link_that_does_not_heal_excludes_who_is_behind_it(machines: Machines) -> None:
    host, b = begin(machines, "not healed", silence="3")
    assert host.stdout is not None
    told = host.stdout.readline()
    assert told == "cut\n", host.communicate(timeout=60)[1]
    assert "was excluded" in b.communicate(timeout=60)[1] or b.returncode == 0, (
        "it hears that it is excluded, and leaves"
    )
    machines.run(machines.right, visitor.__name__, "B", "2", "3", PLACE, silence="3")
    _, said = host.communicate(timeout=120)
    assert (host.returncode, said) == (0, "")
