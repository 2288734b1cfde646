"""The faults of a pass as errors: one for each cause, and each names its worker (A18)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from farref.impl.core.autograd.effects import PassEnded
from farref.impl.core.autograd.messages import Cause, Fault
from farref.impl.core.ids import WorkerId
from farref.impl.errors import (
    PassBusy,
    PassExcluded,
    PassFailed,
    PassPeerDied,
    PassReleased,
    PassTimeout,
    RuleRaised,
    UnreachedSends,
    WireError,
)
from farref.impl.values.reports import read_report, text_of


def failure_of(ended: PassEnded, names: Mapping[WorkerId, str]) -> PassFailed:
    """Make the error that `backward` raises."""
    fault = ended.fault
    assert fault is not None
    blamed = names.get(fault.worker, f"worker {fault.worker}")
    match fault.cause:
        case Cause.RAISED:
            return _raised(fault, blamed)
        case Cause.TIMED_OUT:
            late = ", ".join(names.get(worker, str(worker)) for worker in ended.late)
            return PassTimeout(f"backward timed out: no report from {late or 'anybody'}")
        case Cause.UNREACHED:
            sends = "; ".join(
                f"{names.get(one.worker, one.worker)}: {one.forward}, {one.function}" for one in ended.unreached
            )
            return UnreachedSends(
                f"backward in FAST mode: these calls get no gradient, as the roots do not depend on them: {sends}. "
                'Use mode="smart", or separate contexts'
            )
        case Cause.BUSY:
            return PassBusy(f"backward met another pass on {blamed}: {fault.detail}")
        case Cause.RELEASED:
            return PassReleased(f"backward failed on {blamed}: the context is not open there")
        case Cause.UNPAIRED:
            return PassFailed(f"backward failed on {blamed}: a gradient came for {fault.detail}, which it never sent")
        case Cause.DIED if fault.worker == ended.pass_id.root:
            return PassExcluded(f"backward failed: worker {blamed}, which called it, was excluded")
        case Cause.DIED:
            return PassPeerDied(f"backward failed: worker {blamed} died")
        case _:
            assert_never(fault.cause)


def _raised(fault: Fault, blamed: str) -> RuleRaised:
    try:
        told = text_of(read_report(fault.error))
    except WireError:
        told = "an error that cannot be read"
    return RuleRaised(f"backward failed on {blamed}: {told}")
