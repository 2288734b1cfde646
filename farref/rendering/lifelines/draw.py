"""Draw what happens between workers: a lifeline for each, time downwards, a row for every step.

A row has the sentence of its step, and below it what happened: a box on a lifeline, or a level arrow to another one. A message
that was sent in an earlier row runs down beside the lifeline of its sender until the row in which it arrives, so that one sees
how long it was under way, and what overtook it. Each mark has a line of its own, so labels never overlap.

The drawing is narrow. Sentences have its whole width, and the lifelines share it: on a telephone it need not shrink much.
"""

from __future__ import annotations

import textwrap
from typing import Final

from farref.rendering import svg
from farref.rendering.lifelines.picture import Arrow, Box, Mark, Picture, Row, Stub
from farref.rendering.lifelines.tracks import Tracks
from farref.rendering.svg import Colour

WIDTH_MAX, LANE = 820.0, 150.0
MARGIN, NUMBERS, PADDING = 14.0, 26.0, 7.0
TITLE_SIZE, TEXT_SIZE, LABEL_SIZE, NAME_SIZE, NOTE_SIZE = 15.0, 13.0, 12.0, 15.0, 12.0
TITLE_LINE, TEXT_LINE, NOTE_LINE, LABEL_LINE = 20.0, 17.0, 16.0, 15.0
HEAD_HEIGHT, FOOT_HEIGHT = 48.0, 30.0
FIRST_TRACK, NEXT_TRACK, SELF_OUT, STUB = 9.0, 7.0, 20.0, 30.0
VEIL: Final = 0.78
"""How far what lies behind a sentence is covered: a line that runs through it stays visible."""

Point = tuple[float, float]


def draw(picture: Picture, description: str, *, name: str = "", style: str = svg.DARK_STYLE) -> str:
    """Draw a picture as an SVG document."""
    drawing = _Drawing(picture)
    return svg.document(
        drawing.width, drawing.height, picture.title, description, drawing.body(), name=name, style=style
    )


def wrapped(text: str, width: float, size: float, *, mono: bool) -> list[str]:
    """Break a text into lines that are no wider than this."""
    letters = max(8, int(width / svg.text_width(1, size, mono=mono)))
    return textwrap.wrap(text, letters, break_long_words=True, break_on_hyphens=False)


