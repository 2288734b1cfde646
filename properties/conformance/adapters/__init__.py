"""The adapters that ship with farref, a folder for each backend."""
