"""The few shapes that every page for people is made of."""

from __future__ import annotations

from rich.table import Table


def plain_table(*, expand: bool = False, header: bool = True) -> Table:
    """Make a table without lines."""
    return Table(box=None, pad_edge=False, show_header=header, header_style="dim", padding=(0, 2, 0, 0), expand=expand)


def numbered(sentences: list[str]) -> Table:
    """Lay sentences out as a numbered list."""
    steps = Table(box=None, pad_edge=False, show_header=False, padding=(0, 1, 0, 0))
    steps.add_column(justify="right", style="dim")
    steps.add_column()
    for number, sentence in enumerate(sentences, start=1):
        steps.add_row(str(number), sentence)
    return steps
