--------------------------- MODULE RRefProperties ---------------------------
(***************************************************************************)
(* What must hold of the RRef protocol, with the names and the meaning of  *)
(* properties/rref/always.py.                                                     *)
(*                                                                         *)
(* Safety is stated as invariants, liveness twice.  Every run of a bounded *)
(* world ends (see FairSpec), so what holds in the end holds in the last   *)
(* state, and "P3 holds eventually" is an invariant about states in which  *)
(* nothing can happen any more: P3 == Quiet => P3InTheEnd.  That is cheap  *)
(* to check.  P3Live says the same in temporal logic; the tests check that *)
(* the two agree, and that Quiet is what it claims to be (QuietIsTheEnd).  *)
(***************************************************************************)
EXTENDS RRef

Flies(kind, f) == <<kind, f>> \in net.flying
Unanswered(kind, f) == <<kind, f>> \in net.unanswered

Lives(f) == user[f].phase # "absent"
Travels(f) == Flies("Call", f) \/ Flies("Return", f)
IsFetching(f) ==
    \/ f \in app.asks
    \/ f \in owner[RRefOf(f)].fetches
    \/ Flies("FetchCall", f)

-----------------------------------------------------------------------------
(* Safety                                                                  *)

\* Everyone on the owner who was given the entry of an RRef was given the same
\* one, and nobody waits on a lost one (R21).
P2 == app.orphaned = {} /\ \A r \in RRefs : ~owner[r].duplicated

\* No entry is dropped while the owner uses it, or while a user of it lives, is
\* on its way, or has a fetch under way (R22).
P1 == \A r \in RRefs : owner[r].phase = "gone" =>
          /\ ~owner[r].running /\ r \notin app.holds /\ r \notin app.waits
          /\ \A f \in ForksOf(r) : ~Lives(f) /\ app.has[f] = "none" /\ ~Travels(f) /\ ~IsFetching(f)

\* Every fork the owner counts lives, is on its way, or its end is being told (R33).
G1 == \A r \in RRefs : \A f \in owner[r].forks :
          Lives(f) \/ Travels(f) \/ Flies("CallFailed", f) \/ Unanswered("UserDelete", f)

\* The parent of a child that the owner does not count yet knows of it (R24).
G2 == \A f \in Forks :
          parent[f] # NoFork /\ (user[f].phase = "pending" \/ Travels(f))
              => f \in user[parent[f]].children

\* When nothing is under way about a fork, the owner counts it exactly if its
\* user lives (R33).
P10 == \A f \in Forks :
           \/ (f \in owner[RRefOf(f)].forks) = Lives(f)
           \/ owner[RRefOf(f)].registering
           \/ \E kind \in {"RemoteCall", "UserAccept", "RemoteFailed", "Call", "Return", "CallFailed"} :
                  Flies(kind, f)
           \/ \E kind \in {"ForkRequest", "UserDelete", "CreateFailed"} : Unanswered(kind, f)

\* A control message that arrives once more changes no table (R7).
P6 == ~repeated

\* confirmed_by_owner() tells the truth (R31).
P8 == \A f \in Forks :
          /\ user[f].phase = "confirmed" => f \in owner[RRefOf(f)].forks
          /\ user[f].phase # "untold"

\* Counting never waits for user code: a pending user, and a parent with a child
\* that has not accepted, always have something under way that settles it (R18).
NoUserWaitsForUserCode ==
    \A f \in Forks : user[f].phase = "pending" =>
        \/ Flies("RemoteCall", f) \/ Flies("RemoteFailed", f) \/ Flies("UserAccept", f)
        \/ Unanswered("ForkRequest", f) \/ Unanswered("CreateFailed", f)
        \/ owner[RRefOf(f)].registering
NoParentWaitsForUserCode ==
    \A f \in Forks : \A child \in user[f].children :
        \/ Travels(child) \/ Flies("CallFailed", child)
        \/ user[child].phase = "pending" \/ Unanswered("ChildAccept", child)
P9 == NoUserWaitsForUserCode /\ NoParentWaitsForUserCode

\* The tables tell the truth: what they say the application holds and waits for,
\* it holds and waits for (R22).
G3 == /\ \A r \in RRefs : owner[r].held = (r \in app.holds) /\ owner[r].waiting = (r \in app.waits)
      /\ \A f \in Forks : user[f].handle = app.has[f] /\ (user[f].fetch = "waiting") = (f \in app.asks)

