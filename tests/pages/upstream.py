"""`spec/upstream/`: each report has its program in it, to be filed as it is, and how often that showed it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from farref.properties.conformance.findings.catalogue import read_figures, read_findings, script_of

REPORTS: Final = Path(__file__).parents[2] / "spec" / "upstream"
PROGRAM: Final = re.compile(r"<!-- program of ([\w-]+) -->\n.*?<!-- end -->", re.DOTALL)


def reports() -> list[Path]:
    """Give the reports, without the page that lists them."""
    return sorted(one for one in REPORTS.glob("*.md") if one.name != "README.md")


def with_program(path: Path) -> str:
    """Fill the program into a report, with what came of it."""
    return PROGRAM.sub(lambda found: _piece(found[1]), path.read_text())


def _piece(name: str) -> str:
    finding = next(one for one in read_findings() if one.id == name)
    figure, program = read_figures().of(finding), script_of(finding)
    assert figure is not None
    lines = [
        f"<!-- program of {name} -->",
        "A program of PyTorch and the standard library alone. It ends with 1 if the defect is there, and with 0 if it is not.",
        f"The defect was there in {figure.reproduced} of {figure.runs} runs, and takes {figure.seconds:.0f} s:",
        "",
        "```",
        f"python {program.name}",
        figure.last,
        "```",
        "",
        f"<details><summary>{program.name}</summary>",
        "",
        f"```python\n{program.read_text()}```",
        "",
        "</details>",
        "<!-- end -->",
    ]
    return "\n".join(lines)
