"""An explicit-state checker: two engines and a random walk behind one interface, with nothing about references in them.

`interface.py` says what a model is and what a search tells; `run.py` keeps the books of any search. Then either engine:

* `reference.py` defines the truth: breadth first over the readable states, with `cycles.py` for runs that never end.
* `fast.py` does the same for a chunk of states at a time. From the state up: `shapes.py` finds the leaves of a state,
  `columns.py` packs them into rows of bits. `views.py` stand in for a state and record what is read, `footprints.py` keeps
  what each function did for what it read, `learned.py` (with `slots.py` and `chunks.py`) looks that up for many rows at
  once. `outcomes.py` turns a step into bits to flip, `orbits.py` renames interchangeable participants; `successors.py` asks
  all actions and `judges.py` all properties. `visited.py` has the fingerprints and `origins.py` how each state was found.
  `audit.py` samples what was learned against the real functions, and `ranking.py` proves that no run goes round for ever.

`walk.py` takes seeded random walks through worlds too large for either.
"""
