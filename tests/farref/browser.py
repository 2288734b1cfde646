"""A browser that nobody sees, and what it asked and complained of."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip


@contextmanager
def hidden_browser(profile: Path) -> Iterator[Chrome]:
    """Give a browser, or skip the test with a word."""
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.skip(
            "the page is not opened: there is no chromium, or no chromedriver (apt-get install chromium-driver)"
        )
    from selenium.webdriver import Chrome, ChromeOptions, ChromeService

    options = ChromeOptions()
    options.binary_location = chromium
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    opened = Chrome(options=options, service=ChromeService(driver))
    try:
        yield opened
    finally:
        opened.quit()


def set_width(browser: Chrome, width: int) -> None:
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)


def opened(browser: Chrome, address: str) -> Any:
    """Open a page afresh, and give the function that runs a script in it.

    The driver may return while a long page is still being read: the last rows are not there yet.
    """
    browser.get("about:blank")
    for log in ("browser", "performance"):
        logged(browser, log)  # what was logged before is forgotten
    browser.get(address)
    settle(browser, "document.readyState === 'complete' && location.href !== 'about:blank'")
    return browser.execute_script


def logged(browser: Chrome, log: str) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = browser.get_log(log)  # type: ignore[no-untyped-call]
    return entries


def requests(browser: Chrome) -> list[str]:
    entries = [json.loads(entry["message"])["message"] for entry in logged(browser, "performance")]
    return [one["params"]["request"]["url"] for one in entries if one["method"] == "Network.requestWillBeSent"]


def settle(browser: Chrome, condition: str) -> None:
    """Wait until a condition of the page is true."""
    from selenium.webdriver.support.ui import WebDriverWait

    WebDriverWait(browser, 60).until(lambda one: one.execute_script(f"return {condition}"), condition)
