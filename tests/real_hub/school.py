"""A school on this machine: a copy of the course where every user can read it, Unix users made for
it, and a hub with classroom/jupyterhub_config.py. Needs root; everything is removed at the end.
"""

import contextlib
import importlib.util
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from urllib.request import urlopen

from real_hub import processes

ROOT = Path(__file__).resolve().parents[2]
OPEN = "/srv"  # every user can pass; systemd gives each student's server a /tmp of its own
HANDED_OUT = ("notebooks", "autograd_graphs", "helpers", "course", "figs", "classroom")
PYTHON = f"python{sys.version_info[0]}.{sys.version_info[1]}"
MARK = "made by a test of the course"  # the comment of our users in /etc/passwd: no other is ever removed
PASSWORD = secrets.token_hex(16)  # of all students of a run


class NoSchool(Exception):
    """Say in a sentence why there can be no school on this machine."""


def wanting():
    """Return a sentence on what is missing for Unix users of our own; "" where nothing is."""
    if not sys.platform.startswith("linux"):
        return "A class of real Unix users needs Linux."
    if os.geteuid() != 0:
        return "Making Unix users needs root: run it as root, on a machine where that does no harm."
    if not shutil.which("useradd"):
        return "Making Unix users needs the command useradd, which was not found."
    if not importlib.util.find_spec("jupyterhub"):
        return "JupyterHub is not installed here: classroom/requirements.txt has it."
    return ""


@contextlib.contextmanager
def place():
    """Give a folder that every user can enter, with the course and its environment; remove it."""
    folder = Path(tempfile.mkdtemp(prefix="school-", dir=OPEN))
    try:
        folder.chmod(0o755)
        (folder / "homes").mkdir(mode=0o755)
        copy_course(folder / "course")
        copy_environment(folder)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def copy_course(target):
    """Copy what students read, and compile once what is not compiled yet."""
    for name in HANDED_OUT:
        ignored = shutil.ignore_patterns(".ipynb_checkpoints")
        shutil.copytree(ROOT / name, target / name, ignore=ignored)
    subprocess.run(["chmod", "-R", "a+rX,go-w", target], check=True)
    subprocess.run([sys.executable, "-m", "compileall", "-q", target], check=True)


def copy_environment(folder):
    """Give the course a .venv of its own that users can run, with the packages of this one."""
    venv, here = folder / "course" / ".venv", Path(sys.prefix)
    library = Path(sys.executable).parent.parent.joinpath("lib", PYTHON).relative_to(here)
    packages = library / "site-packages"
    (venv / packages).mkdir(parents=True)
    bring(here, venv, leave={"bin", "lib", "lib64", "pyvenv.cfg"})
    bring(here / packages, venv / packages, leave=ours_in(here / packages))
    (venv / packages / "this_class.pth").write_text(f"{folder / 'course'}\n", "utf-8")
    executable = copy_interpreter(folder / "python")
    (venv / "bin").mkdir()
    for name in ("python", "python3", executable.name):
        (venv / "bin" / name).symlink_to(executable)
    (venv / "pyvenv.cfg").write_text(f"home = {executable.parent}\n", "utf-8")


def ours_in(packages):
    """Return the files by which this environment finds the course: the copy has its own course."""
    return {path.name for path in packages.glob("__editable__*pytorch_graphs*")}


def copy_interpreter(target):
    """Copy the Python of this environment without packages and tests; return the executable."""
    here, library = Path(sys.base_prefix), Path("lib", PYTHON)
    executable = Path(sys.executable).resolve()
    if open_to_all(executable):
        return executable
    (target / library).mkdir(parents=True)
    (target / "bin").mkdir()
    link([executable], target / "bin")
    link(here.glob("lib/libpython*"), target / "lib")
    left_out = shutil.ignore_patterns("site-packages", "test", "idlelib", "config-*")
    names = [one.name for one in (here / library).iterdir()]
    wanted = set(names) - left_out(here, names)
    link([here / library / name for name in wanted], target / library)
    return target / "bin" / executable.name


def bring(source, target, leave):
    """Put what is in `source` into `target`: by a symbolic link where every user can follow it."""
    entries = [entry for entry in source.iterdir() if entry.name not in leave]
    if not open_to_all(source):
        link(entries, target)
        return
    for entry in entries:
        (target / entry.name).symlink_to(entry)


