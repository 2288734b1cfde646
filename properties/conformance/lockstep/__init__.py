"""A backend behind an adapter, driven beside the model one step at a time."""
