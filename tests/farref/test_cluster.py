"""`--cluster`: what is wrong with a cluster is one line, and nobody waits for ever."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import Result

from farref.properties.work import cluster as clusters
from tests.properties.work.dask_cluster import ROOT, Running, cluster

Farref = Callable[..., Result]
CAMPAIGN = ("fuzz", "rref", "--seed", "7", "--schedules", "30", "--quiet", "--format", "json")


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A cluster of a scheduler and two workers."""
    with cluster(2, tmp_path_factory.mktemp("dask")) as started:
        yield started


def complaint(result: Result, code: int) -> str:
    """Give the one line that a command says on stderr."""
    assert result.exit_code == code, result.output
    [line] = result.stderr.splitlines()
    return line


def test_a_bad_address(farref: Farref) -> None:
    said = complaint(farref(*CAMPAIGN, "--cluster", "nowhere"), 2)
    assert "'nowhere' is not the address of a scheduler; give tcp://HOST:PORT, or local" in said


def test_workers_are_asked_for_once(farref: Farref) -> None:
    assert "leave out --jobs" in complaint(farref(*CAMPAIGN, "--cluster", "local", "--jobs", "2"), 2)


def test_without_dask(farref: Farref, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    said = complaint(farref(*CAMPAIGN, "--cluster", "local"), 3)
    assert said == "farref: --cluster needs Dask; in a checkout of farref: pip install '.[dask]'"


def test_nobody_answers(farref: Farref, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed", reason="Dask is not installed; it comes with the extra [dask]")
    monkeypatch.setattr(clusters, "ANSWER_S", 0.5)
    assert "no scheduler answers at tcp://127.0.0.1:1" in complaint(
        farref(*CAMPAIGN, "--cluster", "tcp://127.0.0.1:1"), 3
    )


def test_nobody_works(farref: Farref, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(clusters, "EMPTY_S", 0.5)
    with cluster(0, tmp_path) as empty:
        assert complaint(farref(*CAMPAIGN, "--cluster", empty.address), 3).endswith("has no workers")


def test_workers_with_another_version(farref: Farref, tmp_path: Path) -> None:
    theirs = tmp_path / "farref"
    shutil.copytree(ROOT / "farref", theirs, ignore=shutil.ignore_patterns("__pycache__", "*.md", "*.json"))
    (theirs / "__init__.py").write_text('__version__ = "0.0.9"\n')
    with cluster(1, tmp_path, python=tmp_path) as other:
        said = complaint(farref(*CAMPAIGN, "--cluster", other.address), 3)
    assert "has farref 0.0.9-" in said
    assert "install the same everywhere" in said


def test_workers_without_farref(farref: Farref, tmp_path: Path) -> None:
    (tmp_path / "farref").mkdir()
    (tmp_path / "farref" / "__init__.py").touch()
    with cluster(1, tmp_path, python=tmp_path) as other:
        assert "has no farref, or another one than we have" in complaint(
            farref(*CAMPAIGN, "--cluster", other.address), 3
        )


def test_a_campaign_on_a_cluster_of_its_own(farref: Farref) -> None:
    pytest.importorskip("distributed", reason="Dask is not installed; it comes with the extra [dask]")
    alone, shared = (json.loads(farref(*CAMPAIGN, *more).stdout) for more in ((), ("--cluster", "local")))
    assert {**alone, "seconds": 0} == {**shared, "seconds": 0}


def test_what_is_found_there_is_made_shorter_here(farref: Farref, running: Running, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong_there.py"
    wrong.write_text(WRONG)
    words = (*CAMPAIGN, "--backend", str(wrong))
    alone, shared = (json.loads(farref(*words, *more).stdout) for more in ((), ("--cluster", running.address)))
    assert shared["disagreement"] is not None
    assert {**alone, "seconds": 0} == {**shared, "seconds": 0}


WRONG = """
from farref.properties.twin.backends.model import ModelBackend
class Mine(ModelBackend):
    protocol = "rref"
    def perform(self, action):
        1 / (str(action) != "LetGo(f0)")
        super().perform(action)
"""


TABLES = [
    ("check", "rref", "--each", "rule", "--workers", "2", "--forks", "1"),
    ("check", "autograd", "--each", "claim", "--depth-max", "4"),
    ("crashes", "lend", "chain"),
]


@pytest.mark.parametrize("words", TABLES, ids=" ".join)
def test_a_table_is_the_same_on_a_cluster_and_in_processes(
    farref: Farref, running: Running, words: tuple[str, ...]
) -> None:
    form = ("--format", "json", "--quiet")
    alone = farref(*words, *form)
    assert json.loads(alone.stdout)
    for more in (("--jobs", "2"), ("--cluster", running.address)):
        shared = farref(*words, *form, *more)
        assert (shared.exit_code, shared.stdout) == (alone.exit_code, alone.stdout)


def test_rules_are_judged_alike_on_a_cluster_and_in_processes(farref: Farref, running: Running) -> None:
    """Of several counterexamples a solver may give another one: that depends on what it was asked before."""
    words = ("prove", "window", "--each", "rule", "--format", "json", "--quiet")
    alone = farref(*words)
    for more in (("--jobs", "2"), ("--cluster", running.address)):
        shared = farref(*words, *more)
        assert (shared.exit_code, rules(shared)) == (alone.exit_code, rules(alone))


def rules(result: Result) -> list[tuple[str, ...]]:
    """List what became of each rule."""
    return [(one["rule"], one["verdict"], one["theorem"]) for one in json.loads(result.stdout)["rules"]]


def test_a_matrix_is_the_same_on_a_cluster(farref: Farref, running: Running, tmp_path: Path) -> None:
    known = tmp_path / "known.toml"
    known.write_text("")
    words = (
        "conform",
        "--backend",
        "simulated",
        "--backend",
        "processes",
        "--only",
        "R21",
        "--expectations",
        str(known),
    )
    alone, shared = (
        farref(*words, "--format", "json", "--quiet", *more) for more in ((), ("--cluster", running.address))
    )
    assert shared.exit_code == alone.exit_code == 0
    assert verdicts(shared) == verdicts(alone)


def verdicts(result: Result) -> list[tuple[str, ...]]:
    """List the rows of all reports."""
    reports = json.loads(result.stdout)["reports"]
    return [
        (one["backend"], row["id"], row["verdict"], str(row.get("replay"))) for one in reports for row in one["clauses"]
    ]


@pytest.mark.parametrize(
    "words", [("check", "rref"), ("prove", "rref"), ("check", "rref", "--compare-engines", "--forks", "1")]
)
def test_only_tables_are_shared(farref: Farref, words: tuple[str, ...]) -> None:
    assert "--jobs and --cluster share the r" in complaint(farref(*words, "--jobs", "2"), 2)
