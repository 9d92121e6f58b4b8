"""Open the templates of what is published."""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment, FileSystemLoader


def environment(folder: Path) -> Environment:
    """Return the templates of a folder; they escape nothing: what they are given is HTML, made safe."""
    return Environment(
        loader=FileSystemLoader(folder),
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
