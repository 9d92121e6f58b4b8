"""What stands in classroom/: settings that JupyterHub knows, nothing open, README's commands."""

import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
CLASSROOM = ROOT / "classroom"
SYSTEMD = Path("/run/systemd/system")
OPEN = "/dev/shm" if Path("/dev/shm").is_dir() else "/tmp"  # everybody's, and no unit has its own

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="JupyterHub needs Unix users")


@pytest.fixture
def course(monkeypatch):
    """A course with classroom/ in it that every user can reach; the umask is put back."""
    folder = Path(tempfile.mkdtemp(dir=OPEN))
    folder.chmod(0o755)
    shutil.copytree(CLASSROOM, folder / "course" / "classroom")
    (folder / "course" / "notebooks").mkdir()
    (folder / "course" / "assignments").mkdir(mode=0o755)
    monkeypatch.setenv("CLASS_STATE", str(folder / "state"))
    monkeypatch.setattr(sys, "executable", "/bin/sh")
    before = os.umask(0o022)
    yield folder / "course"
    os.umask(before)
    shutil.rmtree(folder)


def loaded(course):
    """Return the configuration as JupyterHub reads it."""
    loader = pytest.importorskip("traitlets.config.loader")
    path = course / "classroom" / "jupyterhub_config.py"
    return loader.PyFileConfigLoader(str(path)).load_config()


def configurable():
    """Return the classes that may be configured, by name."""
    pytest.importorskip("jupyterhub", reason="classroom/requirements.txt is not installed")
    from jupyterhub import auth, proxy, spawner
    from jupyterhub.app import JupyterHub
    from systemdspawner import SystemdSpawner

    found = (JupyterHub, auth.Authenticator, auth.PAMAuthenticator, proxy.ConfigurableHTTPProxy)
    return {one.__name__: one for one in (*found, spawner.Spawner, SystemdSpawner)}


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("systemd", [True, False])
def test_every_setting_is_one_that_jupyterhub_has(course, monkeypatch, systemd):
    where_systemd_runs(monkeypatch, systemd)
    classes, config = configurable(), loaded(course)
    for name, settings in config.items():
        assert set(settings) <= set(classes[name].class_traits(config=True)), name
    assert config.JupyterHub.spawner_class == ("systemd" if systemd else "localprocess")
    assert (config.Spawner.mem_limit, config.Spawner.cpu_limit) == ("2G", 2.0)
    if systemd:
        assert config.SystemdSpawner.unit_extra_properties == {"TasksMax": "1000"}


def where_systemd_runs(monkeypatch, runs):
    """Let the configuration find a systemd that runs, or none."""
    is_dir = Path.is_dir
    monkeypatch.setattr(Path, "is_dir", lambda p: runs if p == SYSTEMD else is_dir(p))


@pytest.mark.parametrize("systemd", [True, False])
def test_a_course_in_tmp_is_refused_where_each_server_has_a_tmp_of_its_own(
    course, monkeypatch, systemd
):
    where_systemd_runs(monkeypatch, systemd)
    here = Path(tempfile.mkdtemp(dir="/tmp")).resolve()
    try:
        here.chmod(0o755)
        moved = Path(shutil.copytree(course, here / "course"))
        if systemd and sys.platform == "linux":
            with pytest.raises(SystemExit, match=r"Students cannot reach /tmp/.*/srv/course"):
                loaded(moved)
        else:
            loaded(moved)
    finally:
        shutil.rmtree(here)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of jupyter_lsp's own, when imported
def test_what_a_students_server_is_told_are_options_that_it_has(course):
    from jupyter_client.manager import KernelManager
    from jupyter_lsp import LanguageServerManager
    from jupyter_server.services.kernels.kernelmanager import MappingKernelManager

    known = {c.__name__: c for c in (KernelManager, LanguageServerManager, MappingKernelManager)}
    config = loaded(course)
    for argument in config.Spawner.args:
        name, setting = re.fullmatch(r"--(\w+)\.(\w+)=.+", argument).groups()
        assert setting in known[name].class_traits(config=True)
    culler = pytest.importorskip("jupyterhub_idle_culler")
    for option in config.JupyterHub.services[0]["command"][4:]:
        assert option[2:].partition("=")[0] in culler.IdleCuller.aliases


