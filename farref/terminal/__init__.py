"""Files, streams, progress and Ctrl-C: what a command shares with the terminal it runs in."""
