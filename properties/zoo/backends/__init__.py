"""Backends that are kept in order to judge the kit: an honest one, and those that each break something."""
