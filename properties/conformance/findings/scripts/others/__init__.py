"""Programs that show what was found in other systems, each of that system alone."""
