"""What must hold of a notebook that was run in JupyterLab: functions from a Notebook to complaints,
plain sentences.
"""

import re

from lab_page import CELLS

from helpers.predicting.prediction import ASKED

PICTURES = (
    ".jp-OutputArea-output img, .jp-RenderedMarkdown img, .jp-OutputArea-output svg[role=img]"
)
NAMELESS = ("", "Image")  # JupyterLab writes alt="Image" where there is none
VIEW = "application/vnd.jupyter.widget-view+json"


def errors(notebook):
    """Errors stand where a tag expects them, and nowhere else; every cell was run."""
    for number, cell in enumerate(notebook.cells()):
        if cell["kind"] != "code" or not cell["source"].strip():
            continue
        wanted = "raises-exception" in cell["tags"]
        found = [
            f"{out['ename']}: {out['evalue']}"
            for out in cell["outputs"]
            if out["output_type"] == "error"
        ]
        if found and not wanted:
            yield f"cell {number} raises {found[0]}"
        if wanted and not found:
            yield f"cell {number} is tagged raises-exception and raises nothing"
        if cell["count"] is None:
            yield f"cell {number} was not run"


def pictures(notebook):
    """Every picture came, and has a name in the accessibility tree."""
    page = notebook.page
    speaker = page.context.new_cdp_session(page)
    for one in page.query_selector_all(f".jp-Notebook :is({PICTURES})"):
        one.evaluate("(one) => { window.looked = one; }")
        where = one.evaluate(f"(one) => {CELLS}.findIndex((cell) => cell.node.contains(one))")
        if not one.evaluate(
            "(one) => one.tagName !== 'IMG' || (one.complete && one.naturalWidth > 0)"
        ):
            yield f"cell {where} has a picture that did not load: {one.get_attribute('src')[:80]}"
        if name(speaker) in NAMELESS:
            yield f"cell {where} has a picture that says nothing to those who do not see it: set its alt text"


def name(speaker):
    """Return the name that the accessibility tree has for the picture in window.looked."""
    looked = speaker.send("Runtime.evaluate", {"expression": "window.looked"})["result"]["objectId"]
    asked = {"objectId": looked, "fetchRelatives": False}
    node = speaker.send("Accessibility.getPartialAXTree", asked)["nodes"][0]
    return "" if node["ignored"] else node.get("name", {}).get("value", "").strip()


def outputs_are_seen(notebook):
    """What should be a picture is an <img>, what should be a player or a prediction is one."""
    for number, cell in enumerate(notebook.cells()):
        for output in cell["outputs"]:
            kinds = output.get("data", {})
            if any(kind.startswith("image/") for kind in kinds) and not notebook.has(number, "img"):
                yield f"cell {number} put out a picture, and no <img> is there"
            widget = "prediction" if ASKED in kinds else "player"
            if VIEW in kinds and not notebook.has(number, f".{widget}"):
                yield f"cell {number} put out a {widget}, and none is there: {notebook.output(number)[:200]}"


def players(notebook):
    """A player of steps says in each step what its text says, from the first to the last."""
    for number, cell in enumerate(notebook.cells()):
        shown = [output["data"] for output in cell["outputs"] if VIEW in output.get("data", {})]
        for text in [data.get("text/plain", "") for data in shown]:
            if notebook.has(number, ".player-range"):
                told = [line for line in text.split("\n") if line.startswith("step ")]
                yield from (
                    f"cell {number}: {what}" for what in untrue(notebook.player(number), told)
                )
            if (
                notebook.has(number, ".player-action")
                and notebook.player(number).title() not in text
            ):
                yield f"cell {number}: the lab says {notebook.player(number).title()!r}, the text {text!r}"


NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?")


def untrue(player, told):
    """Step through to the end by the keyboard."""
    known = {float(number) for line in told for number in NUMBER.findall(line.partition(": ")[2])}
    player.press("Home")
    for line in told:
        player.press("ArrowRight")
        if player.title().split()[-1] not in line:
            yield f"the player shows {player.title()!r}, the text {line!r}"
        shown = [number for text in player.gradients() for number in NUMBER.findall(text)]
        for number in shown:
            if float(number) not in known:
                yield f"the player shows {number}, the text {line!r}"
    player.press("ArrowRight")
    if player.count() != "the end":
        yield f"the player stands at {player.count()} after {len(told)} steps"
    player.press("Home")


RULES = (errors, outputs_are_seen, pictures, players)


def complaints(notebook):
    """Apply all rules to the whole notebook."""
    notebook.unfold()
    notebook.show_whole()
    return [f"{rule.__name__}: {complaint}" for rule in RULES for complaint in rule(notebook)]
