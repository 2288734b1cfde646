"""The page of N1 that the README links to, and its picture: `python -m tests.pages.explored` writes both.

The page is compared with what would be written today by what it tells (`tests/farref/exploring/test_page.py`): how it is packed
may differ from machine to machine. The picture is made by a browser, so only its size is looked at.
"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Final

from click.testing import CliRunner

from farref.cli import cli

ROOT: Final = Path(__file__).parents[2]
PAGE: Final = ROOT / "spec" / "drawings" / "n1.html"
PICTURE: Final = ROOT / "spec" / "drawings" / "explorer.png"
COMMAND: Final = ("explore", "rref", "--profile", "torch", "--claim", "N1")


def page() -> str:
    """Make the page, as a user would."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "n1.html")
        result = CliRunner().invoke(cli, [*COMMAND, "-o", str(path)])
        assert result.exit_code == 0, result.output
        return path.read_text("utf-8")


def unpacked(text: str) -> str:
    """Give a page without its document."""
    return re.sub(r'(id="data">)[\w+/=]+<', r"\1<", text)


def take_picture() -> None:
    """Let a browser show the last step of the page, and keep what is seen."""
    from tests.farref.browser import hidden_browser, settle

    with tempfile.TemporaryDirectory() as folder, hidden_browser(Path(folder)) as browser:
        metrics = {"width": 1250, "height": 800, "deviceScaleFactor": 0.75, "mobile": False}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        browser.get(PAGE.as_uri())
        settle(browser, "document.documentElement.dataset.ready === 'yes'")
        browser.execute_script("document.getElementById('last').click()")
        settle(browser, "document.getElementById('last').disabled")
        PICTURE.write_bytes(browser.get_screenshot_as_png())


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
    take_picture()
