"""Wrong on purpose: implementations and backends with one mistake each, to show that mistakes are seen."""
