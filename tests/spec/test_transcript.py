"""The conversation in the spec: its frames can be read, and its logs are accepted, as they are and no other way."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner

from farref.cli import cli
from farref.impl.transport.frames import HEADER, read_body
from tests.pages.conversation import conversation

SPEC: Final = Path(__file__).parents[2] / "spec"
SAMPLE: Final = re.search(
    r"^<!-- sample -->\n```json\n(.*?)```", (SPEC / "log.md").read_text(), re.MULTILINE | re.DOTALL
)


def frames() -> list[bytes]:
    """Put the frames of the transcript together again."""
    text = (SPEC / "building" / "transcript.md").read_text().partition("### A creates x")[2]
    messages = re.findall(r"^[AB] to [AB]: \w+\n((?:  .+\n)+)", text, re.MULTILINE)
    return [bytes.fromhex("".join(line.split()[0] for line in one.splitlines())) for one in messages]


def test_the_frames_of_the_transcript_are_the_messages_of_the_conversation() -> None:
    said = [one.message for one in conversation().said if not isinstance(one.message, bytes)]
    assert [read_body(frame[HEADER.size :]) for frame in frames()] == said


def judged(lines: list[str], place: Path) -> int:
    log = place / "sample.jsonl"
    log.write_text("\n".join(lines) + "\n")
    return CliRunner().invoke(cli, ["replay", "--validate", str(log)]).exit_code


def lines() -> list[str]:
    assert SAMPLE is not None
    return SAMPLE[1].splitlines()


def test_the_sample_is_accepted(tmp_path: Path) -> None:
    assert judged(lines(), tmp_path) == 0


@pytest.mark.parametrize("event", ["create remote", "finish", "share", "drop"])
def test_the_sample_without_an_event_is_not(event: str, tmp_path: Path) -> None:
    """A number that is left out of a log that is complete, or an event that nothing explains."""
    first = next(place for place, line in enumerate(lines()) if json.loads(line).get("event") == event)
    assert judged([line for place, line in enumerate(lines()) if place != first], tmp_path) != 0
