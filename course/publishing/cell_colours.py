"""Keep the colours of tables: of the <style> that comes with a table, as pandas' Styler writes it,
and of `style` attributes, only what sets a colour, bold or slanted letters, and alignment.

A selector is read where it is one id, class or element, alone or within the id of the table. What
is no colour for tinycss2 goes. The style sheet puts such a table on white, as it was meant.
"""

from __future__ import annotations

import re
from html import escape, unescape

import tinycss2
from tinycss2.color4 import parse_color

CELLS = ("table", "caption", "thead", "tbody", "tr", "th", "td")
WORDS = {
    "font-weight": {"bold", "bolder", "normal", "600", "700", "800", "900"},
    "font-style": {"italic", "normal"},
    "text-align": {"right", "center"},  # cells begin at the left as it is
    "text-decoration": {"underline", "line-through"},
}
START = re.compile(rf"<({'|'.join(CELLS)})\b((?:[^>\"']|\"[^\"]*\"|'[^']*')*)>", re.IGNORECASE)
STYLE = re.compile(r"<style\b[^>]*>(.*?)</style\s*>", re.DOTALL | re.IGNORECASE)
NAMED = re.compile(r"(?i)\b(id|class|style)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))")
SELECTOR = re.compile(r"(?:#([\w-]+)\s+)?([#.]?[\w-]+)")
COLOURS = ("background", "color")

Rules = dict[str, str]


def with_colours(html: str) -> str:
    """Return HTML whose cells carry what its style sheets say of them; `inert.clean` makes it safe."""
    rules = rules_of("\n".join(STYLE.findall(html)), html)
    return START.sub(lambda start: _styled(start, rules), html) if rules else html


def rules_of(sheet: str, html: str) -> Rules:
    """Return the declarations of a style sheet by selector: "#id", ".class" or an element."""
    made: Rules = {}
    for rule in tinycss2.parse_stylesheet(sheet, skip_comments=True, skip_whitespace=True):
        if rule.type != "qualified-rule":
            continue
        said = tinycss2.serialize(rule.content)
        for selector in tinycss2.serialize(rule.prelude).split(","):
            match = SELECTOR.fullmatch(selector.strip())
            if match and (not match[1] or re.search(rf"id=[\"']?{match[1]}\b", html)):
                made[match[2]] = f"{made.get(match[2], '')};{said}"
    return made


def _styled(start: re.Match, rules: Rules) -> str:
    """Return the beginning of an element with the rules for it in its `style`, the nearest last."""
    given = {name.lower(): unescape("".join(words)) for name, *words in NAMED.findall(start[2])}
    keys = [start[1].lower(), *(f".{name}" for name in given.get("class", "").split())]
    keys.append(f"#{given.get('id', '')}")
    said = [rules[key] for key in keys if key in rules]
    if not said:
        return start[0]
    rest = NAMED.sub(lambda match: "" if match[1].lower() == "style" else match[0], start[2])
    style = escape(";".join([*said, given.get("style", "")]))
    return f'<{start[1]} style="{style}"{rest}>'


def safe_style(style: str) -> str:
    """Return of a list of declarations what is harmless, written anew; "" where nothing is."""
    kept: dict[str, str] = {}
    for rule in tinycss2.parse_declaration_list(style, skip_comments=True, skip_whitespace=True):
        if rule.type != "declaration":
            continue
        name = rule.lower_name.replace("background-color", "background")
        words = tinycss2.serialize(rule.value).strip().lower()
        if words in WORDS.get(name, ()) or (name in COLOURS and is_colour(words)):
            kept[name] = words
    return ";".join(f"{name}:{words}" for name, words in kept.items())


def is_colour(words: str) -> bool:
    """Tell whether these words are a colour that can be seen."""
    try:
        colour = parse_color(words)
        return colour is not None and (colour == "currentcolor" or colour.alpha >= 0.1)
    except (ValueError, TypeError, AttributeError, NotImplementedError):
        return False
