"""Several workers in one process, over a network in which nothing happens unless the caller says so."""
