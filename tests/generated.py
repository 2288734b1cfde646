"""Everything in the tree that a program writes: `make generated` writes it, `tests/test_generated.py` compares.

These are the tables of claims and rules in the documents, the diagram of claim N1, and the TLA+ configurations: one for each
claim under each profile, those expected to fail named so.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from click.testing import CliRunner

from farref import tlc
from farref.cli import cli
from farref.model.rules import SOUND, TORCH
from farref.model.world import Bounds
from farref.properties.claims import CLAIMS
from farref.properties.rref import rref_properties

ROOT = Path(__file__).parents[1]
TLA = ROOT / "spec" / "tla"


def generated() -> dict[Path, str]:
    """Give every generated file as it should be."""
    return {
        ROOT / "README.md": with_table(ROOT / "README.md", "--each claim"),
        ROOT / "spec" / "README.md": with_table(ROOT / "spec" / "README.md", "--each rule"),
        ROOT / "spec" / "n1.svg": diagram("N1"),
        **configurations(),
    }


def farref(*arguments: str) -> str:
    """Run a command as a user would, and give what it prints."""
    return CliRunner().invoke(cli, arguments, env={"COLUMNS": "120"}).stdout


def with_table(page: Path, option: str) -> str:
    """Fill in the table that stands below the command it is made with."""
    command = f"farref check rref {option} --format markdown"
    before, rest = page.read_text().split(f"<!-- {command} -->\n")
    _, after = rest.split("<!-- end of table -->")
    table = farref(*command.split()[1:], "--quiet")
    return f"{before}<!-- {command} -->\n{table.strip()}\n<!-- end of table -->{after}"


def diagram(claim: str) -> str:
    """Draw the shortest run of PyTorch's rules to a claim."""
    with tempfile.TemporaryDirectory() as folder:
        trace, drawing = f"{folder}/trace.json", f"{folder}/trace.svg"
        farref("check", "rref", "--profile", "torch", "--claim", claim, "--quiet", "--save", trace)
        farref("explain", trace, "-o", drawing)
        return Path(drawing).read_text()


def configurations() -> dict[Path, str]:
    """Render the .cfg files that stand beside the TLA+ modules."""
    bounds = Bounds(3, forks=2, drops=1, shutdown=True)
    everything = ("TypeOK", *(one.id for one in rref_properties(bounds)))
    files = {TLA / "Sound.cfg": tlc.render_config(bounds, SOUND, everything)}
    for claim in CLAIMS.values():
        files[TLA / f"{claim.id}Sound.cfg"] = tlc.render_config(claim.bounds, SOUND, (claim.id,))
        files[TLA / f"{claim.id}TorchExpectedToFail.cfg"] = tlc.render_config(claim.bounds, TORCH, (claim.id,))
    return files


if __name__ == "__main__":
    for path, text in generated().items():
        path.write_text(text)
