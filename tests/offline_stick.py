"""Try a stick where there is no network (Linux, as root): `python tests/offline_stick.py build/usb`.

In a network namespace of its own that has no route, the folder is mounted read-only, under a name with
a blank and a letter that is not ASCII; a new home gets the course from it. Prints what was done and
how long it took. No part of `make test`, since a stick is filled over the network.
"""

import os
import shutil
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from tempfile import TemporaryDirectory

PORT = 8931
INSIDE = "--inside"
RUN = """
import nbformat, nbclient
notebook = nbformat.read("00_start_here.ipynb", as_version=4)
nbclient.NotebookClient(notebook, timeout=120).execute()
codes = [cell for cell in notebook.cells if cell.cell_type == "code"]
print(len(codes), "cells of lesson 00 ran;", sum(1 for cell in codes if cell.outputs), "have outputs")
"""


def main(stick):
    """Mount the stick, set the course up from it, start JupyterLab, run lesson 00, open a deck."""
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    assert len(Path("/proc/net/route").read_text().splitlines()) == 1, "there is a route"
    with TemporaryDirectory() as folder:
        there, home = Path(folder, "a stick, ü"), Path(folder, "home")
        there.mkdir(), home.mkdir()
        mount = ["mount", "--bind", "-o", "ro", str(stick), str(there)]
        subprocess.run(mount, check=True)
        try:
            without_pip()
            set_up(there, home)
            lesson(home)
            lab(there, home)
            deck(there, home)
        finally:
            subprocess.run(["umount", str(there)], check=True)


def without_pip():
    """Hide ensurepip from Debian's Python, as where python3-venv is not installed."""
    for place in Path("/usr/lib").glob("python3.*/ensurepip"):
        with TemporaryDirectory() as empty:
            subprocess.run(["mount", "--bind", empty, str(place)], check=True)


def environment(home):
    path = os.pathsep.join(p for p in os.environ["PATH"].split(os.pathsep) if ".venv" not in p)
    return {"HOME": str(home), "PATH": path, "LANG": "C.UTF-8"}


def timed(what, command, **options):
    """Run a command, which must succeed; say how long it took."""
    began = time.monotonic()
    ran = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **options)
    print(f"{what}: {time.monotonic() - began:.0f} s", flush=True)
    return ran.stdout


def set_up(stick, home):
    """From the stick, once more from the stick, and from the folder."""
    command = ["sh", str(stick / "start-linux.sh"), "--no-lab"]
    print(timed("set up", command, env=environment(home)))
    again = timed("started again", command, env=environment(home))
    assert again == "Your copies in work/ are up to date.\n", again
    own = ["sh", str(home / "pytorch-graphs" / "start-linux.sh"), "--no-lab"]
    assert timed("started in its folder", own, env=environment(home)) == again
    used = subprocess.run(["du", "-sm", home / "pytorch-graphs"], stdout=subprocess.PIPE, text=True)
    print(f"pytorch-graphs/ has {used.stdout.split()[0]} MB")


def lesson(home):
    folder = home / "pytorch-graphs"
    command = [folder / ".venv/bin/python", "-c", RUN]
    print(timed("lesson 00", command, cwd=folder / "work", env=environment(home)), end="")


def lab(stick, home):
    """Start JupyterLab from the stick, until it shows its page."""
    options = ["--no-browser", f"--port={PORT}", "--ServerApp.token=tried"]
    began, page = time.monotonic(), ""
    server = subprocess.Popen(
        ["sh", str(stick / "start-linux.sh"), *options],
        env=environment(home),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        while "jupyter-config-data" not in page and time.monotonic() - began < 60:
            time.sleep(0.5)
            page = read(f"http://127.0.0.1:{PORT}/lab?token=tried")
    finally:
        os.killpg(server.pid, 15)
        server.wait()
    assert "jupyter-config-data" in page, "JupyterLab did not answer"
    print(f"JupyterLab showed its page: {time.monotonic() - began:.0f} s")


def read(address):
    try:
        with urllib.request.urlopen(address, timeout=5) as answer:
            return answer.read().decode()
    except OSError:
        return ""


def deck(stick, home):
    """Open lesson 00's slides and page from the stick in Chromium, where there is one."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if not program:
        print("No Chromium: slides were not opened.")
        return
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=5000"]
    options += ["--disable-background-networking", f"--user-data-dir={home}/chromium"]
    shown = {"decks/00_start_here.html": "has-horizontal-slides ready", "pages/index.html": "furo"}
    for name, sign in shown.items():
        address = (stick / name).as_uri()
        command = [program, *options, "--dump-dom", address]
        page = timed(name, command, stderr=subprocess.DEVNULL, env=environment(home))
        assert sign in page, f"{name} did not open"


if __name__ == "__main__":
    if sys.argv[2:] == [INSIDE]:
        main(Path(sys.argv[1]))
    else:
        given = os.path.abspath(sys.argv[1])
        command = ["unshare", "--net", "--mount", sys.executable, __file__, given, INSIDE]
        sys.exit(subprocess.run(command).returncode)
