"""Results as pages, JSON documents and drawings."""
