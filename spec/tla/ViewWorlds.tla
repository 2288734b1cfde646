----------------------------- MODULE ViewWorlds -----------------------------
\* The worlds that are looked at.  Written by farref/tlc/views.py.
CONSTANTS B, A, C

TheWorlds == <<
    [users |-> {A, C}, joiners |-> {}, losable |-> {A, C}, kinds |-> {"Call"}, rules |-> {"refusesTheExcluded", "failsCreationOfTheExcluded", "settlesWhatCameFromTheExcluded", "everybodySettles", "sameView", "waitsUntilSettled", "childrenWaitToo"}, story |-> <<>>, forks |-> 2, views |-> 1, drops |-> 0, copies |-> 0, fetches |-> 0, ownerShares |-> FALSE]
>>
=============================================================================
