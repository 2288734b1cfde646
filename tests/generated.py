"""Everything in the tree that a program writes: `make generated` writes it, `tests/test_generated.py` compares.

These are the tables of claims and rules in the documents, the handlers under the clauses, the drawings and tables of
phases, the costs, the transcript and its logs, the listing of folders, the ledger of findings, the matrix, the diagram of N1,
the schema of conformance reports with the tables of its protocol, and the TLA+ configurations: one for each claim under each
profile, those expected to fail named so. The page of N1 in one file is written too, and compared by what it tells.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from click.testing import CliRunner

from farref.cli import cli
from farref.model.rref.rules import SOUND, TORCH
from farref.model.rref.world import Bounds
from farref.properties.autograd.protocol import AUTOGRAD
from farref.properties.conformance.findings import page as findings_page
from farref.properties.conformance.kit import document
from farref.properties.conformance.kit.steps import look_schema
from farref.properties.proof.induction.theory import Theorem
from farref.properties.proof.subjects import SUBJECTS
from farref.properties.protocols import PROTOCOLS
from farref.properties.rref.always import rref_properties
from farref.properties.rref.claims import CLAIMS
from farref.properties.rref.portfolio import PORTFOLIO
from farref.rendering.evidence.curves import picture as curves_picture
from farref.rendering.evidence.markdown import page as evidence_page
from farref.tlc import autograd as autograd_tlc
from farref.tlc import engine as tlc
from farref.tlc import views as views_tlc
from farref.tlc.claims import REFINEMENT
from farref.tlc.invariant import invariant_module
from farref.zookeeping.record import read as read_evidence
from tests import conformance_tables, folders
from tests.handlers import with_handlers
from tests.pages import costs, explored, matrix, states, transcript, tree, upstream
from tests.pages.tasks import task_table

ROOT = Path(__file__).parents[1]
TLA = ROOT / "spec" / "tla"


def generated() -> dict[Path, Callable[[], str]]:
    """Give every generated file, and how to make what should be in it."""
    return {
        ROOT / "CONTRIBUTING.md": contributing_page,
        ROOT / "README.md": partial(with_table, ROOT / "README.md", "--each claim"),
        ROOT / "spec" / "README.md": partial(with_table, ROOT / "spec" / "README.md", "--each rule"),
        ROOT / "spec" / "rref.md": lambda: with_handlers(with_proofs((ROOT / "spec" / "rref.md").read_text()), "rref"),
        ROOT / "spec" / "threads.md": threads_table,
        ROOT / "spec" / "findings.md": findings_page.page,
        **{path: partial(upstream.with_program, path) for path in upstream.reports()},
        ROOT / "spec" / "matrix.md": matrix.page,
        ROOT / "spec" / "drawings" / "matrix.svg": matrix.picture,
        ROOT / "spec" / "evidence" / "README.md": lambda: evidence_page(read_evidence()),
        **{ROOT / "spec" / "drawings" / f"coverage-{name}.svg": partial(coverage_picture, name) for name in PROTOCOLS},
        ROOT / "spec" / "proof.md": proof_page,
        ROOT / "spec" / "building" / "costs.md": lambda: with_pieces(
            (ROOT / "spec" / "building" / "costs.md").read_text(), {"costs": costs.costs_table()}
        ),
        ROOT / "spec" / "building" / "transcript.md": lambda: with_pieces(
            (ROOT / "spec" / "building" / "transcript.md").read_text(), {"transcript": transcript.transcript()}
        ),
        ROOT / "spec" / "log.md": lambda: with_pieces(
            (ROOT / "spec" / "log.md").read_text(), {"sample": transcript.sample_logs()}
        ),
        ROOT / "spec" / "states.md": states_page,
        **{ROOT / "spec" / "drawings" / f"{name}.svg": partial(states.drawing, name) for name in states.MACHINES},
        ROOT / "spec" / "drawings" / "tree.svg": tree.picture,
        ROOT / "spec" / "drawings" / "n1.svg": partial(diagram, "N1"),
        ROOT / "spec" / "conformance.md": conformance_page,
        ROOT / "spec" / "conformance.schema.json": conformance_schema,
        ROOT / "spec" / "look.schema.json": lambda: json.dumps(look_schema(), indent=1) + "\n",
        **configurations(),
        ROOT / "spec" / "autograd.md": autograd_tables,
    }


def farref(*arguments: str, exit_code: int) -> str:
    """Run a command as a user would, see that it ends as it should, and give what it prints."""
    result = CliRunner().invoke(cli, arguments, env={"COLUMNS": "120"})
    assert result.exit_code == exit_code, result.output
    return result.stdout


def coverage_picture(protocol: str) -> str:
    """Draw how much of a world each engine visited."""
    world = read_evidence().coverage[protocol]
    return curves_picture(world["curves"], world["states"])


def with_table(page: Path, option: str) -> str:
    """Fill in the table that stands below the command it is made with."""
    return filled_in(page.read_text(), f"farref check rref {option} --format markdown")


def autograd_tables() -> str:
    """Fill in both tables of the spec of distributed autograd."""
    text = (ROOT / "spec" / "autograd.md").read_text()
    for option in ("--each claim", "--each rule"):
        text = filled_in(text, f"farref check autograd {option} --format markdown")
    return with_handlers(with_proofs(text), "autograd")


def threads_table() -> str:
    """Fill in the table of the spec of the threads."""
    text = (ROOT / "spec" / "threads.md").read_text()
    return with_proofs(filled_in(text, "farref check threads --each rule --format markdown"))


def filled_in(text: str, command: str) -> str:
    """Fill in the table that stands below the command it is made with."""
    before, rest = text.split(f"<!-- {command} -->\n")
    _, after = rest.split("<!-- end of table -->", maxsplit=1)
    table = farref(*command.split()[1:], "--quiet", exit_code=0)
    return f"{before}<!-- {command} -->\n{table.strip()}\n<!-- end of table -->{after}"


def conformance_page() -> str:
    """Fill in the tables of the protocol, and the example adapters."""
    text = (ROOT / "spec" / "conformance.md").read_text()
    managers, script = ((ROOT / "examples" / name).read_text() for name in ("adapter_managers.py", "adapter.mjs"))
    pieces = {
        "verbs": conformance_tables.verbs(),
        "functions": conformance_tables.functions(),
        "steps": conformance_tables.steps(),
        "operations": conformance_tables.operations(),
        "kinds": conformance_tables.kinds(),
        "messages": conformance_tables.messages(),
        "capabilities": conformance_tables.capabilities(),
        "step verbs": conformance_tables.step_verbs(),
        "beginnings": conformance_tables.beginnings(),
        "timers": conformance_tables.timers(),
        "looked": conformance_tables.looked(),
        "examples/adapter_managers.py": f"```python\n{managers}```",
        "the end of examples/adapter.mjs": f"```js\n{script[script.index('createInterface({') :]}```",
    }
    return with_pieces(text, pieces)


def with_pieces(text: str, pieces: Mapping[str, str]) -> str:
    """Fill in pieces of a page, each between its name and an end."""
    for name, piece in pieces.items():
        before, rest = text.split(f"<!-- {name} -->\n")
        _, after = rest.split("<!-- end -->", maxsplit=1)
        text = f"{before}<!-- {name} -->\n{piece}\n<!-- end -->{after}"
    return text


def states_page() -> str:
    """Fill in the tables of what happens in each phase."""
    tables = {f"table of {name}": states.events_table(name) for name in states.MACHINES}
    return with_pieces((ROOT / "spec" / "states.md").read_text(), {**tables, "table of task": task_table()})


def contributing_page() -> str:
    """Fill in the listing of folders."""
    return with_pieces((ROOT / "CONTRIBUTING.md").read_text(), {"folders": folders.listing()})


def proof_page() -> str:
    """Fill in the clauses of every theorem."""
    theorems = [theorem for subject in SUBJECTS.values() for theorem in subject.theorems]
    tables = "\n".join(map(theorem_table, theorems))
    return with_pieces((ROOT / "spec" / "proof.md").read_text(), {"clauses": tables.rstrip("\n")})


def with_proofs(text: str) -> str:
    """Write into the last line of each clause which clauses of the proof serve it."""
    heading, *rest = re.split(r"^(?=### [RAH]\d+\. )", text, flags=re.MULTILINE)
    return "".join([heading, *map(_with_proof, rest)])


def _with_proof(piece: str) -> str:
    name = re.match(r"### (\w+)\.", piece)
    assert name is not None
    proved = (one for subject in SUBJECTS.values() for theorem in subject.theorems for one in theorem.invariant)
    found = ", ".join(one.id for one in proved if name[1] in one.serves.split(", ")) or "—"
    return re.sub(
        r"^(Property: .* · TLA\+: [^·\n]*?)(?: · Proof: .*)?$", rf"\1 · Proof: {found}", piece, flags=re.MULTILINE
    )


def theorem_table(theorem: Theorem) -> str:
    """Write a theorem with the sentences that its proof consists of."""
    title = f"**{theorem.theory.name}, {theorem.id}.** {theorem.text}"
    if not theorem.invariant:
        return f"{title} It follows from the clauses above.\n"
    rows = [f"| {one.id} | {one.serves} | {one.text} |" for one in theorem.invariant]
    return "\n".join([title, "", "| clause | serves | sentence |", "|---|---|---|", *rows]) + "\n"


def conformance_schema() -> str:
    """Write the schema of conformance reports."""
    return json.dumps(document.schema(), indent=1) + "\n"


def diagram(claim: str) -> str:
    """Draw the shortest run of PyTorch's rules to a claim."""
    with tempfile.TemporaryDirectory() as folder:
        trace, drawing = f"{folder}/trace.json", f"{folder}/trace.svg"
        farref("check", "rref", "--profile", "torch", "--claim", claim, "--quiet", "--save", trace, exit_code=1)
        farref("explain", trace, "-o", drawing, exit_code=0)
        return Path(drawing).read_text()


