"""Crash points: each role of a story is lost before and after each of its steps, and what is left is held against the spec.

Start with `stories.py`, which has the stories as text. `points.py` names every point at which somebody can be lost.
`references.py` and `passes.py` take a story up to a point, lose a worker there, and judge what follows. `expected.py` says what
the tables of the others hold then, clause by clause.
"""
