---------------------------- MODULE RRefInvariant ----------------------------
(***************************************************************************)
(* The invariant that `farref prove rref` proves inductive, clause by      *)
(* clause, for TLC to look up in every state of a bounded world.  Written  *)
(* by farref/tlc/invariant.py from properties/proof/rref/invariant.py.     *)
(***************************************************************************)
EXTENDS RRefFacts

\* Nothing is true of a fork that was not minted. (R2)
J1 == \A f \in Forks :
    (
     \/ IsMinted(f)
     \/ ~(
          \/ IsRemote(f)
          \/ IsHasParent(f)
          \/ IsCounted(f)
          \/ IsFetchParked(f)
          \/ IsPending(f)
          \/ IsConfirmed(f)
          \/ IsParked(f)
          \/ IsHeld(f)
          \/ IsTimedOut(f)
          \/ IsAsking(f)
          \/ IsGivenUp(f)
          \/ IsKept(f)
          \/ IsRemoteCall(f)
          \/ IsUserAccept(f)
          \/ IsRemoteFailed(f)
          \/ IsCall(f)
          \/ IsResult(f)
          \/ IsCallFailed(f)
          \/ IsFetchCall(f)
          \/ IsFetchReturn(f)
          \/ IsFetchFailed(f)
          \/ IsForkRequestFlying(f)
          \/ IsForkRequestUnanswered(f)
          \/ IsForkRequestProcessed(f)
          \/ IsForkRequestAnswering(f)
          \/ IsChildAcceptFlying(f)
          \/ IsChildAcceptUnanswered(f)
          \/ IsChildAcceptProcessed(f)
          \/ IsChildAcceptAnswering(f)
          \/ IsUserDeleteFlying(f)
          \/ IsUserDeleteUnanswered(f)
          \/ IsUserDeleteProcessed(f)
          \/ IsUserDeleteAnswering(f)
          \/ IsCreateFailedFlying(f)
          \/ IsCreateFailedUnanswered(f)
          \/ IsCreateFailedProcessed(f)
          \/ IsCreateFailedAnswering(f)
         )
    )

\* A fork and its parent are two forks of one RRef, and the parent is not on the owner. (R2)
J2 == \A f \in Forks, g \in Forks :
    (
      IsParent(f, g)
      => (
          /\ ~(f = g)
          /\ IsMinted(f)
          /\ IsMinted(g)
          /\ IsHasParent(f)
          /\ (RRefOf(f) = RRefOf(g))
          /\ ~IsForOwner(g)
         )
    )

\* A fork has at most one parent. (R2)
J3 == \A f \in Forks, g \in Forks, h \in Forks :
    ((IsParent(f, g) /\ IsParent(f, h)) => (g = h))

\* A fork is the creator's, a child, or the owner's; only a child is listed by a parent. (R2)
J4 == \A f \in Forks :
    (
     /\ ~(IsHasParent(f) /\ IsRemote(f))
     /\ (IsRemote(f) => (~IsForOwner(f) /\ IsByRemote(RRefOf(f))))
     /\ (IsKept(f) => IsHasParent(f))
     /\ (IsMinted(f) => IsBegun(RRefOf(f)))
    )

\* An RRef has at most one creator's fork. (R10)
J5 == \A f \in Forks, g \in Forks :
    ((IsRemote(f) /\ IsRemote(g) /\ (RRefOf(f) = RRefOf(g))) => (f = g))

\* An entry is in one phase, and only a remote creation can still be on its way. (R8)
J6 == \A r \in RRefs :
    (
     /\ (
         /\ ~(IsExpected(r) /\ IsCreated(r))
         /\ ~(IsExpected(r) /\ IsReady(r))
         /\ ~(IsExpected(r) /\ IsGone(r))
         /\ ~(IsCreated(r) /\ IsReady(r))
         /\ ~(IsCreated(r) /\ IsGone(r))
         /\ ~(IsReady(r) /\ IsGone(r))
        )
     /\ ((IsByRemote(r) \/ (IsExpected(r) \/ IsCreated(r) \/ IsReady(r)) \/ IsGone(r)) => IsBegun(r))
     /\ ((IsBegun(r) /\ ~IsByRemote(r)) => (IsCreated(r) \/ IsReady(r) \/ IsGone(r)))
    )

\* The function runs while the entry is created; whoever holds it or waits finds it listed. (R22)
J7 == \A r \in RRefs :
    (
     /\ ((IsRunning(r) => IsCreated(r)) /\ (IsCreated(r) => IsRunning(r)))
     /\ (IsOwnerHolds(r) => (IsExpected(r) \/ IsCreated(r) \/ IsReady(r)))
     /\ (IsOwnerWaits(r) => (IsOwnerHolds(r) /\ ~IsReady(r)))
    )

