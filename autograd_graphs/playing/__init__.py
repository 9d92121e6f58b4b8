"""Play recorded steps: frames, and the widget that shows them."""
