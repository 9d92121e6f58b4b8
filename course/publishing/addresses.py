"""Lead links to what is published of notebooks, and take pictures into the file."""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Iterator
from html import escape, unescape
from pathlib import Path
from urllib.parse import unquote

PICTURE = re.compile(  # a script may write one: it stays as it is
    r"""(?P<script><script\b.*?</script\s*>)|
    (?P<before><img\b[^>]*?\ssrc=)
    (?:"(?P<double>[^">]*)"|'(?P<single>[^'>]*)'|(?P<bare>[^\s"'>]+))(?P<after>[^>]*>)""",
    re.DOTALL | re.IGNORECASE | re.VERBOSE,
)
ALT = re.compile(r"""\salt=(["'])(.*?)\1""", re.DOTALL | re.IGNORECASE)
PICTURES = {".png": "png", ".gif": "gif", ".webp": "webp", ".svg": "svg+xml"}
PICTURES |= {".jpeg": "jpeg", ".jpg": "jpeg"}


def led_to_pages(html: str) -> str:
    """Let links to notebooks lead to what is published of them."""
    return re.sub(r'(<a [^>]*href="(?!\w+:)[^":]*)\.ipynb(?=["#])', r"\1.html", html)


def with_pictures(html: str, folder: Path) -> str:
    """Return trusted HTML with the pictures of `folder` in it; one that is not there is named."""

    def held(picture: re.Match) -> str:
        address = unescape(picture["double"] or picture["single"] or picture["bare"] or "")
        if not address or is_elsewhere(address):
            return picture[0]
        data = embedded(address, folder)
        if data is None:
            alt = ALT.search(picture[0])
            return in_words(unescape(alt[2]) if alt else "", address)
        return f'{picture["before"]}"{data}"{picture["after"]}'

    return PICTURE.sub(held, html)


def in_words(alt: str, address: str) -> str:
    """Return what is read in the place of a picture that is not in the file."""
    if not is_elsewhere(address):
        why = f"The picture {unquote(address)} was not found beside the notebook."
    elif re.match(r"\s*((https?:)?//|\\)", address, re.IGNORECASE):
        why = "A picture on another machine, which this file doesn't ask."
    else:
        why = "A picture of a kind that isn't shown here."
    return f"<em>{escape(f'{alt} ({why})'.strip())}</em>"


def is_elsewhere(address: str) -> bool:
    """Tell whether an address has a scheme or a machine: it leads to no file beside a notebook."""
    return bool(re.match(r"\s*([a-z][a-z0-9+.-]*:|//|\\)", address, re.IGNORECASE))


def not_held(html: str, folder: Path) -> Iterator[str]:
    """Yield the address of each picture that is on another machine, or not found in `folder`."""
    for picture in PICTURE.finditer(html):
        address = unescape(picture["double"] or picture["single"] or picture["bare"] or "")
        is_held = address.startswith("data:") or embedded(address, folder)
        if address and not is_held:
            yield address


def embedded(address: str, folder: Path) -> str | None:
    """Return a picture of the course's folder as a data: address; None for anything else."""
    try:
        path = Path(os.path.realpath(folder / unquote(address)))
        kind = PICTURES.get(path.suffix.lower())
        is_ours = Path(os.path.realpath(folder)).parent in path.parents
        if not kind or not is_ours or not path.is_file():
            return None
        return f"data:image/{kind};base64,{base64.b64encode(path.read_bytes()).decode()}"
    except (OSError, ValueError):  # no name of a file, or one that may not be read
        return None
