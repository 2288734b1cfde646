"""A disagreement as a file: the run, and what differed at its end.

The run is believed only after it was taken again, like every trace. What differed is kept as it was told: only the backend
that disagreed could say it again.
"""

from __future__ import annotations

import msgspec

from farref.properties.traces.file import DisagreementRecord, Trace, record_run
from farref.properties.twin.twin import Disagreement


def record_disagreement(found: Disagreement) -> Trace:
    """Write a disagreement down."""
    kept = DisagreementRecord(found.backend, found.lines, found.violated, found.note)
    meaning = f"The sound protocol allows this run, and the {found.backend} backend {_did(found)} at its end."
    return msgspec.structs.replace(record_run(found.bounds, found.actions), meaning=meaning, disagreement=kept)


def _did(found: Disagreement) -> str:
    return "was as wrong as the model" if found.is_shared else "disagreed with the model"
