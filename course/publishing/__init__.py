"""Turn a notebook that was run into a deck of slides or a page: one file that opens from disk and
asks for nothing.
"""
