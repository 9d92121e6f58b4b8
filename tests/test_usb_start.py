"""What a student meets: start.py on a made-up stick, with no network; what it does, refuses, and keeps.

Here too: how the folder of a stick is written. What a made-up stick cannot show, tests/offline_stick.py
tries with a real one.
"""

import ast
import errno
import importlib.util
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import made_up_stick
import pytest

from classroom.usb import __main__ as usb
from classroom.usb.systems import System, here

SOURCE = Path(usb.__file__).parent / "stick" / "start.py"
CHANGED = "print('as the newer stick has it')"


def stick(folder, *systems, **changed):
    return made_up_stick.stick(folder, *(systems or [here()]), **changed)


def loaded(folder):
    """Return the start.py of a stick, or of a student's folder, as a module."""
    spec = importlib.util.spec_from_file_location("start_of_a_stick", folder / "start.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def content(folder):
    return json.loads((folder / "stick.json").read_text("utf-8"))


# ---- the whole way


def start(script, *words, **environment):
    """Run a start script as a student does; return its exit status and all that it said."""
    ran = subprocess.run(
        ["/bin/sh", script, *words],
        env={"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
    )
    return ran.returncode, ran.stdout.splitlines()


@pytest.fixture(scope="module")
def there(tmp_path_factory):
    """A read-only stick under an odd name, and a home in which the course was set up from it."""
    folder = tmp_path_factory.mktemp("there")
    made = stick(folder / "a stick (ü)")
    if content(made)["systems"][str(here())]["pip"].startswith("pip-1-"):
        pytest.skip("this Python carries no wheel of pip")
    for path in [made, *made.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    astray = made_up_stick.wheel(folder / "astray", "jupyterlab", "9", files={"torch.py": "1 / 0"})
    settings = {"HOME": str(folder / "höme"), "PYTHONPATH": str(astray), "PIP_USER": "1"}
    said = start(made / "start-linux.sh", **settings)
    yield made, folder / "höme", said
    for path in [made, *made.rglob("*")]:
        path.chmod(0o755)


@pytest.mark.thorough
@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="start-linux.sh is for Linux and macOS")
class TestTheWholeWay:
    def test_it_copies_installs_and_opens_the_lab(self, there):
        _, home, (status, said) = there
        assert status == 0, said
        assert [line[:2] for line in said[:3]] == ["1 ", "2 ", "3 "]
        assert said[3] == "sync"
        assert said[4].startswith(f"Your lessons are in {home}/pytorch-graphs/work.")
        lab = [word for word in said[5].split() if word != "--allow-root"]
        assert lab == ["work", "--LabApp.default_url=/lab/tree/00_start_here.ipynb"]

    def test_a_newer_stick_brings_what_is_new_and_keeps_work(self, there, tmp_path):
        _, home, _ = there
        folder = home / "pytorch-graphs"
        (folder / "work" / "mine.ipynb").write_text("mine", "utf-8")
        newer = stick(tmp_path / "newer", **{"course/workspace.py": CHANGED})
        status, said = start(newer / "start-linux.sh", "--no-lab", HOME=str(home))
        assert (status, said[-1]) == (0, "as the newer stick has it")
        assert (folder / "work" / "mine.ipynb").read_text("utf-8") == "mine"

    def test_a_folder_that_was_moved_says_so_and_a_stick_mends_it(self, there, tmp_path):
        made, home, _ = there
        moved = tmp_path / "moved"
        shutil.copytree(home / "pytorch-graphs", moved, symlinks=True)
        status, said = start(moved / "start-linux.sh", "--no-lab", HOME=str(home))
        assert (status, len(said)) == (1, 1)
        assert "was moved" in said[0]
        assert start(made / "start-linux.sh", "--no-lab", "--to", str(moved))[0] == 0
        assert start(moved / "start-linux.sh", "--no-lab")[0] == 0

    def test_what_does_not_install_is_said_and_not_taken_for_done(self, there, tmp_path):
        made, home, _ = there
        own = home / "pytorch-graphs" / "start-linux.sh"
        broken = stick(tmp_path / "broken", **{"requirements.txt": "torch==9\n"})
        status, said = start(broken / "start-linux.sh", "--no-lab", HOME=str(home))
        assert status == 1
        assert "The packages could not be installed:" in said
        assert any("torch==9" in line for line in said)
        assert any(line.startswith("If a wheel is called invalid, this stick") for line in said)
        assert not [line for line in said if "Traceback" in line]
        assert "not set up to its end" in start(own, HOME=str(home))[1][0]
        assert start(made / "start-linux.sh", "--no-lab", HOME=str(home))[0] == 0
        assert start(own, "--no-lab", HOME=str(home)) == (0, ["sync"])

    def test_without_any_python_a_sentence_says_so(self, there, tmp_path):
        (tmp_path / "dirname").symlink_to(shutil.which("dirname"))
        status, said = start(there[0] / "start-linux.sh", PATH=str(tmp_path))
        assert status == 1
        assert said[0].startswith("No Python was found. Install Python 3.11")


# ---- what it refuses


@pytest.fixture
def plugged(tmp_path):
    """A stick for this system, as a module and its folder; and a folder to set up in."""
    folder = stick(tmp_path / "stick")
    return loaded(folder), folder, tmp_path / "to"


def refused(module, to, capsys):
    """Start from a stick; return the sentences of its refusal."""
    assert module.main(["--no-lab", "--to", str(to)]) == 1
    said = capsys.readouterr()
    assert "Traceback" not in said.err
    return said.err


def test_a_folder_of_something_else_is_left_alone(plugged, capsys):
    module, _, to = plugged
    to.mkdir()
    (to / "thesis.txt").write_text("mine", "utf-8")
    said = refused(module, to, capsys)
    assert said.startswith(f"{to} holds something else than the course from a stick.")
    assert [path.name for path in to.iterdir()] == ["thesis.txt"]


def test_a_stick_for_other_systems_names_them_and_what_is_here(tmp_path, capsys, monkeypatch):
    folder = stick(tmp_path / "stick", System("windows", 12), System("linux-arm", 13))
    module = loaded(folder)
    monkeypatch.setattr(module, "other_pythons", lambda systems: [])
    said = refused(module, tmp_path / "to", capsys).splitlines()
    assert said[0].endswith(" for Windows with Python 3.12; Linux on ARM with Python 3.13.")
    assert said[1] == f"Found here: {module.in_words(str(here()))}."
    assert "Install a 64-bit Python" in said[2]
    assert "python" not in said[2]
    (folder / "python").mkdir()
    assert f"(see the folder {folder / 'python'})" in refused(module, tmp_path / "to", capsys)


@pytest.mark.parametrize(
    ("os_name", "machine", "platform_name", "more", "name"),
    [
        ("Windows", "AMD64", "win-amd64", {}, "windows-3.{}"),
        ("Darwin", "arm64", "macosx-10.13-universal2", {}, "macos-3.{}"),
        ("Linux", "aarch64", "linux-aarch64", {}, "linux-arm-3.{}"),
        ("Windows", "AMD64", "win32", {"bits": 2**31}, "a 32-bit Python; the wheels are for 64"),
        ("Darwin", "arm64", "macosx-11.0-arm64", {"mac": "13.7"}, "macOS 13.7; torch needs 14"),
        ("Linux", "x86_64", "linux-x86_64", {"libc": ("", "")}, "torch needs glibc 2.28"),
    ],
)
def test_a_system_is_told_by_what_its_python_says(
    monkeypatch, tmp_path, os_name, machine, platform_name, more, name
):
    made_up = {
        "platform.system": lambda: os_name,
        "platform.machine": lambda: machine,
        "sysconfig.get_platform": lambda: platform_name,
        "platform.mac_ver": lambda: (more.get("mac", "14.5"), ("", "", ""), machine),
        "platform.libc_ver": lambda: more.get("libc", ("glibc", "2.36")),
    }
    shutil.copy(SOURCE, tmp_path)
    module = loaded(tmp_path)
    for what, answer in made_up.items():
        monkeypatch.setattr(what, answer)
    monkeypatch.setattr("sys.maxsize", more.get("bits", 2**63))
    assert name.format(sys.version_info.minor) in module.own_name()


def test_a_stick_that_was_copied_in_part_is_named_by_the_wheel(plugged, capsys):
    module, folder, to = plugged
    cut = next((folder / "wheels").glob("torch*"))
    size = cut.stat().st_size
    cut.write_bytes(cut.read_bytes()[:100])
    said = refused(module, to, capsys)
    assert f"This stick is not whole: wheels/{cut.name} has 100 of {size} bytes." in said
    cut.unlink()
    assert f"has 0 of {size} bytes" in refused(module, to, capsys)


def test_a_stick_without_its_list_is_not_taken_for_a_folder_that_was_moved(plugged, capsys):
    module, folder, to = plugged
    there = folder / "stick.json"
    there.write_bytes(there.read_bytes()[:100])
    whole = "This stick is not whole: stick.json is missing or damaged."
    assert refused(module, to, capsys).startswith(whole)
    there.unlink()
    assert refused(module, to, capsys).startswith(whole)
    assert not to.exists()


def test_a_damaged_file_of_the_course_is_named(plugged, capsys):
    module, folder, to = plugged
    path = folder / "course" / "course" / "workspace.py"
    path.write_bytes(b"print('other')")
    whole = f"This stick is not whole: {path} is damaged."
    assert refused(module, to, capsys).startswith(whole)
    path.unlink()
    assert refused(module, to, capsys).startswith(whole)


def test_a_disk_that_fills_up_meanwhile_gets_a_sentence(plugged, capsys, monkeypatch):
    module, _, to = plugged

    def full(path, content):
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr(module, "write", full)
    assert "No space left on device.\nMake room" in refused(module, to, capsys)


HOLD = """
import importlib.util, pathlib, sys
spec = importlib.util.spec_from_file_location("start", sys.argv[1])
start = importlib.util.module_from_spec(spec)
spec.loader.exec_module(start)
with start.alone_in(pathlib.Path(sys.argv[2])):
    print("in", flush=True)
    sys.stdin.read()
"""


def test_two_starts_do_not_set_up_one_folder_at_once(plugged, capsys, monkeypatch):
    module, folder, to = plugged
    monkeypatch.setattr(module, "set_up", lambda *_: None)
    monkeypatch.setattr(module, "bring_lessons", lambda *_: None)
    to.mkdir()
    (to / ".from_stick.json.part").write_text("", "utf-8")  # of a start that was interrupted
    command = [sys.executable, "-c", HOLD, folder / "start.py", to]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as first:
        assert first.stdout.readline().strip() == b"in"
        said = refused(module, to, capsys)
        first.kill()  # as a power cut: the lock is lifted by the system
    assert said.startswith(f"{to} is being set up by another start")
    assert module.main(["--no-lab", "--to", str(to)]) == 0


# ---- what it keeps


def copied(module, folder, to):
    to.mkdir(exist_ok=True)
    module.copy_course(content(folder), to)


def test_an_edited_file_is_kept_beside_and_what_went_goes(plugged, tmp_path, capsys):
    module, folder, to = plugged
    copied(module, folder, to)
    (to / "backend.py").write_text("edited", "utf-8")
    (to / "notebooks" / "mine.ipynb").write_text("mine", "utf-8")
    newer = stick(tmp_path / "newer", **{"backend.py": "newer"})
    known = content(newer)
    del known["course"]["helpers/__init__.py"], known["course"]["notebooks/00.ipynb"]
    (to / "helpers" / "__init__.py").write_text("edited", "utf-8")
    loaded(newer).copy_course(known, to)
    assert (to / "backend.py").read_text("utf-8") == "newer"
    assert (to / "backend.py.kept").read_text("utf-8") == "edited"
    assert (to / "helpers" / "__init__.py").read_text("utf-8") == "edited"
    assert [path.name for path in (to / "notebooks").iterdir()] == ["mine.ipynb"]
    assert "your version is kept as backend.py.kept" in capsys.readouterr().out


def test_an_interrupted_copy_is_taken_up_and_keeps_nothing_twice(plugged):
    module, folder, to = plugged
    copied(module, folder, to)
    (to / module.TAKEN).write_text("{}", "utf-8")
    (to / "backend.py").unlink()
    copied(module, folder, to)
    assert (to / "backend.py").is_file()
    assert not list(to.rglob("*.kept"))


def test_the_standard_library_and_an_old_python_are_enough():
    tree = ast.parse(SOURCE.read_text("utf-8"), feature_version=(3, 6))
    imported = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported |= {name.name for name in node.names}
        if isinstance(node, ast.ImportFrom):
            imported.add(node.module)
    assert imported <= sys.stdlib_module_names


# ---- how a stick is written


@pytest.fixture
def workshop(tmp_path, monkeypatch):
    """A course whose sticks are filled from made-up wheels, without pip."""
    made_up_stick.course(tmp_path / "course")
    monkeypatch.setattr(usb, "ROOT", tmp_path / "course")
    (tmp_path / "course" / ".gitignore").write_text("build/\nwork/\n", "utf-8")
    (tmp_path / "course" / "work").mkdir()
    (tmp_path / "course" / "work" / "progress.json").write_text("mine", "utf-8")

    def wheels_for(system, root, folder, fetch, cuda):
        return {made_up_stick.wheel(folder, name, "1") for name in ("pip", "torch")}

    monkeypatch.setattr(usb, "wheels_for", wheels_for)
    monkeypatch.setattr(usb, "PARTS", {})  # neither decks nor pages are built
    return tmp_path


def fill(workshop, *words):
    return usb.main(["-o", str(workshop / "usb"), *words])


def test_a_stick_has_all_its_parts_and_nobodys_work(workshop, capsys):
    assert fill(workshop, "--for", "windows-3.12") == 0
    made = workshop / "usb"
    scripts = {"start.py", "start-linux.sh", "start-macos.command", "start-windows.bat"}
    there = {path.name for path in made.iterdir()}
    assert there == {"README.txt", "course", "stick.json", "wheels", *scripts}
    assert not list(made.rglob("progress.json"))
    assert list(content(made)["systems"]) == [str(here()), "windows-3.12"]
    for name, digest in content(made)["course"].items():
        assert made_up_stick.digest(made / "course" / name) == digest
    batch, shell = (made / "start-windows.bat").read_bytes(), (made / "start-linux.sh").read_bytes()
    assert batch.isascii()
    assert batch.count(b"\r\n") == batch.count(b"\n")
    assert b"\r" not in shell
    readme = (made / "README.txt").read_text("utf-8")
    named = set(re.findall(r"start-[a-z.]+[a-z]", readme))
    assert named == {path.name for path in made.glob("start-*")}, "README.txt tells other names"
    assert "  - Windows, with Python 3.12\n" in readme
    assert "{" not in readme
    assert "wheels/ 0 MB" in capsys.readouterr().out


def test_a_stick_starts_anew_and_a_failure_leaves_the_old_one(workshop, capsys, monkeypatch):
    assert fill(workshop) == 0
    (workshop / "usb" / "wheels" / "old-1-py3-none-any.whl").write_bytes(b"")
    before = content(workshop / "usb")["id"]
    monkeypatch.setattr(usb, "copy_scripts", lambda folder: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        fill(workshop)
    assert content(workshop / "usb")["id"] == before
    assert not list(workshop.glob(".*.part"))


def test_a_folder_of_something_else_is_not_written_over(workshop, capsys):
    (workshop / "usb" / "photographs").mkdir(parents=True)
    assert fill(workshop) == 1
    assert "holds something else than a stick's content" in capsys.readouterr().err
