"""Renderings say what the report says, whatever is written in it."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from xml.etree import ElementTree

import msgspec
import pytest
from markdown_it import MarkdownIt
from rich.console import Console

from farref.properties.conformance.kit.document import Level, Report, Verdict
from farref.rendering.conformance.conclusion import Conclusion, conclusion, sentence
from farref.rendering.conformance.console import show_reports
from farref.rendering.conformance.html import to_html
from farref.rendering.conformance.junit import to_junit
from farref.rendering.conformance.markdown import to_markdown
from farref.rendering.conformance.marks import events, marks
from farref.rendering.conformance.sequence import draw_story
from farref.rendering.svg import RED
from tests.farref.conformance import EVERY, STORY, operation, report, row

VERDICTS = [one.value for one in Verdict]


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        ((Verdict.PASS, Verdict.EXPECTED_FAIL, Verdict.SKIPPED), Conclusion.CONFORMS),
        ((Verdict.PASS, Verdict.FAIL, Verdict.ERROR), Conclusion.BROKEN),
        ((Verdict.PASS, Verdict.UNEXPECTED_PASS), Conclusion.BROKEN),
        ((Verdict.PASS, Verdict.ERROR), Conclusion.HARNESS),
        ((Verdict.SKIPPED, Verdict.BLOCKED, Verdict.UNTESTED), Conclusion.NOTHING),
        ((), Conclusion.NOTHING),
        ((Verdict.PASS, Verdict.UNTESTED), Conclusion.INCOMPLETE),
        ((Verdict.PASS, Verdict.UNTESTED, Verdict.FAIL), Conclusion.BROKEN),
    ],
)
def test_what_verdicts_come_to(verdicts: tuple[Verdict, ...], expected: Conclusion) -> None:
    assert conclusion([report(*(row("R1", verdict) for verdict in verdicts))]) is expected


def test_what_a_clause_only_allows_nobody_need_do() -> None:
    optional = report(row("R1", Verdict.PASS), row("R2", Verdict.FAIL, Level.MAY))
    assert conclusion([optional]) is Conclusion.CONFORMS
    assert conclusion([report(row("R1", Verdict.PASS), row("R2", Verdict.FAIL, Level.SHOULD))]) is Conclusion.BROKEN
    assert ElementTree.fromstring(to_junit([optional])).get("failures") == "0"


def test_known_failures_are_not_called_conformance() -> None:
    kept, known = row("R1", Verdict.PASS), row("R2", Verdict.EXPECTED_FAIL)
    assert sentence([report(kept)]) == "CONFORMS: every clause that was checked is kept."
    assert sentence([report(kept, known)]) == "AS EXPECTED: 1 check failed that is known to; nothing else did."
    assert sentence([report(kept, row("R3", Verdict.FAIL, Level.MAY))]).endswith(
        "is kept, except for what is optional."
    )


def test_one_backend_with_nothing_checked_is_not_hidden_by_another() -> None:
    assert conclusion([report(row("R1", Verdict.PASS)), report(row("R1", Verdict.SKIPPED))]) is Conclusion.NOTHING


def pretty(reports: Sequence[Report]) -> str:
    """Print reports as on a terminal, which has no colours."""
    text = io.StringIO()
    show_reports(Console(file=text, width=120, highlight=False, markup=False, emoji=False), reports)
    return text.getvalue()


def test_what_a_clause_says_is_wrapped_below_its_beginning() -> None:
    shown = pretty([report(row("R1", Verdict.FAIL, spec="**Rule.** " + "so it must be " * 40), backend="toy")])
    lines = shown.splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("  The spec:     "))
    wrapped = lines[first : first + 4]
    assert all(len(line) <= 120 for line in wrapped)
    assert all(line.startswith(" " * 16) and line.strip() for line in wrapped[1:])


@pytest.mark.parametrize("render", [to_html, to_junit, to_markdown, pretty])
def test_nothing_moves_a_cursor(render: Callable[[Sequence[Report]], str]) -> None:
    evil = "a\x00b\x1b[2Jc\x9bd\x7fe\rf\x0bg"
    rows = [row(f"R{n}", one, message=evil, title=evil, says=evil) for n, one in enumerate(Verdict, start=1)]
    shown = render([report(*rows, backend=evil), EVERY])
    assert not re.findall(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", shown)
    assert "a\ufffdb\ufffd[2Jc\ufffdd\ufffde\ufffdf\ufffdg" in shown.replace("\\", "")


# -- JUnit --------------------------------------------------------------------------------------------------------------


def test_junit_maps_the_verdicts() -> None:
    (suite,) = ElementTree.fromstring(to_junit([EVERY]))
    cases = {case.get("name"): [one.tag for one in case] for case in suite.iter("testcase")}
    mapped = {verdict: cases[f"R{number}"] for number, verdict in enumerate(VERDICTS, start=1)}
    assert mapped == {
        "pass": [],
        "fail": ["failure"],
        "expected-fail": ["skipped"],
        "by-design": ["skipped"],
        "unexpected-pass": ["failure"],
        "skipped": ["skipped"],
        "blocked": ["skipped"],
        "untested": ["skipped"],
        "error": ["error"],
    }
    counts = {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": "9", "failures": "2", "errors": "1", "skipped": "5"}


def test_junit_says_why() -> None:
    root = ElementTree.fromstring(to_junit([EVERY, EVERY]))
    assert len(root) == 2
    failure = next(root.iter("failure"))
    assert "message </script>" in str(failure.get("message"))
    assert "3. A does fetch" in str(failure.text)
    assert "again: farref conform" in str(failure.text)
    skipped = next(root.iter("skipped"))
    assert skipped.get("type") == "expected-fail"
    assert "https://example.org/1" in str(skipped.get("message"))


# -- Markdown -----------------------------------------------------------------------------------------------------------


def test_markdown_takes_nothing_for_markup() -> None:
    text = to_markdown([EVERY, EVERY])
    page = MarkdownIt("commonmark", {"html": True}).enable("table").render(text)
    assert "<script" not in page
    assert page.count("<table>") == 2
    rows = [line for line in page.split("<tr>") if "R2" in line]
    assert all(len(re.findall("<td", line)) == 5 for line in rows)


def test_markdown_tells_what_failed() -> None:
    text = to_markdown([EVERY])
    assert "### R2 ✗ fail: Title of R2" in text
    assert "3. A does fetch" in text
    assert "### R1" not in text
    assert text.rstrip().endswith("**DOES NOT CONFORM**")


# -- diagrams -----------------------------------------------------------------------------------------------------------


def test_an_operation_that_others_overtake_comes_back_later() -> None:
    told = [(one.operation.number, one.begins, one.ends) for one in events(STORY)]
    assert told == [(1, True, True), (2, True, False), (3, True, True), (2, False, True)]


def test_a_diagram_is_xml_with_every_worker() -> None:
    drawing = ElementTree.fromstring(draw_story(STORY, "n-"))
    texts = [one.text for one in drawing.iter("{http://www.w3.org/2000/svg}text")]
    assert {"A", "B", "1", "2", "3"} <= set(texts)
    assert drawing.get("aria-labelledby") == "n-title n-description"


def test_a_gradient_program_is_drawn_step_by_step() -> None:
    steps = [
        {"leaf": "q", "on": "B", "value": 3},
        {"let": "y", "on": "C", "through": ["B"], "operation": "mul", "args": ["q", 2]},
        {"let": "z", "operation": "add", "args": ["y", 1]},
    ]
    story = [operation(1, "backward", 0, 1, context="c", steps=steps, roots=["z"], mode="fast")]
    drawn = [(one.source, one.target, one.label.split(" gives")[0]) for one in marks(story)]
    assert drawn == [
        ("B", None, "q = 3"),
        ("A", "B", "y = mul(q, 2)"),
        ("B", "C", "y = mul(q, 2)"),
        ("A", None, "z = add(y, 1)"),
        ("A", None, "backward z FAST"),
    ]


def test_of_counts_only_those_are_drawn_that_are_not_zero() -> None:
    outcomes = {
        "gives {'owned': 1, 'forks': 0}": "probe owned 1",
        "gives {'owned': 0}": "probe all zero",
        "fails": "probe fails",
    }
    for outcome, label in outcomes.items():
        (mark,) = marks([msgspec.structs.replace(operation(1, "probe", 0, 1, name=None), outcome=outcome)])
        assert mark.label == label


def test_trouble_is_red() -> None:
    assert RED.light in draw_story(STORY, "")
    assert RED.light not in draw_story(STORY[:2], "")


@pytest.mark.parametrize("verb", ["start", "stop", "fault", "backward", "gradients", "probe", "drop", "unheard-of"])
def test_any_operation_can_be_drawn(verb: str) -> None:
    for story in ((operation(1, verb, 0, 1),), (operation(1, verb, 0, None, worker=""),)):
        assert ElementTree.fromstring(draw_story(story, "")) is not None
