"""farref.impl between real processes, as the kit judges it."""
