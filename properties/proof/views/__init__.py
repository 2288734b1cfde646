"""Members in first-order logic: who is excluded, what is then settled and buried, and when what a lost worker held may go."""
