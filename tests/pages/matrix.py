"""`spec/matrix.md`: all judged systems side by side, made from what was kept of their reports in `spec/matrix.json`.

python -m tests.pages.matrix report.json …      keeps some reports, in place of older ones of the same systems
python -m tests.pages.matrix --html FILE        writes the page with the stories, as `farref conform -o FILE` does

Of each row the verdict is kept; of those that are broken the story too. What clauses say, and the programs, are in the tree.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any, Final

import msgspec

from farref.judging.plan import all_checks, clause_texts, scripts_of
from farref.properties.conformance.kit.check import Check
from farref.properties.conformance.kit.document import FORMAT, Report, Row, Verdict, decode, summarise
from farref.properties.conformance.kit.named import NAMED, target
from farref.properties.conformance.kit.verdicts import unseen
from farref.rendering.conformance.conclusion import MARKS, MEANINGS
from farref.rendering.conformance.html import to_html
from farref.rendering.conformance.picture import to_svg

KEPT: Final = Path(__file__).parents[2] / "spec" / "matrix.json"
RUN: Final = (Verdict.PASS, Verdict.FAIL, Verdict.EXPECTED_FAIL, Verdict.BY_DESIGN, Verdict.BLOCKED)
OURS: Final = ("processes", "simulated")
FACTS: Final = ("backend", "version", "capabilities", "seed", "seconds", "expectations")
CHECKOUT: Final = re.compile(r"(?<![\w.])/(?:[\w.-]+/)+(?=farref/)")
"""Where somebody keeps the sources, as errors tell it."""
TOLD: Final = ("message", "rate", "reason", "link", "story")
HEAD: Final = """\
# Systems side by side

What `farref conform` says of systems that pass references between processes, each judged as it comes. A sign that is a link
leads to the finding, with a program of that system alone. Checks that none of the others could be asked are left out.

![A line for each system, a column for each clause](drawings/matrix.svg)

```
farref conform --list-backends                                    what can be judged here
farref conform --backend rpyc --backend foolscap -o matrix.html   the same as a page, with the stories
farref conform --merge theirs.json ours.json -o matrix.html       columns from other machines
farref conform --merge theirs.json ours.json -o matrix.svg        the picture
```

Who judges a system anew, in a checkout, keeps its report with `python -m tests.pages.matrix report.json`; `make generated` then
writes this page and the picture, and `python -m tests.pages.matrix --html matrix.html` the page with the stories.
"""

Kept = dict[str, Any]


def page() -> str:
    """Write the page in Markdown."""
    shown = reports()
    rows = [row for row in shown[0].clauses if any(_is_run(one, row.id) for one in shown if one.backend not in OURS)]
    signs = ", ".join(f"{MARKS[one]} {MEANINGS[one]}" for one in (*RUN, Verdict.SKIPPED))
    names = [f"{one.backend} {one.version}" for one in shown]
    table = [f"| check | what must be so | {' | '.join(names)} |", f"| --- | --- |{' :-: |' * len(names)}"]
    table += [f"| {row.id} | {row.says} | {' | '.join(_cell(one, row.id) for one in shown)} |" for row in rows]
    counts = [f"| {name} | {_counts(one)} |" for name, one in zip(names, shown, strict=True)]
    return "\n".join([HEAD, "| system | verdicts |", "| --- | --- |", *counts, "", f"Signs: {signs}.", "", *table, ""])


def picture() -> str:
    """Draw the picture that the README shows."""
    return to_svg(reports())


def html() -> str:
    """Write the page with the stories, as `farref conform -o matrix.html` would."""
    return to_html(reports())


def reports() -> list[Report]:
    """Give what was kept as reports, ours first and then in the order in which backends are listed."""
    kept: list[Kept] = json.loads(KEPT.read_text())["systems"]
    return [_report(one) for one in sorted(kept, key=_place)]


def _place(kept: Kept) -> tuple[bool, int]:
    return kept["backend"] not in OURS, list(NAMED).index(kept["name"])


def _report(kept: Kept) -> Report:
    texts = clause_texts()
    checks = {one.id: one for one in all_checks()}
    rows = [_row(kept, checks[check], said) for check, said in kept["rows"].items()]
    rows += [unseen(texts[one]) for one in texts if one not in {row.clause for row in rows}]
    order = list(texts)
    rows.sort(key=lambda row: order.index(row.clause))
    facts = {name: kept[name] for name in FACTS}
    shape = {"format": FORMAT, "summary": summarise(tuple(rows)), "clauses": msgspec.to_builtins(rows)}
    return msgspec.convert({**facts, **shape}, Report)


def _row(kept: Kept, check: Check, said: dict[str, Any]) -> Row:
    text = clause_texts()[check.clause]
    whole = {
        "id": check.id, "clause": check.clause, "title": text.title, "level": check.level.value, "seconds": 0.0, "message": "",
        "spec": text.text, "says": check.says, "because": check.because,
        "replay": f"farref conform --backend {kept['name']} --only {check.id}", **said,
    }  # fmt: skip
    row = msgspec.convert(whole, Row)
    return msgspec.structs.replace(row, scripts=scripts_of(target(kept["name"]), check, row)) if row.story else row


def _is_run(report: Report, check: str) -> bool:
    return any(row.id == check and row.verdict in RUN for row in report.clauses)


def _cell(report: Report, check: str) -> str:
    row = next((row for row in report.clauses if row.id == check), None)
    sign = MARKS[Verdict.SKIPPED if row is None else row.verdict]
    return f"[{sign}]({row.link.removeprefix('spec/')})" if row is not None and row.link else sign


def _counts(report: Report) -> str:
    found = [row.verdict for row in report.clauses if row.replay is not None]
    return ", ".join(f"{found.count(one)} {one.value}" for one in Verdict if one in found)


def kept_of(report: Report) -> Kept:
    """Give what is kept of a report."""
    rows = [row for row in report.clauses if row.replay is not None]
    (name,) = {words[words.index("--backend") + 1] for words in ((row.replay or "").split() for row in rows)}
    facts = {one: value for one, value in msgspec.to_builtins(report).items() if one in FACTS}
    return {"name": name, **facts, "rows": {row.id: _said(row) for row in rows}}


def _said(row: Row) -> dict[str, Any]:
    told = {one: value for one, value in msgspec.to_builtins(row).items() if one in TOLD and value}
    return {"verdict": row.verdict.value, **({} if row.verdict is Verdict.PASS else told)}


def keep(found: list[Report]) -> None:
    """Keep some reports, each in place of an older one of its backend."""
    kept = {one["name"]: one for one in json.loads(KEPT.read_text())["systems"]} if KEPT.exists() else {}
    kept |= {one["name"]: one for one in map(kept_of, found)}
    systems = ",\n".join(_written(kept[name]) for name in NAMED if name in kept)
    KEPT.write_text(f'{{"systems": [\n{systems}\n]}}\n')


def _written(kept: Kept) -> str:
    """Write a line for each row, so that two runs can be compared by eye."""
    facts = json.dumps({name: value for name, value in kept.items() if name != "rows"}, ensure_ascii=False)
    said = {one: CHECKOUT.sub("", json.dumps(said, ensure_ascii=False)) for one, said in kept["rows"].items()}
    rows = ",\n".join(f"  {json.dumps(one)}: {text}" for one, text in said.items())
    return f'{facts[:-1]}, "rows": {{\n{rows}\n}}}}'


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["--html", place]:
            Path(place).write_text(html(), "utf-8")
        case paths:
            keep([report for path in paths for report in decode(Path(path).read_bytes())])
