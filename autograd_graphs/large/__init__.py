"""Fold a large graph to a few boxes."""
