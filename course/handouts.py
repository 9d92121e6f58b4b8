"""Print sheets to hand out (`python -m course.handouts notebooks -o build/handouts`): of each
notebook its questions with room for a guess, its answers, and, where it shows graphs or steps through a
backward, graphs to draw and tables to fill in.

Needs Chromium, which prints them; says what to do by hand where there is none.
"""

import argparse
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from course.publishing import chromium, worksheets
from course.publishing.deck import html_of, slides_in
from course.publishing.notebook_file import NoSlides, Unpublishable, notebooks_in, read_run, reason
from course.publishing.printing import Printer

KINDS = ("questions", "answers")
ASKS = 'class="round"'  # in a deck: a slide that asks something
LACKING = {
    "graphs": "none of its rounds draws a graph",
    "chain-rule": "it doesn't step through a backward of plain numbers",
}
BY_HAND = (
    "Sheets are printed by Chromium, Chrome or Edge, and none was found; the variable CHROMIUM can name one."
    " Or make slides (make slides), open one in any browser with ?handout=questions or ?handout=answers after its"
    " address, and print it."
)


def printed(notebook: Path, folder: Path, pages: dict[str, str], printer: Printer) -> list[Path]:
    """Print the pages of a notebook into a folder; return the paths. Raises Unpublishable."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        why = f"The folder {folder} can't be made ({reason(error)}). Give a different one after -o."
        raise Unpublishable(why) from None
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
    title, slides = slides_in(read_run(notebook), notebook.parent)
    deck = html_of(title, slides, minutes=0)
    if ASKS not in deck:
        raise NoSlides(f"{notebook} asks no question, so there is no sheet to print of it.")
    there.mkdir()
    pages = {}
    for name, html in {"deck": deck, **worksheets.made(title, slides)}.items():
        (there / f"{name}.html").write_text(html, encoding="utf-8")
        pages[name] = (there / f"{name}.html").as_uri()
    address = pages.pop("deck")
    return {kind: f"{address}?handout={kind}" for kind in KINDS} | pages


def main(arguments: list[str] | None = None) -> int:
    """Print the sheets of what the command line names; return 0, or 1 where something failed."""
    parser = argparse.ArgumentParser(prog="python -m course.handouts", description=__doc__)
    parser.add_argument("notebook", type=Path, help="a notebook that was run, or a folder of them")
    parser.add_argument("-o", type=Path, required=True, help="the folder for the PDF files")
    given = parser.parse_args(arguments)
    program = chromium.browser()
    if not program:
        print(BY_HAND, file=sys.stderr)
        return 1
    is_folder, went_well = given.notebook.is_dir(), True
    try:
        sources = notebooks_in(given.notebook)
    except Unpublishable as error:
        print(error, file=sys.stderr)
        return 1
    with (
        tempfile.TemporaryDirectory() as there,
        Printer(program) as printer,
        ThreadPoolExecutor(1) as pool,  # one notebook is read while sheets of another are printed
    ):
        jobs = [pool.submit(pages_of, path, Path(there, path.stem)) for path in sources]
        for notebook, job in zip(sources, jobs, strict=True):
            try:
                tell(notebook, given.o, printed(notebook, given.o, job.result(), printer))
            except Unpublishable as error:
                if not is_folder or not isinstance(error, NoSlides):
                    print(error, file=sys.stderr)
                    went_well = False
    return 0 if went_well else 1


def tell(notebook: Path, folder: Path, made: list[Path]) -> None:
    """Say which sheets of a notebook were printed, and why there are no others."""
    print(*made, sep="\n", flush=True)
    for kind, lacking in LACKING.items():
        if path_of(notebook, folder, kind) not in made:
            print(f"  no {kind} sheet of {notebook.name}: {lacking}")


if __name__ == "__main__":
    sys.exit(main())
