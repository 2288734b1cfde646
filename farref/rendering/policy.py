"""What pages that work by themselves allow: their own script and style, by their hashes (Content-Security-Policy)."""

from __future__ import annotations

import base64
import hashlib


def allowed(text: str) -> str:
    """Name a script or a style, as it stands in a page, in the policy of that page."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
