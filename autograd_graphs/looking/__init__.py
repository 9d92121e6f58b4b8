"""Look at live tensors and nodes without disturbing them."""