def test_what_runs_as_root_is_not_looked_for_in_the_folder_where_the_hub_was_started(
    course, monkeypatch, tmp_path
):
    pytest.importorskip("jupyterhub_idle_culler")
    (tmp_path / "jupyterhub_idle_culler.py").write_text("print('planted')", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    python = sys.prefix + "/bin/python"
    words = loaded(course).JupyterHub.services[0]["command"][1:]
    ran = subprocess.run([python, *words, "--help"], capture_output=True, text=True, timeout=100)
    assert "planted" not in ran.stdout
    assert "cull" in ran.stdout


def test_nothing_is_open_by_default(course):
    config = loaded(course)
    addresses = [config.JupyterHub.bind_url, config.JupyterHub.hub_bind_url]
    for address in (*addresses, config.ConfigurableHTTPProxy.api_url):
        assert address.startswith("http://127.0.0.1:")
    assert config.JupyterHub.authenticator_class == "pam"
    assert config.PAMAuthenticator.allowed_groups == {"students"}
    assert config.Authenticator.admin_users == set()
    assert "allow_all" not in config.Authenticator
    assert config.JupyterHub.allow_named_servers is False
    (role,) = config.JupyterHub.load_roles
    assert not [scope for scope in role["scopes"] if "admin" in scope]


def test_the_hubs_files_and_what_a_grader_knows_are_closed(course):
    (course.parent / "state").mkdir(mode=0o755)
    loaded(course)
    assert mode(course.parent / "state") == 0o700
    assert mode(course / "assignments") == 0o700
    assert os.umask(0o077) == 0o077


@pytest.mark.parametrize("closed", ["", "course", "course/notebooks"])
def test_a_course_that_students_cannot_reach_is_refused_in_a_sentence(course, closed):
    (course.parent / closed).chmod(0o700)
    with pytest.raises(SystemExit, match=r"Students cannot reach .*notebooks: .* /srv/course"):
        loaded(course)


def test_a_python_that_students_cannot_reach_is_refused(course, monkeypatch):
    own = course.parent / "own"
    own.mkdir(mode=0o700)
    (own / "python").symlink_to("/bin/sh")
    monkeypatch.setattr(sys, "executable", str(own / "python"))
    with pytest.raises(SystemExit, match=r"Students cannot reach .*/own/python"):
        loaded(course)


def values():
    return yaml.safe_load((CLASSROOM / "values.yaml").read_text(encoding="utf-8"))


def test_on_kubernetes_nobody_gets_in_by_default_either():
    found = values()
    assert found["proxy"]["service"]["type"] == "ClusterIP"
    assert found["singleuser"]["networkPolicy"]["enabled"] is True
    hub = found["hub"]["config"]
    assert hub["JupyterHub"]["admin_access"] is False
    assert "dummy" not in hub["JupyterHub"]["authenticator_class"].lower()
    assert hub["Authenticator"]["allowed_users"]
    assert "allow_all" not in hub["Authenticator"]
    assert hub["FirstUseAuthenticator"]["create_users"] is False


@pytest.mark.slow
@pytest.mark.parametrize("broken", [False, True])
def test_the_command_on_kubernetes_brings_the_lessons_and_starts_the_server(tmp_path, broken):
    programs, home = tmp_path / "bin", tmp_path / "home"
    for folder in (programs, home):
        folder.mkdir()
    does = {"jupyterhub-singleuser": 'echo "started $*"; umask'}
    does["python"] = f'exec {sys.executable} "$@"'
    for name, line in does.items():
        (programs / name).write_text(f"#!/bin/sh\n{line}\n")
        (programs / name).chmod(0o755)
    if broken:
        (home / "work").write_text("a file in the way")
    path = f"{programs}:/usr/bin:/bin"
    ran = subprocess.run(
        [*values()["singleuser"]["cmd"], "--ip=x"],
        cwd=home,
        env={"HOME": str(home), "PATH": path, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert "started --MappingKernelManager.cull_idle_timeout=3600 --ip=x\n0077" in ran.stdout
    assert (home / "work" / "00_start_here.ipynb").exists() is not broken
    assert ("couldn't be written" in ran.stderr) is broken
