"""The one place that knows colours: what each role looks like, in a light and in a dark theme."""

from __future__ import annotations

LIGHT = {
    "ground": "#faf9f5",
    "rim": "#d3d7da",
    "ink": "#1b2530",
    "faint": "#54606c",
    "card": "#ffffff",
    "leaf": "#e4eefa",
    "leafrim": "#1d5ca8",
    "tag": "#1b2530",
    "tagink": "#ffffff",
    "cutground": "#f0efe8",
    "warn": "#9c2b1f",
    "done": "#136035",
    "doneground": "#e2f2e7",
    "now": "#8f4308",
    "nowground": "#ffecd6",
}
DARK = {
    "ground": "#12171d",
    "rim": "#3b4550",
    "ink": "#e9edf0",
    "faint": "#a3afba",
    "card": "#222a33",
    "leaf": "#1a2f49",
    "leafrim": "#86b9f5",
    "tag": "#e9edf0",
    "tagink": "#12171d",
    "cutground": "#1b222a",
    "warn": "#ff9f93",
    "done": "#86dba8",
    "doneground": "#14301f",
    "now": "#ffb978",
    "nowground": "#3b2410",
}
TITLE, SMALL = 15, 13  # font sizes, px


def _shape(fill: str, stroke: str = "", width: float = 0, dash: str = "") -> dict[str, str]:
    """Return the look of a shape; a fill or stroke that is a name is a colour of the palette."""
    look = {"fill": fill}
    if stroke:
        look["stroke"] = stroke
    if width:
        look["stroke-width"] = str(width)
    if dash:
        look["stroke-dasharray"] = dash
    return look


def _words(fill: str, size: int = SMALL, **more: str) -> dict[str, str]:
    """Return the look of a text; `more` are further attributes, with _ for -."""
    look = {"fill": fill, "font-size": str(size)}
    for name, value in more.items():
        look[name.replace("_", "-")] = value
    return look


def _numbered(name: str, colours: tuple[str, ...]) -> dict[str, str]:
    """Return colours by a name and their number, from 1."""
    return {f"{name}{nr}": colour for nr, colour in enumerate(colours, start=1)}


def _label(fill: str) -> dict[str, str]:
    return _words(fill, TITLE, font_weight="650", text_anchor="middle")


# role, or role and state → SVG attributes; a name in braces is a colour of the palette.
STYLE: dict[str, dict[str, str]] = {
    "panel": _shape("{ground}", "{rim}"),
    "ground": _shape("{ground}"),
    "frame": _shape("none", "{faint}", dash="2 3"),
    "operation": _shape("{card}", "{faint}", 1.3),
    "operation done": _shape("{doneground}", "{done}", 2),
    "operation now": _shape("{nowground}", "{now}", 3.2),
    "operation ghost": _shape("none", "{faint}", dash="2 4"),
    "leaf": _shape("{leaf}", "{leafrim}", 1.6),
    "leaf done": _shape("{leaf}", "{done}", 2.2),
    "leaf now": _shape("{nowground}", "{now}", 3.2),
    "leaf ghost": _shape("none", "{faint}", dash="2 4"),
    "slot": _shape("{card}", "{leafrim}", 1.6),
    "slot none": _shape("none", "{faint}", 1.3, "3 3"),
    "slot now": _shape("{card}", "{now}", 2),
    "slot done": _shape("{card}", "{done}", 2),
    "none": _shape("none", "{faint}", dash="3 3"),
    "cut": _shape("{cutground}", "{faint}", dash="6 3"),
    "tag": _shape("{tag}"),
    "tag ghost": _shape("{ground}", "{faint}", dash="2 4"),
    "capsule": _shape("{card}", "{faint}"),
    "capsule done": _shape("{card}", "{done}", 2),
    "capsule now": _shape("{nowground}", "{now}", 2),
    "capsule next": _shape("{card}", "{now}", 2, "5 4"),
    "edge": _shape("none", "{faint}", 1.5),
    "edge done": _shape("none", "{done}", 2),
    "edge now": _shape("none", "{now}", 2.6),
    "edge next": _shape("none", "{now}", 2.6, "5 4"),
    "edge ghost": _shape("none", "{faint}", dash="2 4"),
    "arrow": _shape("{faint}"),
    "arrow done": _shape("{done}"),
    "arrow now": _shape("{now}"),
    "arrow next": _shape("{now}"),
    "arrow ghost": _shape("none", "{faint}"),
    "bar": _shape("{leafrim}"),
    "bar now": _shape("{now}"),
    "saved held": _shape("{faint}", "{faint}", 1.5),
    "saved freed": _shape("none", "{faint}", 1.5),
    "saved modified": _shape("{warn}", "{warn}"),
    "saved packed": _shape("{faint}", "{faint}", 1.5),
    "saved edited": _shape("none", "{warn}", 1.5),
    "saved busy": _shape("none", "{faint}", 1.5, "2 2"),
    "title": _words("{ink}", TITLE, font_weight="650"),
    "note": _words("{faint}"),
    "start": _words("{ink}", TITLE),
    "start ghost": _words("{faint}", TITLE, font_style="italic"),
    "start wrong": _words("{warn}", TITLE, font_weight="650"),
    "middle": _words("{ink}", TITLE, text_anchor="middle"),
    "middle ghost": _words("{faint}", TITLE, font_style="italic", text_anchor="middle"),
    "tagged": _words("{tagink}", font_weight="650", text_anchor="middle"),
    "tagged ghost": _words("{faint}", font_style="italic", text_anchor="middle"),
    "row": _words("{faint}"),
    "value": _words("{ink}"),
    "row freed": _words("{faint}", text_decoration="line-through"),
    "row modified": _words("{warn}"),
    "framed": _words("{faint}", font_weight="650"),
    "word": _words("{ink}", text_anchor="middle"),
    "label": _label("{ink}"),
    "label done": _label("{done}"),
    "label now": _label("{now}"),
    "label next": _label("{now}"),
    "torchviz": _words("#000000", font_family="monospace", text_anchor="middle"),
    "torchviz function": _shape("lightgrey", "#000000"),
    "torchviz leaf": _shape("lightblue", "#000000"),
    "torchviz output": _shape("#caff70", "#000000"),
    "torchviz saved": _shape("orange", "#000000"),
    "run name": {"font-weight": "650"},
    "run faint": {"fill": "{faint}"},
    "run small": {"fill": "{faint}", "font-size": str(SMALL)},
    "run none": {"fill": "{faint}", "font-size": str(SMALL)},
    "run grad": {"font-weight": "650"},
    "run gradnow": {"fill": "{now}", "font-weight": "650"},
    "run graddone": {"fill": "{done}", "font-weight": "650"},
}

