"""The one place that knows colours: what each role looks like, in a light and in a dark theme."""

from __future__ import annotations

LIGHT = {
    "ground": "#fbfbfa",
    "rim": "#e4e7eb",
    "ink": "#1f2933",
    "faint": "#5a6673",
    "card": "#ffffff",
    "leaf": "#e8f1fb",
    "leafrim": "#2f6db5",
    "tag": "#1f2933",
    "tagink": "#ffffff",
    "cutground": "#f1f3f5",
    "warn": "#9a3412",
    "done": "#166534",
    "doneground": "#eef8f0",
    "now": "#92400e",
    "nowground": "#fff4e0",
}
DARK = {
    "ground": "#1b1f24",
    "rim": "#3a424c",
    "ink": "#e6e9ed",
    "faint": "#a9b4c0",
    "card": "#262c33",
    "leaf": "#1b2f47",
    "leafrim": "#7fb2ea",
    "tag": "#e6e9ed",
    "tagink": "#1b1f24",
    "cutground": "#22272d",
    "warn": "#fdba74",
    "done": "#86efac",
    "doneground": "#17301f",
    "now": "#fcd34d",
    "nowground": "#3b2a0a",
}

# role, or role and state → SVG attributes; a name in braces is a colour of the palette.
STYLE: dict[str, dict[str, str]] = {
    "panel": {"fill": "{ground}", "stroke": "{rim}"},
    "ground": {"fill": "{ground}"},
    "operation": {"fill": "{card}", "stroke": "{faint}", "stroke-width": "1.3"},
    "operation done": {"fill": "{doneground}", "stroke": "{done}", "stroke-width": "2"},
    "operation now": {"fill": "{nowground}", "stroke": "{now}", "stroke-width": "3.2"},
    "operation ghost": {"fill": "none", "stroke": "{faint}", "stroke-dasharray": "2 4"},
    "leaf": {"fill": "{leaf}", "stroke": "{leafrim}", "stroke-width": "1.5"},
    "leaf done": {"fill": "{leaf}", "stroke": "{done}", "stroke-width": "2.2"},
    "leaf now": {"fill": "{nowground}", "stroke": "{now}", "stroke-width": "3.2"},
    "leaf ghost": {"fill": "none", "stroke": "{faint}", "stroke-dasharray": "2 4"},
    "none": {"fill": "none", "stroke": "{faint}", "stroke-dasharray": "3 3"},
    "cut": {"fill": "{cutground}", "stroke": "{faint}", "stroke-dasharray": "6 3"},
    "tag": {"fill": "{tag}"},
    "capsule": {"fill": "{card}", "stroke": "{faint}"},
    "capsule done": {"fill": "{card}", "stroke": "{done}"},
    "capsule now": {"fill": "{nowground}", "stroke": "{now}", "stroke-width": "2"},
    "capsule next": {"fill": "{card}", "stroke": "{now}", "stroke-dasharray": "5 4"},
    "edge": {"fill": "none", "stroke": "{faint}", "stroke-width": "1.4"},
    "edge done": {"fill": "none", "stroke": "{done}", "stroke-width": "2"},
    "edge now": {"fill": "none", "stroke": "{now}", "stroke-width": "2.6"},
    "edge next": {"fill": "none", "stroke": "{now}", "stroke-width": "2.6", "stroke-dasharray": "5 4"},
    "edge ghost": {"fill": "none", "stroke": "{faint}", "stroke-dasharray": "2 4"},
    "arrow ghost": {"fill": "none", "stroke": "{faint}"},
    "tag ghost": {"fill": "{ground}", "stroke": "{faint}", "stroke-dasharray": "2 4"},
    "tagged ghost": {"fill": "{faint}", "font-size": "12", "font-style": "italic", "text-anchor": "middle"},
    "start ghost": {"fill": "{faint}", "font-size": "13", "font-style": "italic"},
    "start wrong": {"fill": "{warn}", "font-size": "13", "font-weight": "600"},
    "middle ghost": {"fill": "{faint}", "font-size": "13", "font-style": "italic", "text-anchor": "middle"},
    "error": {"fill": "{warn}", "font-size": "12"},
    "bar": {"fill": "{leafrim}"},
    "bar now": {"fill": "{now}"},
    "arrow": {"fill": "{faint}"},
    "arrow done": {"fill": "{done}"},
    "arrow now": {"fill": "{now}"},
    "arrow next": {"fill": "{now}"},
    "saved held": {"fill": "{faint}", "stroke": "{faint}", "stroke-width": "1.4"},
    "saved freed": {"fill": "none", "stroke": "{faint}", "stroke-width": "1.4"},
    "saved modified": {"fill": "{warn}", "stroke": "{warn}"},
    "saved packed": {"fill": "{faint}", "stroke": "{faint}", "stroke-width": "1.4"},
    "saved edited": {"fill": "none", "stroke": "{warn}", "stroke-width": "1.4"},
    "saved busy": {"fill": "none", "stroke": "{faint}", "stroke-width": "1.4", "stroke-dasharray": "2 2"},
    "title": {"fill": "{ink}", "font-size": "13", "font-weight": "600"},
    "note": {"fill": "{faint}", "font-size": "12"},
    "start": {"fill": "{ink}", "font-size": "13"},
    "middle": {"fill": "{ink}", "font-size": "13", "text-anchor": "middle"},
    "tagged": {"fill": "{tagink}", "font-size": "12", "font-style": "italic", "text-anchor": "middle"},
    "row": {"fill": "{faint}", "font-size": "12"},
    "row freed": {"fill": "{faint}", "font-size": "12", "text-decoration": "line-through"},
    "row modified": {"fill": "{warn}", "font-size": "12"},
    "label": {"fill": "{ink}", "font-size": "12", "font-weight": "600", "text-anchor": "middle"},
    "label done": {"fill": "{done}", "font-size": "12", "font-weight": "600", "text-anchor": "middle"},
    "label now": {"fill": "{now}", "font-size": "12", "font-weight": "600", "text-anchor": "middle"},
    "label next": {"fill": "{now}", "font-size": "12", "font-weight": "600", "text-anchor": "middle"},
    "torchviz": {"fill": "#000000", "font-size": "12", "font-family": "monospace", "text-anchor": "middle"},
    "torchviz function": {"fill": "lightgrey", "stroke": "#000000"},
    "torchviz leaf": {"fill": "lightblue", "stroke": "#000000"},
    "torchviz output": {"fill": "#caff70", "stroke": "#000000"},
    "torchviz saved": {"fill": "orange", "stroke": "#000000"},
    "run name": {"font-weight": "650"},
    "run faint": {"fill": "{faint}"},
    "run grad": {"fill": "{faint}", "font-size": "12", "font-weight": "600"},
    "run gradnow": {"fill": "{now}", "font-size": "12", "font-weight": "600"},
    "run graddone": {"fill": "{done}", "font-size": "12", "font-weight": "600"},
}

# Devices, where a graph has several: the bars of its cards, and the way of its gradients. Only in pictures, which are
# light: a player shows the bars in the colour of all bars, and its saved style sheet stays as small as it is.
PLACES = ("#0e7490", "#7c3aed", "#be185d", "#4d7c0f")
ON: dict[str, dict[str, str]] = {}
for _nr, _place in enumerate(PLACES, 1):
    ON[f"bar on{_nr}"] = ON[f"arrow on{_nr}"] = {"fill": _place}
    ON[f"edge on{_nr}"] = {"fill": "none", "stroke": _place, "stroke-width": "2.2"}


def attributes(role: str, state: str = "", palette: dict[str, str] = LIGHT) -> dict[str, str]:
    """Return the SVG attributes of a mark; a state without a look of its own looks like its role."""
    key = f"{role} {state}"
    style = ON.get(key) or STYLE.get(key, STYLE.get(role))
    if style is None:
        raise KeyError(f"Nothing is drawn as {role!r}.")
    return {name: value.format(**palette) for name, value in style.items()}
