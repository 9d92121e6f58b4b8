"""Run Chromium without a window: to print a page, or to read what its scripts made of it."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from itertools import product
from pathlib import Path

from course.publishing.notebook_file import Unpublishable

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome", "msedge")
WINDOWS = (r"Google\Chrome\Application\chrome.exe", r"Microsoft\Edge\Application\msedge.exe")
FOLDERS = ("PROGRAMFILES", "PROGRAMFILES(X86)", "LOCALAPPDATA")  # variables that Windows sets
MACOS = ("Google Chrome", "Chromium", "Microsoft Edge")
SECONDS = 120


def browser() -> str | None:
    """Return the browser that CHROMIUM names, else the first in PATH or where systems have it."""
    named = os.environ.get("CHROMIUM")
    if named:
        return shutil.which(named)
    return next(filter(None, map(shutil.which, [*NAMES, *usual()])), None)


def usual() -> list[str]:
    """Return the paths at which Windows and macOS keep a browser that is not in PATH."""
    folders = filter(None, map(os.environ.get, FOLDERS))
    on_windows = [f"{folder}\\{program}" for program, folder in product(WINDOWS, folders)]
    return on_windows + [f"/Applications/{name}.app/Contents/MacOS/{name}" for name in MACOS]


def print_page(program: str, address: str, out: Path) -> None:
    """Print a page to a PDF. Raises Unpublishable where the browser made none."""
    out.unlink(missing_ok=True)
    # A relative path would be taken on Windows for one in the browser's own folder.
    run(program, address, "--no-pdf-header-footer", f"--print-to-pdf={out.resolve()}")
    if not out.is_file():
        raise Unpublishable(f"{program} printed nothing to {out}. Can that place be written to?")


def page_after_scripts(program: str, address: str) -> str:
    """Return a page as HTML when its scripts are done. Raises Unpublishable where it takes too long."""
    return run(program, address, "--dump-dom")


def command(program: str, profile: str, *options: str) -> list[str]:
    """Return how to start the browser without a window, with nothing of what its user keeps."""
    words = [program, "--headless", f"--user-data-dir={profile}", "--window-size=1280,720"]
    if hasattr(os, "getuid") and os.getuid() == 0:
        words.append("--no-sandbox")
    return [*words, *options]


def run(program: str, address: str, *options: str) -> str:
    """Open a page without a window; return what the browser prints. Raises Unpublishable."""
    # On Windows a part of the browser may hold a file there for a moment longer.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        words = command(program, profile, "--virtual-time-budget=20000", *options, address)
        try:
            ran = subprocess.run(words, capture_output=True, timeout=SECONDS, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise Unpublishable(f"{program} did not open {address} ({error}).") from None
    return ran.stdout.decode(errors="replace")
