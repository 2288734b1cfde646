--------------------------- MODULE MCRRefInvariant ---------------------------
(* RRefInvariant.tla made finite, for TLC (Inductive.cfg).                 *)
EXTENDS MCRRef, RRefInvariant
=============================================================================
