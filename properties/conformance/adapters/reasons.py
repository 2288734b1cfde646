"""Why our own backends do not declare some things, as a report says it."""

from __future__ import annotations

from typing import Final

_R34: Final = "it follows R34 for the dead, and keeps what they held until it ends"

REASONS: Final = {
    "reclaims": _R34,
    "silence": "a worker that says nothing is waited for, however long",
    "fault.restart": "no verb of the adapter starts a worker again that has died",
    "lockstep": "between processes messages arrive by themselves; `simulated` drives the same core step by step",
    "fault.cut": "no verb of the adapter breaks a connection",
}
