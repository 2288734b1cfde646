"""An honest backend, small enough to be read at once and to be broken in one place."""
