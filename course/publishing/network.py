"""Say of trusted HTML what it asks of other machines: a published file asks none, so it stays empty."""

from __future__ import annotations

import re
from html import escape

ASKED = re.compile(
    r"""(?i)<(?:script|iframe|img|embed|video|audio|source|link)\b[^>]*?\s(?:src|href)\s*=\s*"""
    r"""["']?\s*(?:https?:)?//([^/\s"'?#>]+)"""
)
SCRIPT = re.compile(r"(?is)<script\b[^>]*>(.*?)</script")
# of a script, an address in quotes that it means to load: a file of JavaScript, or a package; not
# the beginning of the addresses of icons, which plotly.js carries
LOADED = re.compile(
    r"""["'](?:https?:)?//([^/\s"']+)/[^\s"']*(?:\.m?js|\.min|/npm/|/esm/|@\d)[^\s"']*(?<!/)["']"""
)
REQUIRED = re.compile(r"\brequire(?:js)?\(\s*\[([^\]]*)\]")
MODULE = re.compile(r"""["']([\w.-][\w./@-]*)["']""")


def missing(html: str) -> str:
    """Return what to say of trusted HTML that asks other machines; "" where it asks none."""
    code = "\n".join(SCRIPT.findall(html))
    machines = dict.fromkeys(ASKED.findall(html) + LOADED.findall(code))
    modules = dict.fromkeys(MODULE.findall(" ".join(REQUIRED.findall(code))))
    loads = []
    if machines:
        loads.append(f"something from {', '.join(machines)}")
    if modules:
        loads.append(f"{', '.join(modules)} with require.js")
    if not loads:
        return ""
    lacks = f"{' and '.join(loads)}, and this file asks no other machine, so part of it is missing"
    return f"This cell loads {lacks} here. Save it with all that it needs, or as a picture."


def note(html: str) -> str:
    """Return a paragraph that says so where trusted HTML asks other machines; "" where it asks none."""
    said = missing(html)
    return f'<p class="asks">({escape(said)})</p>\n' if said else ""
