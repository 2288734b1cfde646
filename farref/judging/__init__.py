"""From what a user asks of `farref conform` to reports."""
