"""`farref explain`: the story again, and the picture."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import Result

from farref.properties.traces.file import Trace, decode
from farref.rendering.diagram import draw
from farref.rendering.svg import LETTER_WIDTHS

Farref = Callable[..., Result]
Traced = Callable[..., bytes]
SVG = "{http://www.w3.org/2000/svg}"

DRAWN = {
    "a headline": ("--claim", "N1"),
    "a message to oneself": ("--claim", "N1b"),
    "a lost message": ("--claim", "N7"),
    "a copied message": ("--claim", "N9"),
    "a failed call": ("--claim", "N4"),
    "a long run": ("--claim", "P5", "--workers", "3"),
    "a shutdown": ("--claim", "P7", "--workers", "2", "--forks", "2", "--timeouts", "1", "--shutdown"),
    "a failed call to oneself": (
        *("--claim", "P3", "--workers", "4", "--rrefs", "2", "--forks", "3", "--drops", "1", "--failures", "1"),
        *("--walk", "400", "--seed", "5"),
    ),
    "two RRefs": ("--claim", "P8", "--workers", "2", "--rrefs", "2", "--forks", "2"),
}


@pytest.fixture(scope="module", params=DRAWN.values(), ids=list(DRAWN))
def trace(request: pytest.FixtureRequest, traced: Traced) -> Trace:
    return decode(traced(*request.param))


def texts(svg: str) -> list[ElementTree.Element]:
    return list(ElementTree.fromstring(svg).iter(f"{SVG}text"))


def box(element: ElementTree.Element) -> tuple[float, float, float, float]:
    """Estimate the box of a text: left, top, right, bottom."""
    size, letters = float(element.attrib["font-size"]), len(element.text or "")
    width = letters * size * LETTER_WIDTHS["Mono" in element.attrib["font-family"]]
    left = float(element.attrib["x"]) - {"start": 0, "middle": width / 2, "end": width}[element.attrib["text-anchor"]]
    baseline = float(element.attrib["y"])
    return left, baseline - 0.75 * size, left + width, baseline + 0.2 * size


def overlaps(svg: str) -> Iterator[tuple[str | None, str | None]]:
    for one, other in combinations(texts(svg), 2):
        left, top, right, bottom = box(one)
        left2, top2, right2, bottom2 = box(other)
        if left < right2 and left2 < right and top < bottom2 and top2 < bottom:
            yield one.text, other.text


def test_text_and_picture(farref: Farref, saved: Path, tmp_path: Path) -> None:
    result = farref("explain", str(saved), "-o", str(tmp_path / "n1.svg"))
    assert (result.exit_code, result.stderr) == (0, f"farref: the diagram was written to {tmp_path / 'n1.svg'}\n")
    assert " 1 A asks B to run a function" in result.stdout
    assert (tmp_path / "n1.svg").read_text().startswith("<svg ")


def test_json_gives_the_trace_back(farref: Farref, saved: Path) -> None:
    result = farref("explain", str(saved), "--format", "json")
    assert json.loads(result.stdout) == json.loads(saved.read_bytes())


def test_no_text_lies_on_another(trace: Trace) -> None:
    assert list(overlaps(draw(trace))) == []


def test_everything_is_on_the_paper(trace: Trace) -> None:
    root = ElementTree.fromstring(draw(trace))
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    for element in root.iter(f"{SVG}text"):
        left, top, right, bottom = box(element)
        assert 0 <= left < right <= width
        assert 0 <= top < bottom <= height


def test_every_message_and_worker_is_there(trace: Trace) -> None:
    shown = " ".join(element.text or "" for element in texts(draw(trace)))
    for step in trace.steps:
        assert step.message is None or step.message.label in shown
        assert all(message.label in shown for message in step.sent)
    assert all(re.search(rf"\b{worker.name}\b", shown) for worker in trace.workers)
    assert trace.property is not None
    assert f"{trace.property.id} (clause {trace.property.clause}" in shown


def test_it_is_legible_on_a_page_and_on_a_telephone(trace: Trace) -> None:
    root = ElementTree.fromstring(draw(trace))
    width = float(root.attrib["width"])
    assert width <= 830
    assert min(float(element.attrib["font-size"]) for element in root.iter(f"{SVG}text")) >= 12
    if len(trace.workers) <= 3:
        assert width <= 480


def test_it_is_drawn_for_dark_pages_too(trace: Trace) -> None:
    """Every colour that is used has its dark counterpart, and all that has a colour has its class."""
    root = ElementTree.fromstring(draw(trace))
    [style] = root.iter(f"{SVG}style")
    for element in root.iter():
        for letter, attribute in (("f", "fill"), ("s", "stroke")):
            if element.attrib.get(attribute, "none") != "none":
                [name] = [one for one in element.attrib["class"].split() if one.startswith(f"{letter}-")]
                assert f".{name} {{ {attribute}: #" in (style.text or "")


def test_the_step_that_breaks_it_is_marked_with_what_it_changed(trace: Trace) -> None:
    shown = [element.text or "" for element in texts(draw(trace))]
    assert trace.property is not None
    [place] = [place for place, text in enumerate(shown) if text.startswith("✗ ")]
    last = max(place for place, text in enumerate(shown) if text == str(len(trace.steps)))
    assert last < place
    assert trace.property.id in shown[place]
    assert any(text.startswith(("− ", "+ ", "· ")) for text in shown[place:])


def test_the_counts_are_those_of_the_last_step(traced: Traced) -> None:
    shown = " ".join(element.text or "" for element in texts(draw(decode(traced("--claim", "N7")))))
    assert "− B owns x0: value ready, forks f0@A, held yes + B owns x0: value ready, forks f0@A" in shown


def test_the_picture_can_be_read_aloud(trace: Trace) -> None:
    root = ElementTree.fromstring(draw(trace))
    title, description = root.find(f"{SVG}title"), root.find(f"{SVG}desc")
    assert title is not None
    assert description is not None
    assert trace.steps[-1].text in (description.text or "")


@pytest.mark.parametrize(("claim", "mark"), [("N7", "dropped"), ("N9", "copy"), ("N4", "failed")])
def test_losses_are_marked(traced: Traced, claim: str, mark: str) -> None:
    assert mark in draw(decode(traced("--claim", claim)))
