"""Fill a folder for USB sticks, from which a laptop gets the course without a network
(`python -m classroom.usb -o build/usb --for windows-3.12 macos-3.13`): wheels for this system and those
that are named, the course, decks, pages, and what starts it all.

Needs the network, since pip fetches the wheels; they are kept in build/wheels for the next time.
Writes the folder whole or not at all. Needs neither torch nor helpers itself.
"""

import argparse
import hashlib
import importlib.util
import json
import math
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

from classroom.usb.files import course_files
from classroom.usb.systems import System, Unknown, here, named
from classroom.usb.wheels import INSTALLER, Missing, by_pip, wheels_for

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = Path(__file__).parent / "stick"
STICK = "stick.json"  # a folder with this file is one that we may write anew
KINDS = {
    "windows": "Windows",
    "macos": "macOS 14 or later, Apple silicon",
    "linux": "Linux",
    "linux-arm": "Linux on ARM",
}
PARTS = {
    "decks": ["-m", "course.publish", "notebooks", "--to", "slides", "--no-check"],
    "pages": ["-m", "course.publishing.site", "notebooks"],
}
CONTENTS = {
    "course": "course/  the course as its makers have it; read course/README.md",
    "decks": "decks/   each lesson as slides in one file, which any browser opens from here",
    "pages": "pages/   the lessons to read: open pages/index.html in any browser",
}
COMPILED = 1.2  # what Python compiles takes a fifth more room


class Unfinished(Exception):
    """What keeps the folder from being written; its text says what to do."""


def main(words: list[str] | None = None) -> int:
    """Fill the folder that the command line names; return 0, or 1 after a sentence."""
    asked = parser().parse_args(words)
    try:
        fill(asked)
    except (Unknown, Missing, Unfinished) as error:
        print(error, file=sys.stderr)
    except OSError as error:
        place = error.filename or asked.out
        print(f"{place}: {error.strerror or error}. Nothing was finished.", file=sys.stderr)
    except KeyboardInterrupt:
        print("Stopped. Nothing half-made is taken for a stick.", file=sys.stderr)
    else:
        return 0
    return 1


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser("python -m classroom.usb", description=__doc__)
    add = made.add_argument
    add("-o", "--out", type=Path, default=ROOT / "build" / "usb")
    helped = "other systems and their Python: windows-3.12, macos-3.13, linux-3.12, linux-arm-3.12"
    add("--for", dest="systems", nargs="+", default=[], metavar="SYSTEM", help=helped)
    add("--torch-index", default="", help="the address of a package index to look into as well")
    add("--cuda", action="store_true", help="take torch for GPUs on Linux, too")
    return made


