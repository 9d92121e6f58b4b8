"""A real JupyterHub with Unix users of its own, for tests/test_classroom_hub.py. Needs root, on Linux."""
