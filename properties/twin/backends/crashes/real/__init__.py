"""Crash points between real processes: a worker ends itself, or stops, at a message that it sends or takes.

The stories are those of the simulated network (`stories.py`). Here they are played by processes that run as they like, so a
message is not a step: it is where somebody is lost. `points.py` names the points, `far.py` is what runs in the workers,
`world.py` plays a story, `references.py` and `passes.py` judge what follows. One world plays all of them: whoever was lost is
started anew.
"""