\* A user is in one phase and has one handle and one fetch; whoever has either lives. (R9)
J8 == \A f \in Forks :
    (
     /\ ~(IsPending(f) /\ IsConfirmed(f))
     /\ (~(IsParked(f) /\ IsHeld(f)) /\ ~(IsParked(f) /\ IsTimedOut(f)) /\ ~(IsHeld(f) /\ IsTimedOut(f)))
     /\ ~(IsAsking(f) /\ IsGivenUp(f))
     /\ (
          ((IsParked(f) \/ IsHeld(f) \/ IsTimedOut(f)) \/ (IsAsking(f) \/ IsGivenUp(f)))
          => (IsPending(f) \/ IsConfirmed(f))
        )
     /\ ((IsPending(f) \/ IsConfirmed(f)) => ~IsForOwner(f))
     /\ (IsParked(f) => (IsPending(f) /\ IsHasParent(f)))
    )

\* About a fork on its way nothing was sent; the owner counts it, or its parent lists it. (R14)
J9 == \A f \in Forks :
    (
      ((IsCall(f) \/ IsResult(f)) \/ IsCallFailed(f))
      => (
          /\ (
              /\ ~(IsCall(f) /\ IsResult(f))
              /\ ~(IsCall(f) /\ IsCallFailed(f))
              /\ ~(IsResult(f) /\ IsCallFailed(f))
             )
          /\ ~IsRemote(f)
          /\ ~(IsPending(f) \/ IsConfirmed(f))
          /\ ~(
               \/ (
                   \/ IsForkRequestFlying(f)
                   \/ IsForkRequestUnanswered(f)
                   \/ IsForkRequestProcessed(f)
                   \/ IsForkRequestAnswering(f)
                  )
               \/ (
                   \/ IsChildAcceptFlying(f)
                   \/ IsChildAcceptUnanswered(f)
                   \/ IsChildAcceptProcessed(f)
                   \/ IsChildAcceptAnswering(f)
                  )
               \/ (
                   \/ IsUserDeleteFlying(f)
                   \/ IsUserDeleteUnanswered(f)
                   \/ IsUserDeleteProcessed(f)
                   \/ IsUserDeleteAnswering(f)
                  )
               \/ (
                   \/ IsCreateFailedFlying(f)
                   \/ IsCreateFailedUnanswered(f)
                   \/ IsCreateFailedProcessed(f)
                   \/ IsCreateFailedAnswering(f)
                  )
              )
          /\ ((IsCounted(f) => ~IsHasParent(f)) /\ (IsHasParent(f) \/ IsCounted(f)))
          /\ ((IsKept(f) => IsHasParent(f)) /\ (IsHasParent(f) => IsKept(f)))
         )
    )

\* Of the messages that settle a creation one is under way, and the creator is pending. (R10)
J10 == \A f \in Forks :
    (
      (IsRemoteCall(f) \/ IsRemoteFailed(f) \/ IsUserAccept(f) \/ IsCreateFailedUnanswered(f))
      => (
          /\ IsRemote(f)
          /\ IsPending(f)
          /\ (
              /\ ~(IsRemoteCall(f) /\ IsRemoteFailed(f))
              /\ ~(IsRemoteCall(f) /\ IsUserAccept(f))
              /\ ~(IsRemoteCall(f) /\ IsCreateFailedUnanswered(f))
              /\ ~(IsRemoteFailed(f) /\ IsUserAccept(f))
              /\ ~(IsRemoteFailed(f) /\ IsCreateFailedUnanswered(f))
              /\ ~(IsUserAccept(f) /\ IsCreateFailedUnanswered(f))
             )
         )
    )

\* Before a creation arrives its fork is not counted, and the entry is at most expected. (R21)
J11 == \A f \in Forks :
    (
      (
       \/ IsRemoteCall(f)
       \/ IsRemoteFailed(f)
       \/ (IsCreateFailedUnanswered(f) /\ ~IsCreateFailedProcessed(f))
      )
      => (~IsCounted(f) /\ ~(IsCreated(RRefOf(f)) \/ IsReady(RRefOf(f)) \/ IsGone(RRefOf(f))))
    )

\* A creation is not reported as failed while its call is still under way. (R29)
J12 == \A f \in Forks :
    (
      (IsRemoteCall(f) \/ IsRemoteFailed(f) \/ IsUserAccept(f))
      => ~(IsCreateFailedFlying(f) \/ IsCreateFailedProcessed(f) \/ IsCreateFailedAnswering(f))
    )

