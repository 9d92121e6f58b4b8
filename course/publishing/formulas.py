"""Make MathML Core of a formula in TeX, as Chromium and Firefox draw it without a script.

latex2mathml writes MathML 3; what browsers do not draw of that is written as they do: limits below
words, fences as tall as their matrix, letters of other alphabets as characters of their own, rules
of arrays as classes for `formulas.css`. Alignment stays in `columnalign`, which Firefox reads and
the style sheet repeats for Chromium.
"""

from __future__ import annotations

import unicodedata
from html import unescape
from xml.etree.ElementTree import Element, tostring

from latex2mathml.converter import convert_to_element

from course.publishing.tex import Macros, Unread, plain_tex

LIMITED = {"lim", "max", "min", "sup", "inf", "det", "gcd", "Pr", "argmin", "argmax"}
BELOW = {"msub": "munder", "msup": "mover", "msubsup": "munderover"}
FENCES = {"(": ")", "[": "]", "{": "}", "|": "|", "‖": "‖"}
ACCENTS = "^~˙¨´`ˇ˘˚¯→"
ALPHABETS = {
    "bold": "BOLD",
    "italic": "ITALIC",
    "bold-italic": "BOLD ITALIC",
    "double-struck": "DOUBLE-STRUCK",
    "script": "SCRIPT",
    "fraktur": "FRAKTUR",
    "sans-serif": "SANS-SERIF",
    "monospace": "MONOSPACE",
}
THIN = "0.167em"


def mathml(tex: str, display: str, macros: Macros) -> str:
    """Return a formula as MathML, "block" or "inline"; "" for one that only defines macros.

    Raises Unread where it cannot be read.
    """
    tex = plain_tex(tex, macros)
    if not tex:
        return ""
    tree = element(tex, display)
    if any(one.get("linebreak") for one in tree[0].findall("mspace")):
        tree = element(f"\\begin{{displaylines}}{tex}\\end{{displaylines}}", display)
    for step in (spelled, fenced, limited, accented, ruled, barred, spaced):
        step(tree)
    return tostring(tree, encoding="unicode")


def element(tex: str, display: str) -> Element:
    """Return what latex2mathml makes of a formula. Raises Unread for what it does not know."""
    try:
        tree = convert_to_element(tex, display=display)
    except Exception as error:  # it raises what its parser stumbled over
        raise Unread(type(error).__name__) from None
    for one in tree.iter():
        text = one.text or ""
        if text == "&" or (text.startswith("\\") and len(text) > 1 and one.tag != "mtext"):
            raise Unread(f"{text} is not known here")
        one.text = unescape(text) or None
    return tree


def spelled(tree: Element) -> None:
    """Write letters of another alphabet as its characters: browsers read no `mathvariant`."""
    for one in tree.iter():
        alphabet = ALPHABETS.get(one.get("mathvariant", ""))
        if alphabet and one.text:
            one.text = "".join(letter(sign, alphabet) for sign in one.text)
            del one.attrib["mathvariant"]


def letter(sign: str, alphabet: str) -> str:
    """Return a letter or digit in an alphabet, as it is where that has none."""
    words = unicodedata.name(sign, "").replace("LATIN ", "").replace("GREEK ", "")
    name = words.replace(" LETTER", "")
    try:
        return unicodedata.lookup(f"MATHEMATICAL {alphabet} {name}")
    except KeyError:
        return sign


def fenced(tree: Element) -> None:
    """Put a matrix and its two fences in a row of their own, in which the fences stretch."""
    for parent in list(tree.iter()):
        for at in range(len(parent) - 3, -1, -1):
            if at + 3 > len(parent):
                continue  # a row was made of what stood there
            opened, inner, closed = parent[at : at + 3]
            if inner.tag == "mtable" and FENCES.get(opened.text or "") == closed.text:
                opened.attrib |= {"form": "prefix", "stretchy": "true", "fence": "true"}
                closed.attrib |= {"form": "postfix", "stretchy": "true", "fence": "true"}
                row = Element("mrow")
                row.extend((opened, inner, closed))
                parent[at : at + 3] = [row]


def limited(tree: Element) -> None:
    """Put limits of words below them where there is room; the browser moves them beside in a line."""
    for one in tree.iter():
        base = one[0] if one.tag in BELOW else None
        if base is None or not base.text:
            continue
        name = "".join(filter(str.isalpha, base.text))
        if base.get("movablelimits") or name in LIMITED:
            base.tag, one.tag = "mo", BELOW[one.tag]
            base.set("movablelimits", "true")


def accented(tree: Element) -> None:
    """Set accents close to what they stand on, as small as that."""
    for one in tree.iter("mover"):
        if len(one) == 2 and (one[1].text or "-") in ACCENTS:
            one.set("accent", "true")
            if one[1].text in "^~":
                one[1].set("stretchy", "false")


def ruled(tree: Element) -> None:
    """Mark the cells of arrays that have a line at their left or above them, and framed terms."""
    for table in tree.iter("mtable"):
        columns, rows = table.get("columnlines", "").split(), table.get("rowlines", "").split()
        for number, row in enumerate(table):
            for column, cell in enumerate(row):
                left = 0 < column <= len(columns) and columns[column - 1] != "none"
                above = 0 < number <= len(rows) and rows[number - 1] != "none"
                cell.set("class", " ".join(["ruled-left"] * left + ["ruled-above"] * above))
    for one in tree.iter("menclose"):
        one.tag, kind = "mrow", one.attrib.pop("notation", "")
        one.set("class", "boxed" if "box" in kind else "struck")


def barred(tree: Element) -> None:
    """Set no room around bars: they are mostly those of an absolute value or a norm."""
    for one in tree.iter("mo"):
        if one.text in ("|", "‖"):
            one.attrib |= {"lspace": "0", "rspace": "0"}


def spaced(tree: Element) -> None:
    """Set a word such as "log" upright, a thin space from the letters around it."""
    for parent in list(tree.iter()):
        if parent.tag not in ("mrow", "mtd", "mstyle"):
            continue
        for at in range(len(parent) - 1, -1, -1):
            if not is_word(parent[at]):
                continue
            if at + 1 < len(parent) and parent[at + 1].tag != "mo":
                parent.insert(at + 1, Element("mspace", width=THIN))
            if at and parent[at - 1].tag not in ("mo", "mspace", "mtext"):
                parent.insert(at, Element("mspace", width=THIN))


def is_word(one: Element) -> bool:
    """Tell whether this is the name of an operator, with its limits or without; write it as one."""
    base = one[0] if one.tag in (*BELOW, *BELOW.values()) and len(one) else one
    text = (base.text or "").replace("*", "\u2009")
    if base.tag not in ("mi", "mo") or len(text) < 2 or not text[0].isascii():
        return False
    if not text.replace("\u2009", "").isalpha():
        return False
    base.text = text
    if base.tag == "mo":
        base.attrib |= {"lspace": "0", "rspace": "0"}
    return True