def configurations() -> dict[Path, Callable[[], str]]:
    """List the .cfg files that stand beside the TLA+ modules."""
    [bounds] = [one.bounds for one in PORTFOLIO if one.name == "two forks"]  # every feature there is
    live = ("P3Live", "P4Live", "P5Live", "P7Live", "FreesLive")
    everything = ("TypeOK", *(one.id for one in rref_properties(bounds)), REFINEMENT)
    files: dict[Path, Callable[[], str]] = {
        TLA / "Sound.cfg": partial(tlc.render_config, bounds, SOUND, everything),
        TLA / "Live.cfg": partial(tlc.render_config, Bounds(2, forks=2, drops=1, shutdown=True), SOUND, live),
        TLA / "Inductive.cfg": partial(tlc.render_config, bounds, SOUND, ("IndInv",)),
        TLA / "RRefInvariant.tla": invariant_module,
    }
    for claim in CLAIMS.values():
        sound, torch = (partial(tlc.render_config, claim.bounds, rules, (claim.id,)) for rules in (SOUND, TORCH))
        files |= {TLA / f"{claim.id}Sound.cfg": sound, TLA / f"{claim.id}TorchExpectedToFail.cfg": torch}
    return {**files, **autograd_configurations(), **view_configurations()}


def autograd_configurations() -> dict[Path, Callable[[], str]]:
    """List the files that stand beside Autograd.tla: the graphs, and the claims."""
    files: dict[Path, Callable[[], str]] = {TLA / "AutogradGraphs.tla": autograd_tlc.graphs_module}
    for claim in AUTOGRAD.claims.values():
        for profile, name in (("sound", "Sound"), ("torch", "TorchExpectedToFail")):
            rules = AUTOGRAD.profiles[profile]
            files[TLA / f"{claim.id}{name}.cfg"] = partial(
                autograd_tlc.render_config, claim.bounds, rules, ("TypeOK", claim.id)
            )
    return files


def view_configurations() -> dict[Path, Callable[[], str]]:
    """List the files that stand beside RRefViews.tla: a small world, and what is promised in it."""
    worlds = (views_tlc.ViewWorld(),)
    return {
        TLA / "ViewWorlds.tla": partial(views_tlc.worlds_module, worlds),
        TLA / "Views.cfg": partial(views_tlc.render_config, worlds, ("TypeOK", *views_tlc.PROMISES, "RunsEndQuiet")),
    }


if __name__ == "__main__":
    for path, content in generated().items():
        path.write_text(content())
    explored.PAGE.write_text(explored.page(), "utf-8")
