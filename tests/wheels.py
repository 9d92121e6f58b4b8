"""Ask uv whether each Python and system of the course gets the whole lock as wheels, so that nobody
has to compile; `make lock` ends with it.

Writes nothing; needs the network. Which Pythons, pyproject.toml says.
"""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SYSTEMS = {  # as people say it: as uv says it; torch's own wheels begin with these
    "Linux x86_64": "x86_64-manylinux_2_28",
    "Linux ARM": "aarch64-manylinux_2_28",
    "macOS ARM": "aarch64-apple-darwin",
    "Windows": "x86_64-pc-windows-msvc",
}
OLDEST_MACOS = "14.0"
FILES = ["requirements.txt", "requirements-dev.txt", "-c", "constraints.txt"]
WITH_WHEELS = ["pip", "compile", "--quiet", "--no-header", "--only-binary", ":all:"]


def main(uv):
    """Print a row for each Python; return 1 if a wheel is missing somewhere, or 0."""
    print(" ".join(f"{word:<13}" for word in ["Python", *SYSTEMS]))
    missing = 0
    for python in pythons():
        complaints = {name: complaint(uv, python, system) for name, system in SYSTEMS.items()}
        words = [python, *("no" if complaints[name] else "wheels" for name in SYSTEMS)]
        print(" ".join(f"{word:<13}" for word in words), flush=True)
        for name in filter(complaints.get, complaints):
            missing = 1
            print(f"Python {python}, {name}: {complaints[name]}", file=sys.stderr)
    return missing


def pythons():
    """Return the Pythons that pyproject.toml names: ["3.11", ...]."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [line.rpartition(" ")[2] for line in project["classifiers"]]


def complaint(uv, python, system):
    """Return what uv says where it finds no wheels for all of the lock, "" where it does."""
    command = [uv, *WITH_WHEELS, "--python-version", python, "--python-platform", system, *FILES]
    ran = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "MACOSX_DEPLOYMENT_TARGET": OLDEST_MACOS},
        capture_output=True,
        text=True,
    )
    if ran.returncode == 0:
        return ""
    return " ".join(ran.stderr.split()) or f"uv ended with {ran.returncode}"


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
