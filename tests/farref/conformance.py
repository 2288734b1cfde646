"""Adapters and reports for the tests of `farref conform`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Final

from farref.properties.conformance.kit.document import (
    FORMAT,
    Level,
    Operation,
    Report,
    Row,
    Script,
    Verdict,
    summarise,
)

ADAPTERS: Final = Path(__file__).parent / "adapters"
TOY, WRONG = (str(ADAPTERS / f"{name}.py") for name in ("toy", "wrong"))
EXPECTED: Final = str(ADAPTERS / "wrong.toml")
SPOKEN: Final = (sys.executable, "-m", "farref.properties.conformance.conversation.host")

EVIL: Final = "</script><script>alert(1)</script> | `x` & \"y\" 'z' \x07"
"""Everything that some rendering might take for markup."""


def operation(number: int, verb: str, begun: float, ended: float | None, **more: Any) -> Operation:
    """Make an operation of a story."""
    request = {"worker": "A", **more}
    return Operation(
        number=number,
        verb=verb,
        worker="A",
        to=more.get("to") or more.get("owner"),
        text=f"A does {verb} {EVIL}",
        begun=begun,
        ended=ended,
        outcome=f"gives {EVIL}",
        trouble=number == 3,
        request=request,
    )


STORY: Final = (
    operation(1, "create", 0.0, 0.1, name="x", owner="B", function="slow", args=[1, 7], timeout=None),
    operation(2, "call", 0.2, 2.0, to="B", function="value_of", args=[{"rref": "x"}], timeout=None),
    operation(3, "fetch", 0.3, None, name="x", timeout=None),
)


def row(id_: str, verdict: Verdict, level: Level = Level.MUST, **more: Any) -> Row:
    """Make a row."""
    story = STORY if verdict in (Verdict.FAIL, Verdict.EXPECTED_FAIL) else ()
    known = {"reason": f"known {EVIL}", "link": "https://example.org/1"} if verdict is Verdict.EXPECTED_FAIL else {}
    filled = {
        "id": id_, "clause": id_.partition(".")[0], "title": f"Title of {id_}", "level": level, "verdict": verdict,
        "seconds": 0.5, "message": "" if verdict is Verdict.PASS else f"message {EVIL}", "replay": "farref conform",
        "spec": f"**Rule.** It MUST {EVIL}\n\nmore", "says": f"It is so {EVIL}.", "story": story,
        "scripts": (Script("r.py", f"print({EVIL!r})"),) if story else (), **known, **more,
    }  # fmt: skip
    return Row(**filled)


def report(*rows: Row, backend: str = f"toy {EVIL}") -> Report:
    """Make a report."""
    return Report(FORMAT, backend, "1", ("create", EVIL), 7, 1.5, summarise(rows), rows, (f"note {EVIL}",), "some.toml")


EVERY: Final = report(*(row(f"R{number}", verdict) for number, verdict in enumerate(Verdict, start=1)))
"""A report with one row of each verdict, R1 and onwards."""
