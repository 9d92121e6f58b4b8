"""Print sheets to hand out (`python -m course.handouts notebooks -o build/handouts`): of each
notebook its questions with room for a guess, and its answers.

Needs Chromium, which prints them; says what to do by hand where there is none.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from course.publish import publish
from course.publishing.source import NoSlides, Unpublishable, reason

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
KINDS = ("questions", "answers")
BY_HAND = (
    "There is no Chromium in PATH ({}) to print sheets with. Make slides (make slides), open one in any browser with"
    " ?handout=questions or ?handout=answers after its address, and print it."
)
SECONDS = 120


def browser() -> str | None:
    """Return the browser that prints: what the variable CHROMIUM names, else the first in PATH."""
    named = os.environ.get("CHROMIUM")
    return next(filter(None, map(shutil.which, [named] if named else BROWSERS)), None)


def print_sheet(program: str, address: str, out: Path) -> None:
    """Print a page to a PDF. Raises Unpublishable where the browser made none."""
    with tempfile.TemporaryDirectory() as profile:
        command = [program, "--headless", "--no-pdf-header-footer", f"--print-to-pdf={out}"]
        command += [f"--user-data-dir={profile}", "--virtual-time-budget=20000"]
        command += ["--no-sandbox"] * (hasattr(os, "getuid") and os.getuid() == 0)
        out.unlink(missing_ok=True)
        try:
            subprocess.run([*command, address], capture_output=True, timeout=SECONDS, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise Unpublishable(f"{program} printed nothing to {out} ({error}).") from None
    if not out.is_file():
        raise Unpublishable(f"{program} printed nothing to {out}. Can that place be written?")


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
        publish(notebook, "slides", deck)
        for kind in KINDS:
            out = folder / f"{notebook.stem}-{kind}.pdf"
            print_sheet(program, f"{deck.as_uri()}?handout={kind}", out)
            made.append(out)
    return made


def main(arguments: list[str] | None = None) -> int:
    """Print the sheets of what the command line names; return 0, or 1 where something failed."""
    parser = argparse.ArgumentParser(prog="python -m course.handouts", description=__doc__)
    parser.add_argument("notebook", type=Path, help="a notebook that was run, or a folder of them")
    parser.add_argument("-o", type=Path, required=True, help="the folder for the PDF files")
    given = parser.parse_args(arguments)
    program = browser()
    if not program:
        print(BY_HAND.format(", ".join(BROWSERS)), file=sys.stderr)
        return 1
    is_folder = given.notebook.is_dir()
    sources = sorted(given.notebook.glob("[0-9]*.ipynb")) if is_folder else [given.notebook]
    failed = 0
    for source in sources:
        try:
            print(*sheets(source, given.o, program), sep="\n")
        except NoSlides:
            failed |= not is_folder
        except Unpublishable as error:
            print(error, file=sys.stderr)
            failed = 1
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