\* A pending creator has a message under way that settles it, and is counted once told. (R10)
J13 == \A f \in Forks :
    (
     /\ (
          (IsRemote(f) /\ IsPending(f))
          => (IsRemoteCall(f) \/ IsRemoteFailed(f) \/ IsUserAccept(f) \/ IsCreateFailedUnanswered(f))
        )
     /\ ((IsUserAccept(f) \/ (IsPending(f) /\ IsCreateFailedProcessed(f))) => IsCounted(f))
    )

\* A remote creation that has not arrived is still under way. (R21)
J14 == \A f \in Forks :
    (
      (IsRemote(f) /\ ~(IsCreated(RRefOf(f)) \/ IsReady(RRefOf(f)) \/ IsGone(RRefOf(f))))
      => (
          \/ IsRemoteCall(f)
          \/ IsRemoteFailed(f)
          \/ (IsCreateFailedUnanswered(f) /\ ~IsCreateFailedProcessed(f))
         )
    )

\* A pending child has asked to be counted, and its parent lists it until then. (R16)
J15 == \A f \in Forks :
    (
     /\ (
          (IsHasParent(f) /\ IsPending(f))
          => (
              /\ IsForkRequestUnanswered(f)
              /\ IsKept(f)
              /\ ~(IsChildAcceptUnanswered(f) \/ IsChildAcceptFlying(f) \/ IsChildAcceptProcessed(f))
              /\ ((IsCounted(f) => IsForkRequestProcessed(f)) /\ (IsForkRequestProcessed(f) => IsCounted(f)))
             )
        )
     /\ (IsForkRequestUnanswered(f) => (IsHasParent(f) /\ IsPending(f)))
     /\ (((IsPending(f) \/ IsConfirmed(f)) /\ ~IsHasParent(f) /\ ~IsRemote(f)) => IsConfirmed(f))
     /\ ((IsConfirmed(f) /\ IsHasParent(f)) => IsForkRequestProcessed(f))
    )

\* A child accepts once it is counted; its parent lists it until the accept arrives. (R17)
J16 == \A f \in Forks :
    (
     /\ (
          IsChildAcceptUnanswered(f)
          => (IsHasParent(f) /\ ~(IsCall(f) \/ IsResult(f)) /\ ~IsCallFailed(f) /\ ~IsPending(f))
        )
     /\ ((IsChildAcceptUnanswered(f) /\ ~IsChildAcceptProcessed(f)) => IsKept(f))
     /\ (IsChildAcceptProcessed(f) => ~IsKept(f))
     /\ (
          IsKept(f)
          => (
              \/ (IsCall(f) \/ IsResult(f))
              \/ IsCallFailed(f)
              \/ IsPending(f)
              \/ (IsChildAcceptUnanswered(f) /\ ~IsChildAcceptProcessed(f))
             )
        )
    )

\* A parent lives while it lists a child. (R24, G2)
J17 == \A f \in Forks, g \in Forks :
    ((IsParent(f, g) /\ IsKept(f)) => (IsPending(g) \/ IsConfirmed(g)))

\* Only a child asks or accepts, and only a creator reports a failed creation. (R5)
J18 == \A f \in Forks :
    (
     /\ (
          (
           \/ (
               \/ IsForkRequestFlying(f)
               \/ IsForkRequestUnanswered(f)
               \/ IsForkRequestProcessed(f)
               \/ IsForkRequestAnswering(f)
              )
           \/ (
               \/ IsChildAcceptFlying(f)
               \/ IsChildAcceptUnanswered(f)
               \/ IsChildAcceptProcessed(f)
               \/ IsChildAcceptAnswering(f)
              )
          )
          => IsHasParent(f)
        )
     /\ (
          (
           \/ IsForkRequestFlying(f)
           \/ IsForkRequestUnanswered(f)
           \/ IsForkRequestProcessed(f)
           \/ IsForkRequestAnswering(f)
          )
          => ~IsForOwner(f)
        )
     /\ (
          (
           \/ IsCreateFailedFlying(f)
           \/ IsCreateFailedUnanswered(f)
           \/ IsCreateFailedProcessed(f)
           \/ IsCreateFailedAnswering(f)
          )
          => IsRemote(f)
        )
    )

