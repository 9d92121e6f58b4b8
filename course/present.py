"""Open a lesson as live slides (`python -m course.present 05`): RISE for JupyterLab, on a copy in
work/present/.

Writes only there: the copy, its style, the settings and the shim; only the server started here is
told of these two.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from itertools import takewhile
from pathlib import Path

from course import lab_settings, workspace

SHIM = Path(__file__).parent / "rise_shim"
NAME = "rise-shim"
NEEDED = ("jupyterlab", "jupyterlab_rise", "jupyterlab_widgets")
# Nothing moves; the rest is as in the students' Lab.
SETTINGS = lab_settings.SETTINGS | {
    "jupyterlab-rise:plugin": {
        "theme": "white",
        "transition": "none",
        "start_slideshow_at": "beginning",
        "auto_select": "none",
        "center": False,
        "scroll": False,
        "slideNumber": "c/t",
    },
}
OUTPUTS = "--with-outputs"
ROUND_BEGINS = ("question", "lab", "text", "exercise", "recap")  # roles of cells


def main(arguments, root=workspace.ROOT):
    """Present the lesson of a number until it is stopped; exit with a sentence if that cannot be."""
    try:
        started = prepare(arguments, root)
    except OSError as error:
        sys.exit(workspace.unwritable(error))
    # Ctrl+C is for JupyterLab, which asks and stops its kernels.
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        return subprocess.run(**started).returncode
    finally:
        signal.signal(signal.SIGINT, before)


def prepare(arguments, root=workspace.ROOT):
    """Write what is shown; return how to start the server.

    What follows the number is for JupyterLab, but OUTPUTS.
    """
    number, *more = [argument for argument in arguments if argument != OUTPUTS] or [""]
    master, lab = find(number, root), installed()
    copy = hand_out(master, root, outputs=OUTPUTS in arguments)
    write_own(copy.parent, lab)
    address = f"--LabApp.default_url=/rise/{copy.parent.name}/{copy.name}"
    command = [sys.executable, "-P", "-m", "jupyterlab", address, *more]
    return {"args": command, "cwd": copy.parent.parent, "env": environment(copy.parent)}


def find(number, root):
    """Return the master of a lesson that can be read."""
    there = workspace.lessons(root)
    found = there.get(number.partition("_")[0].zfill(2))
    if not number or not found:
        said = f"There is no lesson {number!r}, but" if number else "Which lesson? There are"
        sys.exit(
            f"{said} {', '.join(there)}. For example: make present N={min(there, default='05')}"
        )
    if workspace.digest_of(found) == "unreadable":
        sys.exit(
            f"{found.name} holds no readable notebook, so there is nothing to show. git checkout gives it back."
        )
    return found


def installed():
    """Return the version of JupyterLab; exit where something that live slides need is missing."""
    try:
        return {name: version(name) for name in NEEDED}["jupyterlab"]
    except PackageNotFoundError as error:
        sys.exit(
            f"Live slides need {error.name}, which is not installed here: `make present` installs it."
        )


def hand_out(master, root, outputs):
    """Write the copy that is shown; one that was edited is kept under a name of its own.

    Return its path.
    """
    folder = root / "work" / "present"
    folder.mkdir(parents=True, exist_ok=True)
    workspace.copy_pictures(root / "figs", folder.parent / "figs")
    fresh, copy = speaker_copy(master, outputs), folder / master.name
    if workspace.digest_of(copy) not in (None, workspace.digest(fresh)):
        kept = copy.rename(workspace.free_name(copy, "kept"))
        print(
            f"{copy.name} had changed since it was last shown: the old one is kept as {kept.name}."
        )
    workspace.write_notebook(copy, fresh)
    return copy


def speaker_copy(master, outputs):
    """Return the lesson with its set-up in sight and its notes at every slide of an idea, or of a
    round; outputs where asked for.
    """
    notebook = json.loads(master.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        cell["source"] = "".join(cell["source"])
        if cell["cell_type"] == "code" and not outputs:
            cell.update(outputs=[], execution_count=None)
    if not outputs:
        notebook["metadata"].pop("widgets", None)
    show_setup(notebook["cells"][1:])
    notebook["cells"] = [
        cell for idea in split(notebook["cells"], begins_idea) for cell in with_notes(idea)
    ]
    return notebook


def show_setup(cells):
    """Make a slide of the skipped cells below the title: who runs the lesson live must run them
    too.
    """
    for number, cell in enumerate(takewhile(lambda one: slide_type(one) == "skip", cells)):
        cell["metadata"]["slideshow"] = {"slide_type": "-" if number else "subslide"}


def with_notes(idea):
    """Return an idea's cells, all its notes at the end of each of its slides: there RISE looks for
    them.
    """
    notes = [cell for cell in idea if workspace.for_the_speaker(cell)]
    slides = split([cell for cell in idea if cell not in notes], begins_subslide)
    return [
        cell
        for number, one in enumerate(slides)
        for cell in one + [renamed(note, number) for note in notes]
    ]


def renamed(note, number):
    return note | {"id": f"{note['id'][:60]}-{number}"}


def split(cells, begins):
    """Return lists of cells, a new one from each cell with which one `begins`."""
    found = [[]]
    for cell in cells:
        if begins(cell) and found[-1]:
            found.append([])
        found[-1].append(cell)
    return found


def begins_idea(cell):
    """Tell whether with a cell an idea begins, or a round or lab within one."""
    role = cell["metadata"].get("course", {}).get("role")
    return slide_type(cell) == "slide" or role in ROUND_BEGINS


def begins_subslide(cell):
    return slide_type(cell) == "subslide"


def slide_type(cell):
    return cell["metadata"].get("slideshow", {}).get("slide_type")


def write_own(folder, lab):
    """Write the style beside the lesson, and into .jupyter/ the settings and the shim for this
    version of Lab.
    """
    shutil.copyfile(SHIM / "rise.css", folder / "rise.css")
    config, shim = folder / ".jupyter" / "labconfig", folder / ".jupyter" / "labextensions" / NAME
    for place in (config, shim):
        place.mkdir(parents=True, exist_ok=True)
    workspace.write_json(config / "default_setting_overrides.json", SETTINGS)
    build = {"load": "remoteEntry.js", "extension": "./extension"}
    workspace.write_json(
        shim / "package.json", {"name": NAME, "version": lab, "jupyterlab": {"_build": build}}
    )
    script = (
        (SHIM / "remoteEntry.js")
        .read_text(encoding="utf-8")
        .replace("LAB_VERSION", json.dumps(lab))
    )
    (shim / "remoteEntry.js").write_text(script, encoding="utf-8")


def environment(folder):
    """Return the variables under which Jupyter finds what write_own() wrote, before all else."""
    own = str(folder / ".jupyter")
    before = {name: os.environ.get(name) for name in ("JUPYTER_PATH", "JUPYTER_CONFIG_PATH")}
    return os.environ | {
        name: os.pathsep.join(filter(None, (own, value))) for name, value in before.items()
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
