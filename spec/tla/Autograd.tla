------------------------------ MODULE Autograd ------------------------------
(***************************************************************************)
(* Distributed autograd: a backward pass that crosses workers.             *)
(*                                                                         *)
(* A forward pass has recorded pairs: tensors went from a source to a      *)
(* target, and a gradient will come back.  What happens inside a worker is *)
(* reduced to flows from entries (its root, its sends) to exits (its recvs *)
(* and its leaf), with the derivative as weight.                           *)
(*                                                                         *)
(* A pass begins at a root.  A worker that gets a gradient engages, waits  *)
(* for all its sends, and sends on whatever is complete.  The difficulty   *)
(* is that it cannot know which of its sends will ever get one.  The       *)
(* protocol answers with three ideas:                                      *)
(*                                                                         *)
(*   - The root keeps a ledger of what was caused and what was processed.  *)
(*     When both agree, nothing is under way (A14).  Then all is there, or *)
(*     FAST fails, or SMART marks what can still come and gives up the     *)
(*     rest (A15, A16).                                                    *)
(*   - Gradients are kept aside until the root has decided (A17).  A pass  *)
(*     that fails is told to all who have reported and to all who report   *)
(*     later (A18, A19); messages name their pass (A12).                   *)
(*   - A released context is forgotten when no call of it is under way any *)
(*     more, which is again a matter of balancing accounts (A25).          *)
(*                                                                         *)
(* Workers die, and each of the others is told by a step of its own (A21). *)
(* Or a view excludes a worker, which may live and goes on taking steps;   *)
(* to whoever has installed the view it is dead, and at some time it       *)
(* learns of it itself (A29).  What is on a broken link waits until the    *)
(* link is mended.                                                         *)
(*                                                                         *)
(* Every disputed point is a BOOLEAN constant.  Numbers like A14 are       *)
(* clauses of spec/autograd.md.  The same protocol is written in Python in *)
(* model/autograd/; the two have the same reachable states, and the tests  *)
(* compare them (tests/spec/test_autograd_tla.py).                         *)
(*                                                                         *)
(* The state is one record, so that a step is a function from states to    *)
(* states; what must hold is in AutogradProperties.tla.                    *)
(***************************************************************************)
EXTENDS Integers, FiniteSets

CONSTANTS
    Graphs,       \* a sequence of graphs: pairs, flows and roots
    WorkerCount,  \* workers are numbered from 0; 0 opens the context
    PairCount,    \* pairs are numbered from 0
    PassCount     \* passes are numbered from 1

CONSTANTS         \* What may happen.
    Drops,        \* control messages the network may lose
    Duplicates,   \* control messages it may deliver once more
    Timeouts,     \* passes the application may give up
    Failures,     \* backward rules that raise, and calls that fail
    Detached,     \* calls made with recording switched off
    Crashes,      \* workers that die
    Cuts,         \* links that break while both ends live
    Exclusions,   \* workers that are excluded, and go on
    Smart,        \* BOOLEAN: SMART, not FAST
    Forward,      \* BOOLEAN: calls are steps too
    Release       \* BOOLEAN: the context is released at some time

CONSTANTS                   \* The rules (model/autograd/rules.py), all BOOLEAN.
    SenderDecidesPairing,   \* A7: the sender decides whether both ends are recorded
    OnePassAtATime,         \* A10: a worker refuses a pass of another root
    PassesHaveIdentity,     \* A12: what belongs to a pass carries its id
    NewerPassSupersedes,    \* A12: a newer pass takes the place of an older one
    TakesEffectOnce,        \* A3: a copy of a control message has no effect
    RetriesUntilAnswered,   \* A3: a lost control message is sent again
    NoticesStandstill,      \* A14: the root knows when nothing is under way
    MarksBeforePruning,     \* A16: nothing is given up before all is marked
    StagesUntilCommit,      \* A17: gradients are kept aside until the decision
    ReturnsAfterCommit,     \* A17: backward returns when all have committed
    DecisionIsFinal,        \* A20: a timeout after the decision changes nothing
    AbortsEverywhere,       \* A18: a pass that failed is ended everywhere
    AnswersLatecomers,      \* A19: who reports on a pass that is over is told
    ReleaseEndsPasses,      \* A24: who closes its context leaves its pass
    ForgetsWhenDrained,     \* A25: an id is forgotten when nothing is under way
    SendsAgainAfterABreak,  \* A3: a call that a broken link held up is sent again
    TakesCallsOnce,         \* A3: a call that was taken is not taken again
    OnlyViewsDeclareDead,   \* A29: a broken link is no death
    RefusesTheExcluded,     \* A29: nothing is taken from those excluded
    KeepsTheIdUntilUnheard, \* A29: an id is kept until the excluded are unheard
    RaisesWhenExcluded      \* A29: an excluded root counts nobody as committed

VARIABLE world

Workers == 0 .. WorkerCount - 1
Pairs == 0 .. PairCount - 1
Passes == 1 .. PassCount
Creator == 0
None == -1                  \* no worker, no gradient: gradients are positive
Mourning == Crashes + Cuts + Exclusions > 0   \* whether somebody may be taken for dead

Seed(k) == 1000 ^ (k - 1)   \* another gradient for the root of each pass

-----------------------------------------------------------------------------
(* Graphs                                                                  *)

G(s) == Graphs[s.graph]
Source(s, pair) == G(s).pairs[pair].source
Target(s, pair) == G(s).pairs[pair].target
Into(g, exit) == {flow \in g.flows : flow.exit = exit}

\* Where gradients can leave a worker: recorded recvs, and its leaf.
Exits(g, worker, who) ==
    {exit \in {flow.exit : flow \in g.flows} :
        IF exit[1] = "leaf" THEN exit[2] = who
        ELSE g.pairs[exit[2]].target = who /\ exit[2] \in worker.recvs}

