"""What the soak says of a process that grew, and of one that did not."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

from bench.soak_level import GROWTH_MAX, Sample, complaints

LEVEL = [Sample(60.0, 50.0, 10.0, 7.0, 150_000.0, 29.0, 9.0, 3.0)] * 9


def test_a_level_soak_is_not_complained_of() -> None:
    first = [replace(LEVEL[0], held_mib=20.0)] * 3  # what a world needs at its beginning is no growth
    assert complaints(first + LEVEL[:6]) == []


@pytest.mark.parametrize("name", [field.name for field in fields(Sample)])
def test_what_grows_is_complained_of(name: str) -> None:
    grown = replace(LEVEL[0], **{name: getattr(LEVEL[0], name) + getattr(GROWTH_MAX, name) + 1})
    (told,) = complaints(LEVEL[:6] + [grown] * 3)
    assert told.startswith(name.removesuffix("_mib").replace("_", " "))


def test_a_soak_that_was_too_short_says_so() -> None:
    assert ["too few" in told for told in complaints(LEVEL[:5])] == [True]
