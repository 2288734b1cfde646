"""TLC as an engine: the TLA+ twins of the models, checked by the TLA+ community's own checker."""
