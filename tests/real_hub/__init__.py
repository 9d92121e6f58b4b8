"""A simulated class on a real JupyterHub: `python -m real_hub --students 20`, as root."""
