"""Print sheets to hand out (`python -m course.handouts notebooks -o build/handouts`): of each
notebook its questions with room for a guess, its answers, and, where it shows graphs or steps through a
backward, graphs to draw and tables to fill in.

Needs Chromium, which prints them; says what to do by hand where there is none.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from course.publish import publish
from course.publishing import chromium, source, worksheets
from course.publishing.printing import Printer
from course.publishing.source import NoSlides, Unpublishable, reason

KINDS = ("questions", "answers")
ASKS = 'class="round"'  # in a deck: a slide that asks something
LACKING = {
    "graphs": "none of its rounds draws a graph",
    "chain-rule": "it steps through no backward of numbers alone",
}
BY_HAND = (
    "Sheets are printed by Chromium, Chrome or Edge, and none was found; the variable CHROMIUM can name one."
    " Or make slides (make slides), open one in any browser with ?handout=questions or ?handout=answers after its"
    " address, and print it."
)


def sheets(notebook: Path, folder: Path, program: str) -> list[Path]:
    """Print all sheets of a notebook into a folder; return their paths. Raises Unpublishable."""
    with tempfile.TemporaryDirectory() as there, Printer(program) as printer:
        return printed(notebook, folder, pages_of(notebook, Path(there)), printer)


def printed(notebook: Path, folder: Path, pages: dict[str, str], printer: Printer) -> list[Path]:
    """Print the pages of a notebook into a folder; return the paths. Raises Unpublishable."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Unpublishable(
            f"The folder {folder} cannot be made ({reason(error)}). Give another place after -o."
        ) from None
    for kind, page in pages.items():
        printer.print(page, path_of(notebook, folder, kind))
    for kind in worksheets.KINDS:
        if kind not in pages:
            path_of(notebook, folder, kind).unlink(missing_ok=True)  # of the lesson as it was
    return [path_of(notebook, folder, kind) for kind in pages]


def path_of(notebook: Path, folder: Path, kind: str) -> Path:
    return folder / f"{notebook.stem}-{kind}.pdf"


def pages_of(notebook: Path, there: Path) -> dict[str, str]:
    """Write the pages that are to be printed; return their addresses by kind. Raises Unpublishable."""
    deck = there / "deck.html"
    if ASKS not in publish(notebook, "slides", deck):
        raise NoSlides(f"{notebook} asks no question, so there is no sheet to print of it.")
    pages = {kind: f"{deck.as_uri()}?handout={kind}" for kind in KINDS}
    for kind, html in worksheets.made(source.read(notebook), notebook.parent).items():
        page = there / f"{kind}.html"
        page.write_text(html, encoding="utf-8")
        pages[kind] = page.as_uri()
    return pages


def main(arguments: list[str] | None = None) -> int:
    """Print the sheets of what the command line names; return 0, or 1 where something failed."""
    parser = argparse.ArgumentParser(prog="python -m course.handouts", description=__doc__)
    parser.add_argument("notebook", type=Path, help="a notebook that was run, or a folder of them")
    parser.add_argument("-o", type=Path, required=True, help="the folder for the PDF files")
    given = parser.parse_args(arguments)
    program = chromium.found()
    if not program:
        print(BY_HAND, file=sys.stderr)
        return 1
    is_folder = given.notebook.is_dir()
    sources = sorted(given.notebook.glob("[!.]*.ipynb")) if is_folder else [given.notebook]
    if not sources:
        print(f"There is no notebook in {given.notebook}: no file ends in .ipynb.", file=sys.stderr)
        return 1
    with (
        tempfile.TemporaryDirectory() as there,
        Printer(program) as printer,
        ThreadPoolExecutor(1) as pool,  # one notebook is read while sheets of another are printed
    ):
        jobs = [(one, pool.submit(pages_of, one, Path(there, one.stem))) for one in sources]
        went_well = [told(one, given.o, job, printer, is_folder) for one, job in jobs]
    return 0 if all(went_well) else 1


def told(
    notebook: Path,
    folder: Path,
    job: Future[dict[str, str]],
    printer: Printer,
    is_one_of_many: bool,
) -> bool:
    """Print the sheets of a notebook, and say which; tell whether all went well."""
    try:
        made = printed(notebook, folder, job.result(), printer)
    except Unpublishable as error:
        is_fine = is_one_of_many and isinstance(error, NoSlides)
        if not is_fine:
            print(error, file=sys.stderr)
        return is_fine
    print(*made, sep="\n", flush=True)
    for kind, lacking in LACKING.items():
        if path_of(notebook, folder, kind) not in made:
            print(f"  no {kind} sheet of {notebook.name}: {lacking}")
    return True


if __name__ == "__main__":
    sys.exit(main())
