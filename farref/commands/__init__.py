"""The commands of farref: what each takes from the user, and what it ends with."""
