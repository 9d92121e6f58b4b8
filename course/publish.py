"""Publish notebooks that were run (`python -m course.publish NOTEBOOK --to slides -o FILE`): decks
and pages.

Reads the notebooks and the pictures beside them; writes only what -o names. Nothing is run, nothing
is fetched.
"""

import argparse
import contextlib
import os
import sys
from pathlib import Path

from nbformat import NotebookNode

from course.publishing import chromium
from course.publishing.deck import deck, slides_in
from course.publishing.fitting import unfit
from course.publishing.gaps import gaps
from course.publishing.notebook_file import (
    NoSlides,
    Unpublishable,
    not_run,
    notebooks_in,
    opened,
    reason,
)
from course.publishing.prepare import prepared
from course.publishing.reading_page import page
from course.publishing.remarks import is_lesson, places, remarks

FORMS = {"slides": deck, "page": page}
MOST = 20  # slides that are named one by one


def publish(notebook: str | Path, to: str, out: str | Path, *, trust: bool = False) -> str:
    """Write a notebook as "slides" or a "page" to the file `out`; return the HTML.

    Raises Unpublishable.
    """
    if to not in FORMS:
        raise Unpublishable(f"Cannot publish as {to!r}. Use one of: {', '.join(FORMS)}.")
    notebook, out = Path(notebook), Path(out)
    given = opened(notebook)
    if is_lesson(given) and (waits := not_run(given, notebook)):
        raise Unpublishable(waits)
    html = FORMS[to](given, notebook.parent, trust=trust)
    try:
        same = os.path.realpath(out) == os.path.realpath(notebook)
        part = out.with_name(f".{out.name}.part")
    except (OSError, ValueError) as error:  # no name of a file
        raise unwritable(out, error) from None
    if same:
        raise Unpublishable(f"{out} is the notebook itself. Give a different name, such as x.html.")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(html, encoding="utf-8", newline="\n")
        os.replace(part, out)
    except OSError as error:
        with contextlib.suppress(OSError):
            part.unlink()
        raise unwritable(out, error) from None
    return html


def unwritable(out: Path, error: Exception) -> Unpublishable:
    return Unpublishable(
        f"{out} can't be written ({reason(error)}). Give a different place after -o."
    )


def main(arguments: list[str] | None = None) -> int:
    """Publish what the command line names; return 0, or 1 where something could not be published."""
    given = parser().parse_args(arguments)
    folder = os.path.isdir(given.notebook)
    failed, is_checked = 0, given.to == "slides" and given.check
    program = chromium.browser() if is_checked else None
    if is_checked and not program:
        print(
            "I couldn't check whether everything fits its slide, because no Chromium, Chrome or Edge was found."
        )
    try:
        sources = notebooks_in(given.notebook)
    except Unpublishable as error:
        print(error, file=sys.stderr)
        return 1
    for source in sources:
        out = given.o / f"{source.stem}.html" if folder else given.o
        try:
            html = publish(source, given.to, out, trust=given.trust)
            print(f"{out}: {round(len(html.encode()) / 1000)} kB")
            notebook = opened(source)
            lacks = missing_in_slides(notebook, source.parent) if given.to == "slides" else []
            for remark in [*remarks(notebook, source, given.trust), *lacks]:
                print(f"  {remark}")
            failed |= bool(lacks)
            if program and not fits(out, program, places(notebook)) and is_lesson(notebook):
                failed = 1
        except Unpublishable as error:
            if folder and isinstance(error, NoSlides):
                continue  # its author skipped every cell, as in the glossary
            print(f"{source.name}: {error}" if folder else error, file=sys.stderr)
            failed = 1
    return int(failed)


def missing_in_slides(notebook: NotebookNode, folder: Path) -> list[str]:
    """Return what the slides of a lesson ask without an answer, or never show."""
    if not is_lesson(notebook):
        return []
    _, slides = slides_in(notebook, folder)
    return list(gaps(prepared(notebook, notes=True).cells, slides))


def fits(deck: Path, program: str, places: dict[str, str]) -> bool:
    """Tell whether all of a deck fits its slides; say what does not, and what to do."""
    slides = unfit(deck, program, places)
    for slide in slides[:MOST]:
        print(f"  {slide}")
    if len(slides) > MOST:
        print(f"  and {len(slides) - MOST} more slides are too full.")
    return not slides


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser("python -m course.publish", description=__doc__.split("\n")[0])
    add = made.add_argument
    add("notebook", type=Path, help="a notebook that was run, or a folder of them")
    add("--to", choices=FORMS, required=True, help="slides with speaker notes, or a page to read")
    add("-o", type=Path, required=True, help="the file to write; for a folder a folder")
    add("--trust", action="store_true", help="keep HTML and scripts: for your own notebooks only")
    helped = "don't open the slides in Chromium to see whether everything fits"
    add("--no-check", dest="check", action="store_false", help=helped)
    return made


if __name__ == "__main__":
    sys.exit(main())
