"""Set the course up from this stick, or start it in the folder where it was set up: no network.

The standard library is enough, and any Python from 3.6 on can run this; which Python the course
itself gets, the wheels on the stick decide. Nothing on the stick is written.

One file, since a stick has nothing to import from. To be read from the top: `start` and `set_up`, then what they
call, in three parts: the folder, Python, what is installed and run. What fails raises Stop with a sentence.
"""

import argparse
import contextlib
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

HERE = Path(__file__).resolve().parent
STICK = HERE / "stick.json"  # what is on a stick; where there is none, this is a student's folder
USUAL = "~/pytorch-graphs"
PARTS = {"id", "systems", "course", "scripts"}  # of what stick.json says
TAKEN = ".from_stick.json"  # in a student's folder: what was copied into it
LOCK = ".from_stick.lock"  # there, too: held by the start that is at work
READY = ".from_stick"  # in its .venv: which stick it was installed from, and where
FIRST = "00_start_here.ipynb"
KINDS = {
    "windows": "Windows",
    "macos": "macOS on Apple silicon",
    "linux": "Linux",
    "linux-arm": "Linux on ARM",
}
PLATFORMS = {"win-amd64": "windows", "linux-x86_64": "linux", "linux-aarch64": "linux-arm"}
WINDOWS_LONGEST = 259  # characters of a path, unless its owner allowed more
GLIBC, MACOS = (2, 28), 14  # the oldest that torch runs on
MOST_SAID = 12  # lines of a complaint
NOT_WHOLE = "This stick is not whole: {} Copy the folder to it again."
PATIENCE = 30  # seconds after which a long step gives a sign of life
LEADING_ASTRAY = ("PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "__PYVENV_LAUNCHER__")
QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


class Stop(Exception):
    """What keeps the course from being set up; its text says what to do."""


def main(words=None):
    """Do what the command line asks for; return 0, or 1 after a sentence."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # no terminal is to fail at a folder's name
    asked, for_lab = parser().parse_known_args(words)
    if asked.name:
        print(own_name())
        return 0
    try:
        return start(asked, for_lab)
    except Stop as stop:
        print(stop, file=sys.stderr)
    except OSError as error:
        print(f"{error.filename or 'A file'}: {error.strerror or error}.", file=sys.stderr)
        print("Make room, or look who may write there; then start again.", file=sys.stderr)
    except KeyboardInterrupt:
        print("Stopped. Start again: nothing half-done is taken for done.", file=sys.stderr)
    return 1


def start(asked, for_lab):
    """Set up what is not there yet, then open JupyterLab; return its exit status. Raises Stop."""
    stick = stick_here()
    folder = Path(os.path.expanduser(asked.to)).resolve() if stick else HERE
    if stick:
        check_ours(folder)
        folder.mkdir(parents=True, exist_ok=True)
    with alone_in(folder):
        if stick:
            set_up(folder, stick)
        elif not is_ready(folder, None):
            moved = f"{folder} was moved, or not set up to its end."
            raise Stop(f"{moved} Start from the stick again; work/ stays as it is.")
        bring_lessons(folder)
    return 0 if asked.no_lab else open_lab(folder, for_lab)


def stick_here():
    """Return what is on this stick, or None in a student's folder. Raises Stop for half a stick."""
    if not STICK.is_file() and (HERE / TAKEN).is_file():
        return None
    stick = read_json(STICK)
    if not set(stick) >= PARTS:
        raise Stop(NOT_WHOLE.format(f"{STICK.name} is missing or damaged."))
    return stick


def parser():
    made = argparse.ArgumentParser(prog="start", description=__doc__.split("\n")[0])
    made.add_argument("--to", default=USUAL, help=f"the folder for the course ({USUAL})")
    made.add_argument("--no-lab", action="store_true", help="set up, and do not open JupyterLab")
    made.add_argument("--name", action="store_true", help="say what system this is, no more")
    made.epilog = "Everything else goes to JupyterLab: --no-browser, --port 8890."
    return made


def set_up(folder, stick):
    """Bring a folder to what is on the stick; do nothing where that was done. Raises Stop."""
    if is_ready(folder, stick["id"]):
        return
    if not (folder / TAKEN).is_file():
        write(folder / TAKEN, b"{}")
    python, name = fitting_python(stick["systems"], folder)
    system = stick["systems"][name]
    check_wheels(system["wheels"])
    new = python != [python_of(folder)]
    if new:
        check_room(folder, system["unpacked"])
        check_length(folder, system["longest"])
    if (folder / ".venv" / READY).is_file():
        (folder / ".venv" / READY).unlink()
    say(f"1 of 3: copying the course to {folder}")
    copy_course(stick, folder)
    say(f"2 of 3: installing {len(system['wheels'])} packages, which takes some minutes")
    if new:
        make_environment(python, folder)
    install(folder, system["pip"])
    say("3 of 3: trying what was installed")
    try_it(folder)
    ready = {"stick": stick["id"], "folder": str(folder)}
    (folder / ".venv" / READY).write_text(json.dumps(ready), encoding="utf-8")


def say(text):
    print(text, flush=True)


def read_json(path):
    """Return what a file holds; {} where that cannot be read."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


# ---- the folder and what is in it


def check_ours(folder):
    """Leave a folder alone that holds something else than the course. Raises Stop."""
    if not folder.is_dir() or (folder / TAKEN).is_file():
        return
    others = [path for path in folder.iterdir() if not path.name.startswith(READY)]
    if others:  # TAKEN and LOCK begin as READY does
        other = f"{folder} holds something else than the course from a stick."
        raise Stop(f"{other} Name another folder: --to FOLDER")


@contextlib.contextmanager
def alone_in(folder):
    """Keep every other start out of the folder, until this one is done or its process ends. Raises Stop."""
    with open(str(folder / LOCK), "a") as file:
        if not lock(file):
            other = "another start, in another window perhaps"
            raise Stop(f"{folder} is being set up by {other}. Wait for that one.")
        yield


def lock(file):
    """Lock an open file; return False where another has it. A disk without locks goes on."""
    try:
        if os.name == "nt":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:
        pass
    return True


def is_ready(folder, stick):
    """Tell whether the folder was set up here to its end, from this stick or any, and runs."""
    ready = read_json(folder / ".venv" / READY)
    same = stick is None or ready.get("stick") == stick
    return same and ready.get("folder") == str(folder) and works(python_of(folder))


def check_room(folder, needed):
    """Stop where the disk has less room than the packages take, and a fifth for compiled files."""
    free = shutil.disk_usage(str(folder)).free
    if free < needed * 1.2:
        raise Stop(
            f"{folder}: there are {free / 1e9:.1f} GB free, and the course takes {needed * 1.2 / 1e9:.1f} GB."
            " Make room, or name a folder on another disk: --to FOLDER"
        )


def check_length(folder, longest):
    """Stop where Windows may not take the paths that the packages would have."""
    length = len(str(folder)) + len("/.venv/Lib/site-packages/") + longest
    if os.name == "nt" and length > WINDOWS_LONGEST:
        raise Stop(
            f"{folder} has too long a name: files in it would have paths of {length} characters, and Windows takes"
            f" {WINDOWS_LONGEST}. Name a folder nearer to the root: --to C:\\graphs"
        )


def check_wheels(wheels):
    """Stop where a wheel is missing on the stick or not all there. wheels: {name: size}"""
    for name, size in wheels.items():
        path = HERE / "wheels" / name
        there = path.stat().st_size if path.is_file() else 0
        if there != size:
            raise Stop(NOT_WHOLE.format(f"wheels/{name} has {there} of {size} bytes."))


def copy_course(stick, folder):
    """Copy the course's files; an edited one is kept as NAME.kept, one that it has no more goes."""
    before = read_json(folder / TAKEN)
    now = dict(stick["course"], **stick["scripts"])
    for name, digest in now.items():
        source = (HERE / name) if name in stick["scripts"] else HERE / "course" / name
        bring(source, folder / name, digest, before.get(name))
    for name in set(before) - set(now):
        if digest_of(folder / name) == before[name]:
            (folder / name).unlink()
    write(folder / TAKEN, json.dumps(now, indent=1).encode())


def bring(source, target, digest, before):
    """Copy one file, unless it is there; keep what is neither this nor what was `before`."""
    now = digest_of(target)
    if now == digest:
        return
    content = source.read_bytes() if source.is_file() else b""
    if hashlib.sha256(content).hexdigest() != digest:
        raise Stop(NOT_WHOLE.format(f"{source} is damaged."))
    if now and now != before:
        kept = free_name(target)
        os.replace(str(target), str(kept))
        say(f"   {target.name}: you edited it; your version is kept as {kept.name}")
    target.parent.mkdir(parents=True, exist_ok=True)
    write(target, content)
    if target.suffix in (".sh", ".command"):
        target.chmod(0o755)


def digest_of(path):
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None


def free_name(path):
    """Return NAME.kept beside a file, or NAME.kept-2 and so on where that is taken."""
    kept, number = path.with_name(path.name + ".kept"), 1
    while kept.exists():
        number += 1
        kept = path.with_name(f"{path.name}.kept-{number}")
    return kept


def write(path, content):
    """Write a file whole or not at all."""
    part = path.with_name(path.name + ".part")
    part.write_bytes(content)
    os.replace(str(part), str(path))


# ---- Python


def own_name():
    """Return this Python's system as sticks name it (linux-3.11), or in words why none fits it."""
    kind = PLATFORMS.get(sysconfig.get_platform())
    if platform.system() == "Darwin" and platform.machine() == "arm64":
        kind = "macos"
    name = f"{kind}-{sys.version_info[0]}.{sys.version_info[1]}"
    trouble = what_is_wrong(kind)
    if kind and not trouble:
        return name
    words = [platform.system(), platform.machine(), "with Python", platform.python_version()]
    return " ".join(words) + (f" ({trouble})" if trouble else "")


def what_is_wrong(kind):
    """Say why no wheel fits this Python, whatever its version; "" where one can."""
    if platform.python_implementation() != "CPython":
        return f"{platform.python_implementation()}; the wheels are for CPython"
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        return "the free-threaded build; the wheels are for the usual one"
    if sys.maxsize < 2**32:
        return "a 32-bit Python; the wheels are for 64 bits"
    if kind == "macos" and int(platform.mac_ver()[0].split(".")[0]) < MACOS:
        return f"macOS {platform.mac_ver()[0]}; torch needs {MACOS}"
    if kind in ("linux", "linux-arm"):
        library, version = platform.libc_ver()
        if library != "glibc" or tuple(map(int, version.split(".")[:2])) < GLIBC:
            return f"the C library {library} {version}; torch needs glibc {GLIBC[0]}.{GLIBC[1]}"
    return ""


def fitting_python(systems, folder):
    """Return the command of a Python that the stick has wheels for, and its system's name."""
    others, own = [], python_of(folder)
    candidates = [[own]] if works(own) else []
    for command in [*candidates, [sys.executable], *other_pythons(systems)]:
        name = name_of(command)
        if name in systems:
            return command, name
        if name and name not in others:
            others.append(name)
    folder = HERE / "python"
    see = f" (see the folder {folder})" if folder.is_dir() else ""
    raise Stop(
        f"This stick has wheels for {listed(systems)}.\nFound here: {listed(others)}.\n"
        f"Install a 64-bit Python that the stick has wheels for{see}, and start again;"
        " or ask for a stick made for your system."
    )


def listed(names):
    return "; ".join(in_words(name) for name in names)


def in_words(name):
    """Return "Windows with Python 3.12" for windows-3.12; other words as they are."""
    kind, _, version = name.rpartition("-")
    return f"{KINDS[kind]} with Python {version}" if kind in KINDS else name


def other_pythons(systems):
    """Return commands that may start a Python of a version that the stick has wheels for."""
    commands = []
    for version in sorted({name.rpartition("-")[2] for name in systems}):
        commands.append(["py", f"-{version}"])
        commands.append([shutil.which(f"python{version}")])
        commands.append([f"/Library/Frameworks/Python.framework/Versions/{version}/bin/python3"])
        commands.append([f"/opt/homebrew/bin/python{version}"])
    return [command for command in commands if command[0] and shutil.which(command[0])]


def name_of(command):
    """Return what a Python says of its system, or "" where it does not run."""
    if command == [sys.executable]:
        return own_name()
    words = [*command, str(Path(__file__).resolve()), "--name"]
    quiet = dict(QUIET, stdout=subprocess.PIPE)
    try:
        ran = subprocess.run(words, env=environment(), **quiet)
    except OSError:
        return ""
    return ran.stdout.decode("utf-8", "replace").strip() if ran.returncode == 0 else ""


def environment():
    """Return the environment for what is run: without what would lead Python to other packages."""
    return {name: value for name, value in os.environ.items() if name not in LEADING_ASTRAY}


def python_of(folder):
    inside = "Scripts/python.exe" if os.name == "nt" else "bin/python"
    return str(folder / ".venv" / inside)


def works(python):
    """Tell whether a Python runs and has been given packages."""
    try:
        return subprocess.call([python, "-c", "import pip"], env=environment(), **QUIET) == 0
    except OSError:
        return False


# ---- what is installed, and run


def make_environment(python, folder):
    """Make .venv anew. Its pip comes from the stick, since Debian's Python brings none."""
    command = [*python, "-m", "venv", "--clear", "--without-pip", str(folder / ".venv")]
    run(command, folder, f"{folder / '.venv'} could not be made")


def install(folder, pip):
    """Install the packages from the stick, then the library and the course where it was copied to."""
    failure = "The packages could not be installed"
    damaged = "\nIf a wheel is called invalid, this stick is not whole: copy all to it again."
    offline = ["--isolated", "install", "--quiet", "--no-index", "--disable-pip-version-check"]
    offline += ["--find-links", str(HERE / "wheels")]
    python = python_of(folder)
    if not works(python):
        zipped = str(HERE / "wheels" / pip / "pip")
        run([python, zipped, *offline, "--no-compile", "pip"], folder, failure, damaged)
    files = ["-c", "constraints.txt", "-r", "requirements.txt", "setuptools"]
    run([python, "-m", "pip", *offline, *files], folder, failure, damaged)
    ours = ["--no-deps", "--no-build-isolation", "-e", "./autograd_graphs", "-e", "."]
    run([python, "-m", "pip", *offline, *ours], folder, failure)


def try_it(folder):
    """Import what the lessons import. Raises Stop."""
    more = ""
    if os.name == "nt":
        more = "\nOn Windows torch needs the Visual C++ Redistributable (vc_redist.x64.exe)."
    command = [python_of(folder), "-c", "import helpers, jupyterlab, torch"]
    run(command, folder / ".venv", "What was installed does not run", more)


def run(command, folder, failure, more=""):
    """Run a command in a folder; stop with `failure`, its last words and `more`. Raises Stop."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    ran = subprocess.Popen(command, cwd=str(folder), env=environment(), **pipes)
    said = heard(ran).decode("utf-8", "replace").strip().splitlines()
    if ran.returncode:
        lines = [f"{failure}:", *said[-MOST_SAID:]]
        raise Stop("\n    ".join(lines) + more + "\nMend that, and start again: nothing is lost.")


def heard(process):
    """Return what a process says until it ends; meanwhile give a sign of life now and then."""
    waited = 0
    while True:
        try:
            return process.communicate(timeout=PATIENCE)[0]
        except subprocess.TimeoutExpired:
            waited += PATIENCE
            say(f"   still at work, after {waited} seconds")


def bring_lessons(folder):
    """Write JupyterLab's settings and the student's copies of lessons; they say what they did."""
    for words in (["course.lab_settings"], ["course.workspace", "sync"]):
        command = [python_of(folder), "-m", *words]
        if subprocess.call(command, cwd=str(folder), env=environment()):
            raise Stop("The lessons could not be copied into work/.")


def open_lab(folder, words):
    """Run JupyterLab in work/ until it ends; return its exit status."""
    command = [python_of(folder), "-m", "jupyterlab"]
    command += ["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    command += [f"--LabApp.default_url=/lab/tree/{FIRST}", *words]
    say(f"Your lessons are in {folder / 'work'}. Next time start from {folder}, without a stick.")
    lab = subprocess.Popen(command, cwd=str(folder / "work"), env=environment())
    while True:
        try:
            return lab.wait()
        except KeyboardInterrupt:  # JupyterLab was told as well, and asks whether to stop
            continue


if __name__ == "__main__":
    sys.exit(main())
