"""Turn the palette into CSS: a rule for each role and state, in light, dark and forced colours."""

from __future__ import annotations

from autograd_graphs.drawing.palette import DARK, LIGHT, STYLE
from autograd_graphs.drawing.svg import FONT

# what is written or drawn on
PAPER = {"ground", "card", "leaf", "tagink", "cutground", "doneground", "nowground"}
PLAIN = {"fill": "#000", "stroke": "none", "stroke-width": "1", "stroke-dasharray": "none"}
PLAIN |= {"font-size": "16", "font-weight": "400", "font-style": "normal"}
PLAIN |= {"text-anchor": "start", "text-decoration": "none"}
THEMES = (("true", "light"), ("false", "dark"))


def css_class(role: str, state: str = "") -> str:
    """Return the classes of a mark: "m-operation s-now". Raises KeyError for a strange role."""
    if role not in STYLE and f"{role} {state}" not in STYLE:
        where = "Roles with a look stand in autograd_graphs/drawing/palette.py."
        raise KeyError(f"Nothing is drawn as {f'{role} {state}'.strip()!r}. {where}")
    classes = f"m-{role.replace(' ', '-')}"
    if state:
        classes += f" s-{state}"
    return classes


def stylesheet() -> str:
    """Return the CSS of every role in the palette. JupyterLab's theme wins over the system's."""
    rules = [f".player{{color-scheme:light dark;{colours()}}}"]
    for light, scheme in THEMES:
        rules.append(f'body[data-jp-theme-light="{light}"] .player{{color-scheme:{scheme}}}')
    rules.append(f"@media(forced-colors:active){{.player{{{_forced()}}}}}")
    rules.append(f".player svg{{font-family:{FONT}}}")
    return "\n".join([*rules, *_rules()]) + "\n"


def colours() -> str:
    """Return the colours of both themes as CSS variables: "--player-ink:light-dark(…)" and so on."""
    values = {}
    for name, light in LIGHT.items():
        values[name] = f"light-dark({light},{DARK[name]})"
    return as_variables(values)


def as_variables(values: dict[str, str]) -> str:
    return ";".join(f"--player-{name}:{value}" for name, value in values.items())


def _rules() -> list[str]:
    """Return one rule for each look, those of roles first; looks that say the same share one."""
    selectors: dict[tuple[bool, str], list[str]] = {}
    keys = [key for key in STYLE if not key.startswith("torchviz")]
    for role, state, look in map(_look, keys):
        body = ";".join([f"{name}:{_value(name, value)}" for name, value in look.items()])
        name = f".m-{role}"
        if state:
            name += f".s-{state}"
        selectors.setdefault((bool(state), body), []).append(name)
    rules = sorted(selectors.items(), key=lambda rule: rule[0][0])
    return [f"{','.join(names)}{{{body}}}" for (_, body), names in rules]


def _look(key: str) -> tuple[str, str, dict[str, str]]:
    """Return role, state, and what to say of them; "run name" is a role in two words."""
    role, _, state = key.replace("run ", "run-", 1).partition(" ")
    ours = STYLE.get(role, {}) if state else {}
    look = {}
    for name in ours:
        if name not in STYLE[key]:
            look[name] = PLAIN[name]
    for name, value in STYLE[key].items():
        if ours.get(name) != value:
            look[name] = value
    return role, state, look


def _forced() -> str:
    """Keep to the two colours that the reader chose, and the one for what is selected."""
    variables = dict.fromkeys(LIGHT, "CanvasText")
    variables |= dict.fromkeys(PAPER, "Canvas")
    variables["now"] = "Highlight"
    return as_variables(variables)


def _value(name: str, value: str) -> str:
    if name == "font-size":
        value += "px"
    return value.replace("{", "var(--player-").replace("}", ")")
