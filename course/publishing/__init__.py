"""Turn a notebook that was run into a deck or a page: one file that asks for nothing."""
