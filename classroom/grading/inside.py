"""Run a notebook inside the sandbox and print a line of JSON for each answer, as soon as it is there.

Copied into the sandbox. From standard input come the steps: `{"code": "..."}` is a cell of the
student's, `{"collect": "03.3"}` the place where an answer is taken. nbclient runs them in one
kernel, from top to bottom, as JupyterLab would.
"""

import json
import sys
import time

from nbclient import NotebookClient
from nbclient.exceptions import DeadKernelError
from nbformat.v4 import new_code_cell, new_notebook

LATE = {"ename": "TooLate", "evalue": "", "traceback": []}
START = 120  # seconds for the imports, on a busy machine
COLLECT = "__import__('collecting').collect({!r})"


def main():
    """Run all steps; what ends the kernel ends the run."""
    given = json.load(sys.stdin)
    steps = given["steps"]
    cells = [new_code_cell("import torch, collecting")]  # the time of imports is nobody's
    cells += [new_code_cell(_source(step)) for step in steps]
    client = NotebookClient(
        new_notebook(cells=cells),
        kernel_name="python3",
        timeout=START,
        interrupt_on_timeout=True,
        error_on_timeout=LATE,
        allow_errors=True,
        resources={"metadata": {"path": "/tmp"}},
    )
    client.create_kernel_manager()
    client.km.transport = "ipc"
    with client.setup_kernel():
        client.execute_cell(cells[0], 0)
        client.timeout = given["seconds"]
        for number, step in enumerate(steps):
            begun = time.monotonic()
            try:
                done = client.execute_cell(cells[number + 1], number + 1)
            except DeadKernelError:
                return
            late = time.monotonic() - begun >= given["seconds"]
            record = {"step": number, "late": late, **_outcome(step, done)}
            print(json.dumps(record), flush=True)


def _source(step):
    return step["code"] if "code" in step else COLLECT.format(step["collect"])


def _outcome(step, cell):
    """Return what a cell did that counts: the answer that was shown, or the error that ended it."""
    raised, answered = {}, {}
    for output in cell.outputs:
        if output.output_type == "error":
            raised = {"raised": f"{output.ename}: {output.evalue}"[:300]}
        elif output.output_type == "display_data" and "application/json" in output.data:
            answered = {"found": output.data["application/json"]}
    if "collect" in step and answered:
        return answered
    return raised


if __name__ == "__main__":
    main()
