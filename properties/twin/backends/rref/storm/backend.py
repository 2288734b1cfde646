"""The implementation's cores in a storm, as a backend of `farref fuzz`."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from farref.properties.twin.backends.rref.storm import moves as mv
from farref.properties.twin.backends.rref.storm.draw import Weather
from farref.properties.twin.backends.rref.storm.found import StormSearch, found_by
from farref.properties.twin.backends.rref.storm.situations import NEEDS, SITUATIONS
from farref.properties.twin.schedule import Schedule
from farref.properties.twin.tally import Done


class RRefStorm:
    """Cores in this process that run programs of their own. There is no model beside them."""

    name = "storm"
    protocol = "rref"
    cannot: frozenset[str] = frozenset()
    terms = ("by itself, against what its applications know", "moves, each judged", "after every move")
    search = StormSearch

    @staticmethod
    def draws(fixed: Mapping[str, Any]) -> tuple[str, ...]:
        """Name the situations that have to be drawn, if some bounds are fixed."""
        impossible = {one for one, possible in NEEDS.items() if not possible(fixed)}
        return tuple(one for one in SITUATIONS if one not in impossible)

    def take(self, schedule: Schedule) -> Done:
        """Draw a run and take it to its end, or to something that is wrong."""
        done, digest, weather = Done(schedule), hashlib.sha256(repr(schedule).encode()), Weather(schedule)
        try:
            while (move := weather.draw()) is not None:
                digest.update(mv.told(move).encode())
                done.steps += weather.run.take(move)
            weather.run.finish()
        except Exception as error:
            done.disagreement = found_by(schedule.bounds, weather.run, error)
        done.faults, done.drawn = weather.run.watch.faults, weather.run.watch.drawn
        done.digest = digest.digest()
        return done

    def close(self) -> None:
        """Give back what was started: nothing."""
