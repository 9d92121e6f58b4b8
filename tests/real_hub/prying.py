"""What a student might try from a notebook to read or change what belongs to others.

Each attempt is code that a student's own kernel runs, in tests/test_classroom_hub.py.
"""

import json
from pathlib import Path

from real_hub import processes

REFUSALS = ("PermissionError", "HTTPError: 403", "HTTPError: 404")
TRY = """
import json, os, socket, urllib.request
def tried(attempt):
    try:
        return "got through: " + repr(attempt())[:80]
    except urllib.error.HTTPError as error:
        return f"HTTPError: {error.code}"
    except Exception as error:
        return type(error).__name__
def ask(url, token=None):
    headers = {"Authorization": "token " + token} if token else {}
    return urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=20).read()
def call(path):
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(path)
        return "connected"
OWN = os.environ.get("JUPYTERHUB_API_TOKEN")
"""


def attempts(folder, other, ports, server):
    """Return {what is tried: an expression}. `other` is the home of another student whose kernel
    runs, `ports` are those of page, hub and proxy, `server` is the id of the other's server.
    """
    course, state = folder / "course", folder / "state"
    public, hub, proxy = (f"http://127.0.0.1:{port}" for port in ports)
    lesson = other / "work" / "00_start_here.ipynb"
    packages = next(course.glob(".venv/lib/*/site-packages"))
    line = next(other.glob(".jupyter-run/*-ipc-1"), other / ".jupyter-run" / "no kernel is there")
    return {
        "list another's home": f"os.listdir({str(other)!r})",
        "read another's lesson": f"open({str(lesson)!r}).read()",
        "write into another's home": f"open({str(other / 'planted')!r}, 'w')",
        "talk to another's kernel": f"call({str(line)!r})",
        "read what another's server was told": f"open('/proc/{server}/environ').read()",
        "stop another's server": f"os.kill({server}, 15)",
        "ask another's server with one's own token": f"ask('{public}/user/{other.name}/api/contents', OWN)",
        "ask the hub for another's state": f"ask('{hub}/hub/api/users/{other.name}', OWN)",
        "ask the hub for all users": f"ask('{hub}/hub/api/users', OWN)",
        "ask the proxy for its routes": f"ask('{proxy}/api/routes')",
        "read the hub's cookie secret": f"open({str(state / 'cookie_secret')!r}).read()",
        "read the hub's database": f"open({str(state / 'jupyterhub.sqlite')!r}, 'rb').read()",
        "read the password of all students": f"open({str(folder / 'hub_config.py')!r}).read()",
        "read what a grader knows": f"open({str(course / 'assignments' / 'truth.py')!r}).read()",
        "change a lesson of the course": f"open({str(course / 'notebooks' / lesson.name)!r}, 'a')",
        "change what every kernel imports": f"open({str(course / 'helpers' / '__init__.py')!r}, 'a')",
        "plant a module for everybody": f"open({str(packages / 'planted.pth')!r}, 'w')",
    }


def program(tries):
    """Return code that makes all attempts and prints {what was tried: what came of it} as JSON."""
    lines = [f"came[{what!r}] = tried(lambda: {code})" for what, code in tries.items()]
    return "\n".join([TRY, "came = {}", *lines, "print(json.dumps(came))"])


def come_of(outputs):
    """Return what a cell with `program` printed."""
    text = "".join(one.get("text", "") for one in outputs)
    return json.loads(text.splitlines()[-1])


def got_through(came):
    """Return the attempts that were not refused, with what came of them."""
    return {what: said for what, said in came.items() if not said.startswith(REFUSALS)}


def server_of(uid):
    """Return the process id of a student's server."""
    for process in processes.owned_by(uid):
        if "start_student.py" in processes.command(process):
            return process
    raise LookupError(f"the user {uid} has no server")


def hide_truth(folder):
    """Put what a grader knows where `make assignment` writes, readable to all by its own mode."""
    truth = Path(folder, "course", "assignments", "truth.py")
    truth.parent.mkdir()
    truth.write_text("ANSWERS = {'00.1': 3.0}\n", "utf-8")
    truth.chmod(0o644)
