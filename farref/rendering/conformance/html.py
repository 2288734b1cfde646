"""Reports as one page that works by itself: no request leaves it, and nothing in it is code but our own few lines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Final

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from farref.properties.conformance.kit.document import Level, Report, Verdict
from farref.rendering import svg
from farref.rendering.conformance.conclusion import MARKS, MEANINGS, TOLD, conclusion, printable, sentence, title
from farref.rendering.conformance.lines import clause_texts, grouped, places
from farref.rendering.policy import allowed

COLUMNS_MAX: Final = 5
"""More backends do not fit side by side with words: a verdict is then its sign only, where the page is wide."""

INDENT: Final = re.compile(r"^ +", re.MULTILINE)
"""How the template is set in; a page of thousands of rows need not be."""

POLICY: Final = "default-src 'none'; style-src '{style}'; script-src '{script}'; base-uri 'none'; form-action 'none'"


def to_html(reports: Sequence[Report]) -> str:
    """Write reports as one HTML page."""
    reports = [printable(one) for one in reports]
    groups = grouped(reports)
    lines = [line for some in groups.values() for line in some]
    style = _resource("page.css").replace("COLUMNS", str(len(reports))) + svg.DARK_STYLE
    script = _resource("page.js")
    page = _environment().from_string(INDENT.sub("", _resource("page.html")))
    return page.render(
        reports=reports,
        places=places(reports),
        groups=groups,
        lines=lines,
        told=[[row for verdict in TOLD for row in report.clauses if row.verdict is verdict] for report in reports],
        title=title,
        conclusions=[conclusion([report]) for report in reports],
        sentence=sentence,
        clauses=clause_texts(reports),
        verdicts=[one for one in Verdict if any(one.value in line.verdicts for line in lines)],
        counts={one: sum(one.value in line.verdicts for line in lines) for one in Verdict},
        levels=[one for one in Level if any(line.first.level is one for line in lines)],
        marks=MARKS,
        meanings=MEANINGS,
        is_many=len(reports) > COLUMNS_MAX,
        style=Markup(style),
        script=Markup(script),
        policy=POLICY.format(style=allowed(style), script=allowed(script)),
    )


@cache
def _environment() -> Environment:
    return Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)


def _resource(name: str) -> str:
    return (files("farref.rendering.conformance") / name).read_text("utf-8")
