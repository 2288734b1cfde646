"""What judges other people's backends, and what it has found in one."""
