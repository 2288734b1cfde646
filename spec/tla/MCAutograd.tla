----------------------------- MODULE MCAutograd -----------------------------
(***************************************************************************)
(* Autograd.tla made finite, for TLC.  One .cfg file states one claim;     *)
(* those that are expected to fail say so in their name.  The .cfg files   *)
(* and AutogradGraphs.tla are made by farref/tlc/autograd.py.              *)
(*                                                                         *)
(* Run one by hand from this folder with                                   *)
(*   java -cp tla2tools.jar tlc2.TLC -deadlock -config D1Sound.cfg MCAutograd *)
(***************************************************************************)
EXTENDS AutogradProperties, AutogradGraphs, TLC

Context == {"absent", "open", "closed", "gone"}
Phase == {"idle", "running", "marking", "resumed", "committing", "succeeded", "failed"}

TypeOK ==
    /\ world.graph \in {0} \cup DOMAIN Graphs
    /\ \A w \in Workers : LET worker == world.workers[w] IN
           /\ DOMAIN worker = DOMAIN Stranger /\ DOMAIN worker.task = DOMAIN NoTask
           /\ worker.context \in Context
           /\ worker.sends \cup worker.recvs \cup worker.sent \cup worker.got \cup worker.failed \subseteq Pairs
    /\ \A k \in Passes : /\ DOMAIN world.passes[k] = DOMAIN NoPass
                         /\ world.passes[k].phase \in Phase
                         /\ world.passes[k].engaged \subseteq Workers
    /\ world.detached \subseteq Pairs
    /\ world.excluded \in [Workers -> 0 .. Exclusions] /\ world.apart \subseteq SUBSET Workers
    /\ \A parcel \in world.net.carried : DOMAIN parcel.content = DOMAIN Nothing
    /\ world.net.lost \subseteq {parcel.message : parcel \in world.net.carried}
    /\ \A what \in DOMAIN world.budget : world.budget[what] \in Nat

-----------------------------------------------------------------------------
(* Survey never fails.  It prints the name of each broken property once.   *)

Surveyed == <<"S1", "S2", "S3", "S8", "S4", "S5", "S10", "L1", "L3", "S9", "S11", "L6", "L4", "T1">>
ASSUME \A i \in DOMAIN Surveyed : TLCSet(i, FALSE)

Note(i, holds) == holds \/ TLCGet(i) \/ (TLCSet(i, TRUE) /\ PrintT(<<"broken", Surveyed[i]>>))

Survey ==
    /\ Note(1, S1) /\ Note(2, S2) /\ Note(3, S3) /\ Note(4, S8) /\ Note(5, S4) /\ Note(6, S5) /\ Note(7, S10)
    /\ Note(8, L1) /\ Note(9, L3) /\ Note(10, S9) /\ Note(11, S11) /\ Note(12, L6) /\ Note(13, L4)
    /\ Note(14, Smart \/ Forward \/ T1)
=============================================================================
