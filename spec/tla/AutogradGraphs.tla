--------------------------- MODULE AutogradGraphs ---------------------------
\* The graphs that have a name.  Written by farref/tlc/autograd.py.
EXTENDS Integers, TLC

LocalGraphs == <<
    [pairs |-> <<>>,
     flows |-> {
        [entry |-> <<"root", 0>>, exit |-> <<"leaf", 0>>, weight |-> 2]},
     roots |-> {0}]
>>

ChainGraphs == <<
    [pairs |-> (0 :> [source |-> 1, target |-> 0]),
     flows |-> {
        [entry |-> <<"root", 0>>, exit |-> <<"recv", 0>>, weight |-> 2],
        [entry |-> <<"send", 0>>, exit |-> <<"leaf", 1>>, weight |-> 3]},
     roots |-> {0}]
>>

ThereAndBackGraphs == <<
    [pairs |-> (0 :> [source |-> 0, target |-> 1] @@ 1 :> [source |-> 1, target |-> 0]),
     flows |-> {
        [entry |-> <<"root", 0>>, exit |-> <<"recv", 1>>, weight |-> 2],
        [entry |-> <<"send", 1>>, exit |-> <<"recv", 0>>, weight |-> 3],
        [entry |-> <<"send", 1>>, exit |-> <<"leaf", 1>>, weight |-> 5],
        [entry |-> <<"send", 0>>, exit |-> <<"leaf", 0>>, weight |-> 7]},
     roots |-> {0}]
>>

DiamondGraphs == <<
    [pairs |-> (0 :> [source |-> 1, target |-> 0] @@ 1 :> [source |-> 1, target |-> 0]),
     flows |-> {
        [entry |-> <<"root", 0>>, exit |-> <<"recv", 0>>, weight |-> 2],
        [entry |-> <<"root", 0>>, exit |-> <<"recv", 1>>, weight |-> 3],
        [entry |-> <<"send", 0>>, exit |-> <<"leaf", 1>>, weight |-> 5],
        [entry |-> <<"send", 1>>, exit |-> <<"leaf", 1>>, weight |-> 7]},
     roots |-> {0}]
>>

SelfGraphs == <<
    [pairs |-> (0 :> [source |-> 0, target |-> 0] @@ 1 :> [source |-> 0, target |-> 0]),
     flows |-> {
        [entry |-> <<"root", 0>>, exit |-> <<"recv", 1>>, weight |-> 2],
        [entry |-> <<"send", 1>>, exit |-> <<"recv", 0>>, weight |-> 3],
        [entry |-> <<"send", 0>>, exit |-> <<"leaf", 0>>, weight |-> 5]},
     roots |-> {0}]
>>

RelayGraphs == <<
    [pairs |-> (0 :> [source |-> 0, target |-> 1] @@ 1 :> [source |-> 1, target |-> 2] @@ 2 :> [source |-> 2, target |-> 1] @@ 3 :> [source |-> 1, target |-> 0]),
     flows |-> {
        [entry |-> <<"root", 0>>, exit |-> <<"recv", 3>>, weight |-> 2],
        [entry |-> <<"send", 3>>, exit |-> <<"recv", 2>>, weight |-> 3],
        [entry |-> <<"send", 2>>, exit |-> <<"recv", 1>>, weight |-> 5],
        [entry |-> <<"send", 1>>, exit |-> <<"recv", 0>>, weight |-> 7],
        [entry |-> <<"send", 0>>, exit |-> <<"leaf", 0>>, weight |-> 11]},
     roots |-> {0}]
>>

TwoBranchesGraphs == <<
    [pairs |-> (0 :> [source |-> 1, target |-> 0] @@ 1 :> [source |-> 2, target |-> 0]),
     flows |-> {
        [entry |-> <<"root", 0>>, exit |-> <<"recv", 0>>, weight |-> 2],
        [entry |-> <<"root", 0>>, exit |-> <<"recv", 1>>, weight |-> 3],
        [entry |-> <<"send", 0>>, exit |-> <<"leaf", 1>>, weight |-> 5],
        [entry |-> <<"send", 1>>, exit |-> <<"leaf", 2>>, weight |-> 7]},
     roots |-> {0}]
>>

TwoReturnsGraphs == <<
    [pairs |-> (0 :> [source |-> 0, target |-> 1] @@ 1 :> [source |-> 1, target |-> 0] @@ 2 :> [source |-> 0, target |-> 2] @@ 3 :> [source |-> 2, target |-> 0]),
     flows |-> {
        [entry |-> <<"root", 0>>, exit |-> <<"recv", 1>>, weight |-> 2],
        [entry |-> <<"root", 0>>, exit |-> <<"recv", 3>>, weight |-> 3],
        [entry |-> <<"send", 1>>, exit |-> <<"recv", 0>>, weight |-> 5],
        [entry |-> <<"send", 3>>, exit |-> <<"recv", 2>>, weight |-> 7],
        [entry |-> <<"send", 0>>, exit |-> <<"leaf", 0>>, weight |-> 11],
        [entry |-> <<"send", 2>>, exit |-> <<"leaf", 0>>, weight |-> 13]},
     roots |-> {0}]
