---------------------------- MODULE MCRRefViews -----------------------------
(***************************************************************************)
(* RRefViews.tla made finite, for TLC.  ViewWorlds.tla has the worlds; it  *)
(* and Views.cfg are written by farref/tlc/views.py.  By hand:             *)
(*   java -cp tla2tools.jar tlc2.TLC -deadlock -config Views.cfg MCRRefViews *)
(***************************************************************************)
EXTENDS RRefViews, ViewWorlds, TLC

Alike == Permutations(Users)

TypeOK ==
    /\ DOMAIN world = DOMAIN Empty
    /\ world.at \in DOMAIN Worlds
    /\ world.entry.phase \in {"absent", "expected", "ready", "gone"}
    /\ world.entry.held \in {"no", "held", "waiting"}
    /\ Len(world.minted) <= W(world).forks /\ Newest(world) <= W(world).views
    /\ \A w \in Workers : \A f \in DOMAIN world.table[w] :
           LET r == world.table[w][f]
           IN  /\ f \in DOMAIN world.minted /\ world.minted[f].holder = w
               /\ r.phase \in {"pending", "confirmed"} /\ r.handle \in {"none", "parked", "held"}
    /\ \A l \in Links : IsABag(world.link[l])

-----------------------------------------------------------------------------
(* A story is a search that is led to one place, for what needs too large  *)
(* a world otherwise.  One creates the RRef and shares it with two, who    *)
(* shares it with three; both are pending, and the owner hears of neither  *)
(* in the story.  Then one is excluded, and after it two.  If one is       *)
(* buried without two having settled, the owner drops what three holds     *)
(* (R40).  Nobody lets go, so nothing else can make the entry go.          *)

IsPrefix(short, long) == Len(short) <= Len(long) /\ \A i \in DOMAIN short : short[i] = long[i]

InStory(story) ==
    LET fork(minter, holder, parent) == [minter |-> minter, holder |-> holder, parent |-> parent]
        lineage == <<fork(story[1], story[1], 0), fork(story[1], story[2], 1), fork(story[2], story[3], 2)>>
    IN  /\ IsPrefix(world.minted, lineage)
        /\ IsPrefix(world.auth.lost, <<{story[1]}, {story[1], story[2]}>>)
        /\ Newest(world) > 0 => DOMAIN world.table[story[3]] = {3} /\ world.entry.phase # "absent"
        /\ world.entry.forks \subseteq {<<1, story[1]>>}
        /\ \A w \in Workers : \A f \in DOMAIN world.table[w] : world.table[w][f].handle # "none"

-----------------------------------------------------------------------------
(* Survey never fails.  It prints what is broken in which world, once, and *)
(* a world in which something is broken is not searched any further.  Of a *)
(* story only the first promise is looked at: the others break sooner.     *)

Surveyed == <<"NothingIsDroppedEarly", "BuriedAreHeardByNobody", "NothingIsNamedAgain", "NothingIsLeft",
              "EverybodyIsBuried">>
ASSUME \A i \in DOMAIN Worlds : TLCSet(i, FALSE)

Note(i, holds) == holds \/ (TLCSet(world.at, TRUE) /\ PrintT(<<"broken", world.at, Surveyed[i]>>))
Survey ==
    \/ TLCGet(world.at)
    \/ IF W(world).story # <<>> THEN Note(1, NothingIsDroppedEarly)
       ELSE /\ Note(1, NothingIsDroppedEarly) /\ Note(2, BuriedAreHeardByNobody)
            /\ Note(3, NothingIsNamedAgain) /\ Note(4, NothingIsLeft) /\ Note(5, EverybodyIsBuried)

IsOpen == ~TLCGet(world.at) /\ (W(world).story # <<>> => InStory(W(world).story))
=============================================================================
