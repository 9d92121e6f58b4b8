"""Teach nbval 0.11 what a front end does: a pytest plugin (`-p nbval_patch`); changes only nbval's
classes.

- What is printed inside an ipywidgets `Output` goes to the widget, not to the cell.
- `update_display(display_id)` replaces what was displayed; `clear_output()` takes away what the cell showed.
- The pixels of a PNG are not compared, which nbval does for image/png, inside HTML either: a font may differ by a dot.
- Nor are the drawings of moons and charts: trained weights differ elsewhere in a last digit. Their words are compared.
- No student has guessed anything: the progress file begins empty for each notebook.
- A claim takes no number, so that the cells around it count as in a student's copy.
- A kernel knows its notebook, as those of a Jupyter server do.
- A trailing `;` silences a cell: IPython looks for it in its history, so the history must be kept.

The stored outputs come from nbclient, which does all of this; without it such cells could never be
equal.
"""

import base64
import os
import re
import tempfile

import nbformat
from nbval.kernel import RunningKernel
from nbval.plugin import IPyNbCell, IPyNbFile

from course.workspace import is_claim

OUTPUTS = {
    "stream", "display_data", "execute_result", "error", "clear_output", "update_display_data",
}  # fmt: skip
IGNORED = "comm_handled_by_the_front_end"  # nbval skips every message type that begins with "comm"
_receive, _run, _sanitize = IPyNbFile.get_kernel_message, IPyNbCell.runtest, IPyNbCell.sanitize
_setup = IPyNbFile.setup
# How `helpers.moons` and `helpers.plots` begin their drawings.
DRAWN = "|".join(
    base64.b64encode(begins).decode() for begins in (b'<svg id="moons"', b'<svg id="chart"')
)
PIXELS = re.compile(rf"(data:image/(?:png;base64,|svg\+xml;base64,(?:{DRAWN})))[A-Za-z0-9+/=]+")


class FrontEnd:
    """What the page of one notebook remembers between messages."""

    def __init__(self):
        self.capturing = {}  # Output widget -> the request whose outputs it takes
        self.displayed = {}  # display_id -> the data that it showed, as objects that nbval stores
        self.clear_later = False  # clear_output(wait=True) clears when the next output comes
        self.cell = None  # the running cell; `test_outputs` is what it has shown so far

    def read(self, message):
        """Return the message as nbval shall see it: itself, or of a type that it skips."""
        kind, content = message["msg_type"], message["content"]
        if kind == "comm_msg":
            self._note_capture(content)
        if kind not in OUTPUTS:
            return message
        if message["parent_header"].get("msg_id") in self.capturing.values():
            return {**message, "msg_type": IGNORED}
        return self._show(message, kind, content)

    def _note_capture(self, content):
        data = content.get("data") or {}
        state = data.get("state") or {}
        if data.get("method") == "update" and "msg_id" in state:
            self.capturing[content["comm_id"]] = state["msg_id"]
            if not state["msg_id"]:
                del self.capturing[content["comm_id"]]

    def _show(self, message, kind, content):
        if kind == "clear_output":
            self.clear_later = content.get("wait", False)
            if not self.clear_later:
                self.cell.test_outputs.clear()
            return {**message, "msg_type": IGNORED}
        if kind == "update_display_data":
            self._update(content)
            return {**message, "msg_type": IGNORED}
        if self.clear_later:
            self.clear_later = False
            self.cell.test_outputs.clear()
        self._remember(content)
        return message

    def _remember(self, content):
        display_id = (content.get("transient") or {}).get("display_id")
        if display_id:
            # nbval keeps a NotebookNode as it is
            content["data"] = nbformat.from_dict(content["data"])
            self.displayed.setdefault(display_id, []).append(content["data"])

    def _update(self, content):
        for data in self.displayed.get(content["transient"]["display_id"], []):
            data.clear()
            data.update(content["data"])


def _page(notebook):
    return notebook.__dict__.setdefault("_front_end", FrontEnd())


def get_kernel_message(self, timeout=None, stream="iopub"):
    """Receive as nbval does, then let the page handle what a page handles."""
    message = _receive(self, timeout=timeout, stream=stream)
    return _page(self).read(message) if stream == "iopub" else message


def runtest(self):
    """Run one cell; the page knows which, so that it can clear what it showed."""
    page = _page(self.parent)
    page.cell, page.clear_later = self, False
    self.parent.kernel.counts = not is_claim(self.cell)
    _run(self)


def execute_cell_input(self, cell_input, allow_stdin=None):
    """Run a cell as a front end does: with history, but for a claim, and an error does not flush
    the queue.
    """
    how = {"allow_stdin": allow_stdin, "stop_on_error": False}
    return self.kc.execute(cell_input, store_history=self.counts, **how)


def sanitize(self, text):
    """Leave out what nbval's own patterns name, and of pictures inside HTML what may differ."""
    if isinstance(text, str):
        return PIXELS.sub(r"\1", _sanitize(self, text))
    return _sanitize(self, text)


def setup(self):
    """Start the kernel with an empty folder for the progress file: nothing was guessed yet."""
    self._progress = tempfile.TemporaryDirectory()
    os.environ["PROGRESS_FOLDER"] = self._progress.name
    os.environ["JPY_SESSION_NAME"] = str(self.path)
    _setup(self)


def pytest_configure():
    """Put the corrections in place; GPU cells show what is stored; faults of folding raise."""
    os.environ.setdefault("GPU_CELLS", "stored")
    os.environ.setdefault("FOLDING_FAULTS", "raise")
    IPyNbCell.sanitize = sanitize
    IPyNbFile.setup = setup
    IPyNbFile.get_kernel_message = get_kernel_message
    IPyNbCell.runtest = runtest
    RunningKernel.execute_cell_input = execute_cell_input
