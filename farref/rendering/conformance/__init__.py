"""Renderings of conformance reports. Each is a pure function of the document (`properties/conformance/kit/document.py`)."""
