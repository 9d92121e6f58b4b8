"""What a published file carries beside its cells: styles, scripts, and which scripts may run."""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from jinja2 import Environment, FileSystemLoader

from autograd_graphs.playing import player
from autograd_graphs.playing.stylesheet import colours
from course.publishing.notebook_file import Unpublishable
from helpers.clinic import filter_box
from helpers.predicting import prediction

TEMPLATES = Path(__file__).parent / "templates"
DECK = TEMPLATES / "deck"
SHARED = TEMPLATES / "shared"
NOTHING = "default-src 'none'; img-src data:; font-src data:; style-src 'unsafe-inline'"
NOTHING += "; base-uri 'none'; form-action 'none'"
STYLED = {"deck": ["deck", "paper"], "live": ["deck", "paper", "live"]}
RUN = {  # each is one module: they use each other's functions
    "deck": ["fit", "keys", "speaker", "paper", "deck"],
    "live": ["fit", "live", "keys", "speaker", "paper", "deck"],
}
PLAYER_STYLE = f"\n{player.STYLE}"
PLAYS = f"\n{player.SCRIPT}\nplayAll(document);\n"
PLAYS_LATER = "\ndocument.addEventListener('play-all', (event) => playAll(event.target));\n"
# Both under the SIL Open Font License, which stands beside them; only the signs that the course uses. The asterisk of
# the mono is lowered to the height of its other operators.
FONTS = [  # family, weights, file
    ("Course Sans", "400 700", "sans.woff2"),
    ("Course Mono", "500", "mono-500.woff2"),
    ("Course Mono", "700", "mono-700.woff2"),
]
# What of reveal.js a deck has no use for, by its selectors: its own transitions, grounds, controls and views.
OFF = re.compile(
    r"r-overlay|data-transition|background|\.controls|scroll|\.overview|\.cube|\.page\b|jump-to"
)
RULE = re.compile(r"([^{}@]+)\{[^{}]*\}|@[^{}]+\{(?:[^{}]|\{[^{}]*\})*\}")
TRUSTED = "'unsafe-inline' 'unsafe-eval' data: blob:"


def styles(kind: str) -> list[str]:
    """Return the style sheets of a "deck", a "live" deck or a "page"."""
    if kind != "page":
        ours = [(DECK / f"{name}.css").read_text(encoding="utf-8") for name in STYLED[kind]]
        graphs = f"svg.graph{{{colours()}}}\n"
        return [used(reveal("dist/reveal.css")), PLAYER_STYLE, reading(), graphs, *ours]
    ours = (TEMPLATES / "page" / "page.css").read_text(encoding="utf-8")
    wide = (SHARED / "wide.css").read_text(encoding="utf-8")
    return [PLAYER_STYLE, reading(), ours, wide, filter_box.style(), prediction.STYLE]


def reading() -> str:
    """Return the style that all that is published shares: fonts, colours, text, code."""
    names = ("reading.css", "formulas.css")
    sheets = [(SHARED / name).read_text(encoding="utf-8").strip() for name in names]
    return "\n".join([*(face(*font) for font in FONTS), *sheets])


def face(family: str, weight: str, file: str) -> str:
    """Return a font as a rule of CSS that holds all of it."""
    data = base64.b64encode((SHARED / "fonts" / file).read_bytes()).decode()
    source = f"url(data:font/woff2;base64,{data})"
    return f'@font-face{{font-family:"{family}";font-weight:{weight};src:{source}}}'


def scripts(kind: str) -> list[tuple[str, str]]:
    """Return (kind, text) of the scripts in order; an "early" one runs before all is seen."""
    typed = (SHARED / "type.js").read_text(encoding="utf-8")
    if kind == "page":
        wide = (SHARED / "wide.js").read_text(encoding="utf-8")
        dresses = f"{typed}[...document.images].forEach(dressed);\n"
        late = (PLAYS, filter_box.page_script(), prediction.page_script(), wide, dresses)
        return [("early", prediction.EARLY), *(("module", script) for script in late)]
    ours = [(DECK / f"{name}.js").read_text(encoding="utf-8") for name in RUN[kind]]
    plays = PLAYS + PLAYS_LATER if kind == "live" else PLAYS
    return [
        ("classic", quiet(reveal("dist/reveal.js"))),
        ("module", plays),
        ("module", player.without_comments("\n".join([typed, *ours]))),
    ]


def policy(kind: str, trust: bool) -> str:
    """Return the Content-Security-Policy: our scripts alone, no request but to a live server."""
    allowed = TRUSTED if trust else " ".join(digest(text) for _, text in scripts(kind))
    connected = "; connect-src 'self'" if kind == "live" else ""
    return f"{NOTHING}; script-src {allowed}{connected}"


def environment(folder: Path) -> Environment:
    """Return the templates of a folder; they escape nothing: they are given safe HTML."""
    lines = {"trim_blocks": True, "lstrip_blocks": True, "keep_trailing_newline": True}
    return Environment(loader=FileSystemLoader(folder), autoescape=False, **lines)


def digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def used(style: str) -> str:
    """Return a style sheet without the rules that are for nothing but what is off in a deck."""

    def kept(rule: re.Match) -> str:
        is_off = rule[1] and all(map(OFF.search, rule[1].split(",")))
        return "" if is_off else rule[0]

    return RULE.sub(kept, style)


def quiet(script: str) -> str:
    """Return a script that may stand in a page: nothing in it ends its element, or begins another."""
    return re.sub(r"<(?=/?script|!--)", r"\\x3c", script, flags=re.IGNORECASE)


@cache
def reveal(name: str) -> str:
    """Return a file of reveal.js.

    Raises Unpublishable where the package that carries it is missing.
    """
    package = find_spec("sphinx_revealjs")
    if package is None:
        missing = "reveal.js, which shows slides, comes with: pip install sphinx-revealjs"
        raise Unpublishable(missing)
    path = Path(package.origin).parent / "_static" / "revealjs" / name
    return path.read_text(encoding="utf-8").strip() + "\n"
