"""The evidence on one page: who kills what, what is visited, what was seen of real processes, and what nobody sees."""