RECURSIVE Sum(_)            \* of the values of a function
Sum(f) == IF DOMAIN f = {} THEN 0
          ELSE LET x == CHOOSE x \in DOMAIN f : TRUE
               IN f[x] + Sum([y \in DOMAIN f \ {x} |-> f[y]])

Min(set) == CHOOSE x \in set : \A y \in set : x <= y

-----------------------------------------------------------------------------
(* Records                                                                 *)

NoTask == [number |-> 0, seed |-> 0, expected |-> {}, arrivals |-> [p \in Pairs |-> 0],
           totals |-> [p \in Pairs |-> 0], marked |-> {}, staged |-> None]

Stranger == [context |-> "absent", sends |-> {}, recvs |-> {}, sent |-> {}, got |-> {}, failed |-> {},
             gradient |-> None, task |-> NoTask, newest |-> [w \in Workers |-> 0], mourned |-> {},
             unheard |-> {}, resurrected |-> FALSE]

NoPass == [root |-> None, phase |-> "idle", fault |-> "none", blamed |-> None, caused |-> {},
           processed |-> {}, expected |-> {}, engaged |-> {}, committed |-> {}]

NoRelease == [asked |-> {}, closed |-> {}, sent |-> {}, settled |-> {}]

\* What messages carry, all in one shape: a gradient, a report, an account of calls, the dead.
Nothing == [value |-> 0, caused |-> {}, expected |-> {}, fault |-> "none", blamed |-> None,
            sent |-> {}, settled |-> {}, dead |-> {}]
\* A death that a worker tells of when it has no context is the creator's (A21).
Fault(fault) == [Nothing EXCEPT !.fault = fault, !.blamed = IF fault = "died" THEN Creator ELSE None]
Parcel(message) == [message |-> message, content |-> Nothing]

InAPass(worker) == worker.task.number # 0
Active(pass) == pass.phase \in {"running", "marking", "resumed"}
Leave(worker) == [worker EXCEPT !.task = NoTask]

PutWorker(s, who, worker) == [s EXCEPT !.workers[who] = worker]

-----------------------------------------------------------------------------
(* Messages: by whom, and to whom (A4 to A6)                               *)

\* The worker that a counted message goes to.
Receiver(s, message) ==
    IF message[1] \in {"PropagateGradients", "Mark"} THEN Source(s, message[3]) ELSE message[3]

From(s, m) ==
    CASE m[1] = "ForwardCall" -> Source(s, m[2])
      [] m[1] \in {"PropagateGradients", "Mark"} -> Target(s, m[3])
      [] m[1] \in {"Seek", "Resume", "Commit", "Abort"} -> s.passes[m[2]].root
      [] m[1] = "Committed" -> m[3]
      [] m[1] = "Report" -> Receiver(s, m[2])
      [] m[1] \in {"CleanupContext", "Forget"} -> Creator
      [] m[1] = "Closed" -> m[2]
      [] m[1] = "Settled" -> IF m[3] THEN Source(s, m[2]) ELSE Target(s, m[2])  \* m[3]: the call failed

To(s, m) ==
    CASE m[1] = "ForwardCall" -> Target(s, m[2])
      [] m[1] \in {"PropagateGradients", "Mark", "Seek", "Resume"} -> Receiver(s, m)
      [] m[1] \in {"Commit", "Abort"} -> m[3]
      [] m[1] = "Committed" -> s.passes[m[2]].root
      [] m[1] = "Report" -> s.passes[m[2][2]].root
      [] m[1] \in {"CleanupContext", "Forget"} -> m[2]
      [] m[1] \in {"Closed", "Settled"} -> Creator

\* What is sent to the dead, or to somebody the sender takes for dead, goes nowhere (A21).
Arrives(s, message) ==
    ~Mourning \/ (To(s, message) \notin s.dead /\ To(s, message) \notin s.workers[From(s, message)].mourned)

Send(s, all) ==
    LET parcels == {parcel \in all : Arrives(s, parcel.message)}
    IN  [s EXCEPT !.net.carried = {x \in @ : x.message \notin {one.message : one \in parcels}} \cup parcels]
Spend(s, what) == [s EXCEPT !.budget[what] = @ - 1]

