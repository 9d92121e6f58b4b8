"""Lead links to what is published of notebooks, and take pictures into the file."""

from __future__ import annotations

import base64
import os
import re
from html import escape, unescape
from pathlib import Path
from urllib.parse import unquote

PICTURE = re.compile(  # a script may write one: it stays as it is
    r"""(?P<script><script\b.*?</script\s*>)|
    (?P<before><img\b[^>]*?\ssrc=)
    (?:"(?P<double>[^">]*)"|'(?P<single>[^'>]*)'|(?P<bare>[^\s"'>]+))(?P<after>[^>]*>)""",
    re.DOTALL | re.IGNORECASE | re.VERBOSE,
)
PICTURES = {".png": "png", ".gif": "gif", ".webp": "webp", ".svg": "svg+xml"}
PICTURES |= {".jpeg": "jpeg", ".jpg": "jpeg"}


def led_to_pages(html: str) -> str:
    """Let links to notebooks lead to what is published of them."""
    return re.sub(r'(<a [^>]*href="(?!\w+:)[^":]*)\.ipynb(?=["#])', r"\1.html", html)


def with_pictures(html: str, folder: Path) -> str:
    """Return trusted HTML with the pictures of `folder` in it; one that is not there is named."""

    def held(picture: re.Match) -> str:
        address = unescape(picture["double"] or picture["single"] or picture["bare"] or "")
        if not address or re.match(r"\s*([a-z][a-z0-9+.-]*:|//)", address, re.IGNORECASE):
            return picture[0]
        data = embedded(address, folder)
        if data is None:
            said = f"(The picture {unquote(address)} was not found beside the notebook.)"
            return f"<em>{escape(said)}</em>"
        return f'{picture["before"]}"{data}"{picture["after"]}'

    return PICTURE.sub(held, html)


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
