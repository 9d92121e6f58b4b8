"""Run the benchmarks: `python -m benchmarks [NAME ...] [--rounds N]`. Writes build/bench/table.md."""

from __future__ import annotations

import argparse
import os
import platform
from importlib import import_module
from pathlib import Path

import torch

from benchmarks.measure import table

NAMES = ("stepping", "growth", "importing", "watching")
OUT = Path(__file__).parents[1] / "build" / "bench" / "table.md"


def parsed(arguments: list[str] | None = None) -> argparse.Namespace:
    """Return what was asked for; ends with a sentence where there is no such benchmark."""
    parser = argparse.ArgumentParser("python -m benchmarks", description="All, by default.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"some of {', '.join(NAMES)}")
    parser.add_argument("--rounds", type=int, default=5, help="how often each is measured (5)")
    given = parser.parse_args(arguments)
    unknown = sorted(set(given.names) - set(NAMES))
    if unknown:
        parser.error(f"there is no benchmark {unknown[0]!r}; there are {', '.join(NAMES)}")
    if given.rounds < 2:
        parser.error(f"--rounds is {given.rounds}: a spread needs two at least")
    return given


def main(arguments: list[str] | None = None) -> None:
    """Run what was asked for, print it and write it down."""
    given = parsed(arguments)
    machine = f"Python {platform.python_version()}, {platform.system()}, {os.cpu_count()} cores"
    parts = ["# Benchmarks", f"{machine}, torch {torch.__version__}; {given.rounds} rounds."]
    for name in given.names or NAMES:
        print(f"{name} ...", flush=True)
        rows = import_module(f"benchmarks.{name}").rows(given.rounds)
        parts += [f"## {name}", table(rows)]
    OUT.parent.mkdir(parents=True, exist_ok=True)
    OUT.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    print("\n\n".join(parts))


if __name__ == "__main__":
    main()
