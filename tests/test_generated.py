"""What a program writes into the tree is what it would write today, and nothing is left of what it wrote before.

The tables are also the test that every claim breaks PyTorch's protocol and not ours, and that every rule is needed: the
commands that make them end with another exit code otherwise. What the tables of autograd say is looked at here too, as JSON:
each of them is a search of its own, which need not be made again for another form.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from farref.checking.request import Request
from farref.checking.search import OnConfiguration
from farref.checking.tables import Listing
from farref.commands.check import TABLES
from farref.properties.autograd.protocol import AUTOGRAD
from tests.generated import ROOT, TLA, configurations, farref, generated
from tests.pages.explored import PAGE, PICTURE

pytestmark = pytest.mark.long

RATIOS = [ROOT / "spec" / "drawings" / f"ratios.{suffix}" for suffix in ("json", "svg")]
"""Measured by `bench.ratios`, and compared with each other in `test_bench.py`."""

Table = Callable[[Request, OnConfiguration], Listing]


@pytest.fixture(scope="module", autouse=True)
def searched_once() -> Iterator[None]:
    """Let commands that ask for the same table search for it once, whatever form they print it in."""
    with pytest.MonkeyPatch.context() as patch:
        for name, table in TABLES.items():
            patch.setitem(TABLES, name, remembered(table))
        yield


def remembered(table: Table) -> Table:
    known: list[tuple[Request, Listing]] = []

    def listing(request: Request, on_configuration: OnConfiguration) -> Listing:
        found = next((listed for asked, listed in known if asked == request), None)
        if found is None:
            found = table(request, on_configuration)
            known.append((request, found))
        return found

    return listing


def short(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", generated(), ids=short)
def test_generated_files_are_up_to_date(path: Path) -> None:
    assert path.read_text() == generated()[path](), "run make generated"


def test_every_claim_of_autograd_breaks_pytorch_and_not_us() -> None:
    answer = json.loads(farref("check", "autograd", "--each", "claim", "--format", "json", "--quiet", exit_code=0))
    assert [row["claim"] for row in answer["rows"]] == list(AUTOGRAD.claims)
    assert {(row["torch"], row["sound"]) for row in answer["rows"]} == {("violated", "holds")}


def test_every_rule_of_autograd_is_necessary() -> None:
    answer = json.loads(farref("check", "autograd", "--each", "rule", "--format", "json", "--quiet", exit_code=0))
    assert [row["rule"] for row in answer["rows"]] == list(AUTOGRAD.rules)
    assert {row["verdict"] for row in answer["rows"]} == {"violated"}


def test_no_configuration_is_left_over() -> None:
    assert set(TLA.glob("*.cfg")) == {path for path in configurations() if path.suffix == ".cfg"}


def test_no_drawing_is_left_over() -> None:
    folder = ROOT / "spec" / "drawings"
    made = {path for path in generated() if path.parent == folder}
    assert set(folder.iterdir()) == {*made, PAGE, PICTURE, *RATIOS}
