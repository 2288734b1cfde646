"""`spec/matrix.md`: all judged systems side by side, made from what was kept of their reports in `spec/matrix.json`.

python -m tests.pages.matrix report.json … keeps the verdicts of some reports, in place of older ones of the same systems.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from farref.properties.conformance.kit.document import Report, Verdict, decode
from farref.rendering.conformance.conclusion import MARKS, MEANINGS

KEPT = Path(__file__).parents[2] / "spec" / "matrix.json"
RUN = (Verdict.PASS, Verdict.FAIL, Verdict.EXPECTED_FAIL, Verdict.BY_DESIGN, Verdict.BLOCKED)
HEAD = """\
# Systems side by side

What `farref conform` says of systems that pass references between processes, each judged as it comes. A sign that is a link
leads to the finding, with a program of that system alone. Checks that none of the others could be asked are left out.

```
farref conform --list-backends                                    what can be judged here
farref conform --backend rpyc --backend foolscap -o matrix.html   the same as a page, with the stories
farref conform --merge theirs.json ours.json -o matrix.html       columns from other machines
```
"""


def page() -> str:
    """Write the page."""
    kept: dict[str, Any] = json.loads(KEPT.read_text())
    checks: dict[str, str] = kept["checks"]
    systems: dict[str, dict[str, list[str]]] = kept["systems"]
    asked = [one for one in checks if any(_is_run(systems[name], one) for name in systems if name not in kept["ours"])]
    signs = ", ".join(f"{MARKS[one]} {MEANINGS[one]}" for one in (*RUN, Verdict.SKIPPED))
    rows = [f"| check | what must be so | {' | '.join(systems)} |", f"| --- | --- |{' :-: |' * len(systems)}"]
    rows += [
        f"| {one} | {checks[one]} | {' | '.join(_cell(systems[name], one) for name in systems)} |" for one in asked
    ]
    counts = [f"| {name} | {_counts(verdicts)} |" for name, verdicts in systems.items()]
    summary = ["| system | verdicts |", "| --- | --- |", *counts]
    return "\n".join([HEAD, *summary, "", f"Signs: {signs}.", "", *rows, ""])


def _is_run(verdicts: dict[str, list[str]], check: str) -> bool:
    return Verdict(verdicts.get(check, ["skipped"])[0]) in RUN


def _cell(verdicts: dict[str, list[str]], check: str) -> str:
    verdict, *link = verdicts.get(check, ["skipped"])
    sign = MARKS[Verdict(verdict)]
    return f"[{sign}]({link[0].removeprefix('spec/')})" if link else sign


def _counts(verdicts: dict[str, list[str]]) -> str:
    found = [verdict for verdict, *_ in verdicts.values()]
    return ", ".join(f"{found.count(one.value)} {one.value}" for one in Verdict if found.count(one.value))


def kept_of(report: Report) -> dict[str, list[str]]:
    """Give what the page needs of a report: of each check its verdict, and a link if it has one."""
    rows = [row for row in report.clauses if row.replay is not None]
    return {row.id: [row.verdict.value, *([row.link] if row.link else [])] for row in rows}


def keep(reports: list[Report]) -> None:
    """Keep the verdicts of some reports."""
    before: dict[str, Any] = (
        json.loads(KEPT.read_text()) if KEPT.exists() else {"ours": [], "checks": {}, "systems": {}}
    )
    for report in reports:
        name = f"{report.backend} {report.version}"
        before["systems"][name] = kept_of(report)
        before["checks"] |= {row.id: row.says for row in report.clauses if row.replay is not None}
        if report.backend in ("simulated", "processes") and name not in before["ours"]:
            before["ours"].append(name)
    KEPT.write_text(json.dumps(before, indent=1) + "\n")


if __name__ == "__main__":
    keep([report for path in sys.argv[1:] for report in decode(Path(path).read_bytes())])
