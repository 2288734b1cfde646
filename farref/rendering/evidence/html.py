"""The evidence as one page that works by itself: no script, no request, and it prints."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any, Final

from jinja2 import Environment, StrictUndefined
from markdown_it import MarkdownIt
from markupsafe import Markup

from farref.rendering.evidence import figures
from farref.rendering.evidence.curves import curves
from farref.rendering.policy import allowed
from farref.words import legal
from farref.zookeeping.engines import ENGINES
from farref.zookeeping.record import Evidence

POLICY: Final = "default-src 'none'; style-src '{style}'; base-uri 'none'; form-action 'none'"


def evidence_page(evidence: Evidence) -> str:
    """Write the page."""
    style, found = f"\n{_resource('page.css')}", figures.fates(evidence)
    text: str = _template().render(
        policy=POLICY.format(style=allowed(style)),
        style=Markup(style),
        stamps=evidence.stamps,
        engines=ENGINES,
        protocols=list(figures.PROTOCOLS.values()),
        rates=figures.kill_rates(found),
        origins=figures.by_origin(found),
        origin=figures.origin,
        protocol=figures.protocol,
        fates=found,
        worlds=[_world(name, world) for name, world in evidence.coverage.items() if name != "stamp"],
        transitions={name: one for name, one in evidence.transitions.items() if name != "stamp"},
        marks=figures.MARKS,
        held=figures.held,
        drawn_by=lambda seen: map(_inline, figures.drawn_by(seen)),
        unseen=map(_inline, figures.UNSEEN),
        legal=legal,
    )
    return text


def _world(name: str, world: dict[str, Any]) -> dict[str, Any]:
    drawn = {across: Markup(curves(world["curves"], world["states"], across)) for across in ("runs", "seconds")}
    return {
        "name": name,
        "says": _inline(figures.searched(name, world)),
        "curves": drawn,
        "engines": figures.engines_of(world),
    }


def _inline(line: str) -> Markup:
    return Markup(MarkdownIt("commonmark", {"html": False}).renderInline(line))


@cache
def _template() -> Any:
    return Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True).from_string(
        _resource("page.html")
    )


def _resource(name: str) -> str:
    return (files("farref.rendering.evidence") / name).read_text("utf-8")
