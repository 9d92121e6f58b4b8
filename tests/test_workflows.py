"""The workflows for GitHub, which are never run here: their form, their holes, and that they say what docs/ and the
Makefile say.

Reads the root; writes under tmp_path only.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / ".github" / "workflows"
WORKFLOWS = sorted(FOLDER.glob("*"))
PROGRAMS = Path(sys.executable).parent
PINNED = re.compile(r"uses: (actions/[\w-]+)@([0-9a-f]{40}) # (v\d+\.\d+\.\d+)")
FORM = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows"]
HOLES = [
    str(PROGRAMS / "zizmor"),
    "--offline",
    "--no-progress",
    "--no-config",
    "--persona=auditor",
]


def complaint(linter, *paths):
    """Return what a linter says of some workflows; "" if it has nothing to say."""
    ran = subprocess.run([*linter, *paths], capture_output=True, text=True, timeout=120)
    return (ran.stdout + ran.stderr) if ran.returncode else ""


def jobs(name):
    """Return the jobs of one workflow by name."""
    return yaml.safe_load((FOLDER / name).read_text(encoding="utf-8"))["jobs"]


def commands(job):
    """Return what a job runs, line by line, without comments."""
    typed = "\n".join(step.get("run", "") for step in job["steps"]).splitlines()
    return [line.partition(" #")[0].strip() for line in typed if line.strip()]


def blocks(language):
    """Return the commands in each block of a language in docs/without-make.md, without comments."""
    text = (ROOT / "docs" / "without-make.md").read_text(encoding="utf-8")
    found = re.findall(rf"^```{language}\n(.*?)^```", text, re.M | re.S)
    return [[line.partition(" #")[0].strip() for line in block.splitlines()] for block in found]


@pytest.mark.slow
@pytest.mark.parametrize("linter", [FORM, HOLES], ids=["form", "holes"])
def test_linters_have_nothing_to_say(linter):
    assert complaint(linter, *WORKFLOWS) == ""


def test_every_action_is_githubs_own_and_pinned_to_one_commit():
    used = {}
    for path in WORKFLOWS:
        text = path.read_text(encoding="utf-8")
        assert len(re.findall(r"\buses:", text)) == len(PINNED.findall(text))
        for action, commit, version in PINNED.findall(text):
            used.setdefault(action, set()).add((commit, version))
    assert all(len(pins) == 1 for pins in used.values()), "one action, two versions"


def test_a_job_may_read_and_only_the_one_that_publishes_may_more():
    for path in WORKFLOWS:
        said = yaml.safe_load(path.read_text(encoding="utf-8"))
        assert said["permissions"] == {"contents": "read"}
        more = {
            name: job["permissions"] for name, job in said["jobs"].items() if "permissions" in job
        }
        publishing = {"deploy": {"pages": "write", "id-token": "write"}}
        assert more == (publishing if path.name == "pages.yml" else {})
        assert all(job["timeout-minutes"] <= 90 for job in said["jobs"].values())


def test_windows_types_what_the_docs_say():
    stops_at_a_failure, *typed, compare = commands(jobs("tests.yml")["windows"])
    assert stops_at_a_failure == "$PSNativeCommandUseErrorActionPreference = $true"
    handed_out = r".venv\Scripts\python -m course.workspace sync"
    (readme,) = (block for block in blocks("powershell") if handed_out in block)
    assert typed == readme[: readme.index(handed_out) + 1]
    given = ["env", "-u", "MAKEFLAGS"]  # what this run of the tests was given is not the Makefile's
    dry = subprocess.run(
        [*given, "make", "--dry-run", "compare"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )
    made = re.search(r"-m pytest (.*)$", dry.stdout, re.M)[1].replace("-n 2 --dist loadfile ", "")
    assert compare == rf".venv\Scripts\python -m pytest {made}"