-----------------------------------------------------------------------------
(* A worker's part in a pass                                               *)

Due(task, entry) == IF entry[1] = "root" THEN task.seed # 0 ELSE entry[2] \in task.expected
Arrivals(task, entry) == IF entry[1] = "root" THEN (IF task.seed # 0 THEN 1 ELSE 0) ELSE task.arrivals[entry[2]]
Total(task, entry) == IF entry[1] = "root" THEN task.seed ELSE task.totals[entry[2]]

Come(g, task, exit) == Sum([flow \in Into(g, exit) |-> Arrivals(task, flow.entry)])

\* Everything that leads into an exit has come (A13).
Ready(g, task, exit) ==
    /\ Come(g, task, exit) > 0
    /\ Come(g, task, exit) = Cardinality({flow \in Into(g, exit) : Due(task, flow.entry)})

Engage(worker, number, root) ==
    [worker EXCEPT !.task = [NoTask EXCEPT !.number = number, !.expected = worker.sends],
                   !.newest[root] = number]

\* Why a worker has no context: it was released, or its creator died (A21).
Absence(worker) == IF Creator \in worker.mourned THEN "died" ELSE "released"

\* Let a worker take part in a pass, or say why not, or that the pass is over (A10 to A12).
Admit(worker, number, root) ==
    LET as(one, fault, over) == [worker |-> one, fault |-> fault, over |-> over]
        sameRoot == worker.task.number = worker.newest[root]
        refuses == IF sameRoot THEN ~NewerPassSupersedes ELSE OnePassAtATime
    IN  IF worker.context # "open" THEN as(worker, Absence(worker), FALSE)
        ELSE IF ~PassesHaveIdentity
             THEN as(IF InAPass(worker) THEN worker ELSE Engage(worker, number, root), "none", FALSE)
        ELSE IF worker.task.number = number THEN as(worker, "none", FALSE)
        ELSE IF number <= worker.newest[root] \/ root \in worker.mourned THEN as(worker, "none", TRUE)
        ELSE IF InAPass(worker) /\ refuses THEN as(worker, "busy", FALSE)
        ELSE as(Engage(worker, number, root), "none", FALSE)

IsAbout(task, number) == task.number = number \/ ~PassesHaveIdentity

\* What a handler gives: the worker, the parcels it sends, whether it reports, and what.
Silent(worker) == [worker |-> worker, parcels |-> {}, reports |-> FALSE, told |-> Nothing]
Refusal(worker, fault) == [Silent(worker) EXCEPT !.reports = TRUE, !.told = Fault(fault)]
Outcome(worker, parcels) ==
    [worker |-> worker, parcels |-> parcels, reports |-> TRUE,
     told |-> [Nothing EXCEPT !.caused = {one.message : one \in parcels}, !.expected = worker.task.expected]]

Accumulated(worker, value) ==
    IF value = None THEN worker
    ELSE [worker EXCEPT !.gradient = (IF @ = None THEN 0 ELSE @) + value]

\* Without staging a gradient is seen at once, and a worker leaves when nothing is missing.
FinishEarly(worker) ==
    LET shown == [Accumulated(worker, worker.task.staged) EXCEPT !.task.staged = None]
    IN  IF Sum(worker.task.arrivals) < Cardinality(worker.task.expected) THEN shown ELSE Leave(shown)

\* Send on, or keep aside, what has become complete since the task was `was` (A13).
Advance(g, was, worker, who, number) ==
    LET fire == {exit \in Exits(g, worker, who) : Ready(g, worker.task, exit) /\ ~Ready(g, was, exit)}
        value(exit) == Sum([flow \in Into(g, exit) |-> flow.weight * Total(worker.task, flow.entry)])
        parcels == {[message |-> <<"PropagateGradients", number, exit[2]>>,
                     content |-> [Nothing EXCEPT !.value = value(exit)]] : exit \in {x \in fire : x[1] = "recv"}}
        staged == IF <<"leaf", who>> \in fire
                  THEN [worker EXCEPT !.task.staged = value(<<"leaf", who>>)] ELSE worker
        done == Outcome(staged, parcels)
    IN  [done EXCEPT !.worker = IF StagesUntilCommit THEN @ ELSE FinishEarly(@)]

OnGradients(g, worker, who, number, pair, value, root) ==
    LET admitted == Admit(worker, number, root)
        one == admitted.worker
        arrived == [one EXCEPT !.task.arrivals[pair] = @ + 1, !.task.totals[pair] = @ + value]
    IN  IF admitted.over THEN Silent(one)
        ELSE IF admitted.fault # "none" THEN Refusal(one, admitted.fault)
        ELSE IF pair \notin one.sends THEN Refusal(one, "unpaired")
        ELSE Advance(g, one.task, arrived, who, number)

OnGradientsRaising(worker, number, root) ==
    LET admitted == Admit(worker, number, root)
    IN  IF admitted.over THEN Silent(admitted.worker)
        ELSE IF admitted.fault # "none" THEN Refusal(admitted.worker, admitted.fault)
        ELSE Refusal(Leave(admitted.worker), "raised")

Marks(worker, number, exits) ==
    Outcome(worker, {Parcel(<<"Mark", number, exit[2]>>) : exit \in {x \in exits : x[1] = "recv"}})

Absent(worker) == IF worker.context = "open" THEN Silent(worker) ELSE Refusal(worker, Absence(worker))

\* Mark what depends on gradients that are being added up (A16).
OnSeek(g, worker, who, number) ==
    IF ~IsAbout(worker.task, number) THEN Absent(worker)
    ELSE Marks(worker, number, {exit \in Exits(g, worker, who) :
                                   Come(g, worker.task, exit) > 0 /\ ~Ready(g, worker.task, exit)})

\* A gradient will come for this send: mark it, and what depends on it (A16).
OnMark(g, worker, who, number, pair, root) ==
    LET admitted == Admit(worker, number, root)
        one == admitted.worker
        new == {exit \in Exits(g, one, who) :
                   /\ \E flow \in Into(g, exit) : flow.entry = <<"send", pair>>
                   /\ Come(g, one.task, exit) = 0
                   /\ ~\E flow \in Into(g, exit) : flow.entry[1] = "send" /\ flow.entry[2] \in one.task.marked}
    IN  IF admitted.over THEN Silent(one)
        ELSE IF admitted.fault # "none" THEN Refusal(one, admitted.fault)
        ELSE Marks([one EXCEPT !.task.marked = @ \cup {pair}], number, new)

\* Give up the sends that have neither a gradient nor a mark (A16).
OnResume(g, worker, who, number) ==
    LET kept == {pair \in worker.task.expected : worker.task.arrivals[pair] > 0 \/ pair \in worker.task.marked}
    IN  IF ~IsAbout(worker.task, number) THEN Absent(worker)
        ELSE Advance(g, worker.task, [worker EXCEPT !.task.expected = kept], who, number)

\* A step that would send something to the dead sends nothing: the worker leaves, and tells the root (A21).
UnlessLost(s, done) ==
    LET dead == {Source(s, parcel.message[3]) : parcel \in done.parcels} \cap done.worker.mourned
    IN  IF dead = {} THEN done
        ELSE [Silent(Leave(done.worker)) EXCEPT
                 !.reports = TRUE, !.told = [Nothing EXCEPT !.fault = "died", !.blamed = Min(dead)]]

Committed(worker, number) ==
    IF IsAbout(worker.task, number) THEN Leave(Accumulated(worker, worker.task.staged)) ELSE worker
Aborted(worker, number) == IF IsAbout(worker.task, number) THEN Leave(worker) ELSE worker

-----------------------------------------------------------------------------
(* The root                                                                *)

Others(pass) == pass.engaged \ {pass.root}

\* Enter a report into the ledger (A14).
Enter(pass, who, processed, told) ==
    [pass EXCEPT !.processed = @ \cup processed, !.caused = @ \cup told.caused,
                 !.expected = @ \cup told.expected, !.engaged = @ \cup {who}]

AtStandstill(pass) == pass.caused = pass.processed
Missing(pass, number) ==
    {pair \in pass.expected :
        LET gradient == <<"PropagateGradients", number, pair>>
        IN  gradient \notin pass.caused \/ gradient \notin pass.processed}

FailPass(s, number, fault, blamed) ==
    LET pass == s.passes[number]
        failed == [s EXCEPT !.passes[number] = [@ EXCEPT !.phase = "failed", !.fault = fault, !.blamed = blamed],
                            !.workers[pass.root] = Aborted(@, number)]
    IN  IF AbortsEverywhere THEN Send(failed, {Parcel(<<"Abort", number, w>>) : w \in Others(pass)}) ELSE failed

ReturnedIfDone(pass) ==
    IF Others(pass) \cup {pass.root} \subseteq pass.committed \/ ~ReturnsAfterCommit
    THEN [pass EXCEPT !.phase = "succeeded"] ELSE pass

CommitPass(s, number) ==
    LET pass == s.passes[number]
        decided == [pass EXCEPT !.phase = "committing", !.committed = @ \cup {pass.root}]
        shown == [s EXCEPT !.workers[pass.root] = Committed(@, number)]
    IN  IF ~StagesUntilCommit THEN [shown EXCEPT !.passes[number] = [decided EXCEPT !.phase = "succeeded"]]
        ELSE Send([shown EXCEPT !.passes[number] = ReturnedIfDone(decided)],
                  {Parcel(<<"Commit", number, w>>) : w \in Others(pass)})

\* Those that the root knows to be dead, and that take part or were sent something (A21).
DeadIn(s, number) ==
    LET pass == s.passes[number]
        awaited == {m \in pass.caused \ pass.processed : m[1] \in {"PropagateGradients", "Mark"}}
    IN  s.workers[pass.root].mourned \cap (pass.engaged \cup {Source(s, m[3]) : m \in awaited})

\* Go on with a pass that has come to a standstill (A14 to A17).
RECURSIVE Decide(_, _)
Decide(s, number) ==
    LET pass == s.passes[number]
        missing == Missing(pass, number)
        root == pass.root
        ask(kind, phase) ==
            LET questions == {<<kind, number, w>> : w \in Others(pass)}
                asked == Enter([pass EXCEPT !.phase = phase], root, {}, [Nothing EXCEPT !.caused = questions])
                own == IF kind = "Seek" THEN OnSeek(G(s), s.workers[root], root, number)
                       ELSE OnResume(G(s), s.workers[root], root, number)
                entered == IF own.reports THEN Enter(asked, root, {}, own.told) ELSE asked
                told == [s EXCEPT !.passes[number] = entered, !.workers[root] = own.worker]
            IN  Decide(Send(told, {Parcel(question) : question \in questions} \cup own.parcels), number)
    IN  IF ~Active(pass) THEN s
        ELSE IF DeadIn(s, number) # {} THEN FailPass(s, number, "died", Min(DeadIn(s, number)))
        ELSE IF ~AtStandstill(pass) THEN s
        ELSE IF pass.phase = "resumed" \/ missing = {} THEN CommitPass(s, number)
        ELSE IF ~NoticesStandstill THEN s
        ELSE IF ~Smart THEN FailPass(s, number, "unreached", Source(s, Min(missing)))
        ELSE IF pass.phase = "running" /\ MarksBeforePruning THEN ask("Seek", "marking")
        ELSE ask("Resume", "resumed")

OnReport(s, of, who, told) ==
    LET number == of[2]
        pass == s.passes[number]
        late == /\ AnswersLatecomers /\ told.fault \in {"none", "unpaired"}
                /\ who \notin pass.engaged /\ who # pass.root
        known == IF told.fault = "unpaired" THEN [s EXCEPT !.passes[number].engaged = @ \cup {who}] ELSE s
    IN  IF ~Active(pass) THEN
            IF late THEN Send([s EXCEPT !.passes[number].engaged = @ \cup {who}], {Parcel(<<"Abort", number, who>>)})
            ELSE s
        ELSE IF told.fault # "none" THEN FailPass(known, number, told.fault, IF told.blamed = None THEN who ELSE told.blamed)
        ELSE Decide([s EXCEPT !.passes[number] = Enter(pass, who, {of}, told)], number)

OnCounted(s, message, content, raises) ==
    LET kind == message[1]
        number == message[2]
        who == Receiver(s, message)
        worker == s.workers[who]
        root == s.passes[number].root
        made == CASE kind = "PropagateGradients" /\ raises -> OnGradientsRaising(worker, number, root)
                  [] kind = "PropagateGradients" /\ ~raises ->
                         OnGradients(G(s), worker, who, number, message[3], content.value, root)
                  [] kind = "Mark" -> OnMark(G(s), worker, who, number, message[3], root)
                  [] kind = "Seek" -> OnSeek(G(s), worker, who, number)
                  [] kind = "Resume" -> OnResume(G(s), worker, who, number)
        done == IF who = root THEN made ELSE UnlessLost(s, made)
        after == Send(PutWorker(s, who, done.worker), done.parcels)
    IN  IF ~done.reports THEN after
        ELSE IF who = root THEN OnReport(after, message, who, done.told)
        ELSE Send(after, {[message |-> <<"Report", message>>, content |-> done.told]})

OnCommit(s, number, who) ==
    Send(PutWorker(s, who, Committed(s.workers[who], number)), {Parcel(<<"Committed", number, who>>)})
OnCommitted(s, number, who) ==
    IF s.passes[number].phase # "committing" THEN s
    ELSE [s EXCEPT !.passes[number] = ReturnedIfDone([@ EXCEPT !.committed = @ \cup {who}])]
OnAbort(s, number, who) == PutWorker(s, who, Aborted(s.workers[who], number))

-----------------------------------------------------------------------------
(* Contexts                                                                *)

OnForwardCall(worker, pair, attached) ==
    [worker EXCEPT !.context = "open",
                   !.recvs = IF attached \/ ~SenderDecidesPairing THEN @ \cup {pair} ELSE @,
                   !.got = @ \cup {pair},
                   !.resurrected = @ \/ worker.context = "gone"]

Closed(worker) ==
    [Stranger EXCEPT !.context = "closed", !.sent = worker.sent, !.got = worker.got, !.failed = worker.failed,
                     !.mourned = worker.mourned,
                     !.task = IF ReleaseEndsPasses THEN NoTask ELSE worker.task]
Forgotten(worker) ==
    [Stranger EXCEPT !.context = "gone", !.resurrected = worker.resurrected, !.mourned = worker.mourned,
                     !.task = IF ReleaseEndsPasses THEN NoTask ELSE worker.task]

\* Nobody can send a call any more, and none is under way (A25).  The dead send nothing, and get nothing (A21).
Drained(s) ==
    LET dead == s.workers[Creator].mourned
        living == {pair \in s.release.sent : Source(s, pair) \notin dead /\ Target(s, pair) \notin dead}
    IN  s.release.asked \subseteq s.release.closed \cup dead /\ living \subseteq s.release.settled

\* Have those close that are known to have the context.  Whoever only knew it from somebody dead would never be
\* named, so after a death everyone is asked (A21).  Once nothing is under way, all forget it, and learn of the dead.
GoOn(s, known) ==
    LET dead == s.workers[Creator].mourned
        all == IF dead = {} THEN known ELSE known \cup (Workers \ dead)
        new == all \ (s.release.asked \cup {Creator})
        asked == Send([s EXCEPT !.release.asked = @ \cup new], {Parcel(<<"CleanupContext", w>>) : w \in new})
        farewell(w) == [message |-> <<"Forget", w>>, content |-> [Nothing EXCEPT !.dead = dead]]
    IN  IF s.workers[Creator].context # "closed" THEN s
        ELSE IF ~Drained(asked) THEN asked
        ELSE Send(PutWorker(asked, Creator, Forgotten(s.workers[Creator])), {farewell(w) : w \in asked.release.asked})

\* A creator that has forgotten the context takes note of nothing any more.
OnClosed(s, who, sent, settled) ==
    IF s.workers[Creator].context # "closed" THEN s
    ELSE GoOn([s EXCEPT !.release = [@ EXCEPT !.closed = @ \cup {who}, !.sent = @ \cup sent,
                                              !.settled = @ \cup settled]],
              {Target(s, pair) : pair \in sent})

OnSettled(s, pair) ==
    IF s.workers[Creator].context # "closed" THEN s ELSE GoOn([s EXCEPT !.release.settled = @ \cup {pair}], {})
TellSettled(s, who, pair, failed) ==
    IF who = Creator THEN OnSettled(s, pair) ELSE Send(s, {Parcel(<<"Settled", pair, failed>>)})

RECURSIVE EndOwnPasses(_, _, _)
EndOwnPasses(s, who, number) ==
    IF number > PassCount THEN s
    ELSE EndOwnPasses(IF s.passes[number].root = who /\ Active(s.passes[number])
                      THEN FailPass(s, number, "released", who) ELSE s, who, number + 1)

\* Close the context on one worker, and tell the creator (A24).
Close(before, who) ==
    LET s == IF ReleaseEndsPasses THEN EndOwnPasses(before, who, 1) ELSE before
        worker == s.workers[who]
        settled == worker.got \cup worker.failed
        closed == PutWorker(s, who, Closed(worker))
    IN  IF ~ForgetsWhenDrained THEN
            Send(PutWorker(s, who, Forgotten(worker)),
                 {Parcel(<<"CleanupContext", Target(s, pair)>>) : pair \in worker.sent})
        ELSE IF who = Creator THEN OnClosed(closed, who, worker.sent, settled)
        ELSE Send(closed, {[message |-> <<"Closed", who>>,
                            content |-> [Nothing EXCEPT !.sent = worker.sent, !.settled = settled]]})

OnCleanup(s, who) ==
    IF ~ForgetsWhenDrained /\ s.workers[who].context # "open" THEN s ELSE Close(s, who)
OnCall(s, pair, attached) ==
    LET who == Target(s, pair)
    IN  IF s.workers[who].context = "closed" THEN TellSettled(s, who, pair, FALSE)
        ELSE IF Creator \in s.workers[who].mourned THEN s  \* nobody is left who would release it (A21)
        ELSE PutWorker(s, who, OnForwardCall(s.workers[who], pair, attached))

-----------------------------------------------------------------------------
(* Deaths (A21)                                                            *)

RECURSIVE OwnPassesGoOn(_, _, _, _)   \* what a death means to the passes of a root
OwnPassesGoOn(s, who, dead, number) ==
    IF number > PassCount THEN s
    ELSE OwnPassesGoOn(IF s.passes[number].root # who THEN s
                       ELSE IF s.passes[number].phase = "committing" THEN OnCommitted(s, number, dead)
                       ELSE Decide(s, number), who, dead, number + 1)

RECURSIVE OwnPassesDie(_, _, _, _)    \* nobody is left to release the context
OwnPassesDie(s, who, dead, number) ==
    IF number > PassCount THEN s
    ELSE OwnPassesDie(IF s.passes[number].root = who /\ Active(s.passes[number])
                      THEN FailPass(s, number, "died", dead) ELSE s, who, dead, number + 1)

\* A worker that was told to forget need not wait any more (A29).
HasHeardTheLast(worker) == worker.unheard # {} /\ worker.unheard \subseteq worker.mourned

\* A worker takes another one for dead, and does all that this means.
Mourn(before, who, dead) ==
    LET noted == [before EXCEPT !.workers[who].mourned = @ \cup {dead}]
        s == OwnPassesGoOn(noted, who, dead, 1)
        number == s.workers[who].task.number
        left == IF number # 0 /\ s.passes[number].root = dead THEN PutWorker(s, who, Leave(s.workers[who])) ELSE s
        ended == OwnPassesDie(left, who, dead, 1)
    IN  IF dead = Creator /\ left.workers[who].context \in {"open", "closed"}
        THEN PutWorker(ended, who, Forgotten(ended.workers[who]))
        ELSE IF HasHeardTheLast(left.workers[who]) THEN PutWorker(left, who, Forgotten(left.workers[who]))
        ELSE IF who = Creator THEN GoOn(left, {}) ELSE left

RECURSIVE MournAll(_, _, _)
MournAll(s, who, dead) ==
    LET new == dead \ s.workers[who].mourned
    IN  IF new = {} THEN s ELSE MournAll(Mourn(s, who, Min(new)), who, dead)

\* The creator says farewell, and names the dead.  Where views say who is dead, a worker waits for them (A29).
OnForget(s, who, dead) ==
    LET unheard == dead \ s.workers[who].mourned
    IN  IF Exclusions = 0 THEN MournAll(PutWorker(s, who, Forgotten(s.workers[who])), who, dead)
        ELSE IF unheard = {} \/ ~KeepsTheIdUntilUnheard THEN PutWorker(s, who, Forgotten(s.workers[who]))
        ELSE [s EXCEPT !.workers[who].unheard = @ \cup unheard]

WithoutThose(s, messages) ==
    [s EXCEPT !.net.carried = {parcel \in @ : parcel.message \notin messages}, !.net.lost = @ \ messages]

\* The dead take with them what they knew, what they would have sent again, and what was on its way to them.
Died(s, who) ==
    LET gone == {m \in {parcel.message : parcel \in s.net.carried} :
                    To(s, m) = who \/ (From(s, m) = who /\ m \in s.net.lost)}
    IN  WithoutThose([PutWorker(s, who, [Stranger EXCEPT !.context = "gone"]) EXCEPT !.dead = @ \cup {who}], gone)

\* What is under way on a link that breaks is gone, and each end takes the other for dead.
Severed(s, one, other) ==
    LET gone == {m \in {parcel.message : parcel \in s.net.carried} : {From(s, m), To(s, m)} = {one, other}}
    IN  MournAll(Mourn(WithoutThose(s, gone), one, other), other, {one})

\* What is on a link that breaks waits.  Without a rule its calls are lost, or those that were taken come again (A3).
Broken(s, one, other) ==
    LET calls == {pair \in Pairs : Forward /\ {Source(s, pair), Target(s, pair)} = {one, other}}
        held == {parcel \in s.net.carried : parcel.message[1] = "ForwardCall" /\ parcel.message[2] \in calls}
        taken == {pair \in calls : pair \in s.workers[Target(s, pair)].got} \ {parcel.message[2] : parcel \in held}
        again(pair) == [message |-> <<"ForwardCall", pair>>,
                        content |-> [Nothing EXCEPT !.value = IF pair \in s.workers[Source(s, pair)].sends THEN 1 ELSE 0]]
    IN  [s EXCEPT !.apart = @ \cup {{one, other}},
                  !.net.carried = (IF SendsAgainAfterABreak THEN @ ELSE @ \ held)
                                  \cup (IF TakesCallsOnce THEN {} ELSE {again(pair) : pair \in taken})]

-----------------------------------------------------------------------------
(* Views (A29)                                                             *)

\* A root that is excluded cannot know who has committed: backward raises, and nobody is told.
PassesRaise(s, who) ==
    [s EXCEPT !.passes = [k \in Passes |->
        IF @[k].root # who \/ @[k].phase \in {"idle", "succeeded", "failed"} THEN @[k]
        ELSE IF @[k].phase = "committing" /\ ~RaisesWhenExcluded THEN [@[k] EXCEPT !.phase = "succeeded"]
        ELSE [@[k] EXCEPT !.phase = "failed", !.fault = "excluded", !.blamed = who]]]

\* Those that a worker has still to exclude, and the one that its next view excludes.
Uninstalled(s, who) == {d \in Workers : s.excluded[d] > 0 /\ d \notin s.workers[who].mourned}
NextLost(s, who) ==
    CHOOSE d \in Uninstalled(s, who) : \A other \in Uninstalled(s, who) : s.excluded[d] <= s.excluded[other]

-----------------------------------------------------------------------------
(* Steps                                                                   *)

Recorded(s) ==              \* everything was recorded before the run begins
    LET g == G(s)
        open(w) == w \in g.roots \cup {Creator} \/ \E pair \in Pairs : w \in {Source(s, pair), Target(s, pair)}
    IN  [s EXCEPT !.workers = [w \in Workers |-> [@[w] EXCEPT
            !.context = IF open(w) THEN "open" ELSE @,
            !.sends = {pair \in Pairs : Source(s, pair) = w}, !.sent = {pair \in Pairs : Source(s, pair) = w},
            !.recvs = {pair \in Pairs : Target(s, pair) = w}, !.got = {pair \in Pairs : Target(s, pair) = w}]]]

Chosen(s, number) == LET chosen == [s EXCEPT !.graph = number] IN IF Forward THEN chosen ELSE Recorded(chosen)

Empty == [graph |-> 0,
          workers |-> [w \in Workers |-> IF w = Creator THEN [Stranger EXCEPT !.context = "open"] ELSE Stranger],
          passes |-> [k \in Passes |-> NoPass],
          detached |-> {},
          release |-> NoRelease,
          net |-> [carried |-> {}, lost |-> {}, processed |-> {}],
          budget |-> [drops |-> Drops, duplicates |-> Duplicates, timeouts |-> Timeouts,
                      failures |-> Failures, detached |-> Detached, crashes |-> Crashes, cuts |-> Cuts],
          dead |-> {},
          excluded |-> [w \in Workers |-> 0],   \* the view that excludes a worker, 0 for a member
          apart |-> {},                         \* the links that are broken, each as the set of its ends
          released |-> FALSE]

Init == world = IF DOMAIN Graphs = {1} THEN Chosen(Empty, 1) ELSE Empty

Choose(number) == world.graph = 0 /\ world' = Chosen(world, number)

\* What has to be received before the tensors of a pair can be computed.
Inputs(s, entry) == {flow.exit[2] : flow \in {f \in G(s).flows : f.entry = entry /\ f.exit[1] = "recv"}}

MaySend(pair) ==
    LET worker == world.workers[Source(world, pair)]
    IN  /\ worker.context = "open" /\ pair \notin worker.sent
        /\ ~(Source(world, pair) = Creator /\ world.released)
        /\ Inputs(world, <<"send", pair>>) \subseteq worker.got

Call(s, pair, attached) ==
    Send([s EXCEPT !.workers[Source(s, pair)] =
              [@ EXCEPT !.sent = @ \cup {pair}, !.sends = IF attached THEN @ \cup {pair} ELSE @]],
         {[message |-> <<"ForwardCall", pair>>, content |-> [Nothing EXCEPT !.value = IF attached THEN 1 ELSE 0]]})

SendTensors(pair) == Forward /\ world.graph # 0 /\ MaySend(pair) /\ world' = Call(world, pair, TRUE)
SendDetached(pair) ==
    /\ Forward /\ world.graph # 0 /\ MaySend(pair) /\ world.budget.detached > 0
    /\ world' = Call([Spend(world, "detached") EXCEPT !.detached = @ \cup {pair}], pair, FALSE)

MayBegin(who) ==
    /\ who \in G(world).roots /\ world.workers[who].context = "open" /\ ~InAPass(world.workers[who])
    /\ ~(who = Creator /\ world.released)
    /\ \A k \in Passes : world.passes[k].root = who => world.passes[k].phase \in {"succeeded", "failed"}
    /\ Inputs(world, <<"root", who>>) \subseteq world.workers[who].got

\* A worker calls backward (A10).
Backward(who) ==
    LET idle == {k \in Passes : world.passes[k].phase = "idle"}
        number == Min(idle)
        engaged == Engage(world.workers[who], number, who)
        begun == Advance(G(world), engaged.task, [engaged EXCEPT !.task.seed = Seed(number)], who, number)
        pass == Enter([NoPass EXCEPT !.root = who, !.phase = "running"], who, {}, begun.told)
        entered == [PutWorker(world, who, begun.worker) EXCEPT !.passes[number] = pass]
    IN  /\ world.graph # 0 /\ idle # {} /\ MayBegin(who)
        /\ world' = Decide(Send(entered, begun.parcels), number)

MayTimeOut(pass) ==
    pass.root \notin world.dead /\ (Active(pass) \/ (pass.phase = "committing" /\ ~DecisionIsFinal))
TimeOut(number) ==
    LET pass == world.passes[number]
    IN  /\ world.budget.timeouts > 0 /\ MayTimeOut(pass)
        /\ world' = FailPass(Spend(world, "timeouts"), number, "timedOut", pass.root)

ReleaseContext ==
    /\ Release /\ world.graph # 0 /\ ~world.released /\ Creator \notin world.dead
    /\ world' = Close([world EXCEPT !.released = TRUE], Creator)

Received(s, parcel, raises) ==
    LET m == parcel.message
        kind == m[1]
        c == parcel.content
        noted == IF Duplicates > 0 THEN [s EXCEPT !.net.processed = @ \cup {m}] ELSE s
    IN  CASE kind = "Report" -> OnReport(noted, m[2], Receiver(s, m[2]), c)
          [] kind = "Commit" -> OnCommit(noted, m[2], m[3])
          [] kind = "Committed" -> OnCommitted(noted, m[2], m[3])
          [] kind = "Abort" -> OnAbort(noted, m[2], m[3])
          [] kind \in {"PropagateGradients", "Mark", "Seek", "Resume"} -> OnCounted(noted, m, c, raises)
          [] kind = "ForwardCall" -> OnCall(noted, m[2], c.value = 1)
          [] kind = "CleanupContext" -> OnCleanup(noted, m[2])
          [] kind = "Closed" -> OnClosed(noted, m[2], c.sent, c.settled)
          [] kind = "Settled" -> OnSettled(noted, m[2])
          [] kind = "Forget" -> OnForget(noted, m[2], c.dead)

Flying == {parcel \in world.net.carried : parcel.message \notin world.net.lost}
\* What can arrive: what is on a broken link waits (R36).
Arriving ==
    {parcel \in Flying : world.apart = {} \/ {From(world, parcel.message), To(world, parcel.message)} \notin world.apart}
\* It has no effect any more: it is a copy (A3), or of somebody that its receiver takes for dead (A21).
Spent(message) ==
    \/ TakesEffectOnce /\ message \in world.net.processed
    \/ Mourning /\ RefusesTheExcluded /\ From(world, message) \in world.workers[To(world, message)].mourned
Without(s, parcel) == [s EXCEPT !.net.carried = @ \ {parcel}]
IsControl(message) == message[1] # "ForwardCall"

Deliver(parcel) ==
    world' = IF Spent(parcel.message) THEN Without(world, parcel)
             ELSE Received(Without(world, parcel), parcel, FALSE)
Duplicate(parcel) ==
    /\ IsControl(parcel.message) /\ world.budget.duplicates > 0 /\ ~Spent(parcel.message)
    /\ world' = Received(Spend(world, "duplicates"), parcel, FALSE)
DropMessage(parcel) ==
    /\ IsControl(parcel.message) /\ world.budget.drops > 0 /\ ~Spent(parcel.message)
    /\ world' = IF From(world, parcel.message) \in world.dead
                THEN Without(Spend(world, "drops"), parcel)  \* nobody is left to send it again
                ELSE [Spend(world, "drops") EXCEPT !.net.lost = @ \cup {parcel.message}]
Retry(message) == RetriesUntilAnswered /\ world' = [world EXCEPT !.net.lost = @ \ {message}]
Raise(parcel) ==
    /\ parcel.message[1] = "PropagateGradients" /\ world.budget.failures > 0 /\ ~Spent(parcel.message)
    /\ world' = Received(Spend(Without(world, parcel), "failures"), parcel, TRUE)
FailCall(parcel) ==
    /\ ~IsControl(parcel.message) /\ world.budget.failures > 0 /\ ~Spent(parcel.message)
    /\ LET s == Spend(Without(world, parcel), "failures")
           pair == parcel.message[2]
           who == Source(s, pair)
       IN  world' = IF who \in s.dead THEN s
                    ELSE IF s.workers[who].context = "closed" THEN TellSettled(s, who, pair, TRUE)
                    ELSE [s EXCEPT !.workers[who].failed = @ \cup {pair}]

MayCrash(who) ==
    world.graph # 0 /\ world.budget.crashes > 0 /\ who \notin world.dead /\ world.excluded[who] = 0
Crash(who) == MayCrash(who) /\ world' = Died(Spend(world, "crashes"), who)

\* Each worker is told of a death by a step of its own.
MayNotice(who, dead) ==
    /\ dead \in world.dead /\ who \notin world.dead \cup {dead}
    /\ dead \notin world.workers[who].mourned /\ world.excluded[dead] = 0
Notice(who, dead) == MayNotice(who, dead) /\ world' = Mourn(world, who, dead)

MayCut(one, other) ==
    /\ world.graph # 0 /\ world.budget.cuts > 0 /\ one < other
    /\ {one, other} \cap world.dead = {} /\ other \notin world.workers[one].mourned
    /\ {one, other} \notin world.apart
Cut(one, other) ==
    /\ MayCut(one, other)
    /\ world' = IF OnlyViewsDeclareDead THEN Broken(Spend(world, "cuts"), one, other)
                ELSE Severed(Spend(world, "cuts"), one, other)
Mend(link) == world' = [world EXCEPT !.apart = @ \ {link}]

\* The authority issues the next view, which excludes one more worker.
MayExclude(who) ==
    /\ world.graph # 0 /\ who \notin world.dead /\ world.excluded[who] = 0
    /\ Cardinality({d \in Workers : world.excluded[d] > 0}) < Exclusions
Exclude(who) ==
    /\ MayExclude(who)
    /\ world' = [world EXCEPT !.excluded[who] = Cardinality({d \in Workers : world.excluded[d] > 0}) + 1]

\* To whoever installs a view, the one that it excludes is dead.  Whoever is excluded hears of no later view.
MayInstall(who) ==
    /\ who \notin world.dead /\ Uninstalled(world, who) # {}
    /\ LET lost == NextLost(world, who)
       IN  lost # who /\ ~(world.excluded[who] > 0 /\ world.excluded[who] < world.excluded[lost])
Install(who) ==
    /\ MayInstall(who)
    /\ LET lost == NextLost(world, who)
           unsent == {m \in world.net.lost : From(world, m) = who /\ To(world, m) = lost}
       IN  world' = Mourn(WithoutThose(world, unsent), who, lost)

\* An excluded worker learns that it is excluded, and takes no further step.
MayFence(who) == world.excluded[who] > 0 /\ who \notin world.dead
Fence(who) == MayFence(who) /\ world' = Died(PassesRaise(world, who), who)

\* Steps that will be taken, whatever else happens (FairSpec).
CallArrives == \E parcel \in Arriving : ~IsControl(parcel.message) /\ Deliver(parcel)
ControlArrives == \E parcel \in Arriving : IsControl(parcel.message) /\ Deliver(parcel)
SentAgain == \E message \in world.net.lost : Retry(message)
DeathsAreTold == \E who, dead \in Workers : Notice(who, dead)
ViewsAreInstalled == \E who \in Workers : Install(who) \/ Fence(who)
LinksAreMended == \E link \in world.apart : Mend(link)

Next ==
    \/ \E number \in DOMAIN Graphs : Choose(number)
    \/ \E pair \in Pairs : SendTensors(pair) \/ SendDetached(pair)
    \/ \E who \in Workers : Backward(who)
    \/ \E number \in Passes : TimeOut(number)
    \/ ReleaseContext
    \/ \E who \in Workers : Crash(who)
    \/ \E who, other \in Workers : Notice(who, other) \/ Cut(who, other)
    \/ \E who \in Workers : Exclude(who) \/ Install(who) \/ Fence(who)
    \/ \E link \in world.apart : Mend(link)
    \/ \E parcel \in Arriving :
           Deliver(parcel) \/ Duplicate(parcel) \/ DropMessage(parcel) \/ Raise(parcel) \/ FailCall(parcel)
    \/ \E message \in world.net.lost : Retry(message)

Spec == Init /\ [][Next]_world

-----------------------------------------------------------------------------
(* Fairness: what progress rests on.  Nothing makes the application call,  *)
(* begin a pass or give one up, and nothing makes the network lose or      *)
(* copy.  Losses are bounded here, so weak fairness is enough.             *)

Fairness ==
    /\ WF_world(CallArrives)       \* calls reach their workers (A5)
    /\ WF_world(ControlArrives)    \* so does what the protocol itself sends
    /\ WF_world(SentAgain)         \* timers fire (A3)
    /\ WF_world(DeathsAreTold)     \* everybody hears of every death (R34)
    /\ WF_world(ViewsAreInstalled) \* everybody hears of every view, and the excluded of theirs (R37, R38)
    /\ WF_world(LinksAreMended)    \* links do not stay broken (R36)

FairSpec == Spec /\ Fairness
=============================================================================
