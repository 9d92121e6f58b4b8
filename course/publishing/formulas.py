"""Make MathML Core of a formula in TeX, as Chromium and Firefox draw it without a script.

latex2mathml writes MathML 3. What browsers do not read of that is written as they do: letters of
other alphabets as characters, words such as "log" as operators, their limits below them. Alignment
stays in `columnalign`, which Firefox reads and the style sheet repeats for Chromium.
"""

from __future__ import annotations

import unicodedata
from html import unescape
from xml.etree.ElementTree import Element, tostring

from latex2mathml.converter import convert_to_element

from course.publishing.tex import Macros, Unread, plain_tex

LIMITED = {"lim", "max", "min", "sup", "inf", "det", "gcd", "Pr", "argmin", "argmax"}
BELOW = {"msub": "munder", "msup": "mover", "msubsup": "munderover"}
ALPHABETS = ("bold", "italic", "bold-italic", "double-struck", "script", "fraktur")
ALPHABETS += ("sans-serif", "monospace")
THIN = "0.167em"


def mathml(tex: str, display: str, macros: Macros) -> str:
    """Return a formula as MathML, "block" or "inline"; "" for one that only defines macros.

    Raises Unread where it cannot be read.
    """
    tex = plain_tex(tex, macros)
    if not tex:
        return ""
    tree = element(tex, display)
    if any(space.get("linebreak") for space in tree[0].findall("mspace")):
        tree = element(f"\\begin{{displaylines}}{tex}\\end{{displaylines}}", display)
    for part in tree.iter():
        spell(part)
        set_word(part)
        set_limits(part)
    return tostring(tree, encoding="unicode")


def element(tex: str, display: str) -> Element:
    """Return what latex2mathml makes of a formula. Raises Unread for what it does not know."""
    try:
        tree = convert_to_element(tex, display=display)
    except Exception as error:  # it raises what its parser stumbled over
        raise Unread(type(error).__name__) from None
    for part in tree.iter():
        text = part.text or ""
        if text == "&" or (text.startswith("\\") and len(text) > 1 and part.tag != "mtext"):
            raise Unread(f"{text} is not known here")
        part.text = unescape(text) or None
    return tree


def spell(part: Element) -> None:
    """Write letters of another alphabet as its characters: browsers read no `mathvariant`."""
    alphabet = part.get("mathvariant")
    if alphabet in ALPHABETS and part.text:
        called = alphabet.upper().replace("BOLD-", "BOLD ")  # by Unicode
        part.text = "".join(letter(sign, called) for sign in part.text)
        del part.attrib["mathvariant"]


def letter(sign: str, alphabet: str) -> str:
    """Return a letter or digit in an alphabet, as it is where that has none."""
    name = unicodedata.name(sign, "").replace("LATIN ", "").replace("GREEK ", "")
    try:
        return unicodedata.lookup(f"MATHEMATICAL {alphabet} {name.replace(' LETTER', '')}")
    except KeyError:
        return sign


def set_word(part: Element) -> None:
    """Set a word such as "log" upright, a thin space from what stands around it."""
    text = part.text or ""
    word = text.replace("*", "")
    if part.tag in ("mi", "mo") and len(word) > 1 and word.isascii() and word.isalpha():
        part.tag, part.text = "mo", text.replace("*", "\u2009")
        part.attrib |= {"lspace": THIN, "rspace": THIN}


def set_limits(part: Element) -> None:
    """Put limits of words below them where there is room; the browser moves them beside in a line."""
    if part.tag not in BELOW or not part[0].text:
        return
    name = "".join(filter(str.isalpha, part[0].text))
    if part[0].get("movablelimits") or name in LIMITED:
        part.tag, part[0].tag = BELOW[part.tag], "mo"
        part[0].set("movablelimits", "true")
