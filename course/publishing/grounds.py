"""Tell a dark theme on which ground a picture stands: on paper, on its own, or on none."""

from __future__ import annotations

import base64
import binascii
import io
import re
import warnings

from PIL import Image  # which matplotlib brings

PICTURE = re.compile(r'<img(?=[^>]* src="data:image/(png|svg\+xml);base64,([^"]+)")')
WHITE = 230  # of 255: what is lighter is paper
CLEAR = 25  # of 255: what is less opaque is none
FOLLOWS = b"prefers-color-scheme"  # a drawing that knows both themes


def grounded(html: str) -> str:
    """Return HTML whose pictures say a `data-ground`: "own" where none is white, or "paper"."""
    return PICTURE.sub(_with_ground, html)


def _with_ground(picture: re.Match) -> str:
    try:
        data = base64.b64decode(picture[2])
    except (binascii.Error, ValueError):
        return picture[0]
    if picture[1] == "png":
        ground, needs_none = "own", is_on_white(data)
    else:
        ground, needs_none = "paper", FOLLOWS in data
    if needs_none:
        return picture[0]
    return f'{picture[0]} data-ground="{ground}"'


def is_on_white(png: bytes) -> bool:
    """Tell whether all corners of a picture are white or clear; True of what cannot be read."""
    try:
        with warnings.catch_warnings(), Image.open(io.BytesIO(png), formats=["PNG"]) as image:
            warnings.simplefilter("error")  # of pictures too large to be opened
            pixels = image.convert("RGBA")
    except (OSError, ValueError, SyntaxError, Warning, Image.DecompressionBombError):
        return True
    right, bottom = pixels.width - 1, pixels.height - 1
    corners = map(pixels.getpixel, [(0, 0), (0, bottom), (right, 0), (right, bottom)])
    return all(alpha < CLEAR or min(colour) > WHITE for *colour, alpha in corners)
