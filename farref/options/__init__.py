"""What commands take: numbers, bounds, and the requests they make."""
