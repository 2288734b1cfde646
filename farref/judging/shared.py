"""The backends of a matrix, judged by the workers of a cluster: a backend is a unit, and is started where it is judged."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from farref.judging.plan import Asked, Judged, complaint, judge, make_plan, replay_command
from farref.properties.conformance.conversation.session import AdapterError
from farref.properties.conformance.kit.document import Report
from farref.properties.conformance.kit.expectations import Expectation
from farref.properties.conformance.kit.named import Target
from farref.properties.conformance.kit.runner import Plan
from farref.properties.work.hiring import hire
from farref.properties.work.units import WorkersLost
from farref.terminal.progress import saying, sharing


@dataclass(frozen=True)
class Judging:
    """One backend to be judged elsewhere. Files of expectations were read here, as they need not be there."""

    target: Target
    asked: Asked
    expectations: Mapping[str, Expectation]
    expectations_file: str | None
    python: str
    """The interpreter here; there it may lie at another place."""

    def plan(self) -> Plan:
        """Say what is to be done, where it is to be done."""
        command = tuple(sys.executable if word == self.python else word for word in self.target.command)
        return replace(
            make_plan(replace(self.target, command=command), replace(self.asked, expectations="none")),
            replay=partial(replay_command, self.target, self.asked),
            expectations=self.expectations,
            expectations_file=self.expectations_file,
        )


def judge_shared(
    targets: Sequence[Target], plans: Sequence[Plan], asked: Asked, cluster: str, *, quiet: bool
) -> Judged:
    """Let the workers of a cluster judge the backends. What is judged when somebody presses Ctrl-C is kept."""
    judged = Judged()
    units = [
        Judging(target, asked, plan.expectations, plan.expectations_file, sys.executable)
        for target, plan in zip(targets, plans, strict=True)
    ]
    try:
        with saying(quiet=quiet) as say, hire(cluster=cluster) as workers:
            for found in sharing(workers, "backend", say)(_judged, units):
                (judged.complaints if isinstance(found, str) else judged.reports).append(found)
    except KeyboardInterrupt:
        judged.is_interrupted = True
    except WorkersLost as lost:
        judged.complaints.append(str(lost))
    return judged


def _judged(unit: Judging) -> Report | str:
    """Judge a backend, in whatever process this is; or say why its adapter cannot be used."""
    try:
        return judge(unit.plan(), quiet=True)
    except AdapterError as error:
        return complaint(unit.target, error)
