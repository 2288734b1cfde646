"""A run in English: what happens to a message, the same for every protocol, and what a violated property means.

The rest is each protocol's own: `story.py` says what happens in a step, `consequences.py` what follows from it, `meaning.py`
what a violation means to whoever runs into it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, assert_never

from farref.model.checker.interface import Counterexample
from farref.properties.traces.replay import NETWORK, Fate, Moment

THE_END: Final = "nothing more will happen"
"""How a meaning begins where a run has ended; of a run that goes round, something else is said."""

Meaning = str | Callable[[Any, str], str]
"""A sentence without its capital letter, or what makes one from the last moment and the name of what is concerned."""


def befalls(moment: Moment[Any, Any, Any, Any]) -> str:
    """Tell what happens to the message that a step is about: it arrives, is lost, fails, or is sent again."""
    one = moment.address(moment.action.message)
    message, source, target = one.message, one.source, one.target
    match moment.fate:
        case Fate.DELIVERED:
            sender = f"the {source}" if source == NETWORK else source
            return f"{target} receives {message} from {'itself' if source == target else sender}"
        case Fate.DUPLICATED:
            return f"{target} receives {message} from {source}, and the network keeps a copy to deliver again"
        case Fate.DROPPED:
            return f"the network drops {message} on its way from {source} to {one.listener}"
        case Fate.FAILED:
            return f"{message} from {source} to {one.listener} cannot be sent, or not be understood"
        case None:
            return f"{source} has had no answer, and sends {message} to {one.listener} again"
        case _:
            assert_never(moment.fate)


def meaning_of(counterexample: Counterexample, end: Any, meanings: Mapping[str, Meaning]) -> str:
    """Say what a counterexample means, which ends with this moment."""
    known, about = meanings[counterexample.property.id], counterexample.case.rpartition(" ")[2]
    told, loop = known if isinstance(known, str) else known(end, about), counterexample.loop_start
    if loop is not None:
        told = told.replace(THE_END, f"what follows step {loop} repeats for ever")
    return told[0].upper() + told[1:]
