"""The runs that are written in other formats."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest
from click.testing import Result

from farref.properties.traces.file import Trace, decode

Farref = Callable[..., Result]

RUNS: Final = {
    "a claim": ("rref", "--profile", "torch", "--claim", "N1"),
    "a call of oneself": ("rref", "--profile", "torch", "--claim", "N1b"),
    "a lost message": ("rref", "--profile", "torch", "--claim", "N7"),
    "a copied message": ("rref", "--profile", "torch", "--claim", "N9"),
    "a failed call": ("rref", "--profile", "torch", "--claim", "N4"),
    "a mutant": ("rref", "--without", "processes_once", "--workers", "2", "--forks", "2", "--duplicates", "1"),
    "a pass": ("autograd", "--profile", "torch", "--claim", "D5"),
    "a context": ("autograd", "--profile", "torch", "--claim", "D6"),
}


@pytest.fixture(scope="module", params=RUNS.values(), ids=list(RUNS))
def trace(request: pytest.FixtureRequest, farref: Farref, tmp_path_factory: pytest.TempPathFactory) -> Trace:
    path = tmp_path_factory.mktemp("run") / "trace.json"
    assert farref("check", *request.param, "--quiet", "--save", str(path)).exit_code == 1
    return decode(path.read_bytes())
