"""Run the lessons on another torch (`make next TORCH=2.14.0`): nbval says which cells moved.

Writes build/next, an environment of its own, and runs copies of the lessons in a folder that goes
again. Needs nothing but the standard library.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent
NEXT = ROOT / "build" / "next"
VERSION = re.compile(r"\d+(\.\w+)+(\+[\w.]+)?")
# Torch names the versions of these that it runs with.
TORCHS_OWN = re.compile(r"(torch|triton|nvidia-[\w-]+|cuda-[\w-]+)[=>]=")
PYTEST = [
    "-m",
    "pytest",
    "-q",
    "-rf",
    "--tb=no",
    "--no-header",
    "-o",
    "addopts=",
    "-o",
    "filterwarnings=",
]


def main(arguments=None, environment=None):
    """Make the environment, run copies of the notebooks in it; return 0 whatever moved."""
    asked = read(arguments)
    python = (environment or installed)(asked.torch, places(asked))
    with TemporaryDirectory() as folder:
        for path in asked.notebooks:
            (shutil.copytree if path.is_dir() else shutil.copy)(path, Path(folder) / path.name)
        paths = os.pathsep.join([str(ROOT), str(ROOT / "tests")])
        ours = {"PYTHONPATH": paths, "IPYTHONDIR": str(ROOT / "build" / "ipython")}
        env = {**os.environ, "PYTEST_ADDOPTS": "", **ours}
        command = [python, *PYTEST, *asked.options, folder]
        status = subprocess.run(command, cwd=ROOT, env=env).returncode
    return 0 if status == 1 else status  # 1: some cells moved, which is what is asked for


def read(arguments):
    """Return what is asked; exit with a sentence where that cannot be meant."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--torch", default="", help="a version, such as 2.14.0")
    parser.add_argument("--wheels", default="", help="a folder of wheels to look into as well")
    parser.add_argument("--index", default="", help="the address of another package index")
    parser.add_argument("--notebooks", nargs="+", type=Path, default=[ROOT / "notebooks"])
    parser.add_argument("options", nargs="*", help="after --: options of pytest and nbval")
    asked = parser.parse_args(arguments)
    if not VERSION.fullmatch(asked.torch):
        given = f"{asked.torch!r} is no version of torch." if asked.torch else "Which torch?"
        sys.exit(f"{given} For example: make next TORCH=2.14.0")
    if asked.wheels and not Path(asked.wheels).is_dir():
        sys.exit(f"FROM={asked.wheels} is no folder. It names one that holds wheels of torch.")
    for path in asked.notebooks:
        if not path.exists():
            sys.exit(f"There is no lesson {path}. Without N= all of notebooks/ are run.")
    return asked


def places(asked):
    """Return the options of pip that say where to look besides its own index."""
    wheels = ["--find-links", asked.wheels] if asked.wheels else []
    return wheels + (["--extra-index-url", asked.index] if asked.index else [])


def installed(torch, options):
    """Make build/next with this torch and else what the lock names; return its Python."""
    print(f"Installing torch {torch}, which is large, and the rest into build/next ...", flush=True)
    step([sys.executable, "-m", "venv", NEXT], "The environment build/next could not be made")
    python = NEXT / "bin" / "python"
    for name, first in (("requirements.txt", f"torch=={torch}"), ("constraints.txt", "")):
        others = without_torch((ROOT / name).read_text(encoding="utf-8"))
        (NEXT / name).write_text(f"{first}\n{others}", encoding="utf-8")
    files = ["-r", NEXT / "requirements.txt", "-c", NEXT / "constraints.txt"]
    command = [python, "-m", "pip", "install", "--disable-pip-version-check", *files, *options]
    step(command, f"torch {torch} could not be installed into build/next")
    return python


def without_torch(text):
    """Return the lines of a requirements file without torch and what torch chooses for itself."""
    return "".join(line for line in text.splitlines(keepends=True) if not TORCHS_OWN.match(line))


def step(command, failure):
    """Run a command; exit with `failure` and what the command complained about."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    ran = subprocess.run(command, **pipes, text=True, errors="replace")
    if ran.returncode:
        said = [line.strip() for line in ran.stdout.splitlines() if line.strip()]
        first = next((number for number, line in enumerate(said) if line.startswith("ERROR:")), -1)
        sys.exit("\n    ".join([f"{failure}:", *said[first:][:MOST_SAID]]) + f"\n{HELP}")


MOST_SAID = 8  # lines of a complaint
HELP = (
    "Give a version that there is for this Python; FROM=folder looks into a folder of wheels, TORCH_INDEX=address into "
    "another index. If build/next is broken, remove it."
)

if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("Stopped.")
