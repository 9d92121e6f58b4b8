"""Hold a lesson that is being presented: its copy in memory, its kernel, and what came of each cell."""

from __future__ import annotations

import asyncio
import copy
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path

import zmq
from jupyter_client.kernelspec import NoSuchKernel
from nbclient import NotebookClient
from nbclient.exceptions import DeadKernelError
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook

from course.publishing.faces import Faces
from course.publishing.prepare import language, prepared

MOST_PRINTED = 20_000  # characters of one stream that are kept: a loop may print without end
PAUSE = 0.25  # seconds between two looks at a cell that still runs


class Client(NotebookClient):
    """Runs cells one by one; says after each message what a cell has put out so far."""

    def __init__(self, notebook: NotebookNode, folder: Path, told: Callable) -> None:
        super().__init__(
            notebook,
            timeout=None,
            allow_errors=True,
            coalesce_streams=True,
            resources={"metadata": {"path": str(folder)}},
        )
        self.told = told

    def process_message(
        self, msg: dict, cell: NotebookNode, cell_index: int
    ) -> NotebookNode | None:
        made = super().process_message(msg, cell, cell_index)
        self.told(cell)
        return made

    def output(self, outs: list, msg: dict, display_id: str | None, cell_index: int):
        """Put what a stream prints to what it printed before, and keep its beginning and its end."""
        same = outs and outs[-1].get("name") == msg["content"].get("name", "")
        if not same or self.clear_before_next_output or display_id:
            return super().output(outs, msg, display_id, cell_index)
        outs[-1].text = shortened(outs[-1].text + msg["content"]["text"])
        return outs[-1]


def shortened(text: str) -> str:
    """Return a text with its middle left out, and said so, where it is very long."""
    if len(text) <= MOST_PRINTED:
        return text
    half = MOST_PRINTED // 2
    start, end = text[:half].rpartition("\n")[0], text[-half:].partition("\n")[2]
    return f"{start or text[:half]}\n… left out …\n{end or text[-half:]}"


