"""From what a user asks of `farref zoo` and `farref evidence` to who killed which creature, and what was visited."""