def fill(asked: argparse.Namespace) -> None:
    """Write the folder. Raises Unknown, Missing, Unfinished, OSError."""
    systems = list(dict.fromkeys([here(), *map(named, asked.systems)]))
    out = asked.out.absolute()
    is_empty = out.is_dir() and not any(out.iterdir())
    if out.exists() and not is_empty and not (out / STICK).is_file():
        raise Unfinished(
            f"{out} holds something else than a stick's content, and would be replaced."
            " Name another folder after -o."
        )
    wheels = fetched(systems, asked.torch_index, asked.cuda)
    part = out.with_name(f".{out.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    try:
        copy_wheels(wheels, part / "wheels")
        lay_out(part, wheels)
        shutil.rmtree(out, ignore_errors=True)
        part.rename(out)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    print(sizes(out))


def fetched(systems: list[System], index: str, cuda: bool) -> dict[System, list[Path]]:
    """Return the wheels for each system, after pip has brought them to build/wheels. Raises Missing."""
    kept = ROOT / "build" / "wheels"
    kept.mkdir(parents=True, exist_ok=True)
    wheels = {}
    for system in systems:
        print(f"{system}: looking for its wheels ...", flush=True)
        wheels[system] = sorted(wheels_for(system, ROOT, kept, by_pip(kept, index), cuda))
        print(f"{system}: {len(wheels[system])} wheels, {megabytes(wheels[system])}", flush=True)
    return wheels


def copy_wheels(wheels: dict[System, list[Path]], folder: Path) -> None:
    """Put the wheels of all systems into one folder: as further links where the disk has those."""
    folder.mkdir()
    for wheel in set().union(*wheels.values()):
        try:
            os.link(wheel, folder / wheel.name)
        except OSError:
            shutil.copyfile(wheel, folder / wheel.name)


def lay_out(folder: Path, wheels: dict[System, list[Path]]) -> None:
    """Write into the folder all but the wheels. Raises Unfinished."""
    stick = {"systems": {str(system): of_system(paths) for system, paths in wheels.items()}}
    stick["course"] = copy_course(folder / "course")
    stick["scripts"] = copy_scripts(folder)
    made = [name for name in PARTS if build(name, folder / name)]
    stick["id"] = hashlib.sha256(json.dumps(stick, sort_keys=True).encode()).hexdigest()
    write_text(folder / "README.txt", readme(wheels, stick, made), "\r\n")
    write_text(folder / STICK, json.dumps(stick, indent=1) + "\n")


def of_system(wheels: list[Path]) -> dict[str, object]:
    """Return what start.py has to know of a system's wheels."""
    pip = next(wheel.name for wheel in wheels if wheel.name.startswith(f"{INSTALLER}-"))
    known = {"wheels": {}, "pip": pip, "unpacked": 0, "longest": 0}
    for wheel in wheels:
        known["wheels"][wheel.name] = wheel.stat().st_size
        with zipfile.ZipFile(wheel) as archive:
            for entry in archive.infolist():
                known["unpacked"] += entry.file_size
                known["longest"] = max(known["longest"], len(entry.filename))
    return known


def copy_course(folder: Path) -> dict[str, str]:
    return {name: copy(ROOT / name, folder / name) for name in course_files(ROOT)}


def copy(source: Path, target: Path) -> str:
    target.parent.mkdir(parents=True, exist_ok=True)
    content = source.read_bytes()
    target.write_bytes(content)
    return hashlib.sha256(content).hexdigest()


def copy_scripts(folder: Path) -> dict[str, str]:
    """Write what starts the course, each with the ends of lines of its system; return the digests."""
    digests = {}
    for source in sorted(SCRIPTS.glob("start*")):
        target = folder / source.name
        write_text(target, source.read_text("utf-8"), "\r\n" if source.suffix == ".bat" else "\n")
        target.chmod(0o755)
        digests[target.name] = hashlib.sha256(target.read_bytes()).hexdigest()
    return digests


def build(part: str, folder: Path) -> bool:
    """Build decks or pages; return False where pages need what is not installed. Raises Unfinished."""
    if part == "pages" and not importlib.util.find_spec("myst_nb"):
        print("pages/ is left out: it needs the packages of requirements-dev.txt.")
        return False
    print(f"Building {part}/ ...", flush=True)
    command = [sys.executable, *PARTS[part], "-o", str(folder)]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, errors="replace")
    if ran.returncode:
        said = (ran.stdout + ran.stderr).strip().splitlines()[-6:]
        raise Unfinished("\n    ".join([f"{part}/ could not be built:", *said]))
    return True


def readme(wheels: dict[System, list[Path]], stick: dict, made: list[str]) -> str:
    """Return the text that lies on top, for these systems and what was made for them."""
    lines = [f"  - {KINDS[system.kind]}, with Python 3.{system.minor}" for system in wheels]
    largest = max(system["unpacked"] for system in stick["systems"].values())
    contents = "".join(f"{CONTENTS[name]}\n" for name in ("course", *made))
    room = math.ceil(largest * COMPILED / 1e8) / 10
    text = (SCRIPTS / "README.txt").read_text("utf-8")
    return text.format(systems="\n".join(lines), room=room, contents=contents)


def write_text(path: Path, text: str, newline: str = "\n") -> None:
    path.write_text(text, "utf-8", newline=newline)


def megabytes(paths: list[Path]) -> str:
    return f"{sum(map(os.path.getsize, paths)) / 1e6:.0f} MB"


def sizes(out: Path) -> str:
    """Return what was written where, and how large each part is."""
    parts = sorted(path for path in out.iterdir() if path.is_dir())
    each = ", ".join(f"{part.name}/ {size_of(part)}" for part in parts)
    return f"{out}: {size_of(out)} ({each}). Copy all of it to a stick; README.txt says the rest."


def size_of(folder: Path) -> str:
    return megabytes([path for path in folder.rglob("*") if path.is_file()])


if __name__ == "__main__":
    sys.exit(main())
