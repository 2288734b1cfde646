"""What must be able to happen in distributed autograd, so that a green run is not an empty one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps

from farref.model.autograd import messages as msg
from farref.model.autograd.addressing import ends, receiver_of
from farref.model.autograd.ledger import Line
from farref.model.autograd.messages import Fault
from farref.model.autograd.root import Phase
from farref.model.autograd.worker import Context, is_in_a_pass
from farref.model.autograd.world import Bounds, World, is_apart, is_excluded, pass_of, root_of
from farref.model.checker.interface import Property
from farref.model.ids import WorkerId
from farref.properties.build import Family, per_world, sending, situations

WorldPredicate = Callable[[World, Bounds], bool]


def a_pass_over_several_workers_ends_well(world: World, bounds: Bounds) -> bool:
    """A pass in which another worker took part has ended well."""
    return any(one.phase is Phase.SUCCEEDED and sum(one.engaged) > 1 for one in world.passes)


def a_pass_ends_well_after_one_that_failed(world: World, bounds: Bounds) -> bool:
    """A pass has ended well on a context on which an earlier one failed."""
    phases = [one.phase for one in world.passes]
    return Phase.FAILED in phases and Phase.SUCCEEDED in phases


def an_older_pass_is_superseded(world: World, bounds: Bounds) -> bool:
    """A worker takes part in a pass while messages of an older one are still on their way to it."""
    late = [
        message
        for message, place in bounds.places.items()
        if isinstance(message, msg.PropagateGradients) and world.network.carried[place] is not None
    ]
    return any(world.workers[receiver_of(world, one, bounds)].task.number > one.number for one in late)


def a_report_comes_before_its_cause(world: World, bounds: Bounds) -> bool:
    """The root hears that a message was processed before it hears that it was sent."""
    return any(Line.PROCESSED in tuple(one.ledger) for one in world.passes if one.phase is Phase.RUNNING)


def a_latecomer_is_told(world: World, bounds: Bounds) -> bool:
    """A pass has failed, and a worker of which the root knew nothing takes part in it."""
    return any(
        record.phase is Phase.FAILED and worker.task.number == number and place not in record.engaged
        for number, record in ((number, pass_of(world, number)) for number in bounds.pass_ids)
        for place, worker in enumerate(world.workers)
    )


def two_roots_collide(world: World, bounds: Bounds) -> bool:
    """A pass has failed because a worker is in a pass of another root."""
    return any(one.fault is Fault.BUSY for one in world.passes)


def fast_names_a_send(world: World, bounds: Bounds) -> bool:
    """A FAST pass has failed because a send gets no gradient."""
    return any(one.fault is Fault.UNREACHED for one in world.passes)


def smart_gives_up_a_send(world: World, bounds: Bounds) -> bool:
    """A SMART pass has ended well although a recorded send got no gradient."""
    return any(one.phase is Phase.SUCCEEDED and not _got_all(one.expected, one.ledger) for one in world.passes)


def a_gradient_overtakes_resume(world: World, bounds: Bounds) -> bool:
    """A worker has been sent both a Resume and a gradient that followed from it."""
    flying = [message for message, place in bounds.places.items() if world.network.carried[place] is not None]
    asked = {(one.number, one.worker) for one in flying if isinstance(one, msg.Resume)}
    gradients = (one for one in flying if isinstance(one, msg.PropagateGradients))
    return any((one.number, receiver_of(world, one, bounds)) in asked for one in gradients)


def a_call_finds_its_context_closed(world: World, bounds: Bounds) -> bool:
    """A call is under way to a worker whose context is closed."""
    return any(
        world.network.carried[place] is not None
        and world.workers[receiver_of(world, message, bounds)].context is Context.CLOSED
        for message, place in bounds.places.items()
        if isinstance(message, msg.ForwardCall)
    )


def a_context_is_released_in_the_middle_of_a_pass(world: World, bounds: Bounds) -> bool:
    """A context was released while a worker takes part in a pass."""
    return world.released and any(map(is_in_a_pass, world.workers))


def a_pass_survives_a_death(world: World, bounds: Bounds) -> bool:
    """A pass has ended well although a worker that took part in it is dead: it died after the decision."""
    return any(
        one.phase is Phase.SUCCEEDED and worker in one.engaged and worker != one.root
        for one in world.passes
        for worker in world.dead.members()
    )


def a_pass_fails_with_a_death(world: World, bounds: Bounds) -> bool:
    """A pass has failed because a worker died."""
    return any(one.fault is Fault.DIED for one in world.passes)


def a_gradient_of_the_excluded_is_refused(world: World, bounds: Bounds) -> bool:
    """A worker that is excluded and lives sends a gradient to one that has excluded it."""
    for message, place in bounds.places.items():
        if isinstance(message, msg.PropagateGradients) and world.network.carried[place] is not None:
            source, target = ends(world, message, bounds)
            if source in world.workers[target].mourned and source not in world.dead:
                return True
    return False


def an_excluded_worker_takes_part(world: World, bounds: Bounds) -> bool:
    """A worker that is excluded takes part in a pass of a root that has not heard of it."""
    return any(
        is_excluded(world, WorkerId(who)) and is_in_a_pass(worker) and not is_excluded(world, root_of(world, number))
        for who, worker in enumerate(world.workers)
        if (number := worker.task.number)
    )


def an_excluded_root_raises(world: World, bounds: Bounds) -> bool:
    """A pass has failed because its root is excluded, after it was decided."""
    return any(one.fault is Fault.EXCLUDED and not one.committed.is_empty() for one in world.passes)


def a_pass_ends_well_on_those_who_are_left(world: World, bounds: Bounds) -> bool:
    """A pass has ended well, and a worker that took part in it was excluded and lives."""
    return any(
        one.phase is Phase.SUCCEEDED and worker in one.engaged and worker not in (one.root, *world.dead.members())
        for one in world.passes
        for worker in bounds.worker_ids
        if is_excluded(world, worker)
    )


def an_id_waits_for_a_view(world: World, bounds: Bounds) -> bool:
    """A worker was told to forget, and keeps the id: it has not excluded yet whom the creator has excluded."""
    return any(not worker.unheard.is_empty() for worker in world.workers)


def a_message_waits_on_a_broken_link(world: World, bounds: Bounds) -> bool:
    """Something is under way on a link that is broken."""
    return any(
        world.network.carried[place] is not None and is_apart(world, *ends(world, message, bounds))
        for message, place in bounds.places.items()
    )


def somebody_alive_is_taken_for_dead(world: World, bounds: Bounds) -> bool:
    """A worker takes another one for dead that lives."""
    return any(one not in world.dead for worker in world.workers for one in worker.mourned.members())


def everybody_has_forgotten(world: World, bounds: Bounds) -> bool:
    """A context that two workers knew is forgotten by both."""
    return sum(worker.context is Context.GONE for worker in world.workers) > 1


def _got_all(expected: Iterable[int], ledger: tuple[Line, ...]) -> bool:
    return all(ledger[pair] is Line.BALANCED for pair, waits in enumerate(expected) if waits)


_WHEN: dict[WorldPredicate, tuple[str, Callable[[Bounds], object]]] = {
    a_pass_over_several_workers_ends_well: ("A17", lambda bounds: bounds.passes),
    a_pass_ends_well_after_one_that_failed: ("A18", lambda bounds: bounds.passes > 1 and bounds.timeouts),
    an_older_pass_is_superseded: ("A12", lambda bounds: bounds.passes > 1 and bounds.timeouts),
    a_report_comes_before_its_cause: ("A14", lambda bounds: bounds.graph == "relay"),
    a_latecomer_is_told: ("A19", lambda bounds: bounds.timeouts),
    two_roots_collide: ("A10", lambda bounds: bounds.graph == "two-starters"),
    fast_names_a_send: ("A15", lambda bounds: bounds.graph == "unused-result" and not bounds.smart),
    smart_gives_up_a_send: ("A16", lambda bounds: bounds.graph == "half-used" and bounds.smart),
    a_gradient_overtakes_resume: ("A16", lambda bounds: bounds.graph == "half-used" and bounds.smart),
    a_call_finds_its_context_closed: ("A24", lambda bounds: bounds.forward and bounds.release),
    a_context_is_released_in_the_middle_of_a_pass: ("A24", lambda bounds: bounds.release),
    a_pass_survives_a_death: ("A21", lambda bounds: bounds.crashes),
    a_pass_fails_with_a_death: ("A21", lambda bounds: bounds.crashes),
    everybody_has_forgotten: ("A25", lambda bounds: bounds.release),
}
"""Each predicate with its clause and the bounds it can be reached in."""


_WHEN_LOST: dict[WorldPredicate, tuple[str, Callable[[Bounds], object]]] = {
    somebody_alive_is_taken_for_dead: ("A29", lambda bounds: bounds.exclusions),
    a_gradient_of_the_excluded_is_refused: ("A29", lambda bounds: bounds.exclusions and _crosses(bounds)),
    an_excluded_worker_takes_part: ("A29", lambda bounds: bounds.exclusions and _crosses(bounds)),
    an_excluded_root_raises: ("A29", lambda bounds: bounds.exclusions and _crosses(bounds)),
    a_pass_ends_well_on_those_who_are_left: ("A29", lambda bounds: bounds.exclusions and _crosses(bounds)),
    an_id_waits_for_a_view: ("A29", lambda bounds: bounds.exclusions and bounds.release and len(bounds.worker_ids) > 2),
    a_message_waits_on_a_broken_link: ("A29", lambda bounds: bounds.cuts),
}
"""The same, of what an implementation is not driven to."""


def autograd_witnesses(bounds: Bounds) -> tuple[Property, ...]:
    """List what must be reachable in a bounded world."""
    return (*_messages(bounds), *situations(bounds, {**_WHEN, **_WHEN_LOST}, _once_chosen))


def autograd_situations(bounds: Bounds) -> tuple[Property, ...]:
    """List every awkward situation, whether or not it can be reached in a bounded world."""
    return (*_messages(bounds), *situations(bounds, _WHEN, _once_chosen, everywhere=True))


def _crosses(bounds: Bounds) -> bool:
    """Say whether a pass in these bounds goes over several workers and can end well, whoever records."""
    return bounds.graph in ("relay", "two-starters", "there-and-back", "chain")


def _messages(bounds: Bounds) -> list[Property]:
    kinds = dict.fromkeys(type(message) for message in bounds.places)
    return [sending(bounds, kind, _clause(kind), _once_chosen(_sends(kind))) for kind in kinds]


def _sends(kind: type[msg.Message]) -> WorldPredicate:
    def sends(world: World, bounds: Bounds) -> bool:
        carried = world.network.carried
        return any(carried[place] is not None for message, place in bounds.places.items() if type(message) is kind)

    return sends


def _clause(kind: type[msg.Message]) -> str:
    if kind is msg.ForwardCall:
        return "A4"
    return "A6" if kind in (msg.Settled, msg.CleanupContext, msg.Closed, msg.Forget) else "A5"


def _once_chosen(predicate: WorldPredicate) -> Family[Bounds]:
    """Apply a predicate to worlds in which the graph is chosen: before that there is nothing to see."""

    @wraps(predicate)
    def reaches(world: World, bounds: Bounds) -> bool:
        return world.graph is not None and predicate(world, bounds)

    return per_world(reaches)
