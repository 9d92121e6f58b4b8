"""Record one real backward, step by step."""
