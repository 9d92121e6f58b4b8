"""What Binder, or a hub, would build from `binder/`: the Dockerfile that repo2docker prints, which needs no container
engine, and what postBuild leaves, run in an environment of its own.

Reads the root; writes under tmp_path only.
"""

import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

pytestmark = pytest.mark.thorough

ROOT = Path(__file__).resolve().parent.parent
LESSON = "/lab/tree/work/00_start_here.ipynb"
INSTALL = '${KERNEL_PYTHON_PREFIX}/bin/pip install --no-cache-dir -r "binder/requirements.txt"'
POST_BUILD = ["chmod +x binder/postBuild", "./binder/postBuild"]
LEFT_OUT = shutil.ignore_patterns(".*", "build", "work", "tests", "__pycache__", "*.egg-info")


def dockerfile(folder):
    """Return the Dockerfile that repo2docker makes of a folder; nothing is built."""
    command = [sys.executable, "-m", "repo2docker", "--no-build", "--debug"]
    command += ["--user-id", "1000", "--user-name", "jovyan", "."]
    how = {"capture_output": True, "text": True, "timeout": 120, "check": True}
    return subprocess.run(command, cwd=folder, **how).stdout


def steps(text):
    """Return what a Dockerfile does, in order, with the user who does it: [(user, "RUN …"), …]."""
    found, user = [], "root"
    for line in text.replace("\\\n", " ").splitlines():
        if line.startswith("USER "):
            user = line.removeprefix("USER ")
        elif line.startswith(("COPY ", "RUN ")):
            found.append((user, " ".join(line.split())))
    return found


def faults(folder):
    """Return a word for each thing in which the image would not be the course's."""
    text = dockerfile(folder)
    done = steps(text)
    wrong = []
    if "environment-2epy-2d3-2e12-2dlinux" not in text:
        wrong.append("python")
    if "env update" in text:
        wrong.append("conda")
    installing = [step for step in done if "pip install" in step[1]]
    if installing != [("${NB_USER}", f"RUN {INSTALL}")]:
        wrong.append("pip")
    whole = [i for i, (_, step) in enumerate(done) if step.endswith(" src/ ${REPO_DIR}/")]
    if [i for i, step in enumerate(done) if step in installing and i < whole[0]]:
        wrong.append("too early for files outside binder/")
    if done[-4:-2] != [("${NB_USER}", f"RUN {command}") for command in POST_BUILD]:
        wrong.append("postBuild")
    if "R2D_ENTRYPOINT" in text:
        wrong.append("a start script, which a hub's volume hides")
    return wrong


def test_the_image_is_the_course():
    assert faults(ROOT) == []


@pytest.fixture
def environment(tmp_path):
    """Make an environment that has all packages of this one, but not the course; return its folder."""
    made = tmp_path / "env"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", made], check=True, timeout=120)
    inside = sysconfig.get_path("purelib", vars={"base": str(made)})
    packages = [place for place in sys.path if Path(place).name == "site-packages"]
    (Path(inside) / "packages.pth").write_text("\n".join(packages) + "\n", "utf-8")
    return made


@pytest.mark.slow
def test_the_course_is_still_there_when_a_volume_hides_the_home(tmp_path, environment):
    home = tmp_path / "jovyan"
    shutil.copytree(ROOT, home, ignore=LEFT_OUT)
    variables = {"HOME": str(home), "PATH": f"{environment}/bin:/usr/bin:/bin"}

    def run(*command):
        ran = subprocess.run(
            command, cwd=home, env=variables, capture_output=True, text=True, timeout=120
        )
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    run("./binder/postBuild")
    assert (home / LESSON.removeprefix("/lab/tree/")).is_file()
    shutil.rmtree(home)
    home.mkdir()
    course = environment / "share" / "pytorch-graphs"
    looking = "import helpers, course.workspace as w; print(helpers.__file__, *w.lessons(w.ROOT))"
    place, *lessons = run("python", "-c", looking).split()
    assert place == str(course / "helpers" / "__init__.py")
    assert len(lessons) == len(list((ROOT / "notebooks").glob("*.ipynb")))
    settings = environment / "share" / "jupyter" / "lab" / "settings" / "overrides.json"
    assert "saveState" in settings.read_text(encoding="utf-8")
    opening = (
        "from jupyterlab.labapp import LabApp as L; from notebook.app import JupyterNotebookApp as N\n"
        "for app in L(), N(): app.load_config_file(); print(app.default_url)"
    )
    assert run("python", "-c", opening).split() == [LESSON, LESSON]
