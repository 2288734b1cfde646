"""The few SVG elements a message sequence diagram needs, as strings. Text is escaped here and nowhere else."""

from __future__ import annotations

from typing import Final
from xml.sax.saxutils import escape

from farref.words import legal

SANS: Final = "DejaVu Sans, Verdana, Helvetica, Arial, sans-serif"
MONO: Final = "DejaVu Sans Mono, Menlo, Consolas, monospace"
LETTER_WIDTHS: Final = {True: 0.61, False: 0.57}
"""What a letter needs of a monospaced font and of the other one, in units of the font size; DejaVu is the widest listed."""

INK, FAINT, PAPER, WHITE = "#1f2430", "#b9bfcb", "#f4f6fa", "#ffffff"


def text_width(letters: int, size: float, *, mono: bool) -> float:
    """Estimate how wide a text is, rather too wide than too narrow."""
    return letters * size * LETTER_WIDTHS[mono]


def number(value: float) -> str:
    """Write a coordinate, the same on every machine."""
    return f"{value:.1f}".removesuffix(".0")


def text(
    x: float,
    y: float,
    content: str,
    *,
    size: float = 12,
    color: str = INK,
    anchor: str = "start",
    mono: bool = False,
    bold: bool = False,
) -> str:
    """Write one line of text; y is its baseline."""
    weight = ' font-weight="bold"' if bold else ""
    return (
        f'<text x="{number(x)}" y="{number(y)}" font-family="{MONO if mono else SANS}" font-size="{number(size)}"'
        f' fill="{color}" text-anchor="{anchor}"{weight}>{_shown(content)}</text>'
    )


def _shown(content: str) -> str:
    return escape(legal(content))


def rectangle(
    x: float, y: float, width: float, height: float, *, fill: str, stroke: str = "none", radius: float = 0
) -> str:
    """Draw a box."""
    return (
        f'<rect x="{number(x)}" y="{number(y)}" width="{number(width)}" height="{number(height)}" rx="{number(radius)}"'
        f' fill="{fill}" stroke="{stroke}"/>'
    )


def line(x1: float, y1: float, x2: float, y2: float, *, color: str, width: float = 1.5, extra: str = "") -> str:
    """Draw a straight line; `extra` are further attributes."""
    ends = f'x1="{number(x1)}" y1="{number(y1)}" x2="{number(x2)}" y2="{number(y2)}"'
    return f'<line {ends} stroke="{color}" stroke-width="{number(width)}"{extra}/>'


def loop(x: float, y1: float, y2: float, out: float, *, color: str, extra: str = "") -> str:
    """Draw a line that leaves a lifeline to the right and comes back to it further down."""
    far = x + out
    path = (
        f"M {number(x)} {number(y1)} C {number(far)} {number(y1)} {number(far)} {number(y2)} {number(x)} {number(y2)}"
    )
    return f'<path d="{path}" fill="none" stroke="{color}" stroke-width="1.5"{extra}/>'


def cross(x: float, y: float, *, color: str) -> str:
    """Mark the place where a message is lost."""
    reach = 6
    down = line(x - reach, y - reach, x + reach, y + reach, color=color, width=2.5)
    return down + line(x - reach, y + reach, x + reach, y - reach, color=color, width=2.5)


def dot(x: float, y: float, radius: float, *, fill: str, stroke: str) -> str:
    """Draw a small circle."""
    return f'<circle cx="{number(x)}" cy="{number(y)}" r="{number(radius)}" fill="{fill}" stroke="{stroke}"/>'


def arrow_heads(colors: tuple[str, ...]) -> str:
    """Define an arrow head for each colour; a line refers to it with `arrow_to`."""
    heads = (
        f'<marker id="{_head(color)}" viewBox="0 0 10 10" refX="9.5" refY="5" markerWidth="8" markerHeight="8"'
        f' orient="auto-start-reverse" markerUnits="userSpaceOnUse"><path d="M 0 0 L 10 5 L 0 10 z" fill="{color}"/></marker>'
        for color in colors
    )
    return f"<defs>{''.join(heads)}</defs>"


def arrow_to(color: str) -> str:
    """Give the attribute that puts an arrow head of a colour at the end of a line."""
    return f' marker-end="url(#{_head(color)})"'


def _head(color: str) -> str:
    return f"head-{color.removeprefix('#')}"


def document(width: float, height: float, title: str, description: str, body: list[str], *, name: str = "") -> str:
    """Put a drawing together, on white paper whatever lies behind it. A name keeps it apart from others on one page."""
    size = f'width="{number(width)}" height="{number(height)}" viewBox="0 0 {number(width)} {number(height)}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-labelledby="{name}title {name}description">'
    named = (
        f'<title id="{name}title">{_shown(title)}</title>\n<desc id="{name}description">{_shown(description)}</desc>'
    )
    paper = rectangle(0, 0, width, height, fill=WHITE)
    return "\n".join([head, named, paper, *body, "</svg>", ""])
