------------------------------ MODULE RRefFacts ------------------------------
(***************************************************************************)
(* What can be true of a fork or of an RRef, as the proof says it          *)
(* (properties/proof/rref/state.py), in a state of RRef.tla.  The          *)
(* invariant of the proof is written in these words (RRefInvariant.tla).   *)
(*                                                                         *)
(* One fact is history: whether an RRef was created by another worker.     *)
(* RRef.tla does not keep it, so it is followed here.                      *)
(***************************************************************************)
EXTENDS RRefProperties

VARIABLE byRemote    \* the RRefs that another worker created

factVars == <<owner, user, holder, parent, net, budget, closing, repeated, app, byRemote>>

Created(n) == {r \in RRefs : <<"RemoteCall", CreatorFork(r)>> \in n.flying}

FactInit == Init /\ byRemote = {}
FactNext == Next /\ byRemote' = byRemote \cup Created(net')
FactSpec == FactInit /\ [][FactNext]_factVars

-----------------------------------------------------------------------------
(* A fork as it was minted (R2)                                            *)

IsMinted(f) == holder[f] # Nobody
IsRemote(f) == IsMinted(f) /\ RRefOf(f) \in byRemote /\ f = CreatorFork(RRefOf(f))
IsHasParent(f) == parent[f] # NoFork
IsParent(f, g) == parent[f] = g
IsForOwner(f) == holder[f] = Owner[RRefOf(f)]

(* What its owner, its user and its parent know of it (R8, R9)             *)

IsCounted(f) == f \in owner[RRefOf(f)].forks
IsFetchParked(f) == f \in owner[RRefOf(f)].fetches
IsPending(f) == user[f].phase = "pending"
IsConfirmed(f) == user[f].phase = "confirmed"
IsParked(f) == user[f].handle = "parked"
IsHeld(f) == user[f].handle = "held"
IsTimedOut(f) == user[f].handle = "timedOut"
IsAsking(f) == user[f].fetch = "waiting"
IsGivenUp(f) == user[f].fetch = "abandoned"
IsKept(f) == parent[f] # NoFork /\ f \in user[parent[f]].children

(* User calls under way (R4).  That a FetchCall fails is not in RRef.tla.  *)

IsRemoteCall(f) == Flies("RemoteCall", f)
IsUserAccept(f) == Flies("UserAccept", f)
IsRemoteFailed(f) == Flies("RemoteFailed", f)
IsCall(f) == Flies("Call", f)
IsResult(f) == Flies("Return", f)
IsCallFailed(f) == Flies("CallFailed", f)
IsFetchCall(f) == Flies("FetchCall", f)
IsFetchReturn(f) == Flies("FetchReturn", f)
IsFetchFailed(f) == FALSE

(* Control messages (R5 to R7)                                             *)

Processed(kind, f) == <<kind, f>> \in net.processed
Answering(kind, f) == Ack(<<kind, f>>) \in net.flying

IsForkRequestFlying(f) == Flies("ForkRequest", f)
IsForkRequestUnanswered(f) == Unanswered("ForkRequest", f)
IsForkRequestProcessed(f) == Processed("ForkRequest", f)
IsForkRequestAnswering(f) == Answering("ForkRequest", f)
IsChildAcceptFlying(f) == Flies("ChildAccept", f)
IsChildAcceptUnanswered(f) == Unanswered("ChildAccept", f)
IsChildAcceptProcessed(f) == Processed("ChildAccept", f)
IsChildAcceptAnswering(f) == Answering("ChildAccept", f)
IsUserDeleteFlying(f) == Flies("UserDelete", f)
IsUserDeleteUnanswered(f) == Unanswered("UserDelete", f)
IsUserDeleteProcessed(f) == Processed("UserDelete", f)
IsUserDeleteAnswering(f) == Answering("UserDelete", f)
IsCreateFailedFlying(f) == Flies("CreateFailed", f)
IsCreateFailedUnanswered(f) == Unanswered("CreateFailed", f)
IsCreateFailedProcessed(f) == Processed("CreateFailed", f)
IsCreateFailedAnswering(f) == Answering("CreateFailed", f)

(* An RRef, and its entry on the owner (R8)                                *)

IsBegun(r) == owner[r].phase # "absent" \/ MintedOf(r) # {}
IsByRemote(r) == r \in byRemote
IsExpected(r) == owner[r].phase = "expected"
IsCreated(r) == owner[r].phase = "created"
IsReady(r) == owner[r].phase = "ready"
IsGone(r) == owner[r].phase = "gone"
IsRunning(r) == owner[r].running
IsOwnerHolds(r) == owner[r].held
IsOwnerWaits(r) == owner[r].waiting
IsOrphaned(r) == r \in app.orphaned
IsDuplicated(r) == owner[r].duplicated
=============================================================================
