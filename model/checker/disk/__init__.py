"""The fast engine with its states on disk, for worlds beyond memory: the same levels, counts, verdicts and lengths of runs.

`search.py` is the search. It differs from `fast.py` in when it asks whether a state is new: at the end of a level, for all at
once. Until then successors lie in buckets (`buckets.py`), and what came lately is remembered in a table that forgets
(`recent.py`). A bucket has sorted runs of all fingerprints that belong to it (`runs.py`); what is in none of them is new.

After each level the books are saved (`books.py`, `leaves.py`, `folder.py`). A search that was killed, was interrupted or had no
room left goes on from the last level that was saved.

A fingerprint has 80 bits here. In a search of 10⁹ states the chance that two of them share one is below 10⁻⁶.
"""
