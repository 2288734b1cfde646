"""The one id that both protocols have: a worker's number. What a worker is called in stories, each protocol says itself."""

from typing import NewType

WorkerId = NewType("WorkerId", int)
