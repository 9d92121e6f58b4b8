"""Small wheels, a small course, and a stick of them, for tests that have no network."""

import ensurepip
import hashlib
import json
import shutil
import zipfile
from pathlib import Path

from classroom.usb import __main__ as usb

BACKEND = '''"""Builds the made-up course as an editable package, with no package but the standard library."""
import zipfile


def build_editable(folder, *_, **__):
    name = "graphs-1-py3-none-any.whl"
    with zipfile.ZipFile(f"{folder}/{name}", "w") as archive:
        archive.writestr("graphs.pth", __file__.rpartition("backend.py")[0])
        archive.writestr("graphs-1.dist-info/METADATA", "Metadata-Version: 2.1\\nName: graphs\\nVersion: 1\\n")
        archive.writestr("graphs-1.dist-info/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        archive.writestr("graphs-1.dist-info/RECORD", "")
    return name
'''
COURSE = {
    "pyproject.toml": '[project]\nname = "graphs"\nversion = "1"\n'
    '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n',
    "backend.py": BACKEND,
    "autograd_graphs/pyproject.toml": '[project]\nname = "library"\nversion = "1"\n'
    '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n',
    "autograd_graphs/backend.py": BACKEND.replace("graphs-1", "library-1").replace(
        "Name: graphs", "Name: library"
    ),
    "helpers/__init__.py": "",
    "course/__init__.py": "",
    "course/lab_settings.py": "",
    "course/workspace.py": "import os, sys\nos.makedirs('work', exist_ok=True)\nprint(*sys.argv[1:])",
    "notebooks/00.ipynb": "{}",
    "requirements.txt": "torch==2.13.0  # the subject\njupyterlab==4.6.6  # where lessons are read\n",
    "constraints.txt": "jupyterlab==4.6.6\nsetuptools==84\ntorch==2.13.0\n",
}
LAB = "import os, sys\nprint(os.path.basename(os.getcwd()), *sys.argv[1:])\n"


def wheel(folder, name, version, requires=(), tag="py3-none-any", files=None):
    """Write a wheel; return its path."""
    stem = f"{name.replace('-', '_')}-{version}"
    lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
    lines += [f"Requires-Dist: {one}" for one in requires]
    about = f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: {tag}\n"
    inside = {
        **(files or {}),
        f"{stem}.dist-info/METADATA": "\n".join(lines) + "\n",
        f"{stem}.dist-info/WHEEL": about,
        f"{stem}.dist-info/RECORD": "",
    }
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{stem}-{tag}.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for entry, text in inside.items():
            archive.writestr(entry, text)
    return path


def pip_wheel(folder):
    """Copy pip's wheel from this Python, which carries one; return its path, or None."""
    places = [Path(ensurepip.__file__).parent / "_bundled", Path("/usr/share/python-wheels")]
    found = [path for place in places for path in place.glob("pip-*.whl")]
    return Path(shutil.copy(found[0], folder)) if found else None


def course(folder, **changed):
    """Write the made-up course."""
    for name, text in {**COURSE, **changed}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def stick(folder, *systems, **changed):
    """Write a stick of the made-up course for these systems, with the real scripts."""
    course(folder / "course", **changed)
    wheels = folder / "wheels"
    made = [
        wheel(wheels, "torch", "2.13.0", files={"torch.py": ""}),
        wheel(wheels, "setuptools", "84"),
        wheel(wheels, "jupyterlab", "4.6.6", files={"jupyterlab.py": LAB}),
    ]
    made.append(pip_wheel(wheels) or wheel(wheels, "pip", "1"))
    content = {
        "systems": {str(one): usb.of_system(made) for one in systems},
        "course": {name: digest(folder / "course" / name) for name in {**COURSE, **changed}},
        "scripts": usb.copy_scripts(folder),
    }
    content["id"] = hashlib.sha256(json.dumps(content).encode()).hexdigest()
    (folder / "stick.json").write_text(json.dumps(content), encoding="utf-8")
    return folder


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()
