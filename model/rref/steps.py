"""Every step that can be taken in a world. The protocol itself is in `owner.py` and `user.py`.

A step finds the one record the action is about, hands it to its handler, puts the result back and sends what the handler
sends. Nothing here decides anything about references, except who a message is for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from farref.model.actions import Deliver, DropMessage, Duplicate, Exclude, FailCall, Install, OnLink, OnMessage, Retry
from farref.model.rref import actions as act
from farref.model.rref import application as app
from farref.model.rref import messages as msg
from farref.model.rref import network as net
from farref.model.rref import owner as own
from farref.model.rref import user as use
from farref.model.rref.cut_steps import refuse, settled
from farref.model.rref.ids import ForkId, RRefId
from farref.model.rref.link_steps import is_held_up, link_step
from farref.model.rref.links import is_orphan
from farref.model.rref.refusals import is_refused, is_unheard, unheard
from farref.model.rref.rules import RRefRules
from farref.model.rref.view_steps import followed, view_step
from farref.model.rref.views import forget_refusal
from farref.model.rref.world import Bounds, ForkData, World, mint, next_fork, parent_of, spend


def step(world: World, action: act.Action, bounds: Bounds, rules: RRefRules) -> World | None:
    """Give the world after an action, or None where the action cannot happen."""
    if not (bounds.cuts or bounds.exclusions):  # nobody is ever lost
        after = _take(world, action, bounds, rules)
    elif is_held_up(world, action, bounds):
        return None
    elif is_unheard(world, action, bounds, rules):
        return unheard(world, action)
    else:
        after = _take_among_lost(world, action, bounds, rules)
    return after and _experienced(world, action, after, bounds)


def _experienced(world: World, action: act.Action, after: World, bounds: Bounds) -> World:
    """Let the application take note of a step."""
    noted = app.experience(world, action, after, bounds)
    return after if noted is world.application else after._replace(application=noted)


def _take_among_lost(world: World, action: act.Action, bounds: Bounds, rules: RRefRules) -> World | None:
    """Let the protocol take a step where somebody may be lost to others."""
    taken = None if is_refused(world, action, bounds) else _take(world, action, bounds, rules)
    return taken and followed(settled(taken, bounds, rules), action, bounds, rules)


def _take(world: World, action: act.Action, bounds: Bounds, rules: RRefRules) -> World | None:
    """Let the protocol take a step."""
    match action:
        case OnMessage():
            return _befall(world, action, bounds, rules)
        case act.CreateLocal() | act.CreateOnSelf() | act.CreateRemote():
            return _create(world, action, bounds)
        case act.OwnerShare():
            return _owner_share(world, action, bounds, rules)
        case act.UserShare():
            return _user_share(world, action, bounds)
        case act.FinishFunction(rref):
            fork = bounds.creator_fork(rref)
            return _at_owner(world, rref, own.finish_function(world.owners[rref], rref, fork, rules))
        case act.RegisterCreator(rref):
            return _at_owner(world, rref, own.register_creator(world.owners[rref], rref, bounds.creator_fork(rref)))
        case act.OwnerLetGo(rref):
            may = app.may_let_go_on_owner(world.application, rref)
            return _at_owner(world, rref, own.let_go(world.owners[rref], rules)) if may else None
        case act.LetGo(fork):
            may, rref = app.may_let_go(world.application, fork), bounds.rref_of(fork)
            return _at_user(world, fork, use.let_go(world.users[fork], rref, fork, rules)) if may else None
        case act.EndCall(fork):
            return _at_user(world, fork, use.end_call(world.users[fork], bounds.rref_of(fork), fork, rules))
        case act.FetchValue(fork):
            return _fetch(world, fork, bounds)
        case act.AbandonFetch(fork):
            return _time_out(world, fork, use.abandon_fetch)
        case act.TimeOutCreation(fork):
            only = rules.timeout_is_only_an_answer
            return _time_out(world, fork, use.time_out_creation if only else use.time_out_creation_as_confirmed)
        case act.Shutdown():
            return None if world.closing else world._replace(closing=True)
        case OnLink():
            return link_step(world, action, bounds, rules)
        case Exclude() | Install() | act.Settle() | act.Bury() | act.Reclaim() | act.Join():
            return view_step(world, action, bounds, rules)
        case _:
            assert_never(action)


def _befall(world: World, action: act.Befalling, bounds: Bounds, rules: RRefRules) -> World | None:
    """Let something happen to a message that is under way, or, on a retry, no longer is."""
    if not net.is_flying(world.network, action.message):
        again = net.retry(world.network, action.message) if isinstance(action, Retry) else None
        return again and world._replace(network=again)
    match action:
        case Deliver(message):
            return _deliver(world._replace(network=net.take(world.network, message)), message, bounds, rules)
        case Duplicate(message):
            return _deliver(spend(world, "duplicates"), message, bounds, rules) if world.budgets.duplicates else None
        case DropMessage(message):
            return _drop(world, message)
        case FailCall(message):
            return _fail(world, message)
        case Retry():
            return None
        case _:
            assert_never(action)


def _deliver(world: World, message: msg.Message, bounds: Bounds, rules: RRefRules) -> World:
    match message:
        case msg.Ack(of):
            return _acknowledged(world, of, rules) if net.is_unanswered(world.network, of) else world
        case msg.ForkRequest() | msg.ChildAccept() | msg.UserDelete() | msg.CreateFailed():
            return _control(world, message, rules)
        case _:
            return _receive(world, message, bounds, rules)


def _control(world: World, message: msg.Control, rules: RRefRules) -> World:
    """Let a control message take effect the first time, and answer it every time (R7)."""
    again = net.was_processed(world.network, message)
    if again and rules.processes_once:
        return world._replace(network=net.process(world.network, message))
    after = _take_effect(world, message, rules)
    changed = again and (after.owners != world.owners or after.users != world.users)
    network = net.process(after.network, message)
    return after._replace(network=network._replace(repeated=True) if changed else network)


def _take_effect(world: World, message: msg.Control, rules: RRefRules) -> World:
    rref, fork = message.rref, message.fork
    owner = world.owners[rref]
    match message:
        case msg.ForkRequest():
            return _owner_did(world, rref, own.on_fork_request(owner, fork))
        case msg.UserDelete():
            return _owner_did(world, rref, own.on_user_delete(owner, fork, rules))
        case msg.CreateFailed():
            return _owner_did(world, rref, own.on_create_failed(owner, rref, fork))
        case msg.ChildAccept():
            parent = parent_of(world, fork)
            return _user_did(world, parent, use.on_child_accept(world.users[parent], rref, parent, fork, rules))
        case _:
            assert_never(message)


def _acknowledged(world: World, message: msg.Control, rules: RRefRules) -> World:
    """Tell the sender of a control message that it took effect."""
    world = world._replace(network=net.settle(world.network, message))
    rref, fork = message.rref, message.fork
    match message:
        case msg.ForkRequest():
            return _user_did(world, fork, use.on_fork_confirmed(world.users[fork], rref, fork, rules))
        case msg.CreateFailed():
            return _user_did(world, fork, use.on_creation_confirmed(world.users[fork], rref, fork, rules))
        case msg.ChildAccept() | msg.UserDelete():
            return world
        case _:
            assert_never(message)


def _receive(world: World, message: msg.Message, bounds: Bounds, rules: RRefRules) -> World:
    """Hand a user call to the one it is meant for."""
    rref, fork = bounds.rref_of(message.fork), message.fork
    match message:
        case msg.RemoteCall():
            return _owner_did(world, rref, own.on_remote_call(world.owners[rref], rref, fork, rules))
        case msg.UserAccept():
            return _user_did(world, fork, use.on_creation_confirmed(world.users[fork], rref, fork, rules))
        case msg.RemoteFailed():
            return _user_did(world, fork, use.on_remote_failed(world.users[fork], rref, fork, rules))
        case msg.Call() | msg.Return():
            return _receive_share(world, message, bounds, rules)
        case msg.CallFailed():
            return _receive_failure(world, message, rules)
        case msg.FetchCall():
            return _owner_did(world, rref, own.on_fetch_call(world.owners[rref], rref, fork))
        case msg.FetchReturn():
            return _user_did(world, fork, use.on_fetch_return(world.users[fork], rref, fork, rules))
        case _:
            raise AssertionError(f"{message} is not a user call")


def _receive_share(world: World, carrier: msg.Call | msg.Return, bounds: Bounds, rules: RRefRules) -> World:
    """Hand a fork to its holder: the four cases of sharing (R14 to R19)."""
    rref, fork, data = carrier.rref, carrier.fork, world.lineage[carrier.fork]
    if is_orphan(world, fork, bounds):
        return refuse(world, carrier)
    from_owner, to_owner = data.parent is None, data.holder == bounds.owner(rref)
    if to_owner and from_owner:
        return _owner_did(world, rref, own.on_share_from_self(world.owners[rref], carrier, rules))
    if to_owner:
        return _owner_did(world, rref, own.on_share_from_user(world.owners[rref], carrier))
    if from_owner:
        return _user_did(world, fork, use.on_share_from_owner(world.users[fork], rules))
    return _user_did(world, fork, use.on_share_from_user(world.users[fork], carrier, rules))


def _receive_failure(world: World, message: msg.CallFailed, rules: RRefRules) -> World:
    """Tell the one who shared a fork that nobody received it (R28)."""
    world = forget_refusal(world, message)
    rref, fork, parent = message.rref, message.fork, world.lineage[message.fork].parent
    if parent is None:
        return _owner_did(world, rref, own.on_call_failed(world.owners[rref], fork, rules))
    return _user_did(world, parent, use.on_call_failed(world.users[parent], rref, parent, fork, rules))


def _drop(world: World, message: msg.Message) -> World | None:
    if not world.budgets.drops:
        return None
    return spend(world._replace(network=net.take(world.network, message)), "drops")


def _fail(world: World, message: msg.RemoteCall | msg.Call | msg.Return) -> World | None:
    if not world.budgets.failures:
        return None
    failed = msg.RemoteFailed if type(message) is msg.RemoteCall else msg.CallFailed
    network = net.send(net.take(world.network, message), (failed(message.rref, message.fork),))
    return spend(world._replace(network=network), "failures")


def _create(
    world: World, action: act.CreateLocal | act.CreateOnSelf | act.CreateRemote, bounds: Bounds
) -> World | None:
    owner, fork = world.owners[action.rref], bounds.creator_fork(action.rref)
    if owner.phase is not own.Entry.ABSENT or world.minted[action.rref] or world.closing:
        return None
    match action:
        case act.CreateLocal(rref):
            return _owner_did(world, rref, own.create_local(owner))
        case act.CreateOnSelf(rref):
            return _owner_did(world, rref, own.create_on_self(owner))
        case act.CreateRemote(rref, worker):
            minted = mint(world, rref, fork, ForkData(worker))
            return _user_did(minted, fork, use.create_remote(world.users[fork], rref, fork))
        case _:
            assert_never(action)


def _owner_share(world: World, action: act.OwnerShare, bounds: Bounds, rules: RRefRules) -> World | None:
    child = next_fork(world, action.rref, bounds)
    if child is None:
        return None
    carrier = action.carrier(action.rref, child)
    shared = _at_owner(world, action.rref, own.share(world.owners[action.rref], child, carrier, rules))
    return shared and mint(shared, action.rref, child, ForkData(action.target))


def _user_share(world: World, action: act.UserShare, bounds: Bounds) -> World | None:
    if not use.is_usable(world.users[action.fork]):
        return None
    rref = bounds.rref_of(action.fork)
    child = next_fork(world, rref, bounds)
    if child is None or (world.lineage[action.fork].holder == action.target and not bounds.self_shares):
        return None
    shared = _at_user(world, action.fork, use.share(world.users[action.fork], child, action.carrier(rref, child)))
    return shared and mint(shared, rref, child, ForkData(action.target, action.fork))


def _fetch(world: World, fork: ForkId, bounds: Bounds) -> World | None:
    if world.closing or not world.budgets.fetches:
        return None
    asked = _at_user(world, fork, use.fetch(world.users[fork], bounds.rref_of(fork), fork))
    return asked and spend(asked, "fetches")


def _time_out(world: World, fork: ForkId, effect: Callable[[use.UserRRef], use.Step | None]) -> World | None:
    if not world.budgets.timeouts:
        return None
    timed_out = _at_user(world, fork, effect(world.users[fork]))
    return timed_out and spend(timed_out, "timeouts")


# -- what the steps share ----------------------------------------------------------------------------------------------


def _at_owner(world: World, rref: RRefId, result: own.Step | None) -> World | None:
    return None if result is None else _owner_did(world, rref, result)


def _owner_did(world: World, rref: RRefId, result: own.Step) -> World:
    owner, sends = result
    return world._replace(owners=world.owners.put(rref, owner), network=net.send(world.network, sends))


def _at_user(world: World, fork: ForkId, result: use.Step | None) -> World | None:
    return None if result is None else _user_did(world, fork, result)


def _user_did(world: World, fork: ForkId, result: use.Step) -> World:
    user, sends = result
    return world._replace(users=world.users.put(fork, user), network=net.send(world.network, sends))
