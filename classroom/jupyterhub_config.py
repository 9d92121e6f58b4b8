"""JupyterHub for one class on one Linux machine. classroom/README.md says what to type before it.

The hub runs as root, to start each student's server as that student. A student is a Unix user.
"""

import os
import sys
from pathlib import Path

c = get_config()  # noqa: F821 - JupyterHub gives it

COURSE = Path(__file__).resolve().parents[1]  # owned by root; students read it and cannot write it
STATE = Path(os.environ.get("CLASS_STATE", "/srv/class-hub"))  # cookie secret and database
SYSTEMD = Path("/run/systemd/system").is_dir()


def open_to_students(path):
    """Return whether every user may read `path` and pass through the folders above it."""
    above = all(folder.stat().st_mode & 0o001 for folder in path.parents)
    return above and path.stat().st_mode & 0o005 == 0o005


python = Path(sys.executable)
for needed in (COURSE / "notebooks", python.absolute(), python.resolve()):
    if not open_to_students(needed):
        sys.exit(
            f"Students cannot reach {needed}: a folder above it is closed to them. "
            "Put the course into /srv/course, and make its .venv with a Python outside of /root: "
            "rm -r .venv; /usr/bin/python3 -m venv .venv; then go on as classroom/README.md says."
        )
    if SYSTEMD and any(needed.is_relative_to(folder) for folder in ("/tmp", "/var/tmp")):
        sys.exit(
            f"Students cannot reach {needed}: systemd gives each student's server a /tmp and a "
            "/var/tmp of its own. Put the course into /srv/course."
        )

# Nothing that this process or a student's server writes can be read by anybody else.
os.umask(0o077)
STATE.mkdir(parents=True, exist_ok=True)
STATE.chmod(0o700)
if (COURSE / "assignments").is_dir():  # `make assignment` writes there what a grader knows
    (COURSE / "assignments").chmod(0o700)
c.JupyterHub.cookie_secret_file = str(STATE / "cookie_secret")
c.JupyterHub.db_url = f"sqlite:///{STATE / 'jupyterhub.sqlite'}"
c.ConfigurableHTTPProxy.pid_file = str(STATE / "proxy.pid")

# This machine only. A class reaches it through a web server with a certificate: see README.md.
c.JupyterHub.bind_url = "http://127.0.0.1:8000"
c.JupyterHub.hub_bind_url = "http://127.0.0.1:8081"
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:8001"

# Who may come in: the Unix group `students`, with their passwords of this machine. Nobody is an
# admin, so nobody enters another's server. Elsewhere a school's own login: any Authenticator.
c.JupyterHub.authenticator_class = "pam"
c.PAMAuthenticator.allowed_groups = {"students"}
c.Authenticator.admin_users = set()
c.JupyterHub.allow_named_servers = False

# A student's server: first the lessons are brought up to date, as that student; then JupyterLab.
c.Spawner.cmd = [sys.executable, "-P", str(COURSE / "classroom" / "start_student.py")]
c.Spawner.default_url = "/lab/tree/work/00_start_here.ipynb"
c.Spawner.args = [
    "--KernelManager.transport=ipc",  # files of the student's own instead of ports
    "--MappingKernelManager.cull_idle_timeout=3600",  # kernels of notebooks that were closed
    "--LanguageServerManager.autodetect=False",  # it starts npm to look for what nobody needs here
]
c.Spawner.environment = {
    "PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin",
    "OMP_NUM_THREADS": "1",  # the lessons' tensors are small, and the cores are everybody's
}

# Limits. Only systemd enforces them: without it, LocalProcessSpawner limits nothing, and one
# student can take all memory, or start processes without end.
if SYSTEMD:
    c.JupyterHub.spawner_class = "systemd"
    c.SystemdSpawner.isolate_tmp = True
    c.SystemdSpawner.isolate_devices = True
    c.SystemdSpawner.unit_extra_properties = {"TasksMax": "1000"}  # processes and threads
else:
    c.JupyterHub.spawner_class = "localprocess"
c.Spawner.mem_limit = "2G"  # a lesson takes about 0.3 GB
c.Spawner.cpu_limit = 2.0

# A whole class logs in at once: starts are slow then, and none of them is to be given up.
c.Spawner.start_timeout = 300
c.Spawner.http_timeout = 300  # the default of 30 s fails most of a class on two cores
c.JupyterHub.concurrent_spawn_limit = 0  # no limit: over one, a student is sent away
c.JupyterHub.cleanup_servers = False  # students go on working while the hub is started again

# A server that nobody used for 90 minutes is stopped, at most five minutes later: it is looked for
# that often. Files stay; the kernels' variables are gone.
# -P: it runs as root, and is not to be looked for in the folder where the hub was started.
culler = [sys.executable, "-P", "-m", "jupyterhub_idle_culler"]
culler += ["--timeout=5400", "--cull-every=300"]
c.JupyterHub.services = [{"name": "cull", "command": culler}]
c.JupyterHub.load_roles = [
    {
        "name": "cull",
        "scopes": ["list:users", "read:users:activity", "read:servers", "delete:servers"],
        "services": ["cull"],
    }
]
