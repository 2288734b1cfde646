"""The threads of one worker as a pure model. Start with `model.py`, which says in which order to read."""
