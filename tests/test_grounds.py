"""On which ground a picture stands: what may be turned dark, and what needs its paper."""

import base64
import io
import struct
import zlib

import pytest
from PIL import Image

from course.publishing.grounds import grounded

OURS = b"<svg><style>@media(prefers-color-scheme:dark){.a{fill:#fff}}</style></svg>"
FOREIGN = b'<svg xmlns="http://www.w3.org/2000/svg"><text>black on nothing</text></svg>'


def png(mode, colour, spot=None):
    image = Image.new(mode, (6, 4), colour)
    if spot is not None:
        image.putpixel((5, 3), spot)
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


def too_large():
    """Return a picture that says of itself to have a billion pixels."""
    head = struct.pack(">IIBBBBB", 40_000, 40_000, 8, 2, 0, 0, 0)
    chunks = [(b"IHDR", head), (b"IDAT", zlib.compress(b"\0" * 100)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )


@pytest.mark.parametrize(
    ("kind", "data", "ground"),
    [
        ("png", png("RGB", "white"), None),
        ("png", png("RGBA", (0, 0, 0, 0)), None),
        ("png", png("P", 0), "own"),
        ("png", png("L", 250), None),
        ("png", png("RGB", (90, 120, 60)), "own"),
        ("png", png("RGB", "white", spot=(0, 0, 0)), "own"),
        ("png", png("RGB", (90, 120, 60))[:30], None),
        ("png", b"no picture", None),
        ("png", too_large(), None),
        ("svg+xml", OURS, None),
        ("svg+xml", FOREIGN, "paper"),
    ],
)
def test_a_picture_says_its_ground_where_the_dark_must_know_it(kind, data, ground):
    image = f'<img alt="a" src="data:image/{kind};base64,{base64.b64encode(data).decode()}">'
    made = grounded(f"<p>before</p>{image}<p>after</p>")
    assert made.count("<img") == 1
    assert image.removeprefix("<img") in made
    assert (f' data-ground="{ground}"' in made) if ground else ("data-ground" not in made)


def test_what_is_no_picture_stays():
    for html in (
        '<img src="beside.png">',
        "<p>data:image/png;base64,AAAA</p>",
        '<img src="data:image/png;base64,%%">',
    ):
        assert grounded(html) == html
