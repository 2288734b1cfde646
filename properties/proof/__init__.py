"""The protocols in first-order logic, and proofs that hold for any number of workers, RRefs, forks, messages and faults.

Read in this order: `rref/state.py` (what there is), `rref/steps.py` and the files it names (what can happen, one function for
each step), `rref/invariant.py` (why it is safe, in 25 clauses), `rref/safety.py` (what follows), `rref/liveness.py` (why it
ends). `window.py` and `autograd/` are smaller proofs of the same form. `induction/` says what is asked of a solver, `logic/`
and `solvers/` say how.

This is a third text of the protocol, and it imports nothing of the first two. `link/` is the exception: it lays the worlds of
the model beside the states of the proof, so that tests can compare their steps.
"""
