--------------------------- MODULE RRefRefinement ---------------------------
(***************************************************************************)
(* RRef.tla is an AbstractRefCount: every step is one of its steps, or     *)
(* changes nothing that it knows of.                                       *)
(***************************************************************************)
EXTENDS RRefProperties

Begun(r) == owner[r].phase # "absent" \/ MintedOf(r) # {}

StateOf(r) == CASE owner[r].phase = "gone" -> "freed"
                [] owner[r].phase # "gone" /\ Begun(r) -> "alive"
                [] OTHER -> "unborn"

\* A fork whose user lives, or that travels; whoever uses the value on the owner,
\* as the application itself knows it; and a fetch under way.
RefsOf(r) ==
    {<<"fork", f>> : f \in {g \in ForksOf(r) : Lives(g) \/ app.has[g] # "none" \/ Travels(g)}}
    \cup {<<"fetch", f>> : f \in {g \in ForksOf(r) : IsFetching(g)}}
    \cup (IF owner[r].running THEN {<<"runs", r>>} ELSE {})
    \cup (IF r \in app.holds THEN {<<"holds", r>>} ELSE {})
    \cup (IF r \in app.waits THEN {<<"waits", r>>} ELSE {})

Abstract == INSTANCE AbstractRefCount WITH
    Values <- RRefs, state <- [r \in RRefs |-> StateOf(r)], refs <- [r \in RRefs |-> RefsOf(r)]

Refines == Abstract!Spec

\* With FairSpec also: what nobody refers to is freed (P3).
FreesLive == Abstract!Freed
=============================================================================
