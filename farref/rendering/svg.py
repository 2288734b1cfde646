"""The few SVG elements a message sequence diagram needs, as strings. Text is escaped here and nowhere else.

A colour has a value for light pages and one for dark ones. An element is given the light one, and a class that a style sheet
turns into the dark one (`DARK_STYLE`), so that a drawing is legible where no style sheet is allowed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final
from xml.sax.saxutils import escape

from farref.words import legal

SANS: Final = "DejaVu Sans, Verdana, Helvetica, Arial, sans-serif"
MONO: Final = "DejaVu Sans Mono, Menlo, Consolas, monospace"
LETTER_WIDTHS: Final = {True: 0.61, False: 0.57}
"""What a letter needs of a monospaced font and of the other one, in units of the font size; DejaVu is the widest listed."""


@dataclass(frozen=True)
class Colour:
    """A colour, on light pages and on dark ones."""

    name: str
    light: str
    dark: str


INK: Final = Colour("ink", "#1f2430", "#e8ebf1")
PAPER: Final = Colour("paper", "#ffffff", "#151a22")
BOX: Final = Colour("box", "#f1f4f9", "#232a36")
OWNER: Final = Colour("owner", "#dfe9ff", "#1d3460")
LINE: Final = Colour("line", "#b4bbc8", "#4a5364")
RULE: Final = Colour("rule", "#e6eaf1", "#2b3340")
GREY: Final = Colour("grey", "#5d6678", "#a3adbd")
BLUE: Final = Colour("blue", "#1d4fc4", "#86b0ff")
RED: Final = Colour("red", "#b5171f", "#ff938d")
VIOLET: Final = Colour("violet", "#7a2cab", "#d6a8ff")
ALARM: Final = Colour("alarm", "#fdeaea", "#3d1a1d")
COLOURS: Final = (INK, PAPER, BOX, OWNER, LINE, RULE, GREY, BLUE, RED, VIOLET, ALARM)


def dark_style(colours: Iterable[Colour]) -> str:
    """Give the style sheet that makes some colours dark on a dark screen; paper stays white in print."""
    rules = (f".f-{one.name} {{ fill: {one.dark}; }} .s-{one.name} {{ stroke: {one.dark}; }}" for one in colours)
    return f"@media screen and (prefers-color-scheme: dark) {{ {' '.join(rules)} }}"


DARK_STYLE: Final = dark_style(COLOURS)
"""What makes a drawing dark on a dark screen."""


def text_width(letters: int, size: float, *, mono: bool) -> float:
    """Estimate how wide a text is, rather too wide than too narrow."""
    return letters * size * LETTER_WIDTHS[mono]


def number(value: float) -> str:
    """Write a coordinate, the same on every machine."""
    return f"{value:.1f}".removesuffix(".0")


def _fill(colour: Colour) -> str:
    return f' class="f-{colour.name}" fill="{colour.light}"'


def _stroke(colour: Colour, width: float) -> str:
    return f' class="s-{colour.name}" stroke="{colour.light}" stroke-width="{number(width)}"'


def text(
    x: float,
    y: float,
    content: str,
    *,
    size: float,
    colour: Colour = INK,
    anchor: str = "start",
    mono: bool = False,
    bold: bool = False,
) -> str:
    """Write one line of text; y is its baseline."""
    weight = ' font-weight="bold"' if bold else ""
    return (
        f'<text x="{number(x)}" y="{number(y)}" font-family="{MONO if mono else SANS}" font-size="{number(size)}"'
        f'{_fill(colour)} text-anchor="{anchor}"{weight}>{_shown(content)}</text>'
    )


def _shown(content: str) -> str:
    return escape(legal(content))


def rectangle(
    x: float,
    y: float,
    width: float,
    height: float,
    *,
    fill: Colour,
    stroke: Colour | None = None,
    radius: float = 0,
    opacity: float = 1,
) -> str:
    """Draw a box."""
    classes = f"f-{fill.name}" if stroke is None else f"f-{fill.name} s-{stroke.name}"
    line = "" if stroke is None else f' stroke="{stroke.light}"'
    faint = "" if opacity == 1 else f' fill-opacity="{opacity:g}"'
    return (
        f'<rect x="{number(x)}" y="{number(y)}" width="{number(width)}" height="{number(height)}" rx="{number(radius)}"'
        f' class="{classes}" fill="{fill.light}"{line}{faint}/>'
    )


def line(points: list[tuple[float, float]], *, colour: Colour, width: float = 1.5, dashed: bool = False) -> str:
    """Draw a line through some points."""
    path = " ".join(f"{number(x)},{number(y)}" for x, y in points)
    dashes = ' stroke-dasharray="6 4"' if dashed else ""
    return f'<polyline points="{path}" fill="none"{_stroke(colour, width)}{dashes}/>'


def arrow_head(x: float, y: float, *, to_the_right: bool, colour: Colour) -> str:
    """Draw the head of a level arrow that ends at a point."""
    back = x - 9 if to_the_right else x + 9
    corners = ((x, y), (back, y - 4.5), (back, y + 4.5))
    return f'<polygon points="{" ".join(f"{number(a)},{number(b)}" for a, b in corners)}"{_fill(colour)}/>'


def cross(x: float, y: float, *, colour: Colour) -> str:
    """Mark the place where a message is lost."""
    reach = 6
    down = line([(x - reach, y - reach), (x + reach, y + reach)], colour=colour, width=2.5)
    return down + line([(x - reach, y + reach), (x + reach, y - reach)], colour=colour, width=2.5)


def dot(x: float, y: float, radius: float, *, fill: Colour, stroke: Colour) -> str:
    """Draw a small circle."""
    return (
        f'<circle cx="{number(x)}" cy="{number(y)}" r="{number(radius)}" class="f-{fill.name} s-{stroke.name}"'
        f' fill="{fill.light}" stroke="{stroke.light}"/>'
    )


def document(
    width: float, height: float, title: str, description: str, body: list[str], *, name: str = "", style: str = ""
) -> str:
    """Put a drawing together, on paper of its own. A name keeps it apart from others on one page."""
    size = f'width="{number(width)}" height="{number(height)}" viewBox="0 0 {number(width)} {number(height)}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-labelledby="{name}title {name}description">'
    named = (
        f'<title id="{name}title">{_shown(title)}</title>\n<desc id="{name}description">{_shown(description)}</desc>'
    )
    sheet = [f"<style>{style}</style>"] if style else []
    paper = rectangle(0, 0, width, height, fill=PAPER)
    return "\n".join([head, named, *sheet, paper, *body, "</svg>", ""])
