"""Draw a graph: where each card, wire and word goes, and how it looks."""
