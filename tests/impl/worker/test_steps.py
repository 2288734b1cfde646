"""The threads follow a model: every function that the table names exists, and every step of the model is taken by one."""

from __future__ import annotations

import re

from farref.impl import worker as room
from farref.impl.worker.connection import Connection
from farref.impl.worker.intake import Intake
from farref.impl.worker.interrupts import Front
from farref.impl.worker.lines import Lines
from farref.impl.worker.reactor import Reactor, run
from farref.impl.worker.worker import Worker
from farref.model.threads.model import ThreadModel
from farref.properties.threads.portfolio import PORTFOLIO

PLACES = {one.__name__: one for one in (Connection, Front, Intake, Lines, Reactor, Worker)}
ROWS = dict(re.findall(r"^\| `([\w.]+)` \| ([\w, ]+) \|$", room.__doc__ or "", flags=re.MULTILINE))
OUTSIDE = {"Answer", "Arrive"}
"""Steps that are taken by other workers."""


def test_functions_that_are_named_exist() -> None:
    for name in set(ROWS) - {run.__name__}:
        place, _, function = name.partition(".")
        assert callable(vars(PLACES[place])[function]), name


def test_every_step_of_the_model_is_taken_somewhere() -> None:
    known = {action.kind for one in PORTFOLIO for action in ThreadModel(one.bounds).actions}
    assert {step for steps in ROWS.values() for step in steps.split(", ")} == known - OUTSIDE
