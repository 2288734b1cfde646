"""Members: what must hold of RRefs where workers are excluded, what must be able to happen, and how it is told (R35 to R46)."""
