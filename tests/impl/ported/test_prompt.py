"""What is typed at a prompt or in a notebook is in no file: workers say what to do, or are given the text."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from farref.impl import RpcError, launch
from farref.impl.prompt import checked_source

ROOT = Path(__file__).parents[3]
IMPORTS = "from farref.impl import function, launch, rpc_sync\n"
TYPED = "def double(x):\n    return 2 * x\n\n"
REGISTERED = "@function\ndef triple(x):\n    return 3 * x\n\n"
CLASS = """
from dataclasses import dataclass

@dataclass
class Place:
    x: int

def right_of(place):
    return Place(place.x + 1)

"""


def asked(call: str, options: str = "") -> str:
    """Give the lines that call a worker, and print what comes or what is refused."""
    return (
        f"with launch(1{options}):\n    try:\n        print('got', {call})\n"
        "    except Exception as error:\n        print('refused', error)\n\n"
    )


def typed(lines: str, how: str) -> str:
    """Type lines at a prompt, and read what is printed."""
    done = subprocess.run(
        [sys.executable, how],
        input=lines,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONSTARTUP": ""},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


@pytest.mark.parametrize(("how", "options"), [("-i", ""), ("-", ", allow=['__main__']")])
def test_a_function_that_was_typed_is_refused_with_advice_that_helps(how: str, options: str) -> None:
    told = typed(IMPORTS + TYPED + asked("rpc_sync('worker1', double, [4])", options), how)
    assert "refused __main__:double is no" in told
    assert "it was typed at a prompt or in a notebook, where no other process can find it. Put it into a file" in told
    assert "launch(source=text, allow=['__main__'])" in told
    assert "mark it with @function in a module" not in told


@pytest.mark.parametrize("how", ["-i", "-"])
def test_workers_that_are_given_the_text_have_what_was_typed(how: str) -> None:
    source = IMPORTS + TYPED + REGISTERED
    lines = source + f"source = {source!r}\n"
    lines += asked("rpc_sync('worker1', double, [4])", ", source=source, allow=['__main__']")
    told = typed(lines + asked("rpc_sync('worker1', triple, [4])", ", source=source"), how)
    assert "got 8" in told
    assert "got 12" in told


def test_classes_of_several_cells_travel_there_and_back() -> None:
    lines = IMPORTS + CLASS + f"In = [{IMPORTS!r}, {CLASS!r}]\n"
    asking = asked("rpc_sync('worker1', right_of, [Place(1)]) == Place(2)", ", source=In, allow=['__main__']")
    assert "got True" in typed(lines + asking, "-")


def test_what_the_text_does_not_have_is_told_as_ever() -> None:
    lines = IMPORTS + TYPED + asked("rpc_sync('worker1', double, [4])", ", source='x = 1', allow=['__main__']")
    assert "__main__:double is no function of that module on worker1: it was typed" in typed(lines, "-")


def test_a_worker_whose_text_fails_ends_and_says_so() -> None:
    beginning = "try:\n    with launch(1, source='1 // 0'):\n        pass\n"
    told = typed(IMPORTS + beginning + "except Exception as error:\n    print(error)\n\n", "-")
    assert "ZeroDivisionError" in told
    assert 'File "<source>", line 1' in told
    assert "a worker ended with code 1 before the world came together" in told


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ("%time f()", "line 1 is none: invalid syntax"),
        (["x = 1", "def"], "line 2 is none"),
        (3, "or a list of such texts; not 3"),
        ([3], "or a list of such texts"),
    ],
)
def test_a_text_that_is_no_program_is_refused_at_once(wrong: Any, why: str, place: Path) -> None:
    with pytest.raises(RpcError, match=f"source is the text of a program.*{why}"), launch(1, source=wrong):
        pass
    assert not list(place.iterdir())
    assert checked_source(["x = 1", "y = 2"]) == "x = 1\ny = 2"
