"""What must hold of a notebook that was run in JupyterLab: functions from a Notebook to complaints,
plain sentences.
"""

from lab_page import CELLS

from helpers.predicting.prediction import ASKED

PICTURES = (
    ".jp-OutputArea-output img, .jp-RenderedMarkdown img, .jp-OutputArea-output svg[role=img]"
)
NAMELESS = ("", "Image")  # JupyterLab writes alt="Image" where there is none
NAME = "(one) => one.alt ?? one.ariaLabel ?? one.querySelector(':scope > title')?.textContent ?? ''"
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
    """Every picture came, and has words for those who do not see it."""
    for one in notebook.page.query_selector_all(f".jp-Notebook :is({PICTURES})"):
        where = one.evaluate(f"(one) => {CELLS}.findIndex((cell) => cell.node.contains(one))")
        if not one.evaluate("(one) => one.tagName !== 'IMG' || one.naturalWidth > 0"):
            yield f"cell {where} has a picture that did not load: {one.get_attribute('src')[:80]}"
        if one.evaluate(NAME).strip() in NAMELESS:
            yield f"cell {where} has a picture that says nothing to those who do not see it: set its alt text"


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
    """A player of steps goes to its end by key, and says in each step what its text says; a lab says
    where it stands.
    """
    for number, cell in enumerate(notebook.cells()):
        for output in [one for one in cell["outputs"] if VIEW in one.get("data", {})]:
            text = output["data"].get("text/plain", "")
            if notebook.has(number, ".player:not(.player-lab) .player-range"):
                told = [line for line in text.split("\n") if line.startswith("step ")]
                yield from (
                    f"cell {number}: {what}" for what in untrue(notebook.player(number), told)
                )
            elif (
                notebook.has(number, ".player-lab") and notebook.player(number).title() not in text
            ):
                yield f"cell {number}: the lab says {notebook.player(number).title()!r}, the text {text!r}"


def untrue(player, told):
    """Step through to the end by the keyboard."""
    player.press("Home")
    for line in told:
        player.press("ArrowRight")
        if player.title().split()[-1] not in line:
            yield f"the player shows {player.title()!r}, the text {line!r}"
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
