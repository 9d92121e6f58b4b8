"""Start real JupyterLab on a scratch copy of the course, as `make lab` does, and drive it as a
student would.

Writes only into the folder that it is given: the copies, Jupyter's own folders, the log. The real
environment's settings are read by nobody here.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.request import Request, urlopen

import nbformat
import pytest

from course import lab_settings, workspace

ROOT = Path(__file__).resolve().parents[2]
OWN = {
    "JUPYTER_CONFIG_DIR": "config",
    "JUPYTER_DATA_DIR": "data",
    "JUPYTER_RUNTIME_DIR": "run",
    "IPYTHONDIR": "ipython",
}
OPTIONS = (
    "--no-browser",
    "--allow-root",
    "--ip=127.0.0.1",
    "--ServerApp.port=0",
)
KERNELSPEC = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}


class Lab:
    """Hold a running JupyterLab: `with Lab(folder) as lab`."""

    module, program = "jupyterlab", "LabApp"

    def __init__(self, folder):
        self.folder, self.work = folder, folder / "work"
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("JUPYTER", "PYTHONPATH", "PROGRESS_FOLDER"))
        }
        self.environment = kept | {name: str(folder / place) for name, place in OWN.items()}
        self._context = None

    def context(self, chromium):
        """Return what all windows of a browser share, so that it fetches JupyterLab's scripts once."""
        if self._context is None or self._context.browser is not chromium:
            self._context = chromium.new_context(viewport={"width": 1280, "height": 720})
        return self._context

    def __enter__(self):
        self.hand_out()
        lab_settings.write(self.folder)
        settings = self.folder / "share" / "jupyter" / "lab" / "settings"
        command = [
            sys.executable,
            "-P",
            "-m",
            self.module,
            *OPTIONS,
            f"--{self.program}.expose_app_in_browser=True",
            f"--LabApp.app_settings_dir={settings}",  # Notebook 7 asks JupyterLab's part for settings
        ]
        with open(self.folder / "lab.log", "wb") as log:
            self.server = subprocess.Popen(
                command,
                cwd=self.work,
                env=self.environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.address, self.token = self.listening()
        return self

    def __exit__(self, *_):
        """Stop the server, which stops its kernels."""
        os.killpg(self.server.pid, signal.SIGTERM)
        try:
            self.server.wait(15)
        except subprocess.TimeoutExpired:
            os.killpg(self.server.pid, signal.SIGKILL)
            self.server.wait()

    def hand_out(self):
        """Copy the lessons as `make lab` does: no outputs, no notes, trusted."""
        for part in ("notebooks", "figs"):
            shutil.copytree(ROOT / part, self.folder / part)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("JUPYTER_DATA_DIR", self.environment["JUPYTER_DATA_DIR"])
            workspace.sync(self.folder)
        self.handed_out = {path: path.read_bytes() for path in self.work.glob("*.ipynb")}

    def put_back(self):
        """Give the lessons back as they were handed out: what another test ran and saved may hold
        widgets without their state, of which JupyterLab complains.
        """
        for path, lesson in self.handed_out.items():
            path.write_bytes(lesson)

    def write(self, name, *sources, tags=()):
        """Put a notebook of code cells, none of them run, where the copies are; return its name."""
        cells = [
            nbformat.v4.new_code_cell(source, metadata={"tags": list(tags)}) for source in sources
        ]
        nbformat.write(
            nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": KERNELSPEC}),
            self.work / name,
        )
        return name

    def store(self, name, found):
        nbformat.write(found, self.work / name)

    def read(self, name):
        """Return a notebook as it stands in the file."""
        return nbformat.read(self.work / name, as_version=4)

    def stop_kernels(self):
        for session in json.loads(self.ask("GET", "sessions")):
            self.ask("DELETE", f"sessions/{session['id']}")

    def ask(self, method, what):
        headers = {"Authorization": f"token {self.token}"}
        with urlopen(
            Request(f"{self.address}/api/{what}", method=method, headers=headers), timeout=30
        ) as answer:
            return answer.read()

    def listening(self, limit=60):
        """Wait until the server has written where it listens; return its address and token."""
        info = self.folder / "run" / f"jpserver-{self.server.pid}.json"
        end = time.monotonic() + limit
        while not info.exists() or not info.read_text():
            if self.server.poll() is not None or time.monotonic() > end:
                pytest.fail(
                    f"JupyterLab did not start:\n{(self.folder / 'lab.log').read_text()[-2000:]}"
                )
            time.sleep(0.05)
        said = json.loads(info.read_text())
        return said["url"].rstrip("/"), said["token"]
