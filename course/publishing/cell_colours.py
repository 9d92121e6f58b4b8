"""Keep the colours of tables: of the <style> that comes with a table, as pandas' Styler writes it,
and of `style` attributes, only what sets a colour, bold or slanted letters, and alignment.

A selector is read where it is one id, class or element, alone or within the id of the table.
Colours are read by tinycss2 and written anew, so nothing of the style sheet itself is published.
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
NAMED = re.compile(
    r"\b(id|class|style)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))", re.IGNORECASE
)
SELECTOR = re.compile(r"(?:#([\w-]+)\s+)?([#.]?[\w-]+)")
DARK = (0.08, 0.09, 0.11)  # the ground of the dark theme

Rules = dict[str, str]


def with_colours(html: str) -> str:
    """Return HTML whose cells carry what its style sheets say of them; `inert.clean` makes it safe."""
    rules = rules_of("\n".join(STYLE.findall(html)), html)
    return START.sub(lambda found: _styled(found, rules), html) if rules else html


def rules_of(sheet: str, html: str) -> Rules:
    """Return the declarations of a style sheet by selector: "#id", ".class" or an element."""
    made: Rules = {}
    for rule in tinycss2.parse_stylesheet(sheet, skip_comments=True, skip_whitespace=True):
        if rule.type != "qualified-rule":
            continue
        said = tinycss2.serialize(rule.content)
        for selector in tinycss2.serialize(rule.prelude).split(","):
            found = SELECTOR.fullmatch(selector.strip())
            if found and (not found[1] or re.search(rf"id=[\"']?{found[1]}\b", html)):
                made[found[2]] = f"{made.get(found[2], '')};{said}"
    return made


def _styled(found: re.Match, rules: Rules) -> str:
    """Return the beginning of an element with the rules for it in its `style`, the nearest last."""
    given = {name.lower(): unescape("".join(words)) for name, *words in NAMED.findall(found[2])}
    keys = [found[1].lower(), *(f".{name}" for name in given.get("class", "").split())]
    keys.append(f"#{given.get('id', '')}")
    said = [rules[key] for key in keys if key in rules]
    if not said:
        return found[0]
    rest = NAMED.sub(lambda one: "" if one[1].lower() == "style" else one[0], found[2])
    style = escape(";".join([*said, given.get("style", "")]))
    return f'<{found[1]} style="{style}"{rest}>'


def safe_style(style: str) -> str:
    """Return of a list of declarations what is harmless, written anew; "" where nothing is."""
    kept: dict[str, str] = {}
    ground = ink = None
    for one in tinycss2.parse_declaration_list(style, skip_comments=True, skip_whitespace=True):
        if one.type != "declaration":
            continue
        words = tinycss2.serialize(one.value).strip()
        if one.lower_name in ("background-color", "background"):
            ground = rgb(words) or ground
        elif one.lower_name == "color":
            ink = rgb(words) or ink
        elif words.lower() in WORDS.get(one.lower_name, ()):
            kept[one.lower_name] = words.lower()
    return ";".join([*colours(ground, ink), *(f"{name}:{words}" for name, words in kept.items())])


def rgb(words: str) -> tuple[float, float, float] | None:
    """Return red, green and blue from 0 to 1; None for what is no colour, or cannot be seen. Of two,
    for light and dark, the first counts: this module wrote them.
    """
    try:
        found = parse_color(re.sub(r"light-dark\((rgb\([\d,]+\)),rgb\([\d,]+\)\)", r"\1", words))
        if found is None or isinstance(found, str) or found.alpha < 0.1:
            return None
        parts = [min(max(part, 0), 1) for part in found.to("srgb")[:3]]
    except (ValueError, TypeError, AttributeError, NotImplementedError):
        return None
    red, green, blue = (part * found.alpha + 1 - found.alpha for part in parts)  # on white
    return red, green, blue


def colours(ground: tuple | None, ink: tuple | None) -> list[str]:
    """Return a ground with letters that can be read on it, or letters for a light and a dark page."""
    if ground:
        if not ink or contrast(ground, ink) < 3:
            ink = max(((0, 0, 0), (1, 1, 1)), key=lambda one: contrast(ground, one))
        return [f"background-color:{written(ground)}", f"color:{written(ink)}"]
    if not ink:
        return []
    light = towards(ink, (0, 0, 0), (1, 1, 1))
    return [f"color:light-dark({written(light)},{written(towards(light, (1, 1, 1), DARK))})"]


def towards(ink: tuple, end: tuple, ground: tuple) -> tuple:
    """Return a colour moved to another until it can be read on a ground."""
    for step in range(11):
        tried = tuple(a + (b - a) * step / 10 for a, b in zip(ink, end, strict=True))
        if contrast(tried, ground) >= 4.5:
            break
    return tried


def contrast(one: tuple, other: tuple) -> float:
    """Return the contrast of two colours as WCAG 2 defines it, from 1 to 21."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def luminance(colour: tuple) -> float:
    linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in colour]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def written(colour: tuple) -> str:
    return f"rgb({','.join(str(round(255 * part)) for part in colour)})"
