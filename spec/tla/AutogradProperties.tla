------------------------ MODULE AutogradProperties -------------------------
(***************************************************************************)
(* What must hold of distributed autograd, with the names and the meaning  *)
(* of properties/autograd/always.py.  Every run of a bounded world ends, so *)
(* what holds eventually holds in the states in which nothing can happen   *)
(* any more (Quiet).  What gradients should be is a sum over paths.        *)
(***************************************************************************)
EXTENDS Autograd

Attached == Pairs \ world.detached

\* The sum over all ways from an entry to a worker's leaf; 0 if there is none.
RECURSIVE PathSum(_, _)
PathSum(entry, who) ==
    Sum([flow \in {f \in G(world).flows : f.entry = entry} |->
            IF flow.exit = <<"leaf", who>> THEN flow.weight
            ELSE IF flow.exit[1] = "recv" /\ flow.exit[2] \in Attached
                 THEN flow.weight * PathSum(<<"send", flow.exit[2]>>, who)
            ELSE 0])

Succeeded == {k \in Passes : world.passes[k].phase = "succeeded"}
Failed == {k \in Passes : world.passes[k].phase = "failed"}
Idle == {k \in Passes : world.passes[k].phase = "idle"}
\* Decided, and its root has fallen silent: some show its gradients, and some may not (A21).
HalfCommitted == {k \in Passes : world.passes[k].fault = "excluded" /\ world.passes[k].committed # {}}
AllEnded == Succeeded \cup Failed \cup Idle = Passes /\ HalfCommitted = {}
\* It has died or is excluded, whoever knows of it.  Nothing is promised of its gradients (A29).
IsLost(w) == w \in world.dead \/ world.excluded[w] > 0

Oracle(who) ==
    LET total == Sum([k \in Succeeded |-> Seed(k) * PathSum(<<"root", world.passes[k].root>>, who)])
    IN  IF total = 0 THEN None ELSE total

IsRight == \A w \in Workers :
    LET worker == world.workers[w]
    IN  worker.context = "open" /\ ~worker.resurrected /\ ~IsLost(w) => worker.gradient = Oracle(w)

S1 == AllEnded /\ Cardinality(Succeeded) = 1 /\ Failed = {} => IsRight
S2 == AllEnded /\ Cardinality(Succeeded) > 1 /\ Failed = {} => IsRight
S3 == AllEnded /\ Succeeded # {} /\ Failed # {} => IsRight
S8 == AllEnded /\ Succeeded = {} /\ Failed # {} => IsRight

S4 == \A w \in Workers : \A pair \in Pairs : world.workers[w].task.arrivals[pair] <= 1

S5 == world.graph # 0 => \A pair \in Pairs :
    LET source == world.workers[Source(world, pair)]
    IN  pair \in world.workers[Target(world, pair)].recvs /\ source.context = "open" => pair \in source.sends

NoPassSurvivesItsContext ==
    \A w \in Workers : InAPass(world.workers[w]) => world.workers[w].context = "open"
NoPassGoesOnWhereItEnded ==
    \A k \in Succeeded \cup Failed : world.workers[world.passes[k].root].task.number # k
S9 == NoPassSurvivesItsContext /\ NoPassGoesOnWhereItEnded

S10 == \A w \in Workers : ~world.workers[w].resurrected

OfPass(message, k) ==
    message[1] \in {"PropagateGradients", "Mark", "Seek", "Resume", "Commit"} /\ message[2] = k
S11 == \A k \in Succeeded :
    /\ \A parcel \in world.net.carried : LET m == parcel.message IN
           OfPass(m, k) => \/ m \in world.net.processed
                           \/ Exclusions > 0 /\ (IsLost(From(world, m)) \/ IsLost(To(world, m)))
    /\ \A w \in Workers : world.workers[w].task.number # k \/ IsLost(w)

-----------------------------------------------------------------------------
(* FAST (A15)                                                              *)

RECURSIVE Reached(_)        \* the pairs whose send gets a gradient, from some entries
Reached(entries) ==
    LET next == {<<"send", flow.exit[2]>> : flow \in {f \in G(world).flows :
                    f.entry \in entries /\ f.exit[1] = "recv" /\ f.exit[2] \in Attached}}
    IN  IF next \subseteq entries THEN {entry[2] : entry \in {e \in entries : e[1] = "send"}}
        ELSE Reached(entries \cup next)

Unreached(root) ==          \* the sends that are waited for and get none
    LET alive == Reached({<<"root", root>>})
        engaged == {root} \cup {Source(world, pair) : pair \in alive}
    IN  {pair \in Pairs : Source(world, pair) \in engaged} \ alive  \* who closed, or died, has dropped its sends

FastCompletes(root) == Unreached(root) = {}

T1 == \A k \in Passes :
    LET pass == world.passes[k]
        named == Missing(pass, k)
    IN  /\ k \in Succeeded => FastCompletes(pass.root)
        /\ pass.fault = "unreached" =>
              /\ named \cap Unreached(pass.root) # {}
              /\ pass.blamed \in {Source(world, pair) : pair \in named}

L6 == \A k \in Passes :
    CASE world.passes[k].fault = "none" -> TRUE
      [] world.passes[k].fault = "raised" -> world.budget.failures < Failures
      [] world.passes[k].fault = "timedOut" -> world.budget.timeouts < Timeouts
      [] world.passes[k].fault = "unreached" -> ~Smart
      [] world.passes[k].fault = "busy" -> \E j \in Passes : world.passes[j].root \notin {None, world.passes[k].root}
      [] world.passes[k].fault = "released" -> world.released \/ IsLost(Creator)
      [] world.passes[k].fault = "died" ->
             world.passes[k].blamed # None /\ (world.budget.cuts < Cuts \/ IsLost(world.passes[k].blamed))
      [] world.passes[k].fault = "excluded" -> world.excluded[world.passes[k].root] > 0
      [] world.passes[k].fault = "unpaired" -> FALSE

-----------------------------------------------------------------------------
(* Where runs end                                                          *)

\* Nothing is left to do: no message, no call, no pass to begin or to give up.
Quiet ==
    /\ world.graph # 0
    /\ Flying = {}
    /\ RetriesUntilAnswered => world.net.lost = {}
    /\ Forward => \A pair \in Pairs : ~MaySend(pair)
    /\ Idle # {} => \A who \in Workers : ~MayBegin(who)
    /\ world.budget.timeouts > 0 => \A k \in Passes : ~MayTimeOut(world.passes[k])
    /\ Release => world.released \/ Creator \in world.dead
    /\ \A who, other \in Workers : ~MayNotice(who, other) /\ ~MayCut(who, other)
    /\ \A who \in Workers : ~MayCrash(who) /\ ~MayExclude(who) /\ ~MayInstall(who) /\ ~MayFence(who)
    /\ world.apart = {}

QuietIsTheEnd == Quiet <=> ~ENABLED Next

NobodyIsInAPass == \A w \in Workers : ~InAPass(world.workers[w])
AllForgotten == \A w \in Workers : world.workers[w].context \in {"absent", "gone"}

CallersAreAnswered ==
    \A k \in Passes : world.passes[k].phase \in {"idle", "succeeded", "failed"} \/ world.passes[k].root \in world.dead
L1 == Quiet => CallersAreAnswered
L3 == Quiet => NobodyIsInAPass
L4 == Quiet /\ (world.released \/ IsLost(Creator)) => AllForgotten

\* The same under FairSpec.
L1Live == []<>CallersAreAnswered
L3Live == []<>NobodyIsInAPass
L4Live == [](world.released \/ IsLost(Creator) => <>AllForgotten)

-----------------------------------------------------------------------------
(* Known defects of PyTorch 2.13 (properties/autograd/claims.py).          *)

D1 == L1
D2 == L3
D3 == NoPassGoesOnWhereItEnded
D4 == S8
D5 == S3
D6 == S10
D7 == L4
D8 == S5
D9 == NoPassSurvivesItsContext

-----------------------------------------------------------------------------
(* What is lost where a broken link is a death (properties/autograd/gaps.py). *)

C3 == S1
C4 == L1
C5 == L3
C6 == L4
=============================================================================
