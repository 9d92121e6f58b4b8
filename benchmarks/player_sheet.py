"""Contact sheets of the player: every scene, in both themes, at several sizes; for people to look at.

Run `python -m benchmarks.player_sheet [NAME ...] [--models | --labs] [--mock FOLDER] [--sizes 960x600
...]`; it writes build/player_sheet.html, and the pictures beside it. `--mock` names a folder of
pictures of a design, which then stand beside ours; `--models` looks at the first, middle and last
stop of models of every common kind instead, folded and opened; `--labs` at the labs, at their start
and in each state that has a name. It needs Chromium.
"""

from __future__ import annotations

import argparse
import base64
import tempfile
import warnings
from collections.abc import Mapping
from html import escape
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from playwright.sync_api import Browser, Page, sync_playwright

from autograd_graphs.playing.animate import film
from autograd_graphs.playing.backward_film import BackwardFilm
from autograd_graphs.playing.player import AnyFilm, as_json, page
from benchmarks.stepped import MODELS, SCENES, make
from helpers import labs
from helpers.labs.engine.lab import with_buttons

CHROMIUM = "/usr/bin/chromium"
BUILD = Path(__file__).parents[1] / "build"
SIZES = ("960x600", "833x600", "1200x650", "1920x1000", "390x800")
LAB_SIZES = ("833x600", "960x600", "1280x720", "1440x900", "1920x1000", "390x800")
THEMES = ("light", "dark")
STYLE = """body { font: 15px/1.4 sans-serif; margin: 24px }
section { border-top: 1px solid #888; padding: 12px 0 }
div { display: flex; flex-wrap: wrap; gap: 12px; align-items: flex-start }
figure { margin: 0 } img { max-width: 900px; border: 1px solid #ccc }"""
# What does not fit, or is cut, of what is seen.
FAULTS = """() => {
  const found = [], player = document.querySelector(".player");
  for (const name of ["panel", "eq", "code", "foot", "pane"]) {
    const one = player.querySelector(`.player-${name}`);
    if (!one || one.hidden) continue;
    const [wide, high] = [one.scrollWidth - one.clientWidth, one.scrollHeight - one.clientHeight];
    if (wide > 1 || (high > 1 && getComputedStyle(one).overflow !== "visible")) found.push(`${name} +${wide} +${high}`);
  }
  const around = document.scrollingElement;
  if (around.scrollWidth > around.clientWidth) found.push(`page +${around.scrollWidth - around.clientWidth}`);
  return found.join(", ");
}"""


class Shot(NamedTuple):
    """Tell what is pressed before a picture is taken; `mocks` are the pictures of a design of the
    same stop, by theme and size.
    """

    name: str
    keys: tuple[str, ...]
    mocks: Mapping[tuple[str, str], str] = MappingProxyType({})


def steps(count: int, *more: str) -> tuple[str, ...]:
    return ("Home", *("ArrowRight",) * count, *more)


SHOTS: dict[str, tuple[Shot, ...]] = {
    "square": (
        Shot("begin", steps(0)),
        Shot(
            "step 4",
            steps(4),
            {
                ("light", "960x600"): "1-square-960-step4.png",
                ("light", "1920x1000"): "1-square-1920-step4.png",
                ("light", "390x800"): "1-square-390-step4.png",
            },
        ),
        Shot("step 5", steps(5), {("light", "960x600"): "1-square-960-step5-leaf.png"}),
        Shot("guess", steps(4, "g"), {("light", "960x600"): "1-square-960-step4-guess.png"}),
        Shot("the end", ("g", "End")),
    ),
    "sine": (
        Shot("step 2", steps(2), {("dark", "1920x1000"): "2-sine-1920-step2-dark.png"}),
        Shot("guess", steps(3, "g")),
    ),
    "small mlp": (
        Shot(
            "step 2",
            steps(2),
            {
                ("light", "960x600"): "3-mlp-960-step2.png",
                ("light", "833x600"): "3-mlp-833-sidebar-open.png",
            },
        ),
        Shot("guess", steps(2, "g")),
        Shot("the end", ("g", "End")),
    ),
    "held .grad": (Shot("the leaf", steps(5)),),
    "hook": (Shot("at the hook", steps(4)),),
    "nan": (Shot("first trouble", steps(0, "n")), Shot("the end", ("End",))),
    "12 layers": (Shot("begin", steps(0)), Shot("over a part", steps(6)), Shot("opened", ("i",))),
    "12 layers, calls": (
        Shot("begin", steps(0), {("light", "960x600"): "5-folded-960-first.png"}),
        Shot("over 12 layers", steps(5), {("light", "960x600"): "5-folded-960-step4.png"}),
        Shot("opened", steps(4, "i")),
    ),
}


