----------------------------- MODULE RRefViews ------------------------------
(***************************************************************************)
(* What a lost worker held is reclaimed, and never too early: views,       *)
(* settling and burying (R35 to R46 of spec/rref.md).                      *)
(*                                                                         *)
(* This is a second opinion.  It was written from the clauses, not from    *)
(* model/rref, and its steps are not those of the model:                   *)
(*                                                                         *)
(*   - Between every two nodes there is a link with a bag of messages.     *)
(*     Where messages may be lost or copied, control messages have         *)
(*     numbers, and both ends remember them (R5 to R7).                    *)
(*   - The authority is a node.  View, Settled and Buried are messages     *)
(*     under way like others: a worker may hear of a view long after       *)
(*     others have settled it, or never hear of an older one.              *)
(*   - A worker has a table of the forks that it holds.  A ForkId names    *)
(*     its minter (R2); tables have the holders of forks and of children.  *)
(*   - Functions run at once, settling is done as soon as it may be.       *)
(*                                                                         *)
(* So the numbers of states are not those of our engines; the verdicts     *)
(* are, and the tests compare them (tests/farref/tlc/test_views.py).       *)
(*                                                                         *)
(* Whoever is excluded goes on taking steps, until it learns that it is    *)
(* excluded (R38): nothing depends on a suspicion being right.  There is   *)
(* one RRef.  Calls do not fail by themselves, and nothing shuts down      *)
(* (R45): RRef.tla has both.                                               *)
(*                                                                         *)
(* Worlds is a sequence of records: how large a world is, what may happen  *)
(* in it, and which rules are followed.  The first step of a run is the    *)
(* choice of one, so one run of TLC compares many.                         *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets, Bags

CONSTANTS
    Users,       \* all workers but the owner; a world has the first few of them
    Owner,       \* the worker that owns the RRef
    Authority,   \* issues the views
    Worlds       \* a sequence of records:
                 \*   users     the users there are at the start
                 \*   joiners   those that may join later: new incarnations, too (R44)
                 \*   forks     how many forks can be made
                 \*   views     how many views can be issued
                 \*   losable   the workers that may be excluded
                 \*   drops, copies   control messages that are lost, or come twice
                 \*   fetches   values that may be asked for
                 \*   kinds     how forks are shared: "Call", "Return"
                 \*   ownerShares     BOOLEAN: code on the owner makes the RRef, and shares it
                 \*   rules     the rules that are followed

Rules == {
    "refusesTheExcluded",            \* R37: who installed a view takes nothing from those excluded in it
    "failsCreationOfTheExcluded",    \* R37: a creation that cannot arrive is an error, and its creator counts
    "settlesWhatCameFromTheExcluded",\* R39: who settles holds no pending fork of somebody excluded
    "everybodySettles",              \* R40: a view is buried when all its members settled it, not one of them
    "sameView",                      \* R40: also a member that was excluded since then
    "waitsUntilSettled",             \* R41: what somebody excluded held is kept until a view is buried
    "childrenWaitToo"}               \* R42: a parent keeps a child as long

VARIABLE world

Workers == Users \cup {Owner}
Nodes == Workers \cup {Authority}
Links == {<<a, b>> \in Nodes \X Nodes : a # b}

W(s) == Worlds[s.at]
Follows(s, rule) == rule \in W(s).rules
Lossy(s) == W(s).drops + W(s).copies > 0

Max(set) == CHOOSE x \in set : \A y \in set : y <= x

-----------------------------------------------------------------------------
(* Views (R35)                                                             *)

Newest(s) == Len(s.auth.lost)
Ex(s, v) == IF v = 0 THEN {} ELSE s.auth.lost[v]     \* who is excluded in a view
Shunned(s, w) == IF w = Authority THEN {} ELSE Ex(s, s.view[w])
Excluded(s) == Ex(s, Newest(s))
Members(s) == s.joined \ Excluded(s)
Buried(s) == Ex(s, s.auth.buried)

-----------------------------------------------------------------------------
(* Links (R3 to R7).  Nothing is sent to somebody whom the sender has      *)
(* excluded (R37).                                                         *)

Control == {"ForkRequest", "ChildAccept", "UserDelete", "View", "Settled", "Buried"}

Message(kind, about) == [kind |-> kind, about |-> about, number |-> 0, ack |-> FALSE]
Ack(m) == [m EXCEPT !.ack = TRUE]

\* Acknowledgements matter where messages are lost.  That of a ForkRequest also confirms (R16).
IsAnswered(s, kind) == kind \in Control /\ (Lossy(s) \/ kind = "ForkRequest")

Put(s, a, b, m) == [s EXCEPT !.link[<<a, b>>] = @ (+) SetToBag({m})]
Take(s, a, b, m) == [s EXCEPT !.link[<<a, b>>] = @ (-) SetToBag({m})]

\* Send a message; a control message is owed until it is answered.
Say(s, a, b, kind, about) ==
    LET number == IF kind \in Control /\ Lossy(s) THEN s.next[<<a, b>>] + 1 ELSE 0
        m == [Message(kind, about) EXCEPT !.number = number]
        sent == IF number = 0 THEN Put(s, a, b, m) ELSE [Put(s, a, b, m) EXCEPT !.next[<<a, b>>] = number]
    IN  IF b \in Shunned(s, a) THEN s
        ELSE IF IsAnswered(s, kind) THEN [sent EXCEPT !.owed[a] = @ \cup {[to |-> b, m |-> m]}]
        ELSE sent

RECURSIVE SayAll(_, _, _, _, _)    \* the same to each of some nodes
SayAll(s, a, targets, kind, about) ==
    IF targets = {} THEN s
    ELSE LET b == CHOOSE x \in targets : TRUE
         IN  SayAll(Say(s, a, b, kind, about), a, targets \ {b}, kind, about)

-----------------------------------------------------------------------------
(* The owner's entry (R8)                                                  *)

NoEntry == [
    phase |-> "absent",   \* "expected": named before its creation arrived; "ready"; "gone"
    forks |-> {},         \* the forks it counts, each with its holder
    fetches |-> {},       \* the same for fetches that wait for the value
    held |-> "no"]        \* whether code on the owner has the RRef: "no", "held", "waiting" for the value

\* Drop the entry if nobody needs it (R22).
DropIfFree(s) ==
    IF s.entry.phase = "ready" /\ s.entry.forks = {} /\ s.entry.held = "no"
    THEN [s EXCEPT !.entry.phase = "gone"] ELSE s

RECURSIVE Answered(_, _)   \* every fetch that waits gets the value
Answered(s, fetches) ==
    IF fetches = {} THEN s
    ELSE LET one == CHOOSE x \in fetches : TRUE
         IN  Answered(Say(s, Owner, one[2], "FetchReturn", one[1]), fetches \ {one})

Ready(s) ==
    Answered([s EXCEPT !.entry = [@ EXCEPT !.phase = "ready", !.fetches = {},
                                           !.held = IF @ = "waiting" THEN "held" ELSE @]], s.entry.fetches)

\* The RRef is named.  Named once it is gone, it would get a second entry: that must not happen (R46).
Named(s) ==
    CASE s.entry.phase = "absent" -> [s EXCEPT !.entry.phase = "expected"]
      [] s.entry.phase = "gone" -> [s EXCEPT !.second = TRUE]
      [] OTHER -> s

\* The fork of the worker that creates the RRef; an RRef that the owner made has none.
CreatorForks(s) == {f \in DOMAIN s.minted : s.minted[f].parent = 0 /\ s.minted[f].minter # Owner}

\* The creation can no longer arrive: the RRef is an error, and its creator counts until it is buried (R37).
FailCreation(s) ==
    LET lost == {f \in CreatorForks(s) : s.minted[f].holder \in Shunned(s, Owner)}
        kept == {f \in lost : s.minted[f].holder \notin Ex(s, s.known[Owner])}
    IN  IF s.entry.phase # "expected" \/ lost = {} \/ ~Follows(s, "failsCreationOfTheExcluded") THEN s
        ELSE DropIfFree([Ready(s) EXCEPT !.entry.forks = @ \cup {<<f, s.minted[f].holder>> : f \in kept}])

Count(s, f, who) == [s EXCEPT !.entry.forks = @ \cup {<<f, who>>}]

OnRemoteCall(s, f, who) == Say(DropIfFree(Count(Ready(Named(s)), f, who)), Owner, who, "UserAccept", f)
OnForkRequest(s, f, who) == IF s.entry.phase = "gone" THEN Named(s) ELSE FailCreation(Count(Named(s), f, who))
OnUserDelete(s, f, who) == DropIfFree([s EXCEPT !.entry.forks = @ \ {<<f, who>>}])
OnFetchCall(s, f, who) ==
    CASE s.entry.phase = "ready" -> Say(s, Owner, who, "FetchReturn", f)
      [] s.entry.phase = "gone" -> Named(s)
      [] OTHER -> FailCreation([Named(s) EXCEPT !.entry.fetches = @ \cup {<<f, who>>}])

\* A user gives the owner its own RRef: code there has it, and the user need not wait (R19, R21).
OnShareAtOwner(s, kind, f, who) ==
    LET waits == kind = "Call" /\ s.entry.phase # "ready"
        held == [Named(s) EXCEPT !.entry.held = IF waits \/ @ = "waiting" THEN "waiting" ELSE "held"]
    IN  IF s.entry.phase = "gone" THEN Named(s)
        ELSE Say(FailCreation(held), Owner, who, "ChildAccept", f)

-----------------------------------------------------------------------------
(* A user's record of a fork (R9)                                          *)

Record(phase, handle) == [
    phase |-> phase,      \* "pending": not known to be counted; "confirmed"
    handle |-> handle,    \* "none"; "parked": in a call that waits for confirmation; "held"
    children |-> {},      \* the forks made from it that did not accept yet, each with its holder
    fetch |-> FALSE]      \* waits for the value

Holds(s, w, f) == f \in DOMAIN s.table[w]
Without(table, f) == [g \in DOMAIN table \ {f} |-> table[g]]
With(table, f, record) == [g \in DOMAIN table \cup {f} |-> IF g = f THEN record ELSE table[g]]

IsOrphan(s, w) == Owner \in Shunned(s, w)    \* every record of w is one, once its owner is excluded (R43)

\* A record goes when nothing needs it, and the owner is told (R26).  An orphan goes with its handle, and tells nobody.
ReleaseIfFree(s, w, f) ==
    LET r == s.table[w][f]
        gone == [s EXCEPT !.table[w] = Without(@, f)]
    IN  IF r.handle # "none" THEN s
        ELSE IF IsOrphan(s, w) THEN gone
        ELSE IF r.phase = "confirmed" /\ r.children = {} /\ ~r.fetch THEN Say(gone, w, Owner, "UserDelete", f)
        ELSE s

OnUserAccept(s, w, f) ==
    IF ~Holds(s, w, f) THEN s
    ELSE ReleaseIfFree([s EXCEPT !.table[w][f].phase = "confirmed"], w, f)

\* Another user made this fork: the owner has to count it (R16).  What comes from the owner is counted (R15).
OnShare(s, w, kind, f, who) ==
    LET handle == IF kind = "Call" THEN "parked" ELSE "held"
    IN  IF IsOrphan(s, w) THEN Say(s, w, who, "CallFailed", f)
        ELSE IF who = Owner THEN [s EXCEPT !.table[w] = With(@, f, Record("confirmed", "held"))]
        ELSE Say([s EXCEPT !.table[w] = With(@, f, Record("pending", handle))], w, Owner, "ForkRequest", f)

\* The owner counts the child: its parent is told (R17), and a call that waited for it runs.
OnConfirmed(s, w, f) ==
    LET r == s.table[w][f]
        now == [s EXCEPT !.table[w][f] = [@ EXCEPT !.phase = "confirmed",
                                                   !.handle = IF @ = "parked" THEN "held" ELSE @]]
    IN  IF ~Holds(s, w, f) \/ r.phase # "pending" THEN s
        ELSE ReleaseIfFree(Say(now, w, s.minted[f].minter, "ChildAccept", f), w, f)

ForgetChild(s, w, child) ==
    LET f == s.minted[child].parent
    IN  IF ~Holds(s, w, f) THEN s
        ELSE ReleaseIfFree([s EXCEPT !.table[w][f].children = {x \in @ : x[1] # child}], w, f)

RECURSIVE ForgetChildrenOf(_, _, _)    \* those whose holder is among some
ForgetChildrenOf(s, w, lost) ==
    LET found == {x \in UNION {s.table[w][f].children : f \in DOMAIN s.table[w]} : x[2] \in lost}
    IN  IF found = {} THEN s
        ELSE ForgetChildrenOf(ForgetChild(s, w, (CHOOSE x \in found : TRUE)[1]), w, lost)

OnFetchReturn(s, w, f) ==
    IF ~Holds(s, w, f) THEN s ELSE ReleaseIfFree([s EXCEPT !.table[w][f].fetch = FALSE], w, f)

-----------------------------------------------------------------------------
(* Installing, settling, burying                                           *)

\* A pending fork that was minted by somebody excluded in v, and whose owner is not (R39).
HasHeir(s, w, v) ==
    /\ Owner \notin Ex(s, v)
    /\ \E f \in DOMAIN s.table[w] : s.table[w][f].phase = "pending" /\ s.minted[f].minter \in Ex(s, v)

RECURSIVE Settle(_, _, _)    \* tell the authority of every view that is settled here
Settle(s, w, v) ==
    IF v = 0 THEN s
    ELSE IF v \in s.told[w] \/ (Follows(s, "settlesWhatCameFromTheExcluded") /\ HasHeir(s, w, v)) THEN Settle(s, w, v - 1)
    ELSE Settle(Say([s EXCEPT !.told[w] = @ \cup {v}], w, Authority, "Settled", v), w, v - 1)
SettleIfMay(s, w) == Settle(s, w, s.view[w])

\* Nothing of a lost owner's is waited for: what has no handle that can be used goes (R43).
Orphaned(s, w) ==
    LET kept == {f \in DOMAIN s.table[w] : s.table[w][f].handle = "held"}
    IN  IF ~IsOrphan(s, w) THEN s
        ELSE [s EXCEPT !.table[w] = [f \in kept |-> [@[f] EXCEPT !.children = {}, !.fetch = FALSE]]]

\* One step (R37).  Waits that only the excluded could end are over, and control messages to them stop.
Install(s, w, v) ==
    LET installed == [s EXCEPT !.view[w] = v, !.owed[w] = {x \in @ : x.to \notin Ex(s, v)}]
        heeded == IF w = Owner
                  THEN FailCreation([installed EXCEPT !.entry.fetches = {x \in @ : x[2] \notin Ex(s, v)}])
                  ELSE Orphaned(installed, w)
        early == IF w # Owner /\ ~Follows(s, "childrenWaitToo") THEN ForgetChildrenOf(heeded, w, Ex(s, v)) ELSE heeded
    IN  IF v <= s.view[w] \/ w \in Ex(s, v) THEN s ELSE SettleIfMay(early, w)

\* What the buried held is let go of: the owner stops counting (R41), parents stop waiting (R42).
OnBuried(s, w, v) ==
    LET known == [s EXCEPT !.known[w] = v]
    IN  IF v <= s.known[w] THEN s
        ELSE IF w = Owner THEN DropIfFree([known EXCEPT !.entry.forks = {x \in @ : x[2] \notin Ex(s, v)}])
        ELSE ForgetChildrenOf(known, w, Ex(s, v))

HaveSettled(s, v) ==
    CASE ~Follows(s, "waitsUntilSettled") -> TRUE
      [] ~Follows(s, "everybodySettles") -> (s.joined \ Ex(s, v)) \cap s.auth.settled[v] # {}
      [] ~Follows(s, "sameView") -> s.joined \subseteq s.auth.settled[v] \cup Excluded(s)
      [] OTHER -> s.joined \subseteq s.auth.settled[v] \cup Ex(s, v)

\* The authority buries the newest view that all its members have settled, and so all earlier ones (R40).
BuryIfMay(s) ==
    LET ripe == {v \in 1 .. Newest(s) : v > s.auth.buried /\ HaveSettled(s, v)}
    IN  IF ripe = {} THEN s
        ELSE SayAll([s EXCEPT !.auth.buried = Max(ripe)], Authority, Members(s), "Buried", Max(ripe))

OnSettled(s, w, v) == BuryIfMay([s EXCEPT !.auth.settled[v] = @ \cup {w}])

-----------------------------------------------------------------------------
(* Delivery                                                                *)

Effect(s, a, b, kind, about) ==
    CASE kind = "View" -> Install(s, b, about)
      [] kind = "Settled" -> OnSettled(s, a, about)
      [] kind = "Buried" -> OnBuried(s, b, about)
      [] kind = "RemoteCall" -> OnRemoteCall(s, about, a)
      [] kind = "UserAccept" -> OnUserAccept(s, b, about)
      [] kind \in {"Call", "Return"} /\ b = Owner -> OnShareAtOwner(s, kind, about, a)
      [] kind \in {"Call", "Return"} /\ b # Owner -> OnShare(s, b, kind, about, a)
      [] kind = "ForkRequest" -> OnForkRequest(s, about, a)
      [] kind \in {"ChildAccept", "CallFailed"} -> ForgetChild(s, b, about)
      [] kind = "UserDelete" -> OnUserDelete(s, about, a)
      [] kind = "FetchCall" -> OnFetchCall(s, about, a)
      [] kind = "FetchReturn" -> OnFetchReturn(s, b, about)
      [] kind = "Excluded" -> [s EXCEPT !.fenced = @ \cup {b}]

\* An answer is heard once.  Only that of a ForkRequest means anything to the worker.
OnAck(s, a, b, m) ==
    LET owed == [to |-> a, m |-> [m EXCEPT !.ack = FALSE]]
        paid == [s EXCEPT !.owed[b] = @ \ {owed}]
    IN  IF owed \notin s.owed[b] THEN s
        ELSE IF m.kind = "ForkRequest" THEN SettleIfMay(OnConfirmed(paid, b, m.about), b) ELSE paid

\* A control message takes effect once, and is answered every time (R7).  Whoever was excluded meanwhile gets no answer.
OnControl(s, a, b, m) ==
    LET again == m.number # 0 /\ <<a, m.number>> \in s.seen[b]
        noted == IF m.number = 0 THEN s ELSE [s EXCEPT !.seen[b] = @ \cup {<<a, m.number>>}]
        after == IF again THEN s ELSE Effect(noted, a, b, m.kind, m.about)
    IN  IF IsAnswered(s, m.kind) /\ a \notin Shunned(after, b) THEN Put(after, b, a, Ack(m)) ELSE after

Taken(s, a, b, m) ==
    IF m.ack THEN OnAck(s, a, b, m)
    ELSE IF m.kind \in Control THEN OnControl(s, a, b, m)
    ELSE Effect(s, a, b, m.kind, m.about)

\* Whatever comes from the excluded is answered with Excluded, and with nothing else (R38).
Refused(s, a, b, m) ==
    LET word == Message("Excluded", 0)
    IN  IF m.kind = "Excluded" \/ a \in s.fenced \/ BagIn(word, s.link[<<b, a>>]) THEN s ELSE Put(s, b, a, word)

\* History for BuriedAreHeardByNobody: somebody who is not buried took something from somebody who is.
Noted(s, a, b) == IF a \in Buried(s) /\ b \in Workers \ Buried(s) THEN [s EXCEPT !.heard = TRUE] ELSE s

Delivered(before, a, b, m) ==
    LET s == Take(before, a, b, m)
    IN  IF b \in s.fenced THEN s
        ELSE IF a \in Shunned(s, b) /\ Follows(s, "refusesTheExcluded") THEN Refused(s, a, b, m)
        ELSE Taken(Noted(s, a, b), a, b, m)

-----------------------------------------------------------------------------
(* Steps                                                                   *)

Empty == [
    at |-> 0,                                    \* the world, once it is chosen
    minted |-> <<>>,                             \* by fork: its minter, its holder, its parent or 0
    table |-> [w \in Workers |-> <<>>],          \* by worker, by fork: its record
    entry |-> NoEntry,
    view |-> [w \in Workers |-> 0],              \* the newest view installed
    told |-> [w \in Workers |-> {}],             \* the views that it told the authority to have settled
    known |-> [w \in Workers |-> 0],             \* the newest view known to be buried
    fenced |-> {},                               \* those that have learned that they are excluded
    joined |-> {Owner},
    auth |-> [lost |-> <<>>, settled |-> <<>>, buried |-> 0],
    link |-> [l \in Links |-> EmptyBag],
    next |-> [l \in Links |-> 0],                \* the newest number used
    owed |-> [n \in Nodes |-> {}],               \* control messages that are not answered
    seen |-> [n \in Nodes |-> {}],               \* numbers of those that took effect, by sender
    budget |-> [drops |-> 0, copies |-> 0, fetches |-> 0],
    heard |-> FALSE, second |-> FALSE]           \* history

Begun(number) ==
    LET one == Worlds[number]
    IN  [Empty EXCEPT !.at = number, !.joined = {Owner} \cup one.users,
                      !.budget = [drops |-> one.drops, copies |-> one.copies, fetches |-> one.fetches]]

Init == \E number \in DOMAIN Worlds : world = Begun(number)

Spend(s, what) == [s EXCEPT !.budget[what] = @ - 1]

\* Who may use the library: it is there, and was not told that it is excluded (R38).
Up == world.joined \ world.fenced
MayMint == Len(world.minted) < W(world).forks
Mint(s, minter, holder, parent) ==
    [s EXCEPT !.minted = Append(@, [minter |-> minter, holder |-> holder, parent |-> parent])]

Create(w) ==
    LET f == Len(world.minted) + 1
        made == [Mint(world, w, w, 0) EXCEPT !.table[w] = With(@, f, Record("pending", "held"))]
    IN  /\ w \in Up \ {Owner} /\ world.minted = <<>> /\ world.entry.phase = "absent" /\ MayMint
        /\ ~IsOrphan(world, w)
        /\ world' = Say(made, w, Owner, "RemoteCall", f)

CreateLocal ==
    /\ W(world).ownerShares /\ Owner \in Up /\ world.minted = <<>> /\ world.entry.phase = "absent"
    /\ world' = [world EXCEPT !.entry.phase = "ready", !.entry.held = "held"]

\* The owner counts what it shares before it sends it (R14).
OwnerShare(w, kind) ==
    LET f == Len(world.minted) + 1
    IN  /\ W(world).ownerShares /\ Owner \in Up /\ world.entry.held = "held" /\ world.entry.phase = "ready" /\ MayMint
        /\ w \in world.joined \ ({Owner} \cup Shunned(world, Owner))
        /\ world' = Say(Count(Mint(world, Owner, w, 0), f, w), Owner, w, kind, f)

\* A user that shares stays until the child has accepted (R16, R24).  It shares nothing with the excluded (R37).
Share(w, f, to, kind) ==
    LET child == Len(world.minted) + 1
        made == [Mint(world, w, to, f) EXCEPT !.table[w][f].children = @ \cup {<<child, to>>}]
    IN  /\ world.table[w][f].handle = "held" /\ ~IsOrphan(world, w) /\ MayMint
        /\ to \in world.joined \ ({w} \cup Shunned(world, w))
        /\ world' = Say(made, w, to, kind, child)

Fetch(w, f) ==
    /\ world.table[w][f].handle = "held" /\ ~world.table[w][f].fetch /\ ~IsOrphan(world, w)
    /\ world.budget.fetches > 0
    /\ world' = Say([Spend(world, "fetches") EXCEPT !.table[w][f].fetch = TRUE], w, Owner, "FetchCall", f)

LetGo(w, f) ==
    /\ world.table[w][f].handle = "held"
    /\ world' = ReleaseIfFree([world EXCEPT !.table[w][f].handle = "none"], w, f)

OwnerLetGo ==
    /\ Owner \in Up /\ world.entry.held = "held"
    /\ world' = DropIfFree([world EXCEPT !.entry.held = "no"])

\* The authority excludes somebody, rightly or not (R35, R36).  Others remain.
Exclude(w) ==
    LET v == Newest(world) + 1
        issued == [world EXCEPT !.auth.lost = Append(@, Excluded(world) \cup {w}), !.auth.settled = Append(@, {})]
    IN  /\ v <= W(world).views /\ w \in Members(world) \cap W(world).losable /\ Members(world) # {w}
        /\ world' = BuryIfMay(SayAll(issued, Authority, Members(issued), "View", v))

\* A new incarnation is a worker like any other.  It has settled the view in which it joins (R39, R44).
Join(w) ==
    LET all == DOMAIN world.auth.lost
    IN  /\ w \in W(world).joiners \ world.joined
        /\ world' = [world EXCEPT !.joined = @ \cup {w}, !.view[w] = Newest(world), !.told[w] = all,
                                  !.known[w] = world.auth.buried,
                                  !.auth.settled = [v \in all |-> @[v] \cup {w}]]

Deliver(a, b, m) == world' = Delivered(world, a, b, m)

IsLossy(m) == m.kind \in Control
Drop(a, b, m) == IsLossy(m) /\ world.budget.drops > 0 /\ world' = Take(Spend(world, "drops"), a, b, m)
Copy(a, b, m) == IsLossy(m) /\ world.budget.copies > 0 /\ world' = Put(Spend(world, "copies"), a, b, m)

\* A timer fires, here once neither message nor answer is under way (R6).
Resend(a, one) ==
    /\ a \notin world.fenced
    /\ ~BagIn(one.m, world.link[<<a, one.to>>]) /\ ~BagIn(Ack(one.m), world.link[<<one.to, a>>])
    /\ world' = Put(world, a, one.to, one.m)

Application ==
    \/ \E w \in Users : Create(w)
    \/ CreateLocal
    \/ OwnerLetGo
    \/ \E w \in Users, kind \in W(world).kinds : OwnerShare(w, kind)
    \/ \E w \in Up : \E f \in DOMAIN world.table[w] :
           \/ \E to \in Workers, kind \in W(world).kinds : Share(w, f, to, kind)
           \/ Fetch(w, f)
           \/ LetGo(w, f)

Network ==
    \/ \E l \in Links : \E m \in BagToSet(world.link[l]) :
           Deliver(l[1], l[2], m) \/ Drop(l[1], l[2], m) \/ Copy(l[1], l[2], m)
    \/ Lossy(world) /\ \E a \in Nodes : \E one \in world.owed[a] : Resend(a, one)

Next == Application \/ Network \/ \E w \in Workers : Exclude(w) \/ Join(w)

Spec == Init /\ [][Next]_world

-----------------------------------------------------------------------------
(* What is promised (R46)                                                  *)

\* Forks that somebody who is not buried holds, or that are on their way to somebody who will take them.
Heeds(s, a, b) == a \notin Shunned(s, b) \/ ~Follows(s, "refusesTheExcluded")
HeldForks == UNION {DOMAIN world.table[w] : w \in Users \ Buried(world)}
ComingForks ==
    {f \in DOMAIN world.minted :
        LET a == world.minted[f].minter
            b == world.minted[f].holder
        IN  /\ b \notin Buried(world) \cup world.fenced /\ a # b
            /\ Heeds(world, a, b) /\ ~(b # Owner /\ IsOrphan(world, b))
            /\ \E kind \in {"Call", "Return"} : BagIn(Message(kind, f), world.link[<<a, b>>])}

NothingIsDroppedEarly ==
    Owner \notin Excluded(world) /\ world.entry.phase = "gone" => HeldForks = {} /\ ComingForks = {}

\* Whoever is buried is heard by nobody who is not.
BuriedAreHeardByNobody ==
    /\ ~world.heard
    /\ \A w \in world.joined \ Buried(world) : Buried(world) \subseteq Shunned(world, w)

\* Nobody meets a missing value, or makes a second entry.
NothingIsNamedAgain == Owner \in Excluded(world) \/ ~world.second

\* Nothing is under way that members or the authority would act on, and the application has let go.
MembersAreQuiet ==
    LET inside == Members(world) \cup {Authority}
    IN  /\ \A w \in Members(world) : world.view[w] = Newest(world)
        /\ \A l \in Links : l[1] \in inside /\ l[2] \in inside => world.link[l] = EmptyBag
        /\ \A w \in Members(world) : \A f \in DOMAIN world.table[w] : world.table[w][f].handle # "held"
        /\ Owner \in Members(world) => world.entry.held # "held"
        /\ Lossy(world) => \A a \in inside : \A one \in world.owed[a] : one.to \notin inside

EverybodyIsBuried == MembersAreQuiet => world.auth.buried = Newest(world)

NothingIsLeft ==
    MembersAreQuiet =>
        /\ \A w \in Members(world) : DOMAIN world.table[w] = {}
        /\ Owner \in Members(world) =>
               world.entry.phase \in {"absent", "gone"} /\ world.entry.forks \cup world.entry.fetches = {}

\* A run that has ended has ended well.
RunsEndQuiet == ENABLED Next \/ MembersAreQuiet
=============================================================================
