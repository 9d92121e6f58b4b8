"""Say what fills a published file."""

from __future__ import annotations

import re

KINDS = {
    "pictures": r'"data:image/[^"]*"',
    "films": r'<script type="application/json">.*?</script>',
    "scripts": r"<script(?: type=\"module\")?>.*?</script>",
    "styles": r"<style>.*?</style>",
}


def weight(html: str) -> str:
    """Return the size of a file and of its parts: "640 kB: pictures 210, scripts 190, …"."""
    left, sizes = html, {}
    for kind, pattern in KINDS.items():
        found = re.findall(pattern, left, re.DOTALL)
        sizes[kind] = sum(len(one.encode()) for one in found)
        left = re.sub(pattern, "", left, flags=re.DOTALL)
    sizes["text"] = len(left.encode())
    parts = sorted(sizes.items(), key=lambda part: -part[1])
    return f"{kilo(len(html.encode()))} kB: " + ", ".join(
        f"{kind} {kilo(size)}" for kind, size in parts
    )


def kilo(size: int) -> int:
    return round(size / 1000)
