"""Print sheets to hand out (`python -m course.handouts notebooks -o build/handouts`): of each
notebook its questions with room for a guess, and its answers.

Needs Chromium, which prints them; says what to do by hand where there is none.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from course.publish import LESSON, publish
from course.publishing import chromium
from course.publishing.source import NoSlides, Unpublishable, reason

KINDS = ("questions", "answers")
BY_HAND = (
    "There is no Chromium in PATH ({}) to print sheets with. Make slides (make slides), open one in any browser with"
    " ?handout=questions or ?handout=answers after its address, and print it."
)


def sheets(notebook: Path, folder: Path, program: str) -> list[Path]:
    """Print both sheets of a notebook into a folder; return their paths. Raises Unpublishable."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Unpublishable(
            f"The folder {folder} cannot be made ({reason(error)}). Give another place after -o."
        ) from None
    made = []
    with tempfile.TemporaryDirectory() as there:
        deck = Path(there) / "deck.html"
        if LESSON not in publish(notebook, "slides", deck):
            raise NoSlides(f"{notebook} asks no question, so there is no sheet to print of it.")
        for kind in KINDS:
            out = folder / f"{notebook.stem}-{kind}.pdf"
            chromium.print_page(program, f"{deck.as_uri()}?handout={kind}", out)
            made.append(out)
    return made


def main(arguments: list[str] | None = None) -> int:
    """Print the sheets of what the command line names; return 0, or 1 where something failed."""
    parser = argparse.ArgumentParser(prog="python -m course.handouts", description=__doc__)
    parser.add_argument("notebook", type=Path, help="a notebook that was run, or a folder of them")
    parser.add_argument("-o", type=Path, required=True, help="the folder for the PDF files")
    given = parser.parse_args(arguments)
    program = chromium.found()
    if not program:
        print(BY_HAND.format(", ".join(chromium.NAMES)), file=sys.stderr)
        return 1
    is_folder = given.notebook.is_dir()
    sources = sorted(given.notebook.glob("[!.]*.ipynb")) if is_folder else [given.notebook]
    failed = 0
    if not sources:
        print(f"There is no notebook in {given.notebook}: no file ends in .ipynb.", file=sys.stderr)
        return 1
    for source in sources:
        try:
            print(*sheets(source, given.o, program), sep="\n")
        except NoSlides as error:
            if not is_folder:
                print(error, file=sys.stderr)
                failed = 1
        except Unpublishable as error:
            print(error, file=sys.stderr)
            failed = 1
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
