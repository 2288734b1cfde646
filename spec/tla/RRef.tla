-------------------------------- MODULE RRef --------------------------------
(***************************************************************************)
(* The RRef protocol: remote references, counted by their owner.           *)
(*                                                                         *)
(* An RRef is a reference to a value on another worker.  The worker that   *)
(* has the value is its owner; every other reference to it is a fork, held *)
(* by a user.  The owner counts forks, one by one and by name, and drops   *)
(* the value once it counts none and nobody on the owner itself uses it.   *)
(*                                                                         *)
(* All the difficulty is in what the owner does not know.  A user may give *)
(* its reference to another worker without asking; a message that says "I  *)
(* hold this" may be overtaken by the one that says "I no longer do"; and  *)
(* code on the owner may be handed a reference to a value whose creation   *)
(* has not even arrived.  The protocol answers with four promises:         *)
(*                                                                         *)
(*   - The creator's fork is counted when the call that creates the value  *)
(*     arrives, before the function runs (R10, R11).                       *)
(*   - A user that shares its fork stays until the owner counts the child. *)
(*     The child asks the owner to be counted (ForkRequest); once it is,   *)
(*     it tells its parent (ChildAccept) (R16, R17, R24).                  *)
(*   - A user is deleted only when the owner counts it, so UserDelete      *)
(*     cannot overtake what it undoes (R25, R26).                          *)
(*   - An entry that was named before its creation arrived waits for that  *)
(*     creation, however few forks it counts (R21).                        *)
(*                                                                         *)
(* The network delivers in any order.  It may lose and repeat the messages *)
(* that keep the counts, so these are sent again until acknowledged, and   *)
(* take effect once (R6, R7).  Calls of user code can do neither, but can  *)
(* fail, and their sender is told (R4, R28, R29).                          *)
(*                                                                         *)
(* Every disputed point is a BOOLEAN constant.  With all of them TRUE this *)
(* is the protocol, with one FALSE a mutant, and with those FALSE that     *)
(* PyTorch does not follow it is PyTorch's.  Numbers like R10 are clauses  *)
(* of spec/rref.md.  The same protocol is written in Python in model/;     *)
(* the two have the same reachable states, step for step, and the tests    *)
(* compare them (tests/spec/test_tla.py).                                  *)
(*                                                                         *)
(* Read from here: the records of owner and user, then the handlers On...  *)
(* in both roles, then Deliver.  What must hold is in RRefProperties.tla.  *)
(***************************************************************************)
EXTENDS Integers, FiniteSets

CONSTANTS
    Workers,     \* the workers
    Nobody,      \* no worker
    RRefCount,   \* how many RRefs there are
    Owner,       \* by RRef: the worker that owns it
    ForkCount    \* how many forks of each RRef can be made

CONSTANTS        \* How much may go wrong, or be asked for.
    Drops,       \* control messages the network may lose
    Duplicates,  \* control messages it may deliver once more
    Timeouts,    \* creations and fetches the application may give up
    Fetches,     \* values it may ask for
    Failures,    \* calls that cannot be sent or understood
    Results,     \* BOOLEAN: share in results as well as in arguments
    OwnerShares, \* BOOLEAN: the owner shares as well as users
    SelfShares,  \* BOOLEAN: share with oneself as well as with others
    Ends         \* BOOLEAN: end with a graceful shutdown

CONSTANTS                      \* The rules (model/rref/rules.py), all BOOLEAN.
    RegistersOnReceipt,        \* R10: register a creation on arrival, not at its end
    RegistersAtomically,       \* R11: make entry and register creator in one step
    EntryWaitsForCreation,     \* R21: an entry named early is kept until created
    EntryCountsLocalReferences,\* R22: an entry is kept while the owner uses it
    OwnerRegistersShares,      \* R14: the owner registers a fork before sending it
    ConfirmsForksFromOwner,    \* R15: a fork received from the owner is confirmed
    AcceptsAfterConfirmation,  \* R17: a child accepts only once it is registered
    AcceptsBeforeUserCode,     \* R18: ... and before the function it came with runs
    ParentWaitsForChildren,    \* R24: a user goes only after its children accepted
    UserWaitsForConfirmation,  \* R25: a user goes only once it is registered
    FetchPinsUser,             \* R20: a user goes only after its fetch was answered
    TimeoutIsOnlyAnAnswer,     \* R27: a timeout changes no count
    WithdrawsFailedShares,     \* R28: a fork that reached nobody is withdrawn
    FailsCreationAsError,      \* R29: a creation not sent is created as an error
    ProcessesOnce,             \* R7: a control message takes effect once
    RetriesUntilAnswered       \* R6: a control message is sent until answered

VARIABLES
    owner,    \* by RRef: what its owner knows of it (R8)
    user,     \* by fork: what its holder knows of it (R9)
    holder,   \* by fork: the worker it is meant for, Nobody if not minted (R2)
    parent,   \* by fork: the fork it was made from; NoFork if made by the owner or remote()
    net,      \* what is under way, and what both ends remember of it (R3 to R7)
    budget,   \* what may still go wrong, or be asked for
    closing,  \* shutdown has begun (R32)
    repeated, \* history: a copy of a control message changed something
    app       \* what the application really has and waits for: no handler sees it

vars == <<owner, user, holder, parent, net, budget, closing, repeated, app>>

-----------------------------------------------------------------------------
(* Ids (R2).  Forks are numbered, ForkCount of them for each RRef, in the  *)
(* order in which they are minted; no number is used twice.                *)

RRefs == 0 .. RRefCount - 1
Forks == 0 .. RRefCount * ForkCount - 1
NoFork == -1

RRefOf(f) == f \div ForkCount
CreatorFork(r) == r * ForkCount    \* the first; remote() makes it, if anybody does
ForksOf(r) == CreatorFork(r) .. CreatorFork(r) + ForkCount - 1
MintedOf(r) == {f \in ForksOf(r) : holder[f] # Nobody}
NextFork(r) == CreatorFork(r) + Cardinality(MintedOf(r))

MayMint(r) == ~closing /\ NextFork(r) \in ForksOf(r)

Mint(f, w, from) ==
    /\ holder' = [holder EXCEPT ![f] = w]
    /\ parent' = [parent EXCEPT ![f] = from]

-----------------------------------------------------------------------------
(* Messages are pairs <<kind, fork>>, and the acknowledgement of one is    *)
(* <<"Ack", message>> (R4 to R7).  Those under way are a set: any of them  *)
(* may arrive next, which is delay and reordering both, and a second copy  *)
(* of one that is still under way could do nothing the first cannot.       *)

Control == {"ForkRequest", "ChildAccept", "UserDelete", "CreateFailed"}
Lossy == Control \cup {"Ack"}                    \* these can be lost and repeated
Carriers == {"RemoteCall", "Call", "Return"}     \* these can fail
Told == {"UserAccept", "RemoteFailed", "CallFailed", "FetchCall", "FetchReturn"}
ShareCarriers == IF Results THEN {"Call", "Return"} ELSE {"Call"}

Ack(m) == <<"Ack", m>>
IsControl(m) == m[1] \in Control

\* Put messages into flight; a control message is unanswered from then on (R6).
Send(n, ms) == [n EXCEPT !.flying = @ \cup ms,
                         !.unanswered = @ \cup {m \in ms : IsControl(m)}]
Take(n, m) == [n EXCEPT !.flying = @ \ {m}]
\* Remember that a control message took effect, and answer it (R7).
Answer(n, m) == [n EXCEPT !.flying = @ \cup {Ack(m)}, !.processed = @ \cup {m}]
\* Stop waiting for the answer to a control message.
Settle(n, m) == [n EXCEPT !.unanswered = @ \ {m}]

Spend(what) == budget[what] > 0 /\ budget' = [budget EXCEPT ![what] = @ - 1]

-----------------------------------------------------------------------------
(* The owner's record of an RRef (R8).  To the owner "gone" is "absent":   *)
(* the difference is history, as is the last field.                        *)

NoEntry == [
    phase |-> "absent",      \* "expected": named before its creation arrived;
                             \* "created": its function runs; "ready"; "gone"
    forks |-> {},            \* the forks it counts
    fetches |-> {},          \* the forks whose fetch waits for the value
    running |-> FALSE,       \* the function that computes the value runs
    held |-> FALSE,          \* code on the owner holds the RRef
    waiting |-> FALSE,       \* code on the owner waits for the value
    registering |-> FALSE,   \* the creator's fork is still to be registered
    duplicated |-> FALSE]    \* a second entry was made for the same RRef

Listed(e) == e.phase \in {"expected", "created", "ready"}
InUse(e) == e.running \/ e.held \/ e.waiting

\* Put an entry into the table, or go on with the one that is there.
Enter(e, phase) == [e EXCEPT !.phase = phase, !.duplicated = @ \/ e.phase = "gone"]

\* Code on the owner is given its own RRef.  A function that gets it as an
\* argument waits for the value; the entry is made if need be (R21).
Hold(e, kind) ==
    LET listed == IF Listed(e) THEN e ELSE Enter(e, "expected")
    IN  [listed EXCEPT !.held = TRUE,
                       !.waiting = @ \/ (kind = "Call" /\ listed.phase # "ready")]

\* Nobody can name the entry any more (R21, R22).
Unnamed(e) ==
    /\ Listed(e)
    /\ e.forks = {}
    /\ IF e.phase = "expected" THEN ~EntryWaitsForCreation
                               ELSE ~(InUse(e) /\ EntryCountsLocalReferences)

\* Drop the entry if it can go.
Settled(e) ==
    IF Unnamed(e)
    THEN [e EXCEPT !.phase = "gone", !.waiting = FALSE, !.fetches = {}]
    ELSE e

\* Everyone who waits for the value has it.
Served(e) == [e EXCEPT !.waiting = FALSE, !.fetches = {}]
FetchReturns(e) == {<<"FetchReturn", f>> : f \in e.fetches}

\* Count the creator's fork (R11).  Off: remember to do so.
Registered(e, f) == IF RegistersAtomically THEN [e EXCEPT !.forks = @ \cup {f}]
                                           ELSE [e EXCEPT !.registering = TRUE]
Registration(f) == IF RegistersAtomically THEN {<<"UserAccept", f>>} ELSE {}

\* The owner of r changes its record to e and sends ms; n is the network before.
OwnerDoes(r, e, n, ms) ==
    /\ owner' = [owner EXCEPT ![r] = e]
    /\ net' = Send(n, ms)
    /\ UNCHANGED user

-----------------------------------------------------------------------------
(* What the owner does when a message arrives.  Here and below n is the    *)
(* network without the message, and the last beat is what is sent.         *)

\* The creation arrives: register it, start its function (R10).
OnRemoteCall(f, n) ==
    LET e == [owner[RRefOf(f)] EXCEPT !.running = TRUE]
    IN  IF RegistersOnReceipt
        THEN OwnerDoes(RRefOf(f), Registered(Enter(e, "created"), f), n, Registration(f))
        ELSE OwnerDoes(RRefOf(f), e, n, {})

\* The creation was never sent: keep an error in place of the value (R29).
OnCreateFailed(f, n) ==
    LET e == owner[RRefOf(f)]
        entered == Served(Enter(e, "ready"))
    IN  OwnerDoes(RRefOf(f), [entered EXCEPT !.forks = @ \cup {f}], n, FetchReturns(e))

\* A user gives the owner its own RRef: hold it, accept at once (R19).
OnShareFromUserAtOwner(kind, f, n) ==
    OwnerDoes(RRefOf(f), Hold(owner[RRefOf(f)], kind), n, {<<"ChildAccept", f>>})

\* The owner gives itself the RRef: holding takes the fork's place (R19).
OnShareFromSelf(kind, f, n) ==
    LET e == Hold(owner[RRefOf(f)], kind)
    IN  OwnerDoes(RRefOf(f), Settled([e EXCEPT !.forks = @ \ {f}]), n, {})

\* A fork the owner shared reached nobody: withdraw it (R28).
OnCallFailedAtOwner(f, n) ==
    LET e == owner[RRefOf(f)]
    IN  OwnerDoes(RRefOf(f),
                  IF WithdrawsFailedShares THEN Settled([e EXCEPT !.forks = @ \ {f}]) ELSE e,
                  n, {})

\* A user holds a fork that another user made: count it (R16).
OnForkRequest(f, n) ==
    OwnerDoes(RRefOf(f), [owner[RRefOf(f)] EXCEPT !.forks = @ \cup {f}], n, {})

\* A user no longer holds its fork: stop counting it (R26).
OnUserDelete(f, n) ==
    LET e == owner[RRefOf(f)]
    IN  OwnerDoes(RRefOf(f),
                  IF f \in e.forks THEN Settled([e EXCEPT !.forks = @ \ {f}]) ELSE e,
                  n, {})

\* A user wants the value: now, or when there is one (R20).
OnFetchCall(f, n) ==
    LET e == owner[RRefOf(f)]
    IN  IF e.phase = "ready"
        THEN OwnerDoes(RRefOf(f), e, n, {<<"FetchReturn", f>>})
        ELSE OwnerDoes(RRefOf(f), [e EXCEPT !.fetches = @ \cup {f}], n, {})

-----------------------------------------------------------------------------
(* The user's record of a fork (R9).                                       *)

NoUser == [
    phase |-> "absent",     \* "pending": not known to be counted; "confirmed";
                            \* "untold": counted, but nobody said so
    handle |-> "none",      \* "parked": in a call that waits for confirmation;
                            \* "held"; "timedOut": held, but of no use
    children |-> {},        \* the forks made from this one that did not accept yet
    fetch |-> "none",       \* "waiting", or "abandoned": nobody waits any more
    owesAccept |-> FALSE]   \* will accept when its function ends

\* Nothing needs the user any more (R20, R24, R25, R26).
Free(u) ==
    /\ u.phase # "absent"
    /\ u.handle = "none"
    /\ ~u.owesAccept
    /\ u.phase = "pending" => ~UserWaitsForConfirmation
    /\ u.children # {} => ~ParentWaitsForChildren
    /\ u.fetch # "none" => ~FetchPinsUser

\* The holder of f changes its record to u and sends ms.
UserDoes(f, u, n, ms) ==
    /\ user' = [user EXCEPT ![f] = u]
    /\ net' = Send(n, ms)
    /\ UNCHANGED owner

\* The same, and deletes the user if it can go, which the owner is told (R26).
Release(f, u, n, ms) ==
    IF Free(u) THEN UserDoes(f, NoUser, n, ms \cup {<<"UserDelete", f>>})
               ELSE UserDoes(f, u, n, ms)

-----------------------------------------------------------------------------
(* What a user does when a message arrives.                                *)

\* The owner counted this fork before it sent it (R15).
OnShareFromOwner(f, n) ==
    LET phase == IF ConfirmsForksFromOwner THEN "confirmed" ELSE "untold"
    IN  UserDoes(f, [user[f] EXCEPT !.phase = phase, !.handle = "held"], n, {})

\* Another user made this fork: ask the owner to count it.  A call waits for
\* the answer, a result does not (R16).  The parent is told later (R17).
OnShareFromUser(kind, f, n) ==
    LET handle == IF kind = "Call" THEN "parked" ELSE "held"
        early == IF AcceptsAfterConfirmation THEN {} ELSE {<<"ChildAccept", f>>}
    IN  UserDoes(f, [user[f] EXCEPT !.phase = "pending", !.handle = handle],
                 n, {<<"ForkRequest", f>>} \cup early)

\* The owner counts the creator's fork (R10); also when it is an error (R29).
OnCreationConfirmed(f, n) ==
    IF user[f].phase = "pending"
    THEN Release(f, [user[f] EXCEPT !.phase = "confirmed"], n, {})
    ELSE UserDoes(f, user[f], n, {})

\* The owner counts this child: accept towards the parent, let the parked
\* call run (R17, R18).  Off: accept when that call ends.
OnForkConfirmed(f, n) ==
    LET u == user[f]
        runs == u.handle = "parked"
        owes == runs /\ AcceptsAfterConfirmation /\ ~AcceptsBeforeUserCode
        confirmed == [u EXCEPT !.phase = "confirmed",
                               !.handle = IF runs THEN "held" ELSE @,
                               !.owesAccept = owes]
        accept == IF AcceptsAfterConfirmation /\ ~owes THEN {<<"ChildAccept", f>>} ELSE {}
    IN  IF u.phase = "pending" THEN Release(f, confirmed, n, accept)
                               ELSE UserDoes(f, u, n, {})

\* The creation was never sent: have it created as an error, for the sake of
\* the forks already shared (R29).
OnRemoteFailed(f, n) ==
    UserDoes(f, user[f], n, IF FailsCreationAsError THEN {<<"CreateFailed", f>>} ELSE {})

\* A child is counted by the owner: it no longer needs its parent (R24).
OnChildAccept(child, n) ==
    LET f == parent[child]
    IN  Release(f, [user[f] EXCEPT !.children = @ \ {child}], n, {})

\* A child reached nobody: withdraw it (R28).
OnCallFailedAtUser(child, n) ==
    IF WithdrawsFailedShares THEN OnChildAccept(child, n)
                             ELSE UserDoes(parent[child], user[parent[child]], n, {})

\* The value, wanted or no longer wanted (R20).
OnFetchReturn(f, n) == Release(f, [user[f] EXCEPT !.fetch = "none"], n, {})

-----------------------------------------------------------------------------
(* Delivery: who a message is for, and what it makes them do.              *)

\* The four cases of sharing (R14 to R19).
OnShare(kind, f, n) ==
    IF holder[f] = Owner[RRefOf(f)]
    THEN IF parent[f] = NoFork THEN OnShareFromSelf(kind, f, n)
                               ELSE OnShareFromUserAtOwner(kind, f, n)
    ELSE IF parent[f] = NoFork THEN OnShareFromOwner(f, n)
                               ELSE OnShareFromUser(kind, f, n)

OnCallFailed(f, n) ==
    IF parent[f] = NoFork THEN OnCallFailedAtOwner(f, n) ELSE OnCallFailedAtUser(f, n)

OnUserCall(kind, f, n) ==
    CASE kind = "RemoteCall"         -> OnRemoteCall(f, n)
      [] kind = "UserAccept"         -> OnCreationConfirmed(f, n)
      [] kind = "RemoteFailed"       -> OnRemoteFailed(f, n)
      [] kind \in {"Call", "Return"} -> OnShare(kind, f, n)
      [] kind = "CallFailed"         -> OnCallFailed(f, n)
      [] kind = "FetchCall"          -> OnFetchCall(f, n)
      [] kind = "FetchReturn"        -> OnFetchReturn(f, n)

TakeEffect(kind, f, n) ==
    CASE kind = "ForkRequest"  -> OnForkRequest(f, n)
      [] kind = "ChildAccept"  -> OnChildAccept(f, n)
      [] kind = "UserDelete"   -> OnUserDelete(f, n)
      [] kind = "CreateFailed" -> OnCreateFailed(f, n)

\* A control message takes effect the first time, and is answered every time (R7).
OnControl(m, n) ==
    LET again == m \in n.processed
    IN  IF again /\ ProcessesOnce
        THEN net' = Answer(n, m) /\ UNCHANGED <<owner, user, repeated>>
        ELSE /\ TakeEffect(m[1], m[2], Answer(n, m))
             /\ repeated' = (repeated \/ (again /\ <<owner, user>>' # <<owner, user>>))

\* An answer is heard once; two of them mean something to the user (R6).
OnAck(m, n) ==
    CASE m \notin n.unanswered -> net' = n /\ UNCHANGED <<owner, user>>
      [] m \in n.unanswered /\ m[1] = "ForkRequest" -> OnForkConfirmed(m[2], Settle(n, m))
      [] m \in n.unanswered /\ m[1] = "CreateFailed" -> OnCreationConfirmed(m[2], Settle(n, m))
      [] OTHER -> net' = Settle(n, m) /\ UNCHANGED <<owner, user>>

Receive(m, n) ==
    /\ IF IsControl(m) THEN OnControl(m, n)
       ELSE IF m[1] = "Ack" THEN OnAck(m[2], n) /\ UNCHANGED repeated
       ELSE OnUserCall(m[1], m[2], n) /\ UNCHANGED repeated
    /\ UNCHANGED <<holder, parent, closing>>

-----------------------------------------------------------------------------
(* What the network does (R3 to R7).                                       *)

Deliver(m) == Receive(m, Take(net, m)) /\ UNCHANGED budget

\* Deliver a copy, and keep the original for later (R5).
Duplicate(m) == m[1] \in Lossy /\ Spend("duplicates") /\ Receive(m, net)

\* Lose a message (R5).
DropMessage(m) ==
    /\ m[1] \in Lossy
    /\ Spend("drops")
    /\ net' = Take(net, m)
    /\ UNCHANGED <<owner, user, holder, parent, closing, repeated>>

\* A timer fires, here once neither message nor answer is under way (R6).
Retry(m) ==
    /\ RetriesUntilAnswered
    /\ m \notin net.flying
    /\ Ack(m) \notin net.flying
    /\ net' = Send(net, {m})
    /\ UNCHANGED <<owner, user, holder, parent, budget, closing, repeated>>

\* What a call carries cannot be sent, or not be understood (R28, R29).
FailCall(m) ==
    LET failed == IF m[1] = "RemoteCall" THEN "RemoteFailed" ELSE "CallFailed"
    IN  /\ m[1] \in Carriers
        /\ Spend("failures")
        /\ net' = Send(Take(net, m), {<<failed, m[2]>>})
        /\ UNCHANGED <<owner, user, holder, parent, closing, repeated>>

-----------------------------------------------------------------------------
(* What the application does, and the functions it runs, on the owner.     *)

MayCreate(r) == ~closing /\ owner[r].phase = "absent" /\ holder[CreatorFork(r)] = Nobody

\* Wrap a value that is here: RRef(value) (R13).
CreateLocal(r) ==
    /\ MayCreate(r)
    /\ OwnerDoes(r, [owner[r] EXCEPT !.phase = "ready", !.held = TRUE], net, {})
    /\ UNCHANGED <<holder, parent, budget, closing, repeated>>

\* Run a function on oneself and keep its result: remote(self) (R12).
CreateOnSelf(r) ==
    /\ MayCreate(r)
    /\ OwnerDoes(r, [owner[r] EXCEPT !.phase = "created", !.running = TRUE, !.held = TRUE], net, {})
    /\ UNCHANGED <<holder, parent, budget, closing, repeated>>

\* The function ends: whoever waited for the value gets it (R23).  If the
\* entry went meanwhile, the value goes too; where creations are registered
\* only now, a new entry is made instead (R10).
FinishFunction(r) ==
    LET e == [owner[r] EXCEPT !.running = FALSE]
        f == CreatorFork(r)
    IN  /\ owner[r].running
        /\ IF e.phase = "created"
           THEN OwnerDoes(r, Settled(Served([e EXCEPT !.phase = "ready"])), net, FetchReturns(e))
           ELSE IF RegistersOnReceipt
           THEN OwnerDoes(r, e, net, {})
           ELSE OwnerDoes(r, Registered(Served(Enter(e, "ready")), f),
                          net, FetchReturns(e) \cup Registration(f))
        /\ UNCHANGED <<holder, parent, budget, closing, repeated>>

\* Register the creator's fork, later than the entry (R11).
RegisterCreator(r) ==
    LET f == CreatorFork(r)
    IN  /\ owner[r].registering
        /\ OwnerDoes(r, [owner[r] EXCEPT !.registering = FALSE, !.forks = @ \cup {f}],
                     net, {<<"UserAccept", f>>})
        /\ UNCHANGED <<holder, parent, budget, closing, repeated>>

\* Share with w: count the fork first, then send it (R14).
OwnerShare(r, w, kind) ==
    LET child == NextFork(r)
        e == owner[r]
    IN  /\ OwnerShares
        /\ e.held
        /\ Listed(e)
        /\ MayMint(r)
        /\ w = Owner[r] => SelfShares
        /\ Mint(child, w, NoFork)
        /\ OwnerDoes(r, IF OwnerRegistersShares THEN [e EXCEPT !.forks = @ \cup {child}] ELSE e,
                     net, {<<kind, child>>})
        /\ UNCHANGED <<budget, closing, repeated>>

\* Let go of the RRef.  A function that waits for the value cannot (R22).  What
\* is not created yet is not for this handle to remove, under any rule.
OwnerLetGo(r) ==
    LET e == [owner[r] EXCEPT !.held = FALSE]
    IN  /\ owner[r].held
        /\ ~owner[r].waiting
        /\ OwnerDoes(r, IF e.phase = "expected" \/ e.registering THEN e ELSE Settled(e), net, {})
        /\ UNCHANGED <<holder, parent, budget, closing, repeated>>

-----------------------------------------------------------------------------
(* What the application does as a user.                                    *)

\* Have the owner run a function and keep its result; the handle can be used
\* at once (R10).
CreateRemote(r, w) ==
    LET f == CreatorFork(r)
    IN  /\ MayCreate(r)
        /\ w # Owner[r]
        /\ Mint(f, w, NoFork)
        /\ UserDoes(f, [user[f] EXCEPT !.phase = "pending", !.handle = "held"],
                    net, {<<"RemoteCall", f>>})
        /\ UNCHANGED <<budget, closing, repeated>>

\* Share with w, and stay until the child has accepted (R16, R19, R24).
UserShare(f, w, kind) ==
    LET child == NextFork(RRefOf(f))
    IN  /\ user[f].handle = "held"
        /\ MayMint(RRefOf(f))
        /\ w = holder[f] => SelfShares
        /\ Mint(child, w, f)
        /\ UserDoes(f, [user[f] EXCEPT !.children = @ \cup {child}], net, {<<kind, child>>})
        /\ UNCHANGED <<budget, closing, repeated>>

\* Ask for the value: to_here() (R20).
FetchValue(f) ==
    /\ ~closing
    /\ user[f].handle = "held"
    /\ user[f].fetch = "none"
    /\ Spend("fetches")
    /\ UserDoes(f, [user[f] EXCEPT !.fetch = "waiting"], net, {<<"FetchCall", f>>})
    /\ UNCHANGED <<holder, parent, closing, repeated>>

\* Give up waiting for the value; the answer will still come (R20, R27).
AbandonFetch(f) ==
    /\ user[f].fetch = "waiting"
    /\ Spend("timeouts")
    /\ UserDoes(f, [user[f] EXCEPT !.fetch = "abandoned"], net, {})
    /\ UNCHANGED <<holder, parent, closing, repeated>>

\* Give up waiting for the creation; the handle is refused from now on.  That
\* the owner counts the fork is not known any better (R27).
TimeOutCreation(f) ==
    LET phase == IF TimeoutIsOnlyAnAnswer THEN "pending" ELSE "confirmed"
    IN  /\ user[f].phase = "pending"
        /\ user[f].handle = "held"
        /\ Spend("timeouts")
        /\ UserDoes(f, [user[f] EXCEPT !.handle = "timedOut", !.phase = phase], net, {})
        /\ UNCHANGED <<holder, parent, closing, repeated>>

\* The function that received the fork ends, and only now it accepts (R18).
EndCall(f) ==
    /\ user[f].owesAccept
    /\ Release(f, [user[f] EXCEPT !.owesAccept = FALSE], net, {<<"ChildAccept", f>>})
    /\ UNCHANGED <<holder, parent, budget, closing, repeated>>

\* Let go of the handle.  Code that runs with it, or waits for its value,
\* cannot (R26).
LetGo(f) ==
    /\ user[f].handle \in {"held", "timedOut"}
    /\ user[f].fetch # "waiting"
    /\ ~user[f].owesAccept
    /\ Release(f, [user[f] EXCEPT !.handle = "none"], net, {})
    /\ UNCHANGED <<holder, parent, budget, closing, repeated>>

\* Every worker calls shutdown(): nothing new is begun from now on (R32).
Shutdown ==
    /\ Ends
    /\ ~closing
    /\ closing' = TRUE
    /\ UNCHANGED <<owner, user, holder, parent, net, budget, repeated>>

-----------------------------------------------------------------------------
(* The application's own record: the ground truth.  It follows from what   *)
(* the application does and from what arrives, not from the flags of owner *)
(* and user; G3 says that those tell the same.                             *)

Idle == [
    holds |-> {},                       \* the RRefs that code on their owner holds
    waits |-> {},                       \* those whose value code on their owner waits for
    orphaned |-> {},                    \* those whose entry went while somebody waited
    has |-> [f \in Forks |-> "none"],   \* by fork: the handle that its holder was given
    asks |-> {}]                        \* the forks whose holder waits for the value

Holds(r) == [app EXCEPT !.holds = @ \cup {r}]
Has(f, handle) == [app EXCEPT !.has[f] = handle]
Asks(f) == [app EXCEPT !.asks = @ \cup {f}]
Answered(f) == [app EXCEPT !.asks = @ \ {f}]

\* A fork arrives: at the owner somebody holds it and, as an argument, waits for
\* its value; elsewhere a call waits until the fork is counted (R16, R21).
GivenShare(kind, f) ==
    LET r == RRefOf(f)
        waits == IF kind = "Call" /\ owner[r].phase # "ready" THEN {r} ELSE {}
    IN  IF holder[f] = Owner[r] THEN [Holds(r) EXCEPT !.waits = @ \cup waits]
        ELSE Has(f, IF kind = "Call" /\ parent[f] # NoFork THEN "parked" ELSE "held")

Given(m) ==
    CASE m[1] \in {"Call", "Return"} -> GivenShare(m[1], m[2])
      [] m[1] = "FetchReturn" -> Answered(m[2])
      [] m[1] = "Ack" /\ m[2] \in net.unanswered /\ m[2][1] = "ForkRequest" /\ app.has[m[2][2]] = "parked"
             -> Has(m[2][2], "held")
      [] OTHER -> app

\* A wait ends when the value is there (ended: the function came to its end); if
\* the entry goes first, whoever waited is orphaned for ever.
ServedOrLost(a, r, ended) ==
    LET served == IF ended \/ owner'[r].phase = "ready" THEN [a EXCEPT !.waits = @ \ {r}] ELSE a
        drops == owner[r].phase # "gone" /\ owner'[r].phase = "gone"
        lost == r \in served.waits \/ (~ended /\ owner[r].fetches # {})
    IN  IF drops /\ lost THEN [served EXCEPT !.waits = @ \ {r}, !.orphaned = @ \cup {r}] ELSE served

Receives(m) == app' = ServedOrLost(Given(m), RRefOf(IF m[1] = "Ack" THEN m[2][2] ELSE m[2]), FALSE)

-----------------------------------------------------------------------------

Init ==
    /\ owner = [r \in RRefs |-> NoEntry]
    /\ user = [f \in Forks |-> NoUser]
    /\ holder = [f \in Forks |-> Nobody]
    /\ parent = [f \in Forks |-> NoFork]
    /\ net = [flying |-> {}, unanswered |-> {}, processed |-> {}]
    /\ budget = [drops |-> Drops, duplicates |-> Duplicates, timeouts |-> Timeouts,
                 fetches |-> Fetches, failures |-> Failures]
    /\ closing = FALSE
    /\ repeated = FALSE
    /\ app = Idle

\* Steps that will be taken, whatever else happens (FairSpec).
Arrives(m) == m \in net.flying /\ Deliver(m) /\ Receives(m)
SentAgain(m) == m \in net.unanswered /\ Retry(m) /\ UNCHANGED app
FunctionEnds(r) ==
    /\ FinishFunction(r)
    /\ app' = ServedOrLost(app, r, Listed(owner[r]) \/ owner'[r].phase = "ready")
CreatorIsRegistered(r) == RegisterCreator(r) /\ UNCHANGED app
CallEnds(f) == EndCall(f) /\ UNCHANGED app
OwnerHandleGoes(r) ==
    /\ r \in app.holds \ app.waits
    /\ OwnerLetGo(r)
    /\ app' = ServedOrLost([app EXCEPT !.holds = @ \ {r}], r, FALSE)
UserHandleGoes(f) ==
    /\ f \notin app.asks /\ app.has[f] \in {"held", "timedOut"}
    /\ LetGo(f)
    /\ app' = Has(f, "none")
ShutdownBegins == Shutdown /\ UNCHANGED app

Next ==
    \/ \E r \in RRefs : CreateLocal(r) /\ app' = Holds(r)
    \/ \E r \in RRefs : CreateOnSelf(r) /\ app' = Holds(r)
    \/ \E r \in RRefs, w \in Workers : CreateRemote(r, w) /\ app' = Has(CreatorFork(r), "held")
    \/ \E r \in RRefs : FunctionEnds(r)
    \/ \E r \in RRefs : CreatorIsRegistered(r)
    \/ \E r \in RRefs, w \in Workers, kind \in ShareCarriers : OwnerShare(r, w, kind) /\ UNCHANGED app
    \/ \E r \in RRefs : OwnerHandleGoes(r)
    \/ \E f \in Forks, w \in Workers, kind \in ShareCarriers : UserShare(f, w, kind) /\ UNCHANGED app
    \/ \E f \in Forks : UserHandleGoes(f)
    \/ \E f \in Forks : FetchValue(f) /\ app' = Asks(f)
    \/ \E f \in Forks : AbandonFetch(f) /\ app' = Answered(f)
    \/ \E r \in RRefs : TimeOutCreation(CreatorFork(r)) /\ app' = Has(CreatorFork(r), "timedOut")
    \/ \E f \in Forks : CallEnds(f)
    \/ \E m \in net.flying : Arrives(m)
    \/ \E m \in net.flying : Duplicate(m) /\ Receives(m)
    \/ \E m \in net.flying : DropMessage(m) /\ UNCHANGED app
    \/ \E m \in net.unanswered : SentAgain(m)
    \/ \E m \in net.flying : FailCall(m) /\ UNCHANGED app
    \/ ShutdownBegins

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
(* Fairness, action by action: what each kind of progress rests on.        *)
(* Nothing makes the application create, share or fetch, and nothing makes *)
(* the network lose, copy or fail.  Losses are bounded here, so weak       *)
(* fairness of arrival is enough.  Without a bound it would have to be     *)
(* strong: what is sent again and again arrives (R3).                      *)

ControlMessages == Control \X Forks
Messages == ((Control \cup Carriers \cup Told) \X Forks) \cup {Ack(m) : m \in ControlMessages}

Fairness ==
    /\ \A m \in Messages : WF_vars(Arrives(m))             \* the network delivers (R3)
    /\ \A m \in ControlMessages : WF_vars(SentAgain(m))    \* timers fire (R6)
    /\ \A r \in RRefs : WF_vars(FunctionEnds(r))           \* functions end (R23)
    /\ \A r \in RRefs : WF_vars(CreatorIsRegistered(r))
    /\ \A f \in Forks : WF_vars(CallEnds(f))
    /\ \A r \in RRefs : WF_vars(OwnerHandleGoes(r))        \* the application lets go (R26)
    /\ \A f \in Forks : WF_vars(UserHandleGoes(f))
    /\ WF_vars(ShutdownBegins)                             \* and shuts down (R32)

FairSpec == Spec /\ Fairness
=============================================================================
