"""Runs in the formats of other tools: what each of them writes is read back, by the tool itself where it is installed."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import pytest
from click.testing import Result

from farref.properties.logs.format import read_logs
from farref.properties.protocols import CHECKED
from farref.properties.traces.file import Trace
from farref.properties.traces.itf import PICKS, TAKEN, from_itf, to_itf
from farref.rendering.traces.events import Event, of_log, of_trace
from farref.rendering.traces.mermaid import to_mermaid
from farref.rendering.traces.perfetto import to_perfetto
from farref.rendering.traces.shiviz import EXPRESSION, to_shiviz

Farref = Callable[..., Result]
ROOT: Final = Path(__file__).parents[4]


@pytest.fixture(scope="module")
def log_events() -> list[Event]:
    """The events of the two workers that the manual of logs shows."""
    page = (ROOT / "spec" / "log.md").read_text()
    shown = re.search(r"```json\n(\{\"format\"[^`]*\n\{\"format\"[^`]*)```", page)
    assert shown is not None
    return of_log(read_logs([("log.md", shown[1].encode())]))


# -- ITF ---------------------------------------------------------------------------------------------------------------


def test_itf_is_read_back(trace: Trace) -> None:
    assert from_itf(to_itf(trace).encode()) == trace


def test_itf_is_as_its_definition_says(trace: Trace) -> None:
    document = json.loads(to_itf(trace))
    assert document["#meta"]["format"] == "ITF"
    for number, state in enumerate(document["states"]):
        assert state["#meta"] == {"index": number}
        assert set(state) == {"#meta", *document["vars"]}
        for name in document["vars"]:
            assert_itf(state[name])
    assert document["states"][0][TAKEN] == "init"


def assert_itf(value: Any) -> None:
    """ADR-015 of Apalache: what an expression is."""
    match value:
        case bool() | str():
            pass
        case {"#bigint": str(number)} if len(value) == 1:
            assert re.fullmatch(r"-?\d+", number)
        case {"#set": list(members)} if len(value) == 1:
            for one in members:
                assert_itf(one)
            assert len({json.dumps(one, sort_keys=True) for one in members}) == len(members)
        case list():
            for one in value:
                assert_itf(one)
        case dict():
            assert not any(name.startswith("#") for name in value)
            for one in value.values():
                assert_itf(one)
        case _:
            raise AssertionError(f"{value!r} is no ITF")


def test_itf_py_reads_it(trace: Trace) -> None:
    itf_py = pytest.importorskip("itf_py", reason="ITF is not read by another program: there is no itf-py")
    read = itf_py.trace_from_json(json.loads(to_itf(trace)))
    assert len(read.states) == len(trace.steps) + 1
    assert [one.values[TAKEN] for one in read.states[1:]] == [step.action.partition("(")[0] for step in trace.steps]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda itf: itf["states"][2].update({TAKEN: "Fly"}), "state 2 names no action of this world"),
        (lambda itf: itf["states"][2].pop(PICKS), "state 2 names no action of this world"),
        (lambda itf: itf["states"][3].update(closing=True), "state 3: the file tells another 'closing'"),
        (lambda itf: itf["states"].pop(), "is the last, and N1 holds there"),
        (lambda itf: itf["#meta"].pop("farref"), "not as farref explain --format itf writes it"),
        (lambda itf: itf["#meta"]["farref"]["bounds"].update(workers=0), "its bounds make no sense"),
    ],
)
def test_a_damaged_itf_is_refused_in_one_line(
    farref: Farref, saved: Path, change: Callable[[Any], object], told: str
) -> None:
    itf = json.loads(farref("explain", str(saved), "--format", "itf").stdout)
    change(itf)
    saved.write_text(json.dumps(itf))
    result = farref("replay", str(saved))
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert told in result.stderr


def test_itf_is_replayed_and_explained_as_the_trace_is(farref: Farref, saved: Path, tmp_path: Path) -> None:
    itf = tmp_path / "n1.itf.json"
    itf.write_text(farref("explain", str(saved), "--format", "itf").stdout)
    for command in ("replay", "explain"):
        assert farref(command, str(itf)).stdout == farref(command, str(saved)).stdout


# -- Mermaid -----------------------------------------------------------------------------------------------------------

MERMAID_LINE: Final = re.compile(
    r"    (participant \w+ as \w+( \([\w, ]+\))?|\w+(->>|-->>|-x)\w+: .+|Note over \w+(,\w+)?: .+|loop for ever|end)"
)
"""The part of Mermaid's grammar of sequence diagrams that is used."""


def test_mermaid_is_a_sequence_diagram(trace: Trace) -> None:
    first, *lines = to_mermaid(trace).rstrip("\n").split("\n")
    assert first == "sequenceDiagram"
    for line in lines:
        assert MERMAID_LINE.fullmatch(line), line
        assert not re.search(r"[<;]|#(?!\d+;|\w+;)", re.sub(r"#(\d+|\w+);", "", line)), line
    assert lines.count("    loop for ever") == lines.count("    end") == (trace.loop_start is not None)
    notes = [line for line in lines if re.match(r"    Note over [\w,]+: \d+\. ", line)]
    assert len(notes) == len(trace.steps)