def link(entries, target):
    """Copy files and folders by hard links, or by content where the disk is another."""
    for how in ("-al", "-a"):
        if not subprocess.run(["cp", how, *entries, target], capture_output=True).returncode:
            return
    raise NoSchool(f"The environment could not be copied to {target}: is the disk full?")


def open_to_all(path):
    """Return whether every user can go through all folders down to `path`."""
    folders = (*path.parents, *path.resolve().parents)
    return all(folder.stat().st_mode & 0o001 for folder in folders)


@contextlib.contextmanager
def users(folder, names):
    """Make Unix users with homes that are closed to others; end what they run and remove them."""
    for name in names:
        forget(name)
    try:
        for name in names:
            command = ["useradd", "--create-home", "--home-dir", folder / "homes" / name]
            command += ["--comment", MARK, "--shell", "/bin/sh", "-K", "HOME_MODE=0700", name]
            subprocess.run(command, check=True, capture_output=True)
        yield list(names)
    finally:
        for name in names:
            forget(name)


def forget(name):
    """Remove a user that we made, now or in a run that was cut off."""
    try:
        found = pwd.getpwnam(name)
    except KeyError:
        return
    if found.pw_gecos != MARK:
        raise NoSchool(f"There is a Unix user {name} already, whom no test of the course made.")
    end_all(found.pw_uid)
    subprocess.run(["userdel", "--remove", "--force", name], check=False, capture_output=True)


def end_all(uid, patience=5):
    """End every process of a user of ours."""
    end = time.monotonic() + patience
    while (left := processes.owned_by(uid)) and time.monotonic() < end:
        for process in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        time.sleep(0.05)


def free_ports(count):
    """Return ports of the loopback address that nobody listens on now."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def student_environment(folder):
    """Return the variables with which the copied Python runs, and nothing of this session's."""
    return {
        "PATH": f"{folder / 'course' / '.venv' / 'bin'}:/usr/local/bin:/usr/bin:/bin",
        "LD_LIBRARY_PATH": str(folder / "python" / "lib"),
        "LANG": "C.UTF-8",
    }


@dataclass(frozen=True)
class Hub:
    """Hold a running hub: its address, and its three ports (page, hub, proxy)."""

    address: str
    ports: tuple[int, int, int]


def overriding(folder, names, ports, more):
    """Return the few lines in which this hub differs from a school's."""
    page, hub, proxy = ports
    return f"""
c = get_config()
load_subconfig({str(folder / "course" / "classroom" / "jupyterhub_config.py")!r})
c.JupyterHub.authenticator_class = "shared-password"  # the dummy authenticator's heir
c.SharedPasswordAuthenticator.user_password = {PASSWORD!r}
c.Authenticator.allowed_users = {set(names)!r}
c.JupyterHub.bind_url = "http://127.0.0.1:{page}"
c.JupyterHub.hub_bind_url = "http://127.0.0.1:{hub}"
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{proxy}"
{more}
"""


@contextlib.contextmanager
def hub(folder, names, more="", ports=None, patience=60):
    """Run a hub for these users, with `more` lines of configuration; give a Hub, and stop it.

    Its log is hub.log in `folder`. Raises NoSchool if it does not start.
    """
    ports = ports or tuple(free_ports(3))
    address = f"http://127.0.0.1:{ports[0]}"
    config = folder / "hub_config.py"
    config.touch(mode=0o600)  # it has the password of all
    config.write_text(overriding(folder, names, ports, more), "utf-8")
    command = [folder / "course" / ".venv" / "bin" / "python", "-m", "jupyterhub", "-f", config]
    environment = student_environment(folder)
    environment |= {"CLASS_STATE": str(folder / "state"), "HOME": str(folder)}
    with open(folder / "hub.log", "wb") as log:
        running = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
    try:
        wait_until_ready(running, address, patience, folder / "hub.log")
        yield Hub(address, ports)
    finally:
        running.terminate()
        try:
            running.wait(60)
        except subprocess.TimeoutExpired:
            running.kill()
            running.wait()


def wait_until_ready(running, address, patience, log):
    """Return once the hub says that it is well; raise NoSchool with the end of its log if not."""
    end = time.monotonic() + patience
    while time.monotonic() < end and running.poll() is None:
        with contextlib.suppress(OSError), urlopen(f"{address}/hub/health", timeout=5):
            return
        time.sleep(0.1)
    said = log.read_text("utf-8", "replace")[-2000:]
    raise NoSchool(f"The hub did not start within {patience} s. The end of its log:\n{said}")
