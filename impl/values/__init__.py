"""Values, arrays, tensors and errors as bytes, and back (spec/wire.md, Values). Start with `codec.py`."""
