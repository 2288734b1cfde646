-------------------------- MODULE AbstractRefCount --------------------------
(***************************************************************************)
(* What counting references is for, without counts and without messages:   *)
(* values, the set of references to each, and one step that frees a value. *)
(* It can be freed only when there is no reference, and afterwards there   *)
(* is never one again.  A reference is made from another one, and in no    *)
(* other way.                                                              *)
(*                                                                         *)
(* RRef.tla is such a machine (RRefRefinement.tla).  So P1 is not only a   *)
(* predicate that somebody wrote: it is the guard of Free.                 *)
(***************************************************************************)
CONSTANT Values

VARIABLES
    state,   \* by value: "unborn", "alive" or "freed"
    refs     \* by value: the references to it, as forks, uses on the owner, fetches

abstractVars == <<state, refs>>

Init == state = [v \in Values |-> "unborn"] /\ refs = [v \in Values |-> {}]

\* Somebody creates the value, and has the first references to it.
Create(v) == state[v] = "unborn" /\ state'[v] = "alive" /\ refs'[v] # {}

\* References are made from others, or are given up.  What nobody refers to
\* nobody can refer to again.
Change(v) == state[v] = "alive" /\ state'[v] = "alive" /\ (refs[v] = {} => refs'[v] = {})

\* The value is freed, and nobody has a reference.
Free(v) == state[v] = "alive" /\ state'[v] = "freed" /\ refs'[v] = {}

Rest(v) == state'[v] = state[v] /\ refs'[v] = refs[v]

Next == \A v \in Values : Create(v) \/ Change(v) \/ Free(v) \/ Rest(v)

Spec == Init /\ [][Next]_abstractVars

\* A value that nobody refers to is freed in the end.  Not at once: the news has
\* to travel.
Freed == \A v \in Values : []((state[v] = "alive" /\ refs[v] = {}) => <>(state[v] = "freed"))
=============================================================================
