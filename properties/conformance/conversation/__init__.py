"""Talking to an adapter, which is a process of its own, in lines of JSON."""
