"""Whatever the class of an error does, it can be told, and no thread ends by it."""

from __future__ import annotations

import io
import sys

import pytest

from farref.impl.values.telling import class_of, complain, in_short, message_of, traceback_of
from farref.impl.worker.reactor import run
from tests.impl.far import unwritable as far

ERRORS = [far.SelfInterruptingError, far.NamelessError, far.AnnotatedError, far.ClosedError, far.UncountedError]


def raised(kind: type[Exception]) -> Exception:
    """Raise an error, and catch it."""
    try:
        raise kind
    except Exception as error:
        return error


@pytest.mark.parametrize("kind", ERRORS)
def test_what_is_told_is_text_and_says_where_it_was(kind: type[Exception]) -> None:
    error = raised(kind)
    assert class_of(error) == (far.__name__, type.__dict__["__qualname__"].__get__(kind))
    assert all(type(text) is str for text in (message_of(error), in_short(error), traceback_of(error)))
    assert "in raised" in traceback_of(error)


def test_what_is_short_can_be_written() -> None:
    assert in_short(ValueError("\udcff" + "x" * 10_000)).startswith("ValueError: ?xxx")
    assert len(in_short(ValueError("x" * 10_000)).encode()) < 1100


@pytest.mark.parametrize("kind", [*ERRORS, SystemExit, KeyboardInterrupt])
def test_a_task_that_raises_ends_no_thread(kind: type[BaseException], capsys: pytest.CaptureFixture[str]) -> None:
    def fail() -> None:
        raise kind

    run(fail)
    assert "in fail" in capsys.readouterr().err


def test_nor_does_it_where_nothing_can_be_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    closed = io.StringIO()
    closed.close()
    monkeypatch.setattr(sys, "stderr", closed)
    complain(ValueError("nobody hears"))
