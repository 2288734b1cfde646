"""Failures that are known: a TOML file, with a reason and a link for each, so that a run is red only for what is new.

    [[expected]]
    check = "R21"
    reason = "an early use is lost when a third worker comes and goes"
    link = "https://…"
    rate = "always"          # or "sometimes", or how often it was seen, as "9 of 10"; a pass is then no surprise
    by_design = false        # true if the backend's makers say so: the reason and the link are theirs

An expectation that does not come true is reported as an unexpected pass, and one about a check that does not exist is refused.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Annotated, Final

import msgspec

from farref.properties.conformance.kit.check import RENAMED

SHAPE: Final = (
    "each [[expected]] has a check, a reason and a link, and may have a rate (always, sometimes, 9 of 10) and by_design"
)


class ExpectationsError(Exception):
    """A file of expectations cannot be used; the message says why."""


class Expectation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A check that is known to fail, and why."""

    check: str
    reason: str
    link: str
    rate: Annotated[str, msgspec.Meta(pattern=r"^(always|sometimes|[1-9]\d* of [1-9]\d*)$")] = "always"
    by_design: bool = False

    @property
    def is_flaky(self) -> bool:
        """Whether it may pass now and then."""
        return self.rate != "always"


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    expected: tuple[Expectation, ...] = ()


def read(path: Path, checks: Collection[str]) -> Mapping[str, Expectation]:
    """Read a file of expectations about some checks."""
    try:
        found = msgspec.convert(tomllib.loads(path.read_text("utf-8")), _File)
    except OSError as error:
        raise ExpectationsError(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, msgspec.ValidationError) as error:
        raise ExpectationsError(f"{path} is not a file of expectations: {error}; {SHAPE}") from error
    except RecursionError as error:
        raise ExpectationsError(f"{path} is not a file of expectations: it is nested too deeply; {SHAPE}") from error
    expected = [msgspec.structs.replace(one, check=RENAMED.get(one.check, one.check)) for one in found.expected]
    for one in expected:
        _judge(path, one, checks)
    by_check = {one.check: one for one in expected}
    if len(by_check) != len(expected):
        raise ExpectationsError(f"{path} expects something of one check twice")
    return by_check


def _judge(path: Path, one: Expectation, checks: Collection[str]) -> None:
    if one.check not in checks:
        raise ExpectationsError(f"{path} expects something of {one.check}, and no check is called that (--list)")
    if not one.reason.strip() or not one.link.strip():
        raise ExpectationsError(f"{path} expects {one.check} to fail without a reason and a link")
