"""`farref replay --validate`: what it prints, and what it ends with."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

Farref = Callable[..., Result]

STORY = """
{"format": "farref-log/1", "subject": "rref", "worker": 0, "workers": ["B", "A"]}
{"format": "farref-log/1", "subject": "rref", "worker": 1, "workers": ["B", "A"]}
{"worker": 1, "number": 1, "event": "create remote", "rref": "1.1.1", "fork": "1.1.1", "to": 0}
{"worker": 0, "number": 1, "event": "receive", "rref": "1.1.1", "fork": "1.1.1", "message": "RemoteCall", "source": 1}
{"worker": 0, "number": 2, "event": "finish", "rref": "1.1.1"}
{"worker": 0, "number": 3, "event": "receive", "rref": "1.1.1", "fork": "1.1.1", "message": "UserDelete", "source": 1}
{"worker": 0, "number": 4, "event": "drop", "rref": "1.1.1"}
{"worker": 0, "number": 5, "event": "end"}
{"worker": 1, "number": 2, "event": "receive", "rref": "1.1.1", "fork": "1.1.1", "message": "UserAccept", "source": 0}
{"worker": 1, "number": 3, "event": "let go", "rref": "1.1.1", "fork": "1.1.1"}
{"worker": 1, "number": 4, "event": "receive", "rref": "1.1.1", "fork": "1.1.1", "message": "Ack(UserDelete)", "source": 0}
{"worker": 1, "number": 5, "event": "end"}
"""
"""A creates on B, and lets go."""


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str], str]:
    def write(content: str) -> str:
        (tmp_path / "log.jsonl").write_text(content)
        return str(tmp_path / "log.jsonl")

    return write


def without(part: str) -> str:
    assert sum(part in line for line in STORY.splitlines()) == 1
    return "\n".join(line for line in STORY.splitlines() if part not in line)


def test_a_story_that_happened(farref: Farref, write: Callable[[str], str]) -> None:
    path = write(STORY)
    result = farref("replay", "--validate", path, "--format", "json")
    answer = json.loads(result.stdout)
    assert (result.exit_code, answer["verdict"], answer["event"]) == (0, "accepted", None)
    assert (answer["events"], answer["workers"], answer["unlogged"]) == (10, ["B", "A"], [])
    assert "ACCEPTED" in farref("replay", "--validate", str(Path(path).parent)).stdout


REFUSED = {
    "a letting go of what is not held": (
        STORY.replace('"let go", "rref": "1.1.1", "fork": "1.1.1"', '"let go", "rref": "1.1.1"'),
        "event 3 of A: let go, RRef 1.1.1",
    ),
    "a value is kept": (
        without('"drop"').replace('"number": 5, "event": "end"', '"number": 4, "event": "end"', 1),
        "event 3 of B: receives UserDelete from A, RRef 1.1.1, fork 1.1.1",
    ),
    "a delete that nobody sent": (
        without('"let go"')
        .replace('"number": 4, "event": "receive"', '"number": 3, "event": "receive"')
        .replace('{"worker": 1, "number": 5, "event": "end"}', '{"worker": 1, "number": 4, "event": "end"}'),
        "event 3 of B: receives UserDelete from A",
    ),
    "a number is missing": (without('"finish"'), "event 3 of B"),
    "something is said to be left": (
        STORY.replace('"number": 5, "event": "end"', '"number": 5, "event": "end", "users": 1'),
        "of B: end",
    ),
}


@pytest.mark.parametrize(("story", "named"), REFUSED.values(), ids=REFUSED)
def test_a_story_that_did_not_happen(farref: Farref, write: Callable[[str], str], story: str, named: str) -> None:
    result = farref("replay", "--validate", write(story))
    assert result.exit_code == 1
    assert named in result.stdout
    assert "REFUSED" in result.stdout


def with_first(event: str) -> str:
    """Put an event of A before all its others."""
    lines = [json.loads(line) for line in STORY.strip().splitlines()]
    for line in lines:
        if line["worker"] == 1 and "number" in line:
            line["number"] += 1
    lines.insert(2, {"worker": 1, "number": 1, **json.loads(event)})
    return "\n".join(map(json.dumps, lines))


def test_R32_nothing_begins_after_shutdown(farref: Farref, write: Callable[[str], str]) -> None:
    result = farref("replay", "--validate", write(with_first('{"event": "shut down"}')))
    assert result.exit_code == 1
    assert "event 2 of A: create remote to B" in result.stdout
    assert "R32" in result.stdout


def test_R34_what_follows_a_death_is_not_judged(farref: Farref, write: Callable[[str], str]) -> None:
    nonsense = without('"finish"').replace('"number": 3, "event": "receive"', '"number": 2, "event": "receive"')
    died = with_first('{"event": "died", "peer": 0}')
    assert farref("replay", "--validate", write(nonsense)).exit_code == 1
    assert farref("replay", "--validate", write(died)).exit_code == 0


def test_R34_to_hang_up_when_nothing_is_left_is_no_death(farref: Farref, write: Callable[[str], str]) -> None:
    end = '{"worker": 1, "number": 5, "event": "end"}'
    hung_up = '{"worker": 1, "number": 5, "event": "died", "peer": 0}'
    story = STORY.replace(end, f"{hung_up}\n{end.replace('5', '6')}")
    assert farref("replay", "--validate", write(story)).exit_code == 0
    lost = story.replace(
        '"fork": "1.1.1", "message": "Ack(UserDelete)"', '"fork": "1.1.2", "message": "Ack(UserDelete)"'
    )
    assert farref("replay", "--validate", write(lost)).exit_code == 1


def test_silence_is_undecided_at_worst(farref: Farref, write: Callable[[str], str]) -> None:
    only_owner = "\n".join(line for line in STORY.splitlines() if '"worker": 0' in line)
    result = farref("replay", "--validate", write(only_owner))
    assert result.exit_code == 0
    assert "no log of A" in result.stdout


BAD = {
    "not json": ("{", "line 1"),
    "nothing": ("", "not even a header"),
    "no header": (STORY.splitlines()[3], "has no header"),
    "another format": (STORY.replace("farref-log/1", "farref-log/9"), "farref-log/9"),
    "another event": (STORY.replace('"finish"', '"dance"'), "dance"),
    "a field is missing": (STORY.replace(', "source": 1}', "}", 1), "needs 'source'"),
    "a worker that is not": (STORY.replace('"to": 0', '"to": 7'), "worker 7"),
    "an id that is none": (STORY.replace('"rref": "1.1.1"', '"rref": "x"'), "begins with the rank"),
    "an id of nobody": (STORY.replace('"rref": "1.1.1"', '"rref": "7.1.1"'), "begins with the rank"),
    "an RRef where none is": (
        STORY.replace('"event": "end"', '"event": "end", "rref": "1.1.1"', 1),
        "is about no RRef",
    ),
    "two of one": (STORY + STORY, "two logs"),
    "backwards": (STORY.replace('"number": 5, "event": "end"', '"number": 1, "event": "end"'), "stands behind"),
    "a trace": ('{"format": "farref-trace/1"}\n', "line 1"),
}


@pytest.mark.parametrize(("content", "told"), BAD.values(), ids=BAD)
def test_bad_input_gets_one_line(farref: Farref, write: Callable[[str], str], content: str, told: str) -> None:
    result = farref("replay", "--validate", write(content + "\n"))
    assert (result.exit_code, result.stdout) == (2, "")
    assert len(result.stderr.splitlines()) == 1
    assert told in result.stderr


def test_what_is_not_there(farref: Farref, tmp_path: Path) -> None:
    assert "No such file" in farref("replay", "--validate", str(tmp_path / "no")).stderr
    assert "without logs" in farref("replay", "--validate", str(tmp_path)).stderr
    assert "one trace at a time" in farref("replay", "a", "b").stderr
