"""Which HTML is safe to publish: what can neither run nor fetch anything, by nh3."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from html.parser import HTMLParser

import nh3
from pygments.token import STANDARD_TYPES

from autograd_graphs.answer_card import STYLES
from course.publishing.addresses import in_words
from course.publishing.cell_colours import CELLS, safe_style

TEXT = "a abbr b blockquote br caption center code col colgroup dd del details dfn div dl dt em figcaption figure"
TEXT += " h1 h2 h3 h4 h5 h6 hr i img ins kbd li mark ol p pre q s samp small span strong sub summary sup"
TEXT += " table tbody td tfoot th thead tr u ul var"
MATH = "math mrow mi mn mo mtext mspace ms mfrac msqrt mroot msub msup msubsup munder mover munderover mtable mtr mtd"
MATH += " mpadded mphantom menclose mstyle mmultiscripts mprescripts none"
DROPPED = {"style"}  # with all that is in it: what it says of cells is kept by `cell_colours`
TAGS = set(TEXT.split()) | set(MATH.split())
SHAPES = "mathvariant stretchy fence separator accent form linethickness columnalign rowspacing"
SHAPES += " columnspacing width height depth lspace rspace minsize maxsize displaystyle scriptlevel"
SHAPES += " movablelimits largeop accentunder mathcolor"
ATTRIBUTES = {
    "*": {"title", "lang", "dir", "role", "aria-label", "aria-hidden"},
    "a": {"href"},
    "img": {"src", "alt", "width", "height"},
    "math": {"display", "xmlns", "alttext"},
    "td": {"colspan", "rowspan", "align"},
    "th": {"colspan", "rowspan", "align", "scope"},
    "ol": {"start", "type"},
    "details": {"open"},
    "table": {"border"},
    **{tag: set(SHAPES.split()) for tag in MATH.split() if tag != "math"},
}
COLOURS = {"div": {"highlight"}, "span": set(STANDARD_TYPES.values())}  # of code, by pygments
COLOUR = re.compile(r"[a-zA-Z]+|#[0-9a-fA-F]{3,8}")
# Of our cards to the letter; of cells their colours.
STYLED = {tag: ATTRIBUTES.get(tag, set()) | {"style"} for tag in ("div", "b", *CELLS)}
UNSEEN = "class id style target rel halign valign cellpadding cellspacing scoped type"
PICTURE = re.compile(r"data:image/(png|jpeg|gif|webp|svg\+xml);base64,[A-Za-z0-9+/=\s]*\Z")
IMAGE = re.compile(r"""<img((?:\s+[\w-]+="[^"]*")*)\s*/?>""")
NAMED = re.compile(r'''([\w-]+)="([^"]*)"''')
LOST = "lost:"  # before the address of a picture that is not shown
LINK = re.compile(r"(https?:|mailto:|#|[^:]*\Z)", re.IGNORECASE)


def clean(html: str, picture: Callable[[str], str | None] | None = None, *, rendered=False) -> str:
    """Return HTML with nothing left in it that runs or fetches.

    `picture` turns the address of a picture that stands in a file into one that holds it, or None.
    Only what was `rendered` from Markdown keeps the classes of coloured code.
    """

    def kept(tag: str, name: str, value: str) -> str | None:
        if tag == "img" and name == "src":
            if picture and not PICTURE.match(value):
                return picture(value) or LOST + value
            if not (PICTURE.match(value) or local(value)):
                return LOST + value
            is_safe = True
        elif name == "href":
            is_safe = LINK.match(value.strip())
        elif name == "style" and tag in CELLS and value not in STYLES:
            return safe_style(value) or None
        elif name == "style":
            is_safe = value in STYLES
        else:
            is_safe = name != "mathcolor" or COLOUR.fullmatch(value)
        return value if is_safe else None

    cleaned = nh3.clean(
        html,
        tags=TAGS,
        attributes=ATTRIBUTES | STYLED,
        attribute_filter=kept,
        clean_content_tags={"script", "template", "noscript", "iframe", "object", "svg", *DROPPED},
        url_schemes={"http", "https", "mailto", "data"},
        allowed_classes={"table": {"dataframe"}} | (COLOURS if rendered else {}),
        link_rel=None,
    )
    return IMAGE.sub(told, cleaned)


def told(image: re.Match) -> str:
    """Return an <img> as it is, or where its picture is lost what it says of itself, and why."""
    written = dict(NAMED.findall(image[1]))
    address = unescape(written.get("src", f"{LOST}file:"))
    if not address.startswith(LOST):
        return image[0]
    return in_words(unescape(written.get("alt", "")), address.removeprefix(LOST))


def local(address: str) -> bool:
    """Tell whether an address leads to a file beside the page: no scheme, no host, no root."""
    return not re.match(r"\s*([a-z][a-z0-9+.-]*:|[/\\])", address, re.IGNORECASE)


def inert(html: str) -> str | None:
    """Return HTML ready to print; None where something in it may run or fetch, or is in doubt."""
    doubts = Doubts()
    try:
        doubts.feed(html)
        doubts.close()
    except (AssertionError, ValueError):
        return None
    return None if doubts.noted else clean(html)


class Doubts(HTMLParser):
    """Note every element and attribute that is not known to be harmless."""

    def __init__(self) -> None:
        super().__init__()
        self.noted: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = ATTRIBUTES["*"] | ATTRIBUTES.get(tag, set()) | set(UNSEEN.split())
        if tag not in TAGS | DROPPED:
            self.noted.append(tag)
        for name, value in attrs:
            address = value or ""
            remote = name == "src" and not PICTURE.match(address) and not local(address)
            runs = name == "href" and not LINK.match(address.strip())
            if name not in known or remote or runs:
                self.noted.append(name)
