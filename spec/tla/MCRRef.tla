------------------------------- MODULE MCRRef -------------------------------
(***************************************************************************)
(* RRef.tla made finite, for TLC.  One .cfg file states one claim; those   *)
(* that are expected to fail say so in their name.  Sound.cfg has every    *)
(* property and every fault, Live.cfg what happens in the end, and         *)
(* Inductive.cfg (with MCRRefInvariant) the invariant of the proof.  The   *)
(* .cfg files are made by farref/tlc/engine.py.                            *)
(*                                                                         *)
(* Run one by hand from this folder with                                   *)
(*   java -cp tla2tools.jar tlc2.TLC -deadlock -config Sound.cfg MCRRef    *)
(* -deadlock, because runs end: what must hold then is P3, P4, P5 and P7.  *)
(***************************************************************************)
EXTENDS RRefProperties, RRefRefinement, TLC

CONSTANTS WorkerCount, B, A, C, D, E, F, G, H

\* As in PyTorch's note, B is an owner, A a creator and C a third worker.
Names == <<B, A, C, D, E, F, G, H>>
MCWorkers == {Names[i] : i \in 1 .. WorkerCount}
MCOwner == [r \in RRefs |-> Names[(r % WorkerCount) + 1]]    \* one each, in turn

\* The workers that own nothing differ in name only.  For safety and for what is
\* left at the end: a cycle in the reduced graph need not be one.
OthersAlike == Permutations(MCWorkers \ {MCOwner[r] : r \in RRefs})

-----------------------------------------------------------------------------

ForkMessages == (Control \cup Carriers \cup Told) \X Forks

OwnerTypeOK(e) ==
    /\ DOMAIN e = DOMAIN NoEntry
    /\ e.phase \in {"absent", "expected", "created", "ready", "gone"}
    /\ e.forks \subseteq Forks /\ e.fetches \subseteq Forks
    /\ {e.running, e.held, e.waiting, e.registering, e.duplicated} \subseteq BOOLEAN

UserTypeOK(u) ==
    /\ DOMAIN u = DOMAIN NoUser
    /\ u.phase \in {"absent", "pending", "confirmed", "untold"}
    /\ u.handle \in {"none", "parked", "held", "timedOut"}
    /\ u.fetch \in {"none", "waiting", "abandoned"}
    /\ u.children \subseteq Forks
    /\ u.owesAccept \in BOOLEAN

\* Every variable has the shape it should have, and forks are minted in order.
TypeOK ==
    /\ DOMAIN owner = RRefs /\ \A r \in RRefs : OwnerTypeOK(owner[r])
    /\ DOMAIN user = Forks /\ \A f \in Forks : UserTypeOK(user[f])
    /\ holder \in [Forks -> Workers \cup {Nobody}]
    /\ parent \in [Forks -> Forks \cup {NoFork}]
    /\ \A r \in RRefs : MintedOf(r) = CreatorFork(r) .. NextFork(r) - 1
    /\ DOMAIN net = {"flying", "unanswered", "processed"}
    /\ \A m \in net.flying : m \in ForkMessages \/ (m[1] = "Ack" /\ m[2] \in ControlMessages)
    /\ net.unanswered \subseteq ControlMessages
    /\ net.processed \subseteq ControlMessages
    /\ \A what \in DOMAIN budget : budget[what] \in Nat
    /\ closing \in BOOLEAN
    /\ repeated \in BOOLEAN
    /\ app.holds \subseteq RRefs /\ app.waits \subseteq RRefs /\ app.orphaned \subseteq RRefs
    /\ app.has \in [Forks -> {"none", "parked", "held", "timedOut"}]
    /\ app.asks \subseteq Forks

-----------------------------------------------------------------------------
(* Survey never fails.  It prints the name of each broken property once,   *)
(* so that one run over all states tells the verdict on every property.    *)

Surveyed == <<"P1", "P2", "P3", "P4", "P5", "P6", "P7", "P8", "P9", "P10", "G1", "G2", "G3", "P11", "P12">>
ASSUME \A i \in DOMAIN Surveyed : TLCSet(i, FALSE)

Note(i, holds) == holds \/ TLCGet(i) \/ (TLCSet(i, TRUE) /\ PrintT(<<"broken", Surveyed[i]>>))

Survey ==
    /\ Note(1, P1) /\ Note(2, P2) /\ Note(3, P3) /\ Note(4, P4) /\ Note(5, P5) /\ Note(6, P6)
    /\ Note(7, P7) /\ Note(8, P8) /\ Note(9, P9) /\ Note(10, P10) /\ Note(11, G1) /\ Note(12, G2)
    /\ Note(13, G3) /\ Note(14, P11) /\ Note(15, P12)
=============================================================================
