"""The kit as a suite of pytest, run from somewhere else, as the maintainer of another backend would."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
ADAPTERS = ROOT / "tests" / "farref" / "adapters"
TOY, WRONG = ADAPTERS / "toy.py", ADAPTERS / "wrong.py"
SUITE = "farref.properties.conformance"


def pytest_run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *words]
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
    }  # not everybody who runs these tests has installed the package
    if not _is_installed():
        command[3:3] = ["-p", "farref.pytest_plugin"]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)


def _is_installed() -> bool:
    from importlib.metadata import entry_points

    return any(one.value == "farref.pytest_plugin" for one in entry_points(group="pytest11"))


def test_each_check_is_a_test(tmp_path: Path) -> None:
    ran = pytest_run(tmp_path, "-v", "--pyargs", SUITE, "--backend", str(TOY), "-k", "R16 or R20")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "backend: toy 1.0, expectations: none" in ran.stdout
    for name, verdict in {"R16": "PASSED", "R20": "PASSED", "R20.parked": "PASSED", "R20.pins": "SKIPPED"}.items():
        assert f"::test_conformance[{name}] {verdict}" in ran.stdout


def test_verdicts_become_outcomes(tmp_path: Path) -> None:
    expected = str(ADAPTERS / "wrong.toml")
    asked = (
        "-v",
        "-rA",
        "--pyargs",
        SUITE,
        "--backend",
        str(WRONG),
        "--expectations",
        expected,
        "--conformance-runs",
        "1",
    )
    ran = pytest_run(tmp_path, *asked, "-k", "R16 or R19 or R20")
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert f"expectations: {expected}" in ran.stdout
    outcomes = {"R16": "XFAIL", "R16.pending": "SKIPPED", "R19": "FAILED", "R20": "FAILED"}
    for name, outcome in outcomes.items():
        assert f"::test_conformance[{name}] {outcome}" in ran.stdout
    assert "a handle that was shared has another value" in ran.stdout
    assert "must be so: A reference that is passed to its owner gives the value there." in ran.stdout
    assert "blocked: R16 must be kept first" in ran.stdout


def test_the_command_of_an_adapter(tmp_path: Path) -> None:
    command = f"{sys.executable} -m farref.properties.conformance.conversation.host {TOY}"
    ran = pytest_run(tmp_path, "-q", "--pyargs", SUITE, "--adapter", command, "-k", "R20")
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_what_is_wrong_is_said_in_a_line(tmp_path: Path) -> None:
    none = pytest_run(tmp_path, "--pyargs", SUITE)
    unknown = pytest_run(tmp_path, "--pyargs", SUITE, "--backend", "nobody")
    unusable = pytest_run(tmp_path, "--pyargs", SUITE, "--backend", "no.such:Adapter")
    assert none.returncode == unknown.returncode == unusable.returncode == 4
    assert "give one of --backend (simulated, processes, torch" in none.stderr
    assert "no backend is called 'nobody'" in unknown.stderr
    assert "No module named 'no'" in unusable.stdout + unusable.stderr


def test_others_may_have_a_backend_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text("def pytest_addoption(parser):\n    parser.addoption('--backend')\n")
    (tmp_path / "test_it.py").write_text(
        "def test(request):\n    assert request.config.getoption('--backend') == 'x'\n"
    )
    ran = pytest_run(tmp_path, "-q", "--backend", "x", "test_it.py")
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_within_the_project_too() -> None:
    ran = pytest_run(ROOT, "-q", "--pyargs", SUITE, "--backend", str(TOY), "-k", "R20")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "passed" in ran.stdout
