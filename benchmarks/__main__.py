"""Run the benchmarks and write what they say: `python -m benchmarks [NAME ...] [--rounds N] [--out
FOLDER]`.

The table is FOLDER/table.md, all numbers are in FOLDER/table.csv, and the plots beside them.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks import drawing, plots
from benchmarks.measure import HEADER, PACKAGES, Row, table, write_csv

OTHERS = (
    "show_beside_torchviz",
    "record_beside_backward",
    "growth",
    "importing",
    "player_key_to_paint",
    "stepping",
    "course",
    "borders",
    "real_drawing",
)
NAMES = ("drawing", *OTHERS)
OUT = Path(__file__).parents[1] / "build" / "bench"


def parsed(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "python -m benchmarks", description="Run the benchmarks; all of them by default."
    )
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"one or several of {', '.join(NAMES)}"
    )
    parser.add_argument(
        "--rounds", type=int, default=5, help="how often each thing is measured (5)"
    )
    parser.add_argument(
        "--out", type=Path, default=OUT, help="the folder to write to (build/bench)"
    )
    given = parser.parse_args(arguments)
    if unknown := sorted(set(given.names) - set(NAMES)):
        parser.error(f"there is no benchmark {unknown[0]!r}; there are {', '.join(NAMES)}")
    if given.rounds < 2:
        parser.error(f"--rounds is {given.rounds}: a spread needs two at least")
    return given


def versions() -> str:
    """Return one line on what was compared, and on what machine."""
    found = [
        f"Python {platform.python_version()}",
        f"{platform.system()} with {os.cpu_count()} cores",
    ]
    for name in ("torch", "pygraphviz", "torchviz", "torchview", "torchlens"):
        found.append(f"{name} {installed(name)}")
    if shutil.which("dot"):
        said = subprocess.run(["dot", "-V"], capture_output=True, text=True).stderr
        found.append(said.strip() or "dot")
    return ", ".join(found)


def installed(name: str) -> str:
    """Return the version of a package of the course or of the bench environment."""
    try:
        return version(name)
    except PackageNotFoundError:
        there = sorted(PACKAGES.glob(f"{name}-*.dist-info"))
        return (
            there[0].name.removesuffix(".dist-info").partition("-")[2]
            if there
            else "(not installed)"
        )


def main(arguments: list[str] | None = None) -> None:
    given = parsed(arguments)
    given.out.mkdir(parents=True, exist_ok=True)
    rows: list[Row] = []
    parts = [
        "# Benchmarks",
        versions(),
        f"Medians of {given.rounds} rounds, taken in turn in one run.",
    ]
    for name in [name for name in NAMES if name in (given.names or NAMES)]:
        print(f"{name} ...", flush=True)
        if name == "drawing":
            seen = drawing.measure(given.rounds)
            new, text = drawing.rows(seen), drawing.tables(seen)
            plots.draw(seen, given.out / "drawing.svg")
        else:
            new, text = import_module(f"benchmarks.{name}").rows(given.rounds), ""
        listed = [row for row in new if name != "drawing" or " / " in row.what]
        parts += [
            f"## {name.replace('_', ' ')}",
            text,
            table(HEADER, [row.cells() for row in listed]),
        ]
        rows += new
    plots.growth(rows, given.out / "growth.svg")
    missed = [
        f"{row.case}, {row.what}: {row.cells()[2]} {row.unit}, {row.goal}"
        for row in rows
        if "MISSED" in row.goal
    ]
    parts += ["## Goals that were missed", "\n".join(f"- {one}" for one in missed) or "None."]
    (given.out / "table.md").write_text("\n\n".join(filter(None, parts)) + "\n", encoding="utf-8")
    write_csv(rows, given.out / "table.csv")
    print("\n\n".join(filter(None, parts)))


if __name__ == "__main__":
    main()
