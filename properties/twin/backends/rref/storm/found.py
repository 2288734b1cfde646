"""What was found in a storm: a run that goes wrong, how it is made shorter, and how it is kept in a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from farref.model.rref.world import Bounds
from farref.properties.twin.backends.rref.storm import moves as mv
from farref.properties.twin.backends.rref.storm.judge import ViolatedError
from farref.properties.twin.backends.rref.storm.run import StormRun
from farref.properties.twin.shrink import Search
from farref.properties.twin.twin import Disagreement

FORMAT: Final = "farref-storm/1"


class StormFound(Disagreement):
    """A run in a storm after which something is wrong. Its actions are moves; what follows them is the end of every run."""

    has_model = False

    @property
    def headline(self) -> str:
        """Who is wrong."""
        return f"the {self.backend} backend is wrong"

    @property
    def story(self) -> list[str]:
        """The run, one sentence a move."""
        return [*map(mv.told, self.moves)]

    @property
    def moves(self) -> tuple[mv.Move, ...]:
        """The moves that were taken."""
        return self.actions


def found_by(bounds: Any, run: StormRun, error: Exception) -> StormFound:
    """Say what went wrong in a run; whatever else it raises is wrong too."""
    if isinstance(error, ViolatedError):
        return StormFound(bounds, "storm", tuple(run.moves), error.lines, violated=error.violated)
    return StormFound(bounds, "storm", tuple(run.moves), (f"{type(error).__name__}: {error}",))


def take_again(bounds: Any, moves: Iterable[mv.Move]) -> tuple[StormFound | None, int]:
    """Take those of some moves that can happen, then the end; give what is wrong, and how many could happen."""
    run = StormRun(bounds.workers)
    try:
        for move in moves:
            run.take(move)
        run.finish()
    except Exception as error:
        return found_by(bounds, run, error), len(run.moves)
    return None, len(run.moves)


class StormSearch(Search):
    """Looks for a shorter run in a storm: with fewer moves, then with fewer references in each."""

    def run(self) -> None:
        """Search until neither a move nor a reference can be spared."""
        while True:
            self._leave_out_steps()
            if not self._finds_a_smaller_world():
                return
            while self._finds_a_smaller_world():
                pass

    def _finds_a_smaller_world(self) -> bool:
        found = self.shortest
        for moves in _with_less(found.actions):
            again = self.take_again(found.bounds, moves)
            if again is not None and len(again.actions) <= len(found.actions):
                self.shortest = again
                return True
        return False

    def take_again(self, bounds: Any, actions: Iterable[Any]) -> Disagreement | None:
        """Take those of some moves that can happen."""
        return take_again(bounds, actions)[0]


def _with_less(moves: tuple[mv.Move, ...]) -> Iterator[tuple[mv.Move, ...]]:
    """Give the run with one reference less, in each place that has one."""
    for place, move in enumerate(moves):
        field = "cargo" if isinstance(move, mv.CreateRemote | mv.Call | mv.Reply) else "holds"
        for index, _ in enumerate(names := getattr(move, field, ())):
            less = msgspec.structs.replace(move, **{field: (*names[:index], *names[index + 1 :])})
            yield (*moves[:place], less, *moves[place + 1 :])


# -- files -------------------------------------------------------------------------------------------------------------


class StormFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A run in a storm, to be taken again. The sentences are for people."""

    format: str
    workers: int
    moves: tuple[mv.Move, ...]
    story: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()

    @property
    def bounds(self) -> Bounds:
        """The world of the run, as far as it matters to a storm."""
        return Bounds(workers=self.workers)


def encode_storm(found: StormFound) -> bytes:
    """Give a run as the content of a file."""
    saved = StormFile(FORMAT, found.bounds.workers, found.moves, tuple(found.story), found.lines)
    return msgspec.json.format(msgspec.json.encode(saved), indent=1) + b"\n"


def decode_storm(content: bytes) -> StormFile | None:
    """Read a run in a storm; None if the file is something else."""
    try:
        saved = msgspec.json.decode(content, type=StormFile)
    except msgspec.MsgspecError:
        return None
    return saved if saved.format == FORMAT else None
