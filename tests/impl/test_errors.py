"""spec/errors.md: every error is on the page, of the kind that it says, and each row of calls happens as it says."""

from __future__ import annotations

import inspect
import os
import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from farref.impl import errors, launch, rpc_sync
from farref.impl.core.autograd.messages import Cause
from farref.properties.conformance.adapters.processes.agent import ProcessesAgent
from tests.impl.far import erring as far
from tests.impl.far.unwritable import Poisoned

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "spec" / "errors.md").read_text()
CLASSES = {
    name: kind
    for name, kind in inspect.getmembers(errors, inspect.isclass)
    if issubclass(kind, errors.RpcError) and kind is not errors.RpcError
}
DID_NOT, RAN, MAY_HAVE = "did not run", "ran", "may have run"


def section(title: str) -> list[list[str]]:
    """Read the rows of the table of a section."""
    text = PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    lines = [line for line in text.splitlines() if line.startswith("| ")][1:]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


CALLS = {row[0]: row for row in section("Calls")}


def first_class(cell: str) -> str:
    return str(re.findall(r"`(\w+)`", cell)[0])


# -- the page ----------------------------------------------------------------------------------------------------------


def test_every_error_is_on_the_page() -> None:
    assert set(CLASSES) <= set(re.findall(r"`(\w+)`", PAGE))


def test_every_conclusion_names_classes_and_all_that_a_call_may_raise() -> None:
    concluded = PAGE.partition("| conclusion | classes |")[2].partition("\n\n")[0]
    named = set(re.findall(r"`(\w+)`", concluded))
    assert named <= set(CLASSES)
    assert {first_class(row[2]) for row in CALLS.values()} <= named


@pytest.mark.parametrize("title", ["Calls", "Creations and fetches", "Passes"])
def test_an_error_is_of_the_kind_that_the_page_says(title: str) -> None:
    place = 2 if title == "Calls" else 1
    for row in section(title):
        names = [name for name in re.findall(r"`(\w+)`", row[place]) if name in CLASSES]
        kinds = re.findall(r"`(\w+)`", row[place + 1])
        for name, kind in zip(names, kinds, strict=False):
            assert ProcessesAgent().describe(CLASSES[name]("x"))["kind"] == kind, name


def test_every_fault_of_a_pass_has_its_row() -> None:
    faults = re.findall(r"^`(\w+)`$", "\n".join(row[0] for row in section("Passes")), re.MULTILINE)
    assert faults == [cause.name for cause in Cause]


# -- what happens ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def world() -> Iterator[None]:
    modules = [far.__name__, "tests.impl.far.unwritable"]
    with pytest.warns(UserWarning, match="allow_pickle"), launch(["A", "B"], allow=modules, allow_pickle=True):
        yield


Attempt = Callable[[str], Any]
ATTEMPTS: dict[str, Attempt] = {
    "the function raised": lambda place: rpc_sync("A", far.note_and_fail, [place]),
    "the callee has no such function, or does not allow it": lambda _: rpc_sync("A", os.getpid),
    "the callee cannot read the arguments": lambda place: rpc_sync("A", far.note, [place, Poisoned()]),
    "an argument cannot be written": lambda place: rpc_sync("A", far.note, [place, threading.Lock()]),
    "the result cannot be written": lambda place: rpc_sync("A", far.note_and_give_what_nobody_writes, [place]),
    "the result cannot be read, or brings too much": lambda place: rpc_sync(
        "A", far.note_and_give_what_nobody_reads, [place]
    ),
    "the time is up": lambda place: rpc_sync("A", far.note_and_wait, [place, 1.0], timeout=0.2),
    "there is no such worker": lambda place: rpc_sync("nobody", far.note, [place]),
    "the callee died": lambda place: rpc_sync("B", far.note_and_end, [place]),
}

SHOWN_ELSEWHERE = {
    "a limit of the callee is reached": "worker/test_limits.py::test_R28_calls_that_are_too_large_together_are_refused",
    "a limit of the caller is reached": (
        "worker/test_limits.py::test_a_program_has_no_more_calls_without_an_answer_than_it_may"
    ),
    "so many functions run on the callee as may": (
        "worker/test_limits.py::test_no_more_functions_run_at_once_than_there_may_be_threads_and_the_rest_goes_on"
    ),
    "the callee takes nothing in, for the whole timeout": (
        "worker/test_pauses.py::test_calls_to_a_peer_that_takes_nothing_in_wait_and_then_fail_while_memory_has_a_limit"
    ),
    "the owner of an argument died before the function began": (
        "core/test_peers.py::test_R34_a_call_that_waits_is_not_handed_what_the_dead_owned"
    ),
    "the context of the call is closed on the callee": (
        "core/autograd/test_clauses.py::test_A9_A25_a_call_that_arrives_late_is_refused_and_accounted_for"
    ),
    "the context of the call was closed while the function ran": (
        "autograd/test_processes.py::test_A9_A24_a_call_that_outlives_its_context_is_refused"
    ),
    "an argument is a reference of an earlier life, or one whose creation timed out": (
        "test_lives.py::test_R2_N8_references_work_after_shutting_down_and_beginning_again"
    ),
    "this worker was excluded (R38): every use says so, until it joins again": (
        "test_members.py::test_R38_R44_a_process_that_was_paused_is_refused_and_joins_again"
    ),
    "this worker has not begun, or is leaving": "test_endings.py::test_leaving_a_block_leaves_nothing",
}


@pytest.mark.usefixtures("world")
@pytest.mark.parametrize("row", ATTEMPTS)
def test_a_call_ends_as_the_page_says(row: str, tmp_path: Path) -> None:
    _, _, raised, _, conclusion = CALLS[row]
    place = tmp_path / "lines"
    with pytest.raises(errors.RpcError) as caught:
        ATTEMPTS[row](str(place))
    told = "RemoteError" if isinstance(caught.value, errors.RemoteError) else type(caught.value).__name__
    assert told == first_class(raised)
    is_concluded = {DID_NOT: [False], RAN: [True], MAY_HAVE: [False, True]}[conclusion]
    assert place.exists() in is_concluded


@pytest.mark.parametrize(("row", "test"), SHOWN_ELSEWHERE.items())
def test_what_is_shown_elsewhere_is_shown(row: str, test: str) -> None:
    path, _, name = test.partition("::")
    assert row in CALLS
    assert f"\ndef {name}(" in (ROOT / "tests" / "impl" / path).read_text()


def test_every_row_of_calls_is_shown() -> None:
    assert set(CALLS) == {*ATTEMPTS, *SHOWN_ELSEWHERE}