def test_mermaid_reads_it(trace: Trace) -> None:
    node = shutil.which("node")
    find = "require.resolve('mermaid')"
    if node is None or subprocess.run([node, "-e", find], capture_output=True, check=False).returncode:
        pytest.skip("Mermaid does not read it: no node, or no package mermaid where node looks (NODE_PATH)")
    program = "import(require.resolve('mermaid')).then(m => m.default.parse(require('fs').readFileSync(0, 'utf8')))"
    program += ".then(() => console.log('read'))"
    said = subprocess.run([node, "-e", program], input=to_mermaid(trace), capture_output=True, text=True, check=False)
    assert said.stdout == "read\n", said.stderr


# -- ShiViz ------------------------------------------------------------------------------------------------------------


def clocks(text: str) -> Iterator[tuple[str, str, dict[str, int]]]:
    """Read a log as ShiViz does: with its expression, and a clock that goes up by one on its own host."""
    pattern = re.compile(EXPRESSION.replace("(?<", "(?P<").replace("{.*}", r"\{.*\}"))
    assert pattern.sub("", text).strip() == "", "something is left that the expression does not read"
    last: dict[str, dict[str, int]] = {}
    for found in pattern.finditer(text):
        host, clock = found["host"], json.loads(found["clock"])
        before = last.get(host, {})
        assert clock[host] == before.get(host, 0) + 1
        assert all(clock.get(name, 0) >= tick for name, tick in before.items()), "a clock went back"
        last[host] = clock
        yield host, found["event"], clock


def test_shiviz_has_every_step_and_clocks_that_say_what_followed_from_what(trace: Trace) -> None:
    read = list(clocks(to_shiviz(of_trace(trace))))
    assert [host for host, _, _ in read] == [step.worker for step in trace.steps]
    for event, (_, _, clock) in zip(of_trace(trace), read, strict=True):
        if event.sent_in is not None:
            assert all(clock.get(name, 0) >= tick for name, tick in read[event.sent_in][2].items())


def test_shiviz_of_a_log(log_events: list[Event]) -> None:
    read = list(clocks(to_shiviz(log_events)))
    assert {host for host, _, _ in read} == {"A", "B"}
    [(_, _, clock)] = [one for one in read if "receives FetchReturn" in one[1]]
    assert clock["B"] >= 3, "B answered after it had received the fetch"


# -- Perfetto ----------------------------------------------------------------------------------------------------------


def assert_perfetto(text: str) -> list[dict[str, Any]]:
    """Chrome's trace format, as far as Perfetto insists on it: slices do not overlap, and arrows have both ends in a slice."""
    events: list[dict[str, Any]] = json.loads(text)["traceEvents"]
    slices = [one for one in events if one["ph"] == "X"]
    for one in slices:
        assert one["dur"] > 0
        assert one["ts"] >= 0
    for track in {one["tid"] for one in slices}:
        own = sorted((one["ts"], one["ts"] + one["dur"]) for one in slices if one["tid"] == track)
        assert all(end <= begin + 1e-6 for (_, end), (begin, _) in pairwise(own))
    starts, ends = ({one["id"]: one for one in events if one["ph"] == phase} for phase in ("s", "f"))
    assert set(starts) == set(ends)
    for one in (*starts.values(), *ends.values()):
        assert [1 for slice_ in slices if slice_["tid"] == one["tid"] and slice_["ts"] == one["ts"]] == [1]
    assert {one["tid"] for one in slices} == {one["tid"] for one in events if one["name"] == "thread_name"}
    assert {one["ph"] for one in events} <= {"M", "X", "s", "f"}
    return events


def test_perfetto_of_a_trace(trace: Trace) -> None:
    events = assert_perfetto(to_perfetto(of_trace(trace)))
    assert sum(one["ph"] == "X" for one in events) == len(trace.steps)


def test_perfetto_of_a_log_has_an_arrow_for_each_message(log_events: list[Event]) -> None:
    events = assert_perfetto(to_perfetto(log_events))
    received = [one for one in log_events if " receives " in one.text]
    assert sum(one["ph"] == "s" for one in events) == len(received)


def test_events_that_have_one_time_stand_behind_each_other() -> None:
    assert_perfetto(to_perfetto([Event("A", "one", 0.0), Event("A", "two", 0.0), Event("B", "three", 0.0, "m", 0)]))


# -- the command -------------------------------------------------------------------------------------------------------


def test_logs_are_shown_from_a_folder(farref: Farref, tmp_path: Path) -> None:
    lines = ['{"format": "farref-log/1", "subject": "rref", "worker": 0, "workers": ["A\\u001b[31m b"]}',
             '{"worker": 0, "number": 1, "event": "create local", "rref": "0.1"}']  # fmt: skip
    (tmp_path / "a.jsonl").write_text("\n".join(lines) + "\n")
    result = farref("explain", str(tmp_path), "--format", "shiviz")
    assert result.exit_code == 0
    assert "\x1b" not in result.stdout
    assert result.stdout.endswith('"A\\ufffd[31m_b": 1}\n') or "A�[31m_b" in result.stdout
    assert_perfetto(farref("explain", str(tmp_path), "--format", "perfetto").stdout)
    refused = farref("explain", str(tmp_path), "--format", "mermaid")
    assert (refused.exit_code, refused.stderr.count("\n")) == (2, 1)


def test_threads_have_no_messages(farref: Farref, tmp_path: Path) -> None:
    path = tmp_path / "threads.json"
    assert (
        farref("check", "threads", "--without", CHECKED["threads"].rules[0], "--quiet", "--save", str(path)).exit_code
        == 1
    )
    refused = farref("explain", str(path), "--format", "mermaid")
    assert "has none" in refused.stderr
    assert json.loads(farref("explain", str(path), "--format", "itf").stdout)["states"]
