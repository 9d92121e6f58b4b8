"""What every picture owes to whoever opens it: bounded, well-formed, nothing in it that runs or
fetches.
"""

from __future__ import annotations

import json
import re
import tempfile
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path

from autograd_graphs.drawing.svg import IN_LAB
from helpers import Picture

SVG = "{http://www.w3.org/2000/svg}"
MOST = 2_000_000  # bytes of each form
SHAPES = {
    *("svg", "style", "title", "desc", "g", "rect", "circle", "path", "polygon", "text", "tspan")
}
LOADING = re.compile(r"url|@import|[<\\]", re.I)
INERT = {"img": {"alt", "src"}, "details": set(), "summary": set(), "pre": set()}


def demand_inert(picture: Picture) -> None:
    """Assert all that a picture promises, whatever is in it."""
    for form in (picture.svg, picture.text):
        assert len(form.encode("utf-8")) <= MOST
    demand_inert_svg(picture.svg)
    bundle, _ = picture._repr_mimebundle_()
    json.dumps(bundle, ensure_ascii=False).encode("utf-8")
    assert bundle["text/html"].startswith(IN_LAB), "the only rule, and always the same"
    Inert().feed(bundle["text/html"].removeprefix(IN_LAB))
    with tempfile.TemporaryDirectory() as folder:
        for ending, form in ((".svg", picture.svg), (".txt", picture.text + "\n")):
            path = picture.save(Path(folder) / f"picture{ending}")
            assert path.read_text(encoding="utf-8") == form


def demand_inert_svg(source: str) -> None:
    for element in ET.fromstring(source).iter():
        assert element.tag.removeprefix(SVG) in SHAPES
        if element.tag == f"{SVG}style":
            assert not LOADING.search(element.text)
        for name, value in element.attrib.items():
            assert not name.lower().startswith("on")
            assert "href" not in name.lower()
            assert "url(" not in value.lower().replace(" ", "")


class Inert(HTMLParser):
    """Refuse any element or attribute that a picture has no use for."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = dict(attrs)
        assert set(names) <= INERT[tag], (tag, names)
        assert names.get("src", "data:image/svg+xml;base64,").startswith(
            "data:image/svg+xml;base64,"
        )
