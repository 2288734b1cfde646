"""Whatever a user gets wrong, the answer is one line on stderr that names it and says what is allowed, and exit code 2."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

Farref = Callable[..., Result]

BACKENDS = (
    "simulated, processes, torch, torch-faulty, managers, rpyc, foolscap, ray, java-rmi, capnweb, "
    "a file.py, a module:attribute"
)
WRONG_WORDS = {
    "check": "SUBJECT",
    "check optimizer": "'rref'",
    "check autograd --forks 2": "--forks is not a bound of autograd; there are --graph",
    "check rref --graph chain": "--graph is not a bound of rref",
    "check autograd --graph chain --pairs 2": "has its own workers and pairs",
    "check autograd --graph chain --release": "whom nobody has called; leave out --release, or add --forward",
    "check autograd --graph every --release": "whom nobody has called",
    "check rref --crashes 1": "--crashes is not a bound of rref",
    "check rref --claim C1 --cuts 2": "its own bounds",
    "fuzz rref --backend storm --cuts 1": "beside it on the backends simulated and processes only",
    "fuzz autograd --backend storm --cuts 1": "leave out --cuts",
    "check autograd --graph chian": "no graph is called 'chian'",
    "check autograd --claim N1": "no claim or property is called 'N1'; known are D1",
    "check rref --claim d1": "D1 belongs to autograd; in rref no claim or property is called 'd1'; known are N1",
    "check autograd --claim E8": "E8 belongs to threads; in autograd no claim",
    "check autograd --without fetch_pins_user": "no rule is called",
    "check autograd --claim S2 --graph chain": "says nothing under these bounds; add --passes 2",
    "check autograd --detached 1 --graph chain": "add --forward",
    "check autograd --workers 4": "workers is 4; allowed is 2 to 3",
    "fuzz foo": "'rref', 'autograd'",
    "check rref --profile pytorch": "'sound', 'torch'",
    "check rref --without gravity": "'processes_once'",
    "check rref --claim N99": "N1, N1b, N2",
    "check rref --engine spin": "'fast', 'reference', 'tlc'",
    "check rref --workers 0": "from 2 to 8",
    "check rref --workers 9": "from 2 to 8",
    "check rref --workers -3": "from 2 to 8",
    "check rref --workers many": "from 2 to 8",
    "check rref --workers 2.5": "from 2 to 8",
    "check rref --rrefs 0": "from 1 to 15",
    "check rref --forks 0": "from 1 to 15",
    "check rref --drops -1": "from 0 to 9",
    "check rref --rrefs 4 --forks 4": "rrefs x forks <= 15",
    "check rref --states-max 0": "from 1 upwards",
    "check rref --seconds-max 0": "--seconds-max",
    "check rref --seconds-max soon": "--seconds-max",
    "check rref --walk 0": "from 1 upwards",
    "check rref --seed x": "--seed",
    "check rref --claim N1 --workers 3": "its own bounds",
    "check rref --claim P7 --workers 2": "--shutdown",
    "check rref --without processes_once --profile torch": "--profile torch",
    "check rref --format markdown": "--each",
    "check rref --format xml": "'pretty', 'json', 'markdown'",
    "check rref --each rule --claim N1": "leave out",
    "check rref --compare-engines": "one configuration",
    "check rref --walk 5 --engine tlc": "--engine tlc",
    "check rref --unheard-of": "--unheard-of",
    "verify rref": "check, conform, crashes, doctor, evidence, explain, explore, fuzz, prove, replay, spec, top, zoo",
    "crashes nothing": "no story is called 'nothing'; there are aborted, chain, heirs,",
    "crashes --replay lend.99.A.gone": "no point is called 'lend.99.A.gone'",
    "fuzz": "SUBJECT",
    "fuzz rref --backend torch": "'simulated'",
    "fuzz rref --seconds 0": "--seconds",
    "fuzz rref --seconds nan": "above 0",
    "fuzz rref --schedules 0": "from 1 upwards",
    "fuzz rref --exclusions 1 --backend storm": "on the backends simulated and processes only; leave out --exclusions",
    "fuzz rref --first -1": "from 0 upwards",
    "fuzz rref --workers 9": "from 2 to 8",
    "fuzz rref --rrefs 4 --forks 4": "rrefs x forks <= 15",
    "replay": "TRACE",
    "replay no/such/file.json": "No such file",
    "conform": f"give --backend ({BACKENDS})",
    "conform processes": "a backend is given as --backend processes",
    "conform --backend nobody": f"{BACKENDS}, or a command",
    "conform --backend no/such/file.py": "is not a file; a backend is one of simulated",
    "conform --backend a-b:c": "no backend is called",
    "conform --": "after -- there must be the command",
    "conform --backend processes --only R999": "there are checks of R",
    "conform --backend processes --only N1": "(--list)",
    "conform --backend processes --expectations no/such.toml": "cannot be read: No such file",
    "conform --backend processes --format yaml": "'pretty', 'json', 'junit', 'html', 'markdown'",
    "conform --backend processes --seconds 0": "above 0",
    "conform --backend processes --runs 0": "from 1 upwards",
    "conform --backend processes --seed x": "--seed",
    "conform --backend processes -o no/such/folder/report.json": "cannot be written",
    "conform --backend processes -o .": "directory",
    "conform --from no/such/report.json": "No such file",
    "conform --from pyproject.toml --only R20": "--only is for a run",
    "conform --validate-adapter": "needs an adapter",
    "conform --list --format html": "pretty or json",
    "spec R999": "R1 to R",
    "spec everything": "R1 to R",
    "spec A99": "A1 to A29",
    "explain": "TRACE",
    "explore": "SUBJECT",
    "explore threads": "'rref', 'autograd'",
    "explore rref no/such/file.json": "No such file",
    "explore rref pyproject.toml": "not a trace",
    "evidence -o page.txt": "-o writes a page, and page.txt does not end in .html",
    "explore rref -o page.txt": "-o writes a page, and page.txt does not end in .html",
    "explore rref --claim N99": "no claim or property is called 'N99'",
    "explore rref --claim N1 --workers 3": "its own bounds",
    "explore rref --without gravity": "no rule is called 'gravity'",
    "explore rref --profile torch --without processes_once": "leave out --profile torch",
    "explore rref --graph chain": "--graph is not a bound of rref",
    "explore rref --forks 2 -o no/such/folder/page.html": "cannot be written",
    "explain no/such/file.json": "No such file",
    "explain .": "directory",
}


def test_a_run_is_explored_in_its_own_world(farref: Farref, saved: Path) -> None:
    assert "is a run of rref, not of autograd" in complaint(farref("explore", "autograd", str(saved)))
    assert "leave out --workers" in complaint(farref("explore", "rref", str(saved), "--workers", "2"))
    assert "leave out --profile" in complaint(farref("explore", "rref", str(saved), "--profile", "torch"))


def complaint(result: Result) -> str:
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert result.stderr.startswith("farref: ")
    assert "Traceback" not in result.stderr
    return result.stderr


@pytest.mark.parametrize(("words", "told"), WRONG_WORDS.items())
def test_wrong_words(farref: Farref, words: str, told: str) -> None:
    assert told in complaint(farref(*words.split()))


Damage = Callable[[dict[str, Any]], object]
DAMAGED: dict[str, tuple[Damage, str]] = {
    "a newer format": (lambda trace: trace.update(format="farref-trace/2"), "'farref-trace/1'"),
    "another subject": (lambda trace: trace.update(subject="optimizer"), "rref, autograd"),
    "another profile": (lambda trace: trace.update(profile="ray"), "sound, torch"),
    "an unknown rule": (lambda trace: trace.update(without="gravity"), "processes_once"),
    "a bound of 0": (lambda trace: trace["bounds"].update(workers=0), "2 to 8"),
    "far too many forks": (lambda trace: trace["bounds"].update(forks=10**9), "1 to 15"),
    "a bound of the wrong type": (lambda trace: trace["bounds"].update(workers="3"), "workers"),
    "an unknown property": (lambda trace: trace["property"].update(id="P99"), "P99"),
    "an unknown case": (lambda trace: trace["property"].update(case="nobody"), "nobody"),
    "an unknown field": (lambda trace: trace.update(colour="red"), "colour"),
    "a missing field": (lambda trace: trace.pop("steps"), "steps"),
    "an unknown action": (lambda trace: trace["steps"][2].update(action="Pray(f0)"), "step 3"),
    "an impossible step": (lambda trace: trace["steps"].insert(0, trace["steps"][-1]), "step 1"),
    "a step left out": (lambda trace: trace["steps"].pop(1), "step "),
    "an ending left out": (lambda trace: trace["steps"].pop(), "step 11 is the last"),
    "another message": (lambda trace: trace["steps"][0]["sent"].clear(), "step 1"),
    "another worker": (lambda trace: trace["steps"][0].update(worker="C"), "step 1"),
    "a rule it does not break": (lambda trace: trace.update(profile="sound"), "step "),
}


@pytest.mark.parametrize(("damage", "told"), DAMAGED.values(), ids=DAMAGED)
def test_damaged_traces(farref: Farref, saved: Path, damage: Damage, told: str) -> None:
    trace = json.loads(saved.read_bytes())
    damage(trace)
    saved.write_text(json.dumps(trace))
    line = complaint(farref("explain", str(saved)))
    assert told in line
    assert str(saved) in line


FOREIGN = {
    "half of a trace": lambda whole: whole[: len(whole) // 2],
    "nothing": lambda _: b"",
    "no JSON": lambda _: b"once upon a time",
    "bytes": lambda _: bytes(range(256)),
    "a list": lambda _: b"[1, 2, 3]",
    "another object": lambda _: b'{"hello": "world"}',
    "a number for a format": lambda _: b'{"format": 1}',
    "deep nesting": lambda _: b"[" * 100_000,
}


@pytest.mark.parametrize("content", FOREIGN.values(), ids=FOREIGN)
def test_foreign_files(farref: Farref, saved: Path, content: Callable[[bytes], bytes]) -> None:
    saved.write_bytes(content(saved.read_bytes()))
    assert "farref check --save" in complaint(farref("explain", str(saved)))


NO_REPORTS = {
    "nothing": (b"", "not a conformance report"),
    "deep nesting": (b'{"x": ' + b"[" * 100_000, "not a conformance report: it is nested too deeply"),
    "bytes": (b'{"format": "farref-conformance/1", "backend": "\xff"}', "not a conformance report"),
    "an empty matrix": (b'{"format": "farref-conformance-matrix/1", "reports": []}', "a matrix of no reports"),
}


@pytest.mark.parametrize(("content", "told"), NO_REPORTS.values(), ids=NO_REPORTS)
def test_foreign_reports(farref: Farref, tmp_path: Path, content: bytes, told: str) -> None:
    path = tmp_path / "report.json"
    path.write_bytes(content)
    line = complaint(farref("conform", "--from", str(path)))
    assert told in line
    assert str(path) in line


def test_expectations_that_are_nested_too_deeply(farref: Farref, tmp_path: Path) -> None:
    path = tmp_path / "known.toml"
    path.write_text(f"x = {'[' * 100_000}")
    told = complaint(farref("conform", "--backend", "processes", "--expectations", str(path)))
    assert f"{path} is not a file of expectations: it is nested too deeply" in told


def test_a_place_that_cannot_be_written(farref: Farref, saved: Path) -> None:
    assert "cannot be written" in complaint(farref("explain", str(saved), "-o", "/no/such/folder/x.svg"))
