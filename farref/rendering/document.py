"""A report as the one JSON object that `farref check --format json` prints."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Any, Final

from farref.checking.report import Report
from farref.checking.request import Request
from farref.checking.search import Checked
from farref.model.checker.interface import Property
from farref.properties.traces.file import Trace

Document = dict[str, Any]

BOUNDS_ARE: Final = "the largest value of each bound over the configurations, none of which has all of them"


def document(report: Report) -> Document:
    """Say everything in one object."""
    request = report.request
    return {
        "subject": request.subject,
        "profile": request.profile,
        "without": request.without,
        "claim": request.claim,
        "engine": request.engine_name,
        "symmetry": request.symmetry,
        **_bounds(request),
        "verdict": report.verdict.value,
        "distinct": report.distinct,
        "generated": report.generated,
        "depth": report.depth,
        "seconds": round(report.seconds, 3),
        "cpu_seconds": round(report.cpu_seconds, 3),
        "peak_mb": round(report.peak_mb, 1),
        "collision_bound": report.collision_bound,
        "properties": [_property(report, one) for one in report.properties],
        "coverage": report.coverage,
        "never_fired": report.never_fired,
        "witnesses": {one.id: report.shortest(one) for one in report.witnesses},
        "counterexample": _counterexample(report.trace, report.replay),
        "configurations": [_configuration(run) for run in report.runs],
        "notes": report.notes,
    }


def _bounds(request: Request) -> Document:
    """Give the bounds of one configuration; of several, the largest value of each bound, and say that they are that."""
    everywhere = [configuration.bounds for configuration in request.configurations]
    bounds = {bound.name: _largest([getattr(one, bound.name) for one in everywhere]) for bound in fields(everywhere[0])}
    return {"bounds": bounds, **({"bounds_are": BOUNDS_ARE} if request.is_portfolio else {})}


def _largest(values: list[Any]) -> Any:
    """Give the largest of some values; names have no size, so of several all are given."""
    return ", ".join(dict.fromkeys(values)) if isinstance(values[0], str) else max(values)


def _property(report: Report, property_: Property) -> Document:
    return {
        "id": property_.id,
        "clause": property_.clause,
        "kind": property_.kind.value,
        "text": property_.text,
        "verdict": report.verdicts[property_.id].value,
        "counterexample_steps": report.steps_to_violation(property_),
    }


def _counterexample(trace: Trace | None, replay: str | None) -> Document | None:
    if trace is None or trace.property is None:
        return None
    return {
        "property": trace.property.id,
        "clause": trace.property.clause,
        "text": trace.property.text,
        "case": trace.property.case,
        "meaning": trace.meaning,
        "loop_start": trace.loop_start,
        "steps": [{"action": step.action, "worker": step.worker, "text": step.text} for step in trace.steps],
        "replay": replay,
    }


def _configuration(run: Checked) -> Document:
    result = run.result
    return {
        "name": run.configuration.name,
        "why": run.configuration.why,
        "bounds": asdict(run.configuration.bounds),
        "verdict": run.verdict.value,
        "distinct": result.distinct,
        "generated": result.generated,
        "depth": result.depth,
        "seconds": round(result.seconds, 3),
        "cpu_seconds": round(result.cpu_seconds, 3),
    }