class LiveLesson:
    """A copy of a notebook and a kernel, in `folder`; `tell` is called with a dict for all who watch.

    Nothing is written but what the lesson's own code writes, into `folder`.
    """

    def __init__(self, notebook: NotebookNode, folder: Path, tell: Callable[[dict], None]) -> None:
        self.given, self.notebook = notebook, copy.deepcopy(notebook)
        self.folder, self.tell = folder, tell
        self.faces = Faces(folder, language=language(notebook))
        self.index = {
            cell.id: at for at, cell in enumerate(self.notebook.cells) if cell.cell_type == "code"
        }
        self.client: Client | None = None
        self.turn = asyncio.Lock()
        self.rounds = 0  # grows when all that waits is to give up
        self.looked = 0.0
        self.kernel = {"kernel": "starting"}
        self.results: dict[str, dict] = {}

    def state(self) -> list[dict]:
        """Return what somebody must be told who begins to watch now."""
        sources = [{"cell": name, "source": self.cell(name).source} for name in self.index]
        return [self.kernel, *sources, *self.results.values()]

    async def start(self) -> None:
        """Start a kernel and run the set-up in it; tell where that fails."""
        async with self.turn:
            self.tell_kernel("starting")
            client = Client(self.notebook, self.folder, self.look)
            try:
                client.create_kernel_manager()
                if zmq.has("curve"):
                    client.km.transport_encryption = "auto"
                await client.async_start_new_kernel()
                await client.async_start_new_kernel_client()
            except (NoSuchKernel, RuntimeError, OSError) as error:
                self.tell_kernel("dead", f"No kernel could be started: {error}")
                return
            self.client = client
        await self.run([name for name in self.index if self.role(name) == "setup"])
        self.tell_kernel("ready" if self.client else "dead")

    async def stop(self) -> None:
        """End the kernel, whatever it does; what waits gives up."""
        self.rounds += 1
        client, self.client = self.client, None
        if client is not None and client.km is not None:
            await client.km.shutdown_kernel(now=True)
            client.kc.stop_channels()

    async def restart(self) -> None:
        await self.stop()
        await self.start()

    async def interrupt(self) -> None:
        """Interrupt what runs; what waits gives up."""
        self.rounds += 1
        if self.client is not None:
            await self.client.km.interrupt_kernel()

    async def run(self, names: list[str]) -> None:
        """Run cells in order, up to the first that fails without being expected to."""
        began, waiting = self.rounds, deque(names)
        for name in names:
            self.tell({"cell": name, "state": "waiting"})
        while waiting and await self.in_turn(waiting[0], began):
            waiting.popleft()
        for name in waiting:
            self.tell({"cell": name, "state": self.results.get(name, {}).get("state", "stored")})

    async def in_turn(self, name: str, began: int) -> bool:
        """Run a cell when those before it are done; return whether the next may run."""
        async with self.turn:
            return self.rounds == began and self.client is not None and await self.run_one(name)

    async def run_up_to(self, name: str) -> None:
        """Run all cells from the first to this one."""
        names = list(self.index)
        await self.run(names[: names.index(name) + 1])

    async def run_one(self, name: str) -> bool:
        """Run a cell and tell what came; return whether the next may run."""
        cell, client, began = self.cell(name), self.client, time.monotonic()
        cell.outputs = []
        self.tell({"cell": name, "state": "running"})
        try:
            await client.async_execute_cell(cell, self.index[name])
        except DeadKernelError:
            self.tell_result(cell, "stopped", time.monotonic() - began)
            if client is self.client:  # nobody has ended it
                self.client = None
                self.tell_kernel("dead", "The kernel died.")
            return False
        failed = any(output.output_type == "error" for output in cell.outputs)
        self.tell_result(cell, "failed" if failed else "done", time.monotonic() - began)
        return not failed or "raises-exception" in cell.metadata.get("tags", [])

    def edit(self, name: str, source: str | None) -> None:
        """Change what a cell runs, None: back to what the lesson has there; tell how it looks."""
        given = self.given.cells[self.index[name]].source
        cell = self.cell(name)
        cell.source = given if source is None else source
        edited = cell.source != given
        told = {
            "cell": name,
            "code": self.faces.code(cell.source),
            "source": cell.source,
            "edited": edited,
        }
        self.results[name] = self.results.get(name, {"cell": name}) | told
        self.tell(told)

    def look(self, cell: NotebookNode) -> None:
        """Tell what a running cell has put out so far, a few times a second."""
        if cell.outputs and time.monotonic() - self.looked > PAUSE:
            self.looked = time.monotonic()
            self.tell({"cell": cell.id, "state": "running"} | self.face(cell))

    def tell_result(self, cell: NotebookNode, state: str, seconds: float) -> None:
        told = {"cell": cell.id, "state": state, "seconds": round(seconds, 1)} | self.face(cell)
        self.results[cell.id] = self.results.get(cell.id, {}) | told
        self.tell(told)

    def tell_kernel(self, state: str, words: str = "") -> None:
        self.kernel = {"kernel": state, "words": words}
        self.tell(self.kernel)

    def face(self, cell: NotebookNode) -> dict:
        """Return what a cell has put out as safe HTML, just as it is published."""
        alone = new_code_cell(cell.source, outputs=copy.deepcopy(cell.outputs))
        for output in alone.outputs:
            if output.output_type == "stream":
                output.text = shortened(output.text)
        made = new_notebook(cells=[alone], metadata=self.notebook.metadata)
        result = self.faces.result(prepared(made, notes=True).cells[0])
        return {"html": result.html, "kind": result.kind, "failed": result.failed}

    def cell(self, name: str) -> NotebookNode:
        return self.notebook.cells[self.index[name]]

    def role(self, name: str) -> str:
        course = self.cell(name).metadata.get("course", {})
        return course.get("role", "") if isinstance(course, dict) else ""
