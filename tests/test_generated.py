"""What a program writes into the tree is what it would write today, and nothing is left of what it wrote before."""

from __future__ import annotations

from tests.generated import TLA, generated

FILES = generated()


def test_generated_files_are_up_to_date() -> None:
    stale = [path.name for path, text in FILES.items() if not path.exists() or path.read_text() != text]
    assert stale == [], "run make generated"


def test_no_configuration_is_left_over() -> None:
    assert set(TLA.glob("*.cfg")) <= set(FILES)
