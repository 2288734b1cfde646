"""Curves as SVG: which share of the states was visited, after how many runs or how many seconds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log10
from typing import Any, Final
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 640, 300
LEFT, RIGHT, TOP, BOTTOM = 56, 120, 14, 44
GAP: Final = 13.0
"""The height of a name beside its curve."""
DASHES: Final = {"simulated": "", "hypothesis": "6 3", "processes": "2 3"}
"""Lines differ by more than colour, so that they can be told apart on paper."""
STYLE: Final = """
svg { --ink: #1f2328; --line: #8886; --simulated: #0969da; --hypothesis: #8250df; --processes: #bf3989; }
@media (prefers-color-scheme: dark) {
  svg { --ink: #e8ebf1; --simulated: #58a6ff; --hypothesis: #bc8cff; --processes: #ff7bac; }
}
text { font: 12px system-ui, sans-serif; fill: var(--ink); }
.axis { fill: none; stroke: var(--ink); } .grid { fill: none; stroke: var(--line); stroke-width: .5; }
.curve { fill: none; stroke-width: 2; }
.curve.simulated { stroke: var(--simulated); } .name.simulated { fill: var(--simulated); }
.curve.hypothesis { stroke: var(--hypothesis); } .name.hypothesis { fill: var(--hypothesis); }
.curve.processes { stroke: var(--processes); } .name.processes { fill: var(--processes); }
"""
"""The same as on the page (`page.css`), for a drawing that stands alone."""


def curves(by_engine: Mapping[str, Sequence[Mapping[str, Any]]], states: int, across: str) -> str:
    """Draw the curves of one world over `runs` or `seconds`, which grow by powers of ten."""
    most = max((one[across] for points in by_engine.values() for one in points), default=1)
    decades = max(1, _up(most))
    parts = [*_frame(across, decades)]
    placed = {
        engine: [(_x(one[across], decades), _y(one["states"] / states)) for one in points]
        for engine, points in by_engine.items()
        if points
    }
    labels = _apart({engine: points[-1][1] for engine, points in placed.items()})
    parts += [_line(engine, points, labels[engine]) for engine, points in placed.items()]
    size = f'viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="Share of the states visited, over {across}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" class="curves" {size}>\n' + "\n".join(parts) + "\n</svg>"


def picture(by_engine: Mapping[str, Sequence[Mapping[str, Any]]], states: int) -> str:
    """Draw the curves over time as a file of its own, which has its colours with it."""
    drawn = curves(by_engine, states, "seconds")
    opening, _, rest = drawn.partition(">")
    return f'{opening} width="{WIDTH}" height="{HEIGHT}">\n<style>{STYLE}</style>{rest}\n'


def _up(most: float) -> int:
    return int(log10(most - 1e-9)) + 1 if most > 1 else 1


def _x(value: float, decades: int) -> float:
    share = max(0.0, log10(max(value, 1.0))) / decades
    return round(LEFT + share * (WIDTH - LEFT - RIGHT), 1)


def _y(share: float) -> float:
    return round(HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM), 1)


def _frame(across: str, decades: int) -> list[str]:
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    lines = [f'<path class="axis" d="M{LEFT} {TOP}V{bottom}H{right}"/>']
    for percent in (0, 25, 50, 75, 100):
        y = _y(percent / 100)
        lines.append(f'<path class="grid" d="M{LEFT} {y}H{right}"/>')
        lines.append(f'<text class="tick" x="{LEFT - 6}" y="{y + 4}" text-anchor="end">{percent} %</text>')
    for decade in range(decades + 1):
        x = _x(10**decade, decades)
        lines.append(f'<text class="tick" x="{x}" y="{bottom + 16}" text-anchor="middle">{10**decade:,}</text>')
    lines.append(f'<text class="tick" x="{(LEFT + right) / 2}" y="{HEIGHT - 8}" text-anchor="middle">{across}</text>')
    return lines


def _apart(heights: Mapping[str, float]) -> dict[str, float]:
    """Move names up that would stand on one another."""
    found: dict[str, float] = {}
    for engine, height in sorted(heights.items(), key=lambda one: -one[1]):
        below = min(found.values(), default=height + GAP)
        found[engine] = round(min(height, below - GAP), 1)
    return found


def _line(engine: str, placed: Sequence[tuple[float, float]], label: float) -> str:
    path = "M" + "L".join(f"{x} {y}" for x, y in placed)
    dash = f' stroke-dasharray="{DASHES[engine]}"' if DASHES.get(engine) else ""
    name = f'<text class="name {engine}" x="{placed[-1][0] + 6}" y="{label + 4}">{escape(engine)}</text>'
    return f'<path class="curve {engine}"{dash} d="{path}"/>{name}'
