"""What the kit says of an adapter that answers with what no backend would: it is the adapter's fault, and said at once."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from farref.properties.conformance.conversation import process
from farref.properties.conformance.conversation.session import Session
from farref.properties.conformance.kit import checked_adapter
from farref.properties.conformance.kit.document import Row, Verdict
from farref.properties.conformance.kit.gradient_world import finds_gradients, sees_nothing
from farref.properties.conformance.kit.named import hosted
from farref.properties.conformance.kit.world import World
from tests.properties.conformance.conversation.test_validation import sloppy
from tests.properties.conformance.kit.test_runner import fine, made, row, tried

SECONDS_MAX = 8.0
"""Less than the deadline of an operation: nobody has waited for it."""


def giving(verb: str, answer: str) -> str:
    """Write the mistake of an adapter that answers a verb with a value."""
    return f"p = carry_out\ndef carry_out(request):\n    return {answer} if request['verb'] == {verb!r} else p(request)"


def on_fetch(deed: str) -> str:
    """Write the mistake of an adapter that does something when it is to fetch, and then waits."""
    return on_verb("fetch", deed)


def on_verb(verb: str, deed: str) -> str:
    """Write the mistake of an adapter that does something when it is asked for a verb, and then waits."""
    return (
        f"import os, time\np = carry_out\ndef carry_out(request):\n    if request['verb'] == {verb!r}:\n"
        f"        {deed}\n        time.sleep(60)\n    return p(request)"
    )


def judged(tmp_path: Path, mistake: str, run: Callable[[World], None]) -> Row:
    return row(tried(made("R1", run), command=sloppy(tmp_path, mistake)), "R1")


def fetches(world: World) -> None:
    world.create("A", "x", "B", "echo", [7])
    world.pause(0.3)
    world.finds("A", "x", 7)


@pytest.mark.parametrize("answer", ["{'owned': 0.0}", "{'owned': '0'}", "{'owned': False}", "{}", "[0]", "None",
                                    "{'owned': 0, 'forks': None}"])  # fmt: skip
def test_counts_that_are_none(tmp_path: Path, answer: str) -> None:
    found = judged(tmp_path, giving("probe", answer), lambda world: world.empties())
    assert found.verdict is Verdict.ERROR
    assert found.message.startswith("`probe` must give ")
    assert found.message.endswith(answer)


@pytest.mark.parametrize("answer", ["{'confirmed': 1}", "{}", "None"])
def test_a_handle_that_is_neither_confirmed_nor_not(tmp_path: Path, answer: str) -> None:
    found = judged(tmp_path, giving("probe", answer), lambda world: world.confirms("A", "x", 1.0))
    assert found.verdict is Verdict.ERROR
    assert "`confirmed`" in found.message


@pytest.mark.parametrize("answer", ["[0]", "None", "7"])
def test_a_wrong_answer_between_two_checks_ends_no_run(tmp_path: Path, answer: str) -> None:
    report = tried(made("R1", fine), made("R2", fine), command=sloppy(tmp_path, giving("probe", answer)))
    assert [one.verdict for one in report.clauses] == [Verdict.PASS, Verdict.PASS]


LINES = {
    "deep": "print('{\"id\": 0, \"ok\": ' + '[' * 100_000, flush=True)",
    "no text": 'os.write(1, b\'{"id": 0, "ok": "\\xff"}\\n\')',
    "no answer": "print('hello', flush=True)",
}


@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
def test_garbage_is_no_hang(tmp_path: Path, line: str) -> None:
    found = judged(tmp_path, on_fetch(line), fetches)
    assert found.verdict is Verdict.ERROR
    assert "not an answer to anything" in found.message
    assert found.seconds < SECONDS_MAX


def test_a_line_without_end_is_not_read_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("farref.properties.conformance.conversation.process.LINE_BYTES_MAX", 1000)
    found = judged(tmp_path, giving("fetch", "'x' * 5000"), fetches)
    assert found.verdict is Verdict.ERROR
    assert "a line of 1,000 bytes or more" in found.message


def test_an_adapter_that_closes_its_output(tmp_path: Path) -> None:
    found = judged(tmp_path, on_fetch("os.close(1)"), fetches)
    assert found.verdict is Verdict.ERROR
    assert "the adapter closed its output" in found.message
    assert found.seconds < SECONDS_MAX


def test_an_adapter_that_closes_its_input(tmp_path: Path) -> None:
    deaf = (
        "import os, time\nplain = answer\ndef answer(request):\n    if request['verb'] == 'create':\n"
        "        os.close(0)\n        say(plain(request))\n        time.sleep(60)\n    return plain(request)"
    )
    begun = time.monotonic()
    found = judged(tmp_path, deaf, fetches)
    assert found.verdict is Verdict.ERROR
    assert "the adapter no longer reads" in found.message
    assert time.monotonic() - begun < SECONDS_MAX


def test_an_adapter_that_leaves_its_input_unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "WRITE_SECONDS", 0.5)
    absent = (
        "import time\nplain = answer\ndef answer(request):\n    if request['verb'] == 'create':\n"
        "        say(plain(request))\n        time.sleep(60)\n    return plain(request)"
    )

    def tells_a_long_story(world: World) -> None:
        world.create("A", "x", "B", "echo", [7])
        world.call("A", "B", "echo", "long" * 100_000)

    found = judged(tmp_path, absent, tells_a_long_story)
    assert (found.verdict, found.message) == (Verdict.ERROR, "the adapter no longer reads its input")


def test_an_adapter_that_cannot_even_kill_is_asked_nothing_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def ask(session: Session, verb: str, arguments: Mapping[str, Any], plain: Any = Session.ask) -> Any:
        asked.append(verb)
        return plain(session, verb, arguments)

    monkeypatch.setattr(Session, "ask", ask)
    monkeypatch.setattr(checked_adapter, "STOP_SECONDS", 0.3)
    stuck = "CAPABILITIES.append('fault.kill')\n" + on_verb("fault", "pass")
    found = judged(tmp_path, stuck, lambda world: world.expect(False, "it is broken"))
    assert found.verdict is Verdict.FAIL
    assert asked == ["hello", "start", "fault", "fault"]


def test_an_adapter_that_does_not_stop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checked_adapter, "STOP_SECONDS", 0.3)
    told = ["`stop` failed or did not end"]
    for mistake, notes in (("", []), (on_verb("stop", "pass"), told), (giving("stop", "7"), told)):
        found = tried(made("R1", fine), command=sloppy(tmp_path, mistake))
        assert [one.partition(",")[0] for one in found.notes if "stop" in one] == notes


# -- values -------------------------------------------------------------------------------------------------------------


def test_gradients_that_are_no_numbers(tmp_path: Path) -> None:
    steps = [{"leaf": "p", "on": "A", "value": 3}]
    found = judged(tmp_path, giving("gradients", "{'p': None}"), lambda world: finds_gradients(world, steps, {"p": 2}))
    assert (found.verdict, found.message) == (Verdict.FAIL, "A has the gradients {p: None}, not {p: 2}")


def test_gradients_that_are_none_at_all(tmp_path: Path) -> None:
    found = judged(tmp_path, giving("gradients", "None"), lambda world: sees_nothing(world, "A"))
    assert found.verdict is Verdict.ERROR
    assert "`gradients` must give " in found.message


def test_what_json_cannot_say_is_said_to_be_so(tmp_path: Path) -> None:
    path = tmp_path / "odd.py"
    path.write_text(
        "class Odd:\n    name, version, capabilities = 'odd', '1', ['create', 'fetch', 'concurrent']\n"
        "    def start(self, *_): pass\n    def stop(self): return []\n    def create(self, *_): pass\n"
        "    def fetch(self, *_): return object()\n"
    )
    found = row(tried(made("R1", fetches), command=hosted(str(path))), "R1")
    assert found.verdict is Verdict.ERROR
    assert "objects of type object" in found.message
    assert found.seconds < SECONDS_MAX


def test_of_a_large_value_only_some_is_shown(tmp_path: Path) -> None:
    def sends_and_fetches(world: World) -> None:
        world.call("A", "B", "echo", "y" * 5000)
        fetches(world)

    found = judged(tmp_path, giving("fetch", "'x' * 1_000_000"), sends_and_fetches)
    assert found.verdict is Verdict.FAIL
    assert found.message.startswith("it gives 'xxx")
    assert found.message.endswith("xxx', not 7")
    assert "…" in found.message
    assert len(found.message) < 1000
    assert all(len(one.outcome) < 1000 and len(one.text) < 1000 for one in found.story)
    assert found.story[0].request["args"] == ["y" * 5000]
