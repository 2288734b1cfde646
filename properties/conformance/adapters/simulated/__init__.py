"""The core of farref.impl on its simulated network, as the kit judges it."""
