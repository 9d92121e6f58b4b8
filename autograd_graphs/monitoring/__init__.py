"""Watch a training loop of one's own: `watching` and `watch`."""