# Devices, where a graph has several: the bars of its cards, and the way of its gradients. Only in
# pictures: a player shows the bars in the colour of all bars, and its style sheet stays small.
PLACES = ("#0e7490", "#7c3aed", "#be185d", "#4d7c0f")
PLACES_DARK = ("#22b8d4", "#a78bfa", "#f472b6", "#a3d14f")
ON: dict[str, dict[str, str]] = {}
for _nr in range(1, len(PLACES) + 1):
    ON[f"bar on{_nr}"] = ON[f"arrow on{_nr}"] = _shape(f"{{on{_nr}}}")
    ON[f"edge on{_nr}"] = _shape("none", f"{{on{_nr}}}", 2.2)


# How large a gradient was, as the fill of a card, from little to much: only in pictures, as above.
# Words on it are in ink. A rim says what else is wrong, and a badge says it in words.
HEAT = ("#f5f0fe", "#eadffd", "#decdfb", "#d2bbf8", "#c5aaf5")
HEAT_DARK = ("#2d2a3a", "#3a3150", "#483868", "#574082", "#66499f")
LEVELS = len(HEAT)
RIMS = {"": (), "first": ("{warn}", 3.2), "bad": ("{warn}", 2), "zero": ("{faint}", 1.6, "5 4")}
TINT: dict[str, dict[str, str]] = {
    "bar tint": _shape("{ink}"),
    "row tint": _words("{ink}"),
    "row freedtint": _words("{ink}", text_decoration="line-through"),
    "run tint": {"fill": "{ink}"},
    "run tintsmall": {"fill": "{ink}", "font-size": str(SMALL)},
    "badge first": _shape("{warn}"),
    "badge bad": _shape("{card}", "{warn}", 1.6),
    "badge zero": _shape("{card}", "{faint}", 1.3, "3 3"),
    "badgesign first": _shape("{ground}"),
    "badgesign bad": _shape("{warn}"),
    "badgesign zero": _shape("none", "{faint}", 1.6),
    "badgeword first": _words("{ground}", font_weight="650"),
    "badgeword bad": _words("{warn}", font_weight="650"),
    "badgeword zero": _words("{ink}", font_weight="650"),
}
for _nr in range(LEVELS + 1):
    for _rim, _look in RIMS.items():
        for _kind in ("operation", "leaf"):
            _own = (STYLE[_kind]["stroke"], float(STYLE[_kind]["stroke-width"]))
            _fill = f"{{heat{_nr}}}" if _nr else STYLE[_kind]["fill"]
            TINT[f"{_kind} tint{_nr}{_rim}"] = _shape(_fill, *(_look or _own))
_SCALES = _numbered("on", PLACES) | _numbered("heat", HEAT)
_SCALES_DARK = _numbered("on", PLACES_DARK) | _numbered("heat", HEAT_DARK)


def attributes(role: str, state: str = "", palette: dict[str, str] = LIGHT) -> dict[str, str]:
    """Return the SVG attributes of a mark; a state with no look of its own looks like its role."""
    key = f"{role} {state}"
    style = ON.get(key) or TINT.get(key) or STYLE.get(key, STYLE.get(role))
    if style is None:
        raise KeyError(f"Nothing is drawn as {key.strip()!r}.")
    colours = palette | (_SCALES_DARK if palette is DARK else _SCALES)
    return {name: value.format(**colours) for name, value in style.items()}
