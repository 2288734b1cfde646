"""From what a user asks of `farref check` to what was found."""