\* What flies and has had no effect is unanswered; what is answered has had its effect. (R7)
J19 == \A f \in Forks :
    (
     /\ ((IsForkRequestFlying(f) /\ ~IsForkRequestProcessed(f)) => IsForkRequestUnanswered(f))
     /\ ((IsChildAcceptFlying(f) /\ ~IsChildAcceptProcessed(f)) => IsChildAcceptUnanswered(f))
     /\ ((IsUserDeleteFlying(f) /\ ~IsUserDeleteProcessed(f)) => IsUserDeleteUnanswered(f))
     /\ ((IsCreateFailedFlying(f) /\ ~IsCreateFailedProcessed(f)) => IsCreateFailedUnanswered(f))
     /\ (IsForkRequestAnswering(f) => IsForkRequestProcessed(f))
     /\ (IsChildAcceptAnswering(f) => IsChildAcceptProcessed(f))
     /\ (IsUserDeleteAnswering(f) => IsUserDeleteProcessed(f))
     /\ (IsCreateFailedAnswering(f) => IsCreateFailedProcessed(f))
    )

\* A confirmed user is counted. (R31, P8)
J20 == \A f \in Forks :
    (IsConfirmed(f) => IsCounted(f))

\* A deleted user has left nothing; what is counted lives, travels, or is being deleted. (R26, G1)
J21 == \A f \in Forks :
    (
     /\ (
          (
           \/ IsUserDeleteFlying(f)
           \/ IsUserDeleteUnanswered(f)
           \/ IsUserDeleteProcessed(f)
           \/ IsUserDeleteAnswering(f)
          )
          => (
              /\ ~(
                   \/ (IsPending(f) \/ IsConfirmed(f))
                   \/ (IsCall(f) \/ IsResult(f))
                   \/ IsCallFailed(f)
                   \/ IsForkRequestUnanswered(f)
                   \/ IsCreateFailedUnanswered(f)
                  )
              /\ (IsHasParent(f) => IsForkRequestProcessed(f))
             )
        )
     /\ ((IsUserDeleteUnanswered(f) /\ ~IsUserDeleteProcessed(f)) => IsCounted(f))
     /\ (IsUserDeleteProcessed(f) => ~IsCounted(f))
     /\ (
          IsCounted(f)
          => (
              \/ (IsPending(f) \/ IsConfirmed(f))
              \/ (IsCall(f) \/ IsResult(f))
              \/ IsCallFailed(f)
              \/ (IsUserDeleteUnanswered(f) /\ ~IsUserDeleteProcessed(f))
             )
        )
    )

\* A fetch is in one place: on its way, parked until there is a value, or on its way back. (R20, P11)
J22 == \A f \in Forks :
    (
     /\ (
         /\ ~(IsFetchCall(f) /\ IsFetchParked(f))
         /\ ~(IsFetchCall(f) /\ IsFetchReturn(f))
         /\ ~(IsFetchCall(f) /\ IsFetchFailed(f))
         /\ ~(IsFetchParked(f) /\ IsFetchReturn(f))
         /\ ~(IsFetchParked(f) /\ IsFetchFailed(f))
         /\ ~(IsFetchReturn(f) /\ IsFetchFailed(f))
        )
     /\ (
         /\ (
              (IsAsking(f) \/ IsGivenUp(f))
              => (IsFetchCall(f) \/ IsFetchParked(f) \/ IsFetchReturn(f) \/ IsFetchFailed(f))
            )
         /\ (
              (IsFetchCall(f) \/ IsFetchParked(f) \/ IsFetchReturn(f) \/ IsFetchFailed(f))
              => (IsAsking(f) \/ IsGivenUp(f))
            )
        )
     /\ (IsFetchParked(f) => ~IsReady(RRefOf(f)))
     /\ (IsFetchReturn(f) => IsReady(RRefOf(f)))
    )

\* Once an entry is gone, none of its forks lives, travels or is counted. (R33, P1)
J23 == \A f \in Forks :
    (
      IsGone(RRefOf(f))
      => ~(
           \/ (IsPending(f) \/ IsConfirmed(f))
           \/ (IsCall(f) \/ IsResult(f))
           \/ IsCallFailed(f)
           \/ IsCounted(f)
          )
    )

\* No entry was dropped under a waiter, and none was made twice. (R21, P2)
J24 == \A r \in RRefs :
    ~(IsOrphaned(r) \/ IsDuplicated(r))

\* A fork that a user made has a parent. (R2)
J25 == \A f \in Forks :
    (IsHasParent(f) => (\E fork \in Forks : IsParent(f, fork)))

IndInv ==
    /\ J1
    /\ J2
    /\ J3
    /\ J4
    /\ J5
    /\ J6
    /\ J7
    /\ J8
    /\ J9
    /\ J10
    /\ J11
    /\ J12
    /\ J13
    /\ J14
    /\ J15
    /\ J16
    /\ J17
    /\ J18
    /\ J19
    /\ J20
    /\ J21
    /\ J22
    /\ J23
    /\ J24
    /\ J25
=============================================================================