\* A fetch is answered only with a value, or an error in its place, which is kept
\* until the answer arrives (R20).
P11 == \A f \in Forks : Flies("FetchReturn", f) => owner[RRefOf(f)].phase = "ready"

\* A handle whose creation timed out can be neither shared nor fetched, nor can
\* any handle once shutdown has begun (R27, R32).
P12 == \A f \in Forks :
           app.has[f] = "timedOut" \/ (closing /\ app.has[f] = "held")
               => ~ENABLED FetchValue(f) /\ ~ENABLED UserShare(f, Owner[RRefOf(f)], "Call")

-----------------------------------------------------------------------------
(* Where runs end                                                          *)

\* An application that lets go of what it can, functions that end, a network
\* that delivers: what is left to do is nothing.  The last two conjuncts are the
\* cases in which somebody who waits for a value could still use the reference.
Quiet ==
    /\ net.flying = {}
    /\ RetriesUntilAnswered => net.unanswered = {}
    /\ Ends => closing
    /\ \A r \in RRefs :
           /\ ~MayCreate(r) /\ ~owner[r].running /\ ~owner[r].registering
           /\ owner[r].held => owner[r].waiting
    /\ \A f \in Forks :
           /\ ~user[f].owesAccept
           /\ user[f].handle \in {"held", "timedOut"} => user[f].fetch = "waiting"
           /\ user[f].fetch = "waiting" => budget.timeouts = 0
    /\ \A r \in RRefs :
           OwnerShares /\ owner[r].held /\ Listed(owner[r]) /\ MayMint(r) => Workers = {Owner[r]} /\ ~SelfShares
    /\ \A f \in Forks :
           user[f].handle = "held" /\ MayMint(RRefOf(f)) => Workers = {holder[f]} /\ ~SelfShares

QuietIsTheEnd == Quiet <=> ~ENABLED Next

-----------------------------------------------------------------------------
(* Liveness: what is left at the end                                       *)

EntryIsGone(r) ==
    /\ ~Listed(owner[r]) /\ owner[r].forks = {}
    /\ ~owner[r].running /\ ~owner[r].held /\ ~owner[r].registering
ForkIsGone(f) == ~Lives(f) /\ \A kind \in Control : ~Unanswered(kind, f)

\* The application let go: no entry, no count, no user, nothing unanswered (R26).
P3InTheEnd == (\A r \in RRefs : EntryIsGone(r)) /\ (\A f \in Forks : ForkIsGone(f))

\* Every call that waits for its arguments to be confirmed runs (R16).
P4InTheEnd == \A f \in Forks : app.has[f] # "parked"

\* Every fetch and every early use on the owner is answered (R20).
P5InTheEnd == /\ app.waits = {} /\ app.orphaned = {}
              /\ \A f \in Forks : ~IsFetching(f)

\* A graceful shutdown ends with empty tables on every worker (R32).
P7InTheEnd == closing => P3InTheEnd

P3 == Quiet => P3InTheEnd
P4 == Quiet => P4InTheEnd
P5 == Quiet => P5InTheEnd
P7 == Quiet => P7InTheEnd

\* The same under FairSpec.  Not <>: everything is clean before it has begun.
P3Live == []<>P3InTheEnd
P4Live == []<>P4InTheEnd
P5Live == []<>P5InTheEnd
P7Live == []<>P7InTheEnd

-----------------------------------------------------------------------------
(* Known defects of PyTorch 2.13 as claims, broken by its rules in small   *)
(* bounds (properties/rref/claims.py, spec/differences.md).                     *)

\* No second entry is made for an RRef while somebody waits on the first.
N1 == \A r \in app.orphaned : ~owner[r].duplicated
N1b == N1

N2 == Quiet => \A r \in RRefs : EntryIsGone(r)

\* No fork is counted for ever, and no parent waits for ever, for a child that
\* nobody received.
N4 == /\ G1
      /\ \A f \in Forks : \A child \in user[f].children :
             \/ Lives(child) \/ Travels(child) \/ Flies("CallFailed", child)
             \/ Unanswered("ChildAccept", child) \/ <<"ChildAccept", child>> \in net.processed

N5 == Quiet => \A f \in Forks : ForkIsGone(f)
N6 == P8
N7 == P4
N9 == G1

\* No entry is dropped between being made and its creator being counted.
N10 == \A r \in RRefs : ~(owner[r].phase = "gone" /\ owner[r].registering)

N15 == Quiet => \A f \in Forks : ~IsFetching(f)
F1 == NoUserWaitsForUserCode
F6 == NoParentWaitsForUserCode
=============================================================================
