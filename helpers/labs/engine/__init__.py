"""Explore a small world of real tensors, and make its map a lab."""
