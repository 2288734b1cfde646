"""Which formats there are, and which of them can say what is to be said: a trace, or the logs of real processes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from farref.properties.logs.format import Log
from farref.properties.traces.file import Trace
from farref.properties.traces.itf import to_itf
from farref.rendering.traces.events import of_log, of_trace
from farref.rendering.traces.mermaid import to_mermaid
from farref.rendering.traces.perfetto import to_perfetto
from farref.rendering.traces.shiviz import to_shiviz
from farref.rendering.traces.tlc import to_tlc

TRACES: Final[dict[str, Callable[[Trace], str]]] = {
    "itf": to_itf,
    "mermaid": to_mermaid,
    "shiviz": lambda trace: to_shiviz(of_trace(trace)),
    "tlc": to_tlc,
    "perfetto": lambda trace: to_perfetto(of_trace(trace)),
}
"""By name, what writes a trace."""

LOGS: Final[dict[str, Callable[[Log], str]]] = {
    "shiviz": lambda log: to_shiviz(of_log(log)),
    "perfetto": lambda log: to_perfetto(of_log(log)),
}
"""By name, what writes the logs of real processes."""

MESSAGES: Final = frozenset({"mermaid", "shiviz", "tlc", "perfetto"})
"""The formats that are about workers and messages; the threads of a worker have neither."""
