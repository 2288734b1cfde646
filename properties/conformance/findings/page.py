"""Write `spec/findings.md`: what was found, how often it showed, and the shortest run of the model that leads there."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import msgspec

from farref.model.checker import fast
from farref.properties.conformance.findings.catalogue import (
    HERE,
    OTHERS,
    Figures,
    Finding,
    read_figures,
    read_findings,
    read_others,
)
from farref.properties.protocol import AnyProtocol
from farref.properties.protocols import PROTOCOLS
from farref.properties.traces.file import Trace, record

WIDTH: Final = 125
FOLDER: Final = "properties/conformance/findings/scripts"
HEAD: Final = """\
# Findings in PyTorch {release}

Each finding is a program of some ninety lines that needs PyTorch and nothing of ours. It says what should happen and what
does, shows its steps, and ends with 1 if the defect is there, with 0 if it is not. Run one, or all of them:

```
pip install torch=={release}
python {folder}/rref/n1_two_owners.py
make findings                      every program five times: do they behave as recorded here?
```

The figures are those of PyTorch {torch} on Linux, between processes of one machine. "Reproduced 5 of 5" means five runs
of the program. Below each finding that the model can express stands the shortest run of PyTorch's rules to it, as the checker
tells it; `farref check rref --profile torch --claim N1` finds it again, and `farref check autograd` those of D1 to D9.
[`differences.md`](differences.md) and [`autograd.md`](autograd.md) have the rules that repair them. What has not been seen is
here too, with what was tried.

This page is written by `make generated` from `properties/conformance/findings/findings.toml` and from the figures of the
last run that was kept, `findings-2.13.json` beside it.
"""

OTHERS_HEAD: Final = """\
# Findings in other systems

The same of systems that `farref conform` judges by name: {versions}.
First comes what needs no fault and no timing. Each has a program of that system alone, which ends as those above. A finding is
*by design* if those who make the system say so; the clause is broken all the same. Foolscap 24.9, an independent implementation
of the same family of protocols, keeps every clause that it was asked about. `make findings` runs what is installed.
"""


def page() -> str:
    """Write the page from what is in the tree."""
    return render(read_findings(), read_figures()) + render_others(read_others(), other_figures())


def other_figures() -> Figures:
    """Read the figures of the programs of other systems."""
    return msgspec.json.decode(HERE.joinpath(OTHERS).read_bytes(), type=Figures)


def render_others(findings: Sequence[Finding], figures: Figures) -> str:
    """Write what was found in other systems."""
    versions = ", ".join(f"{system} {version}" for system, version in figures.versions.items())
    head = OTHERS_HEAD.format(versions=versions)
    sections = [_section(finding, figures) for finding in findings]
    return "\n".join([f"\n{head}", *_table(findings, figures), *sections, ""])


def render(findings: Sequence[Finding], figures: Figures) -> str:
    """Write the page: a table of everything, then each finding."""
    head = HEAD.format(release=figures.torch.partition("+")[0], torch=figures.torch, folder=FOLDER)
    sections = [_section(finding, figures) for finding in findings]
    return "\n".join([head, *_table(findings, figures), *sections, ""])


def shortest(claim: str) -> Trace:
    """Find a shortest run of PyTorch's rules to a claim."""
    about = protocol_of_claim(claim)
    known = about.claims[claim]
    found = fast.check(about.model(known.bounds, about.profiles["torch"]), (known.property,)).counterexample
    assert found is not None, f"PyTorch's rules keep {claim}"
    familiar = replace(found, actions=about.familiar(known.bounds, found.actions))
    return record(known.bounds, "torch", None, familiar)


def protocol_of_claim(claim: str) -> AnyProtocol:
    """Say which protocol a claim is about."""
    return next(about for about in PROTOCOLS.values() if claim in about.claims)


def _table(findings: Sequence[Finding], figures: Figures) -> list[str]:
    rows = ["| finding | clause | title | reproduced | seconds |", "| --- | --- | --- | ---: | ---: |"]
    for finding in findings:
        figure = figures.of(finding)
        seconds = "—" if figure is None else f"{figure.seconds:.0f}"
        rows.append(f"| {finding.id} | {finding.clause} | {finding.title} | {_rate(finding, figures)} | {seconds} |")
    return rows


def _rate(finding: Finding, figures: Figures) -> str:
    figure = figures.of(finding)
    if figure is None:
        return "not tried by a program"
    failed = f", {figure.failed} could not be carried out" if figure.failed else ""
    return f"{figure.reproduced} of {figure.runs}{failed}"


def _section(finding: Finding, figures: Figures) -> str:
    figure = figures.of(finding)
    version = figures.torch or figures.versions.get(finding.system, "")
    named = [f"Clause {finding.clause}", f"{finding.system} {version}", f"reproduced: {_rate(finding, figures)}"]
    said = [
        " · ".join(named),
        f"**Symptom.** {finding.symptom}",
        f"**Cause.** {finding.cause}",
        *([f"**Tried.** {finding.tried}"] if finding.tried else []),
        *([f"**Upstream.** {finding.upstream}"] if finding.upstream else []),
        *([f"**Also reported as.** {', '.join(finding.also_reported_as)}"] if finding.also_reported_as else []),
        *([f"**By design.** {finding.by_design}"] if finding.by_design else []),
    ]
    ran = f"```\n{_interpreter(finding)} {FOLDER}/{finding.script}\n{figure.last}\n```" if figure else None
    paragraphs = [*map(_filled, said), *([_in_lines(ran)] if ran else []), *map(_run, finding.claims)]
    return f"\n## {finding.id}. {finding.title[0].upper()}{finding.title[1:]}\n\n" + "\n\n".join(paragraphs)


def _interpreter(finding: Finding) -> str:
    return {"mjs": "node", "java": "java"}.get((finding.script or "").rpartition(".")[2], "python")


def _run(claim: str) -> str:
    trace = shortest(claim)
    steps = [
        textwrap.fill(step.text, WIDTH, initial_indent=f"{number}. ", subsequent_indent=" " * len(f"{number}. "))
        for number, step in enumerate(trace.steps, start=1)
    ]
    lead = f"Claim {claim} of the model, which PyTorch's rules break in {len(steps)} steps: {trace.meaning}"
    return f"{_filled(lead)}\n\n" + "\n".join(steps)


def _filled(paragraph: str) -> str:
    return textwrap.fill(paragraph, WIDTH, break_long_words=False, break_on_hyphens=False)


def _in_lines(block: str) -> str:
    return "\n".join(textwrap.fill(line, WIDTH, subsequent_indent="  ") for line in block.splitlines())
