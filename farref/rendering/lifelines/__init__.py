"""The drawing of lifelines and arrows, which every sequence diagram uses."""
