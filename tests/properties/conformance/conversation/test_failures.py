"""Failures as the kit hears of them: of which kind they are, and what of them belongs into a headline."""

from __future__ import annotations

import pytest

from farref.properties.conformance.conversation.host import describe
from farref.properties.conformance.conversation.session import OperationFailed, headline

TRACE = 'Traceback (most recent call last):\n  File "f.py", line 1, in f\n    g()\nValueError: no such luck\n'


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (LookupError("no handle is called x"), "unknown"),
        (KeyError("k"), "error"),
        (IndexError("list index out of range"), "error"),
        (TimeoutError(), "timeout"),
        (ValueError("no such luck"), "error"),
    ],
)
def test_what_a_function_looks_up_in_vain_is_its_own_error(error: Exception, kind: str) -> None:
    assert describe(error)["kind"] == kind


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("no such luck", "no such luck"),
        ("no such luck\nin two lines", "no such luck in two lines"),
        (TRACE, "ValueError: no such luck"),
        (f"no such luck\n\n========= Remote Traceback (1) =========\n{TRACE}", "no such luck"),
        (
            'worker B (pid 7)\n  File "f.py", line 1\nValueError: no such luck',
            "worker B (pid 7) … ValueError: no such luck",
        ),
        ("On B: no such luck\n\nAt:\n  /f.py(1): f\n", "On B: no such luck"),
        ("", ""),
    ],
)
def test_a_trace_is_no_part_of_a_headline(message: str, said: str) -> None:
    assert headline(message) == said


def test_the_whole_message_is_kept() -> None:
    failure = OperationFailed("error", "RemoteError", TRACE)
    assert str(failure) == "RemoteError: ValueError: no such luck"
    assert failure.in_full == f"RemoteError: {TRACE}"
    assert str(OperationFailed("error", "RemoteError", "")) == "RemoteError"
