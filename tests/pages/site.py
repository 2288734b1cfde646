"""The documents as a site: `make docs`, or `python -m tests.pages.site FOLDER`. Nothing is written for it but the page of runs.

The Markdown that exists is laid out as it lies in the tree, so that every link between two documents leads to the same place as
before. What a document links to and is no document, as a program or a folder of them, is laid beside it. The runs of N1 and D5,
the matrix and the evidence are the pages that the commands write. The site asks nobody for anything: fonts are those of the
reader.
"""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from click.testing import CliRunner

from farref.cli import cli
from tests.pages import matrix

ROOT: Final = Path(__file__).parents[2]
RUNS: Final = {
    "n1": ("A value is computed twice, and somebody waits for ever", ("rref", "--profile", "torch", "--claim", "N1")),
    "d5": ("A wrong gradient, without an error", ("autograd", "--profile", "torch", "--claim", "D5")),
}
"""The runs that can be walked through on the site: what happens, and the flags of `farref explore`."""
LINK: Final = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
NAVIGATION: Final[list[dict[str, Any]]] = [
    {"farref": "README.md"},
    {"See it": ["runs.md", {"Judged systems": "spec/matrix.md"}, {"Evidence": "spec/evidence/README.md"}]},
    {"The protocols": ["spec/README.md", "spec/rref.md", "spec/autograd.md", "spec/states.md", "spec/threads.md"]},
    {"Manuals": ["spec/testing.md", "spec/conformance.md", "spec/log.md"]},
    {"Why it is right": ["spec/proof.md", "spec/members.md", "spec/related.md"]},
    {"PyTorch": ["spec/differences.md", "spec/findings.md", "spec/parity.md", "spec/upstream/README.md"]},
    {"Building": ["spec/building/README.md", "spec/building/passes.md", "spec/building/transport.md", "spec/wire.md"]},
    {"Promises": ["spec/worlds.md", "spec/limits.md", "spec/arrays.md", "spec/security.md", "spec/errors.md"]},
    {"The project": ["CONTRIBUTING.md", "CHANGELOG.md"]},
]


def documents() -> list[Path]:
    """List the documents of the tree, as they are named from its root."""
    found = [*ROOT.glob("*.md"), *(ROOT / "spec").rglob("*.md"), *(ROOT / "examples").rglob("*.md")]
    return sorted(path.relative_to(ROOT) for path in found)


def linked(document: Path) -> Iterator[Path]:
    """List the files that a document links to and that are no documents themselves."""
    for target in LINK.findall((ROOT / document).read_text("utf-8")):
        path = (ROOT / document.parent / target).resolve()
        if "://" not in target and path.is_relative_to(ROOT) and path.exists():
            inside = [one for one in path.iterdir() if one.is_file()] if path.is_dir() else [path]
            yield from (one.relative_to(ROOT) for one in inside if one.suffix != ".md")


def folders() -> set[Path]:
    """List the folders that documents link to, and that have no page of their own."""
    found = {path.parent for document in documents() for path in linked(document)}
    return {one for one in found if one != Path() and not (ROOT / one / "README.md").exists()}


def lay_out(place: Path) -> None:
    """Lay out all documents and what they link to, the pages that commands write, and the page of runs."""
    for document in documents():
        for path in (document, *linked(document)):
            (place / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / path, place / path)
    for folder in folders():
        names = sorted(one.name for one in (place / folder).iterdir() if one.is_file())
        lines = [f"- [{name}]({name})" for name in names]
        (place / folder / "README.md").write_text("\n".join([f"# {folder}", "", *lines, ""]), "utf-8")
    for name, (_, flags) in RUNS.items():
        _farref("explore", *flags, "-o", str(place / f"{name}.html"))
    _farref("evidence", "-o", str(place / "evidence.html"))
    (place / "matrix.html").write_text(matrix.html(), "utf-8")
    (place / "runs.md").write_text(runs_page(), "utf-8")


def runs_page() -> str:
    """Write the page that shows the runs, each in a frame."""
    parts = [
        "# Runs to walk through\n\nArrow keys go back and forth; any other turn can be taken, and any rule switched.\n"
    ]
    for name, (title, flags) in RUNS.items():
        frame = f'<iframe src="../{name}.html" title="{title}" width="100%" height="720" loading="lazy"></iframe>'
        parts.append(
            f"## {title}\n\n[In a window of its own]({name}.html), or `farref explore {' '.join(flags)}`\n\n{frame}\n"
        )
    parts.append("[Every figure of the evidence](evidence.html) is on one page too.\n")
    parts.append("[Every judged system](matrix.html) is on one page, with the story of each verdict.\n")
    return "\n".join(parts)


def _farref(*arguments: str) -> None:
    result = CliRunner().invoke(cli, arguments)
    assert result.exit_code == 0, result.output


def configuration(documents_in: Path, site_in: Path) -> dict[str, Any]:
    """Say how the site is made: strict about links, and with nothing from elsewhere."""
    return {
        "site_name": "farref",
        "docs_dir": str(documents_in),
        "site_dir": str(site_in),
        "theme": {"name": "material", "font": False, "features": ["navigation.sections", "navigation.top"]},
        "nav": NAVIGATION,
        "plugins": ["search"],
        "markdown_extensions": ["tables", "fenced_code", "attr_list", {"toc": {"permalink": True}}],
        "validation": {"nav": {"omitted_files": "info"}, "links": {"unrecognized_links": "info", "anchors": "info"}},
    }


def build(site_in: Path) -> None:
    """Make the site. A link that leads nowhere is an error."""
    from mkdocs.commands.build import build as make
    from mkdocs.config import load_config

    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, "documents")
        place.mkdir()
        lay_out(place)
        file = Path(folder, "mkdocs.yml")
        file.write_text("site_name: farref\n", "utf-8")
        config = load_config(str(file), strict=True, **configuration(place, site_in.resolve()))
        make(config)


if __name__ == "__main__":
    build(Path(sys.argv[1]))
