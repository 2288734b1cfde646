"""The page of limits has every limit with its default, and no other."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from msgspec.structs import asdict

from farref.impl import Limits, Settings

PAGE: Final = (Path(__file__).parents[2] / "spec" / "limits.md").read_text("utf-8")
ROW: Final = re.compile(r"^\| `(\w+)` \| (\d+) \|", re.MULTILINE)


def test_the_page_has_every_limit_and_its_default() -> None:
    settings = Settings()
    expected = {
        "frame_bytes_max": settings.frame_bytes_max,
        "shared_bytes_max": settings.shared_bytes_max,
        **asdict(Limits()),
    }
    assert {name: int(default) for name, default in ROW.findall(PAGE)} == expected
