"""Say of trusted HTML what it asks of other machines: a published file asks none, so it stays empty."""

from __future__ import annotations

import re
from html import escape
from html.parser import HTMLParser

REMOTE = re.compile(r"\s*(?:https?:)?//([^/\s\"'?#]+)", re.IGNORECASE)
# of a script, an address in quotes that it means to load: a file of JavaScript, or a package
LOADED = re.compile(
    r"""["'](?:https?:)?//([^/\s"']+)/[^\s"']*(?:\.m?js|\.min|/npm/|/esm/|@\d)[^\s"']*["']"""
)
LOADS = {"script": "src", "iframe": "src", "img": "src", "link": "href", "embed": "src"}


class Wanted(HTMLParser):
    """Note the machines from which HTML would load a script, a style, a picture or a frame."""

    def __init__(self) -> None:
        super().__init__()
        self.machines: dict[str, None] = {}
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
        if self.in_script:
            for machine in LOADED.findall(data):
                self.machines[machine] = None


def machines_asked(html: str) -> list[str]:
    """Return the names of the machines that HTML asks for something, in order, each once."""
    wanted = Wanted()
    wanted.feed(html)
    wanted.close()
    return list(wanted.machines)


def with_note(html: str) -> str:
    """Return trusted HTML, with a sentence below it where it asks another machine for something."""
    machines = machines_asked(html)
    if not machines:
        return html
    return f"{html}\n<p>({escape(needs(machines))})</p>"


def needs(machines: list[str]) -> str:
    """Return what to say of an output that asks these machines."""
    return (
        f"This output loads something from {', '.join(machines)}, and this file asks no other "
        "machine, so part of it is missing here. Save the output with all it needs, or as a picture."
    )
