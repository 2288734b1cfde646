"""How the moves of a storm are drawn: a temperament for each run, then one move after the other among those that can happen."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, Final

from farref.impl.core.ids import WorkerId
from farref.impl.core.messages import Ack, Carrier, Control
from farref.properties.twin.backends.rref.storm import moves as mv
from farref.properties.twin.backends.rref.storm.run import StormRun
from farref.properties.twin.schedule import SPREAD, Schedule

AVERAGE: Final = {
    "create": 1.5, "share": 4.0, "finish": 1.0, "let go": 1.5, "fetch": 1.0, "await": 0.3, "abandon": 0.2, "time out": 0.1,
    "deliver": 9.0, "duplicate": 0.6, "drop": 0.5, "fail": 0.4, "refuse": 0.3, "retry": 0.6, "die": 0.1, "notice": 0.8,
    "restart": 0.05,
}  # fmt: skip
"""How often each sort of move is drawn, on average."""
NEEDED: Final = {
    "duplicate": "duplicates", "drop": "drops", "fail": "failures", "refuse": "failures", "time out": "timeouts",
    "abandon": "timeouts", "fetch": "fetches",
}  # fmt: skip
"""The bound that has to allow a sort of move, where it is fixed."""
MOVES_DRAWN: Final = (20, 40, 60, 90, 140)
CARGO_DRAWN: Final = (1, 1, 1, 2, 2, 3, 4)
HOLDS_DRAWN: Final = (0, 0, 1, 1, 2, 3)
MOODS: Final = ("plain", "deaths", "deaths", "lives", "lives")
"""What a run has besides losses and copies. Deaths and further lives do not happen in one run."""
KEPT_BACK: Final = (("ForkRequest",), ("RemoteCall",), ("RemoteCall", "ForkRequest"), ("Ack",), (), ())
"""Which kinds of message a run keeps back, besides those of its schedule."""
LATE: Final = 0.05
"""How often a message that is kept back is delivered all the same."""
ATTEMPTS_MAX: Final = 200
DEATHS_MAX: Final = 2
RREFS_MAX: Final = 14
FORKS_MAX: Final = 60


class Weather:
    """Draws the moves of one run."""

    def __init__(self, schedule: Schedule) -> None:
        self.random, self.bounds = Random(f"{schedule.seed}/{schedule.number}/storm"), schedule.bounds
        self.run = StormRun(self.bounds.workers)
        self.late = {*schedule.late, *self.random.choice(KEPT_BACK)}
        self.length = self.random.choice(MOVES_DRAWN)
        self.mood = self.random.choice(MOODS)
        self.weights = {sort: mean * self.random.choice(SPREAD) for sort, mean in AVERAGE.items() if self._allows(sort)}
        self.planned = self._plan()
        self.number = 0

    def _plan(self) -> dict[int, str]:
        """Have a death, or another life, in the middle of things; and sometimes have it heard of at once."""
        middle = self.random.randint(self.length // 4, 3 * self.length // 4)
        if self.mood == "lives":
            return {middle: "restart"}
        heard = range(1, 1 + self.random.choice((0, 1, 2, 3)))
        return {middle: "die"} | {middle + later: "notice" for later in heard} if self.mood == "deaths" else {}

    def _allows(self, sort: str) -> bool:
        if sort in ("die", "notice"):
            return self.mood == "deaths"
        if sort == "restart":
            return self.mood == "lives"
        return bool(getattr(self.bounds, NEEDED[sort])) if sort in NEEDED else True

    def draw(self) -> mv.Move | None:
        """Draw a move that has a chance to happen; None if there were enough, or hardly any has."""
        for attempt in range(ATTEMPTS_MAX if self.number < self.length else 0):
            [sort] = self.random.choices([*self.weights], [*self.weights.values()])
            sort = self.planned.get(self.number, sort) if not attempt else sort
            move = self._draws[sort](self)
            if move is not None:
                self.number += 1
                return move
        return None

    # Code

    def _create(self) -> mv.Move | None:
        worker, owner = self._worker(), self._worker()
        if len(self.run.names.created) >= RREFS_MAX:
            return None
        if worker != owner:
            return mv.CreateRemote(self.number, worker, owner, self._cargo(worker, self.random.choice((0, 0, 0, 1, 2))))
        if self.random.random() < 0.5:
            return mv.CreateOnSelf(self.number, worker)
        return mv.CreateLocal(self.number, worker, self._held(worker, self.number))

    def _share(self) -> mv.Move | None:
        worker, target = self._worker(), self._worker()
        cargo = self._cargo(worker, self.random.choice(CARGO_DRAWN))
        if not cargo or len(self.run.names.made) >= FORKS_MAX or (worker == target and not self.bounds.self_shares):
            return None
        is_call = not self.bounds.results or self.random.random() < 0.6
        return (mv.Call if is_call else mv.Reply)(self.number, worker, target, cargo)

    def _finish(self) -> mv.Move | None:
        rref = self._one(self.run.truth.running)
        if rref is None:
            return None
        created = self.run.names.created[rref]
        failed = bool(self.bounds.failures) and self.random.random() < 0.15
        return mv.Finish(rref, () if failed else self._held(self.run.truth.running[rref], created.number), failed)

    def _let_go(self) -> mv.Move | None:
        handle = self._one(self._handles(self._worker()))
        return None if handle is None else mv.LetGo(handle)

    def _fetch(self) -> mv.Move | None:
        handle = self._one([one for one in self._handles(self._worker()) if one.startswith("f")])
        return None if handle is None else mv.Fetch(self.number, handle)

    def _await(self) -> mv.Move | None:
        handle = self._one([one for one in self._handles(self._worker()) if one.startswith("x")])
        return None if handle is None else mv.Await(self.number, handle)

    def _abandon(self) -> mv.Move | None:
        fetch = self._one([known for known, _, abandoned in self.run.truth.fetches.values() if not abandoned])
        return None if fetch is None else mv.Abandon(fetch)

    def _time_out(self) -> mv.Move | None:
        handles = [one for one in self._handles(self._worker()) if one.startswith("f") and "." not in one]
        fork = self._one([one for one in handles if one not in self.run.truth.confirmed])
        return None if fork is None else mv.TimeOut(f"x{fork[1:]}")

    # Messages and workers

    def _befall(self, kind: type[mv.Deliver | mv.Duplicate | mv.Drop | mv.Fail | mv.Refuse]) -> mv.Move | None:
        wanted: Callable[[object], bool] = {
            mv.Deliver: lambda _: True,
            mv.Fail: lambda message: not isinstance(message, Control | Ack),
            mv.Refuse: lambda message: isinstance(message, Carrier),
        }.get(kind, lambda message: isinstance(message, Control | Ack))
        names = [self.run.names.flight(one) for one in self.run.network.in_flight() if wanted(one.message)]
        if kind is mv.Deliver and self.random.random() > LATE:
            names = [name for name in names if not self._is_kept_back(name)]
        message = self._one(names)
        return None if message is None else kind(message)

    def _is_kept_back(self, message: str) -> bool:
        return message.partition("(")[0] in self.late or message in self.run.from_before

    def _retry(self) -> mv.Move | None:
        channel = self.run.network.used_cores.at_rest(self._worker()).channel
        body = self._one([body for _, _, body, _ in channel.unanswered()])
        return None if body is None else mv.Retry(self.run.names.control(body))

    def _die(self) -> mv.Move | None:
        is_enough = len(self.run.truth.dead) >= DEATHS_MAX or len(self.run.network.cores) <= 1
        return None if is_enough else mv.Die(self._worker())

    def _notice(self) -> mv.Move | None:
        truth, worker = self.run.truth, self._worker()
        dead = self._one([one for one in sorted(truth.dead) if (worker, one) not in truth.noticed])
        return None if dead is None else mv.Notice(worker, dead)

    def _restart(self) -> mv.Move | None:
        return mv.Restart(self._worker())

    _draws: Final[dict[str, Callable[[Weather], mv.Move | None]]] = {
        "create": _create, "share": _share, "finish": _finish, "let go": _let_go, "fetch": _fetch, "await": _await,
        "abandon": _abandon, "time out": _time_out, "retry": _retry, "die": _die, "notice": _notice, "restart": _restart,
        "deliver": lambda self: self._befall(mv.Deliver),
        "duplicate": lambda self: self._befall(mv.Duplicate),
        "drop": lambda self: self._befall(mv.Drop),
        "fail": lambda self: self._befall(mv.Fail),
        "refuse": lambda self: self._befall(mv.Refuse),
    }  # fmt: skip

    # Choices

    def _worker(self) -> WorkerId:
        return self.random.choice([*self.run.network.cores])

    def _one(self, found: Any) -> Any:
        return self.random.choice([*found]) if found else None

    def _handles(self, worker: WorkerId) -> list[str]:
        held = self.run.truth.handles.items()
        return [self.run.names.handle(one) for (at, one), number in held if number and at == worker]

    def _cargo(self, worker: WorkerId, number: int) -> mv.Names:
        handles = self._handles(worker)
        return tuple(self.random.choice(handles) for _ in range(number)) if handles else ()

    def _held(self, worker: WorkerId, number: int) -> mv.Names:
        """Draw what a value holds: handles of older RRefs only, for nobody collects cycles (R34)."""
        names, handles = self.run.names, self._handles(worker)
        older = [
            one for one in handles if names.created[names.made[one].rref if one in names.made else one].number < number
        ]
        return tuple(self.random.sample(older, min(len(older), self.random.choice(HOLDS_DRAWN))))