>>

TwoStartersGraphs == <<
    [pairs |-> (0 :> [source |-> 0, target |-> 1] @@ 1 :> [source |-> 1, target |-> 0]),
     flows |-> {
        [entry |-> <<"root", 0>>, exit |-> <<"recv", 1>>, weight |-> 2],
        [entry |-> <<"send", 1>>, exit |-> <<"recv", 0>>, weight |-> 3],
        [entry |-> <<"send", 1>>, exit |-> <<"leaf", 1>>, weight |-> 5],
        [entry |-> <<"send", 0>>, exit |-> <<"leaf", 0>>, weight |-> 7],
        [entry |-> <<"root", 1>>, exit |-> <<"recv", 0>>, weight |-> 11]},
     roots |-> {0, 1}]
>>

UnusedCallGraphs == <<
    [pairs |-> (0 :> [source |-> 0, target |-> 1]),
     flows |-> {
        [entry |-> <<"root", 0>>, exit |-> <<"leaf", 0>>, weight |-> 2],
        [entry |-> <<"send", 0>>, exit |-> <<"leaf", 0>>, weight |-> 3]},
     roots |-> {0}]
>>

UnusedResultGraphs == <<
    [pairs |-> (0 :> [source |-> 1, target |-> 0] @@ 1 :> [source |-> 1, target |-> 0]),
     flows |-> {
        [entry |-> <<"root", 0>>, exit |-> <<"recv", 0>>, weight |-> 2],
        [entry |-> <<"send", 0>>, exit |-> <<"leaf", 1>>, weight |-> 3],
        [entry |-> <<"send", 1>>, exit |-> <<"leaf", 1>>, weight |-> 5]},
     roots |-> {0}]
>>

UnusedElsewhereGraphs == <<
    [pairs |-> (0 :> [source |-> 1, target |-> 0] @@ 1 :> [source |-> 2, target |-> 0]),
     flows |-> {
        [entry |-> <<"root", 0>>, exit |-> <<"recv", 0>>, weight |-> 2],
        [entry |-> <<"send", 0>>, exit |-> <<"leaf", 1>>, weight |-> 3],
        [entry |-> <<"send", 1>>, exit |-> <<"leaf", 2>>, weight |-> 5]},
     roots |-> {0}]
>>

IgnoredArgumentGraphs == <<
    [pairs |-> (0 :> [source |-> 0, target |-> 1] @@ 1 :> [source |-> 1, target |-> 0]),
     flows |-> {
        [entry |-> <<"root", 0>>, exit |-> <<"recv", 1>>, weight |-> 2],
        [entry |-> <<"send", 1>>, exit |-> <<"leaf", 1>>, weight |-> 3],
        [entry |-> <<"send", 0>>, exit |-> <<"leaf", 0>>, weight |-> 5]},
     roots |-> {0}]
>>

HiddenPathGraphs == <<
    [pairs |-> (0 :> [source |-> 1, target |-> 2] @@ 1 :> [source |-> 2, target |-> 0] @@ 2 :> [source |-> 2, target |-> 0] @@ 3 :> [source |-> 1, target |-> 0]),
     flows |-> {
        [entry |-> <<"root", 0>>, exit |-> <<"recv", 1>>, weight |-> 2],
        [entry |-> <<"root", 0>>, exit |-> <<"recv", 3>>, weight |-> 3],
        [entry |-> <<"send", 1>>, exit |-> <<"recv", 0>>, weight |-> 5],
        [entry |-> <<"send", 2>>, exit |-> <<"recv", 0>>, weight |-> 7],
        [entry |-> <<"send", 0>>, exit |-> <<"leaf", 1>>, weight |-> 11],
        [entry |-> <<"send", 3>>, exit |-> <<"leaf", 1>>, weight |-> 13]},
     roots |-> {0}]
>>

HalfUsedGraphs == <<
    [pairs |-> (0 :> [source |-> 0, target |-> 1] @@ 1 :> [source |-> 1, target |-> 0] @@ 2 :> [source |-> 1, target |-> 0]),
     flows |-> {
        [entry |-> <<"root", 0>>, exit |-> <<"recv", 1>>, weight |-> 2],
        [entry |-> <<"root", 0>>, exit |-> <<"leaf", 0>>, weight |-> 3],
        [entry |-> <<"send", 1>>, exit |-> <<"recv", 0>>, weight |-> 5],
        [entry |-> <<"send", 2>>, exit |-> <<"recv", 0>>, weight |-> 7],
        [entry |-> <<"send", 0>>, exit |-> <<"leaf", 0>>, weight |-> 11]},
     roots |-> {0}]
>>
=============================================================================
