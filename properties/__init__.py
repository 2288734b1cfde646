"""What must always, sometimes and eventually hold; the known defects as claims; traces and the stories they tell."""