def shots_of(made: BackwardFilm) -> tuple[Shot, ...]:
    """Return what is looked at of a model: first, middle and last stops, folded and opened."""
    count = len(made.scenes[0].stops)
    over = [nr for nr, stop in enumerate(made.scenes[0].stops) if stop.last > stop.first]
    found = [
        Shot(f"stop {nr}", steps(nr))
        for nr in dict.fromkeys((0, 1, 2, 3, count // 2, count - 2, count - 1))
    ]
    if over:
        found.append(Shot(f"over a part, stop {over[0]}", steps(over[0])))
        found.append(Shot(f"over a part, stop {over[-1]}", steps(over[-1])))
        most = max(
            over, key=lambda nr: made.scenes[0].stops[nr].last - made.scenes[0].stops[nr].first
        )
        found.append(Shot("into it", steps(most - 1, "i")))
        found.append(Shot("in it", ("ArrowRight",) * 5))
    return tuple(found)


def lab_shots(name: str) -> tuple[Shot, ...]:
    """Return what is looked at of a lab: its start, and each state that has a name."""
    lab = getattr(labs, name)
    actions = [action.name for action in with_buttons(lab.world)]
    keys = {action: "1234567890"[nr] for nr, action in enumerate(actions)}
    found = [Shot("start", ("r",))]
    for state in lab.names:
        path = [keys.get(action, "ArrowRight") for action in lab.path(state)]
        found.append(Shot(state, ("r", *path)))
    return tuple(found)


def taken(
    browser: Browser, made: AnyFilm, shots: tuple[Shot, ...], size: str, theme: str
) -> list[tuple[Shot, bytes, str]]:
    """Return the pictures of a film at one size and in one theme, with what does not fit."""
    width, height = map(int, size.split("x"))
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=theme, reduced_motion="reduce"
    )
    shown = context.new_page()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "page.html"
        path.write_text(page(made), encoding="utf-8")
        shown.goto(path.as_uri())
        found = [(shot, *looked_at(shown, shot)) for shot in shots]
    context.close()
    return found


def looked_at(shown: Page, shot: Shot) -> tuple[bytes, str]:
    shown.focus(".player")
    for key in shot.keys:
        shown.keyboard.press(key)
    shown.wait_for_timeout(60)
    faults = shown.evaluate(FAULTS)
    return shown.screenshot(), faults


def image(data: bytes) -> str:
    return f'<img alt="" src="data:image/png;base64,{base64.b64encode(data).decode()}">'


def figure(shot: Shot, picture: bytes, faults: str, case: str, mock: bytes | None) -> str:
    words = escape(f"{shot.name}, {case}{f': {faults}' if faults else ''}")
    beside = f"<figure>{image(mock)}<figcaption>the design</figcaption></figure>" if mock else ""
    return f"<figure>{image(picture)}<figcaption>{words}</figcaption></figure>{beside}"


def parsed(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m benchmarks.player_sheet", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="SCENE", help="all of them by default")
    parser.add_argument("--models", action="store_true", help="models instead of scenes")
    parser.add_argument("--labs", action="store_true", help="labs instead of scenes")
    parser.add_argument("--mock", type=Path, help="a folder of pictures of a design")
    parser.add_argument("--sizes", nargs="*", metavar="WIDTHxHEIGHT")
    parser.add_argument("--themes", nargs="*", default=THEMES, choices=THEMES)
    parser.add_argument("--out", type=Path, default=BUILD)
    return parser.parse_args(arguments)


def everything(given: argparse.Namespace) -> list[str]:
    """Return the names of all that there is of what is asked for."""
    if given.labs:
        return list(labs.__all__)
    return list(MODELS if given.models else SCENES)


def looked_for(name: str, is_lab: bool) -> tuple[AnyFilm, tuple[Shot, ...]]:
    """Return a film, and what is looked at of it."""
    if is_lab:
        return getattr(labs, name).film(), lab_shots(name)
    made = film(make(name))
    return made, SHOTS.get(name) or shots_of(made)


def main(arguments: list[str] | None = None) -> None:
    given = parsed(arguments)
    warnings.simplefilter("ignore")
    folder = given.out / "player_sheet"
    folder.mkdir(parents=True, exist_ok=True)
    sections = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for name in given.names or everything(given):
            made, shots = looked_for(name, given.labs)
            size_of = len(as_json(made).encode()) / 1000
            print(f"{name}: {size_of:.1f} kB", flush=True)
            figures = []
            for size in given.sizes or (LAB_SIZES if given.labs else SIZES):
                for theme in given.themes:
                    for shot, picture, faults in taken(browser, made, shots, size, theme):
                        stem = f"{name} {shot.name} {size} {theme}".replace(" ", "-")
                        (folder / f"{stem}.png").write_bytes(picture)
                        design = given.mock and shot.mocks.get((theme, size))
                        mock = (given.mock / design).read_bytes() if design else None
                        figures.append(figure(shot, picture, faults, f"{size} {theme}", mock))
                        if faults:
                            print(f"  {shot.name}, {size} {theme}: {faults}", flush=True)
            title = f"{escape(name)}, {size_of:.1f} kB"
            sections.append(f"<section><h2>{title}</h2><div>{''.join(figures)}</div></section>")
        browser.close()
    kind = "_models" * given.models + "_labs" * given.labs
    path = given.out / f"player_sheet{kind}.html"
    path.write_text(f"<!doctype html><style>{STYLE}</style>{''.join(sections)}", encoding="utf-8")
    print(path)


if __name__ == "__main__":
    main()
