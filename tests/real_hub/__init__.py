"""A simulated class on a real JupyterHub: `python -m benchmarks.classroom --students 20`, as root."""