class _Drawing:
    """Where everything is, and what is drawn so far: lines at the bottom, veils above them, texts on top."""

    def __init__(self, picture: Picture) -> None:
        self.picture = picture
        lanes, has_text = picture.lanes, all(row.text for row in picture.rows)
        self.width = min(WIDTH_MAX, max(picture.width_min, LANE * len(lanes) if has_text else 0))
        self.left = MARGIN if has_text else MARGIN + NUMBERS  # a number without a sentence stands beside its mark
        spacing = (self.width - self.left - MARGIN) / len(lanes)
        self.x = {lane.name: self.left + spacing * (place + 0.5) for place, lane in enumerate(lanes)}
        self.grounds: list[str] = []
        self.lines: list[str] = []
        self.veils: list[str] = []
        self.texts: list[str] = []
        self.tracks = Tracks()
        self.sent_at: list[float] = []  # for each row, where messages leave from
        self.top = self._heads(self._title(MARGIN))
        self.bottom = self._rows(self.top)
        self.height = self._ending(self._feet(self.bottom))

    @property
    def inner(self) -> float:
        """The width of everything that happens."""
        return self.width - self.left - MARGIN

    def body(self) -> list[str]:
        """Give everything, from the bottom to the top."""
        ends = (self.top - 6, self.bottom + 4)
        lifelines = [svg.line([(x, y) for y in ends], colour=svg.LINE, width=1.2) for x in self.x.values()]
        return [*self.grounds, *lifelines, *self.lines, *self.veils, *self.texts]

    # -- the frame -----------------------------------------------------------------------------------------------------

    def _title(self, y: float) -> float:
        if not self.picture.is_titled:
            return y
        for line in wrapped(self.picture.title, self.width - 2 * MARGIN, TITLE_SIZE * 1.1, mono=False):
            y += TITLE_LINE
            self.texts.append(svg.text(MARGIN, y - 4, line, size=TITLE_SIZE, bold=True))
        return y + 6

    def _heads(self, y: float) -> float:
        wide = min(110.0, self.inner / len(self.x) - 8)
        for lane in self.picture.lanes:
            x, paper = self.x[lane.name], svg.OWNER if lane.note else svg.BOX
            self.texts.append(
                svg.rectangle(x - wide / 2, y, wide, HEAD_HEIGHT - 8, fill=paper, stroke=svg.INK, radius=5)
            )
            self.texts.append(_centred(x, y + (17 if lane.note else 26), lane.name, NAME_SIZE, bold=True))
            if lane.note:
                self.texts.append(_centred(x, y + 34, lane.note, NOTE_SIZE))
        return y + HEAD_HEIGHT

    def _feet(self, y: float) -> float:
        """Name the lifelines once more: the heads of a long drawing are out of sight."""
        for name, x in self.x.items():
            self.texts.append(_centred(x, y + 20, name, NAME_SIZE, bold=True))
        return y + FOOT_HEIGHT

    def _ending(self, y: float) -> float:
        if not self.picture.ending:
            return y + 4
        inner = self.width - 2 * MARGIN - 24
        texts, top = [], y + 4
        y = top + 8
        for place, paragraph in enumerate(self.picture.ending):
            is_red = self.picture.alarm and place == 0
            for line in wrapped(paragraph, inner / (1.08 if is_red else 1), TEXT_SIZE, mono=False):
                y += TEXT_LINE
                colour = svg.RED if is_red else svg.INK
                texts.append(svg.text(MARGIN + 12, y - 3, line, size=TEXT_SIZE, colour=colour, bold=is_red))
            y += 4
        fill, stroke = (svg.ALARM, svg.RED) if self.picture.alarm else (svg.BOX, svg.LINE)
        box = svg.rectangle(MARGIN, top, self.width - 2 * MARGIN, y + 4 - top, fill=fill, stroke=stroke, radius=6)
        self.texts += [box, *texts]
        return y + 4 + MARGIN

    # -- rows ----------------------------------------------------------------------------------------------------------

    def _rows(self, y: float) -> float:
        for place, row in enumerate(self.picture.rows):
            begin = y
            y = self._sentence(row, y + PADDING)
            self.sent_at.append(y + (17 if row.marks and isinstance(row.marks[0], Box) else 31))
            for mark in row.marks:
                y = self._mark(mark, place, y)
            y = self._notes(row, y)
            self._stripe(row, begin, y + PADDING)
            y += PADDING
        return y

    def _sentence(self, row: Row, y: float) -> float:
        begin = y
        if row.number:
            self.texts.append(
                svg.text(
                    MARGIN + NUMBERS - 9, y + 13, row.number, size=TEXT_SIZE, colour=svg.GREY, anchor="end", bold=True
                )
            )
        for line in wrapped(row.text, self.width - 2 * MARGIN - NUMBERS, TEXT_SIZE, mono=False):
            y += TEXT_LINE
            self.texts.append(svg.text(MARGIN + NUMBERS, y - 4, line, size=TEXT_SIZE))
        if row.text:
            self.veils.append(
                svg.rectangle(4, begin - 2, self.width - 8, y - begin + 4, fill=_paper(row), opacity=VEIL)
            )
        return y

    def _notes(self, row: Row, y: float) -> float:
        if not row.notes:
            return y
        left, inner = MARGIN + NUMBERS, self.width - 2 * MARGIN - NUMBERS
        begin = y
        for place, note in enumerate(row.notes):
            for line in wrapped(note, inner - 10, NOTE_SIZE, mono=place > 0):
                y += NOTE_LINE
                colour, bold = (svg.RED, True) if place == 0 else (svg.INK, False)
                self.texts.append(svg.text(left, y - 4, line, size=NOTE_SIZE, colour=colour, mono=place > 0, bold=bold))
        self.veils.append(svg.rectangle(4, begin - 2, self.width - 8, y - begin + 4, fill=_paper(row), opacity=VEIL))
        return y

    def _stripe(self, row: Row, begin: float, end: float) -> None:
        if row.alarm:
            self.grounds.append(svg.rectangle(2, begin, self.width - 4, end - begin, fill=svg.ALARM))
            self.texts.append(svg.rectangle(2, begin, 5, end - begin, fill=svg.RED))
        self.lines.append(svg.line([(MARGIN, end), (self.width - MARGIN, end)], colour=svg.RULE, width=1))

    # -- marks ---------------------------------------------------------------------------------------------------------

    def _mark(self, mark: Mark, place: int, y: float) -> float:
        match mark:
            case Box():
                return self._box(mark, y)
            case Arrow():
                return self._arrow(mark, place, y)
            case Stub():
                return self._stub(mark, place, y)

    def _box(self, mark: Box, y: float) -> float:
        lines = wrapped(mark.label, self.inner - 16, LABEL_SIZE, mono=True) or [""]
        high = len(lines) * LABEL_LINE + 8
        middle = y + 6 + high / 2
        x = sum(self.x.values()) / len(self.x) if mark.lane is None else self.x[mark.lane]
        if mark.lane is None:
            self.lines.append(
                svg.line(
                    [(min(self.x.values()), middle), (max(self.x.values()), middle)], colour=mark.tone.value, width=2
                )
            )
        wide = _label_width(max(lines, key=len)) + 14
        left = min(max(x - wide / 2, self.left), self.width - MARGIN - wide)
        self.texts.append(
            svg.rectangle(left, middle - high / 2, wide, high, fill=svg.BOX, stroke=mark.tone.value, radius=4)
        )
        self._labels(left + wide / 2, middle - high / 2 + 4, lines, mark.tone.value)
        return y + high + 12

    def _labels(self, x: float, y: float, lines: list[str], colour: Colour) -> None:
        for place, line in enumerate(lines, start=1):
            self.texts.append(
                svg.text(
                    x, y + place * LABEL_LINE - 4, line, size=LABEL_SIZE, colour=colour, anchor="middle", mono=True
                )
            )

    def _arrow(self, mark: Arrow, place: int, y: float) -> float:
        source, target, colour = self.x[mark.source], self.x[mark.target], mark.tone.value
        lines = wrapped(mark.label, self.inner - 6, LABEL_SIZE, mono=True) or [""]
        level = y + len(lines) * LABEL_LINE + 12
        track, start = self._track(mark, place)
        end = (track + target) / 2 if mark.lost else target
        self.lines.append(svg.line([*start, (track, level), (end, level)], colour=colour, dashed=mark.dashed))
        if mark.lost:
            self.lines.append(svg.cross(end, level, colour=colour))
        else:
            self.lines.append(svg.arrow_head(end, level, to_the_right=source < target, colour=colour))
        self._label((track + end) / 2, y + 6, lines, colour, place)
        return level + 8

    def _track(self, mark: Arrow, place: int) -> tuple[float, list[Point]]:
        """Find a place beside the sender's lifeline where nothing else runs down, and the points down to this row."""
        source, target = self.x[mark.source], self.x[mark.target]
        if mark.since is None:
            return source, []
        number = self.tracks.free((mark.source, source <= target), mark.since, place)
        away = FIRST_TRACK + NEXT_TRACK * number + (SELF_OUT if source == target else 0)
        x, begin = (source + away if source <= target else source - away), self.sent_at[mark.since]
        return x, [(source, begin), (x, begin)]

    def _stub(self, mark: Stub, place: int, y: float) -> float:
        source = self.x[mark.source]
        to_the_right = self.x[mark.target] >= source
        lines = wrapped(mark.label, self.inner - 6, LABEL_SIZE, mono=True)
        level = y + len(lines) * LABEL_LINE + 12
        x = source + STUB if to_the_right else source - STUB
        self.lines.append(svg.line([(source, level), (x, level)], colour=svg.GREY, dashed=True))
        self.lines.append(svg.dot(x, level, 4, fill=svg.PAPER, stroke=svg.GREY))
        self._label(x, y + 6, lines, svg.GREY, place)
        return level + 8

    def _label(self, x: float, y: float, lines: list[str], colour: Colour, place: int) -> None:
        """Write a label on paper of its own, within the margins."""
        wide, high = _label_width(max(lines, key=len)) + 6, len(lines) * LABEL_LINE
        x = min(max(x, self.left + wide / 2), self.width - MARGIN - wide / 2)
        paper = _paper(self.picture.rows[place])
        self.texts.append(svg.rectangle(x - wide / 2, y, wide, high, fill=paper, opacity=VEIL, radius=2))
        self._labels(x, y, lines, colour)


def _paper(row: Row) -> Colour:
    return svg.ALARM if row.alarm else svg.PAPER


def _label_width(label: str) -> float:
    return svg.text_width(len(label), LABEL_SIZE, mono=True)


def _centred(x: float, y: float, content: str, size: float, *, bold: bool = False) -> str:
    return svg.text(x, y, content, size=size, anchor="middle", bold=bold)
