"""Say of trusted HTML what it asks of other machines: a published file asks none, so it stays empty."""

from __future__ import annotations

import re
from html import escape
from html.parser import HTMLParser

REMOTE = re.compile(r"\s*(?:https?:)?//([^/\s\"'?#]+)", re.IGNORECASE)
# of a script, an address in quotes that it means to load: a file of JavaScript, or a package; not
# the beginning of the addresses of icons, which plotly.js carries
LOADED = re.compile(
    r"""["'](?:https?:)?//([^/\s"']+)/[^\s"']*(?:\.m?js|\.min|/npm/|/esm/|@\d)[^\s"']*(?<!/)["']"""
)
REQUIRED = re.compile(r"\brequire(?:js)?\(\s*\[([^\]]*)\]")
MODULE = re.compile(r"""["']([\w.-][\w./@-]*)["']""")
LOADS = dict.fromkeys(("script", "iframe", "img", "embed", "video", "audio", "source"), "src")
LOADS["link"] = "href"


class Wanted(HTMLParser):
    """Note the machines from which HTML would load a script, a style, a picture, a film or a frame,
    and the modules for which its scripts ask require.js.
    """

    def __init__(self) -> None:
        super().__init__()
        self.machines: dict[str, None] = {}
        self.modules: dict[str, None] = {}
        self.in_script = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.in_script = tag == "script"
        address = dict(attrs).get(LOADS.get(tag, ""))
        remote = REMOTE.match(address or "")
        if remote:
            self.machines[remote[1]] = None

    def handle_endtag(self, tag: str) -> None:
        self.in_script = False

    def handle_data(self, data: str) -> None:
        if not self.in_script:
            return
        for machine in LOADED.findall(data):
            self.machines[machine] = None
        for names in REQUIRED.findall(data):
            self.modules |= dict.fromkeys(MODULE.findall(names))


def missing(html: str) -> str:
    """Return what to say of trusted HTML that asks other machines; "" where it asks none."""
    wanted = Wanted()
    wanted.feed(html)
    wanted.close()
    loads = []
    if wanted.machines:
        loads.append(f"something from {', '.join(wanted.machines)}")
    if wanted.modules:
        loads.append(f"{', '.join(wanted.modules)} with require.js")
    if not loads:
        return ""
    return (
        f"This cell loads {' and '.join(loads)}, and this file asks no other machine, so part of it "
        "is missing here. Save it with all that it needs, or as a picture."
    )


def note(html: str) -> str:
    """Return a paragraph that says so where trusted HTML asks other machines; "" where it asks none."""
    said = missing(html)
    return f'<p class="asks">({escape(said)})</p>\n' if said else ""
