"""Hold a lesson that is being presented: its copy in memory, its kernel, and what came of each cell."""

import asyncio
import copy
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path

import zmq
from nbclient import NotebookClient
from nbclient.exceptions import DeadKernelError
from nbformat import NotebookNode
from nbformat.v4 import new_output

from course.publishing.cell_renderer import CellRenderer
from course.publishing.prepare import language, prepared

RAN = ("done", "failed", "changed")  # states of a cell whose output came from a kernel
MOST_PRINTED = 20_000  # characters of one stream that are kept: a loop may print without end
MOST_OUTPUTS = 100  # of one cell that are kept, for the same reason
MOST_SHOWN = 10_000_000  # characters of HTML that a browser is given at once
TOO_LARGE = '<pre class="o">(This output is too large to show: print or draw less.)</pre>'
LEFT_OUT = "… left out …\n"
PAUSE = 0.25  # seconds between two looks at a cell that still runs
ALIVE = 1.0  # seconds between two looks whether a kernel that has nothing to do is there
DIED = "The kernel died."
DIED_EARLY = "The kernel died before this code was done."


class Client(NotebookClient):
    """Runs cells one by one; says after each message what a cell has put out so far."""

    def __init__(self, notebook: NotebookNode, folder: Path, look: Callable) -> None:
        place = {"metadata": {"path": str(folder)}}
        super().__init__(notebook, timeout=None, allow_errors=True, resources=place)
        self.iopub_timeout = 60  # seconds for what was printed and has not come yet
        self.look = look

    def process_message(self, msg: dict, cell: NotebookNode, cell_index: int):
        made = super().process_message(msg, cell, cell_index)
        self.look(cell)
        return made

    def output(self, outs: list, msg: dict, display_id: str | None, cell_index: int):
        """Join what a stream prints, shortened; of many outputs keep the first and the last."""
        same = outs and outs[-1].get("name") == msg["content"].get("name", "")
        if not same or self.clear_before_next_output or display_id:
            if len(outs) >= MOST_OUTPUTS:
                outs[-2:] = [new_output("stream", text=LEFT_OUT)]
                self.clear_display_id_mapping(cell_index)  # it counts outputs
            return super().output(outs, msg, display_id, cell_index)
        outs[-1].text = shortened(outs[-1].text + msg["content"]["text"])
        return outs[-1]


async def begin(client: Client) -> None:
    """Start the kernel of a client; what jupyter_client raises comes through."""
    client.create_kernel_manager()
    if zmq.has("curve"):
        client.km.transport_encryption = "auto"
    await client.async_start_new_kernel()
    await client.async_start_new_kernel_client()


async def end(client: Client) -> None:
    """End the kernel of a client, whatever it does, and let go of what it holds."""
    if client.kc is not None:
        client.kc.stop_channels()
    if client.km is None:
        return
    if client.km.has_kernel:
        await client.km.shutdown_kernel(now=True)
    else:  # it is gone by itself
        await client.km.cleanup_resources()


def complaint(words: str) -> dict:
    """Return what is seen of a cell instead of its output."""
    return {"html": f'<pre class="stderr">{words}</pre>', "kind": "text", "failed": 0}


def shortened(text: str) -> str:
    """Return a text with its middle left out, and said so, where it is very long."""
    if len(text) <= MOST_PRINTED:
        return text
    half = MOST_PRINTED // 2
    start, end = text[:half].rpartition("\n")[0], text[-half:].partition("\n")[2]
    return f"{start or text[:half]}\n{LEFT_OUT}{end or text[-half:]}"


class LiveLesson:
    """A copy of a notebook and a kernel, in `folder`; `tell` is called with a dict for all who watch.

    With `trust` HTML and scripts of outputs are shown as they are.
    Nothing is written but what the lesson's own code writes, into `folder`.
    """

    def __init__(
        self, notebook: NotebookNode, folder: Path, tell: Callable, *, trust: bool = False
    ) -> None:
        self.given, self.notebook = notebook, copy.deepcopy(notebook)
        self.folder, self.tell, self.trust = folder, tell, trust
        self.renderer = CellRenderer(folder, trust=trust, language=language(notebook))
        cells = enumerate(self.notebook.cells)
        self.index = {cell.id: at for at, cell in cells if cell.cell_type == "code"}
        self.client: Client | None = None
        self.turn = asyncio.Lock()
        self.settled = asyncio.Event()  # a kernel is there with its set-up, or cannot be had
        self.rounds = 0  # grows when all that waits is to give up
        self.starts = 0  # grows when a kernel that starts is no longer wanted
        self.looked = 0.0
        self.next_look: asyncio.TimerHandle | None = None
        self.kernel = {"kernel": "starting", "words": ""}
        self.known = {name: {"cell": name, "source": self.cell(name).source} for name in self.index}
        # the code that made the output which is seen: at first the lesson's own
        self.made_by = {name: self.cell(name).source for name in self.index}
        self.watcher: asyncio.Task | None = None
        self.ended: dict[str, str] = {}  # how the last run of a cell did, by its name
        self.runs = ""  # the code that runs, or ran last

    def state(self) -> list[dict]:
        """Return what somebody must be told who begins to watch now."""
        return [self.kernel, *self.known.values()]

    async def start(self) -> None:
        """Start a kernel and run the set-up in it; tell where that fails."""
        await self.started()
        if self.client is not None or self.kernel["kernel"] == "dead":
            self.settled.set()

    async def started(self) -> None:
        mine = self.starts
        async with self.turn:
            if mine != self.starts or self.client is not None:
                return  # another one was asked for meanwhile, or is there
            self.tell_kernel("starting")
            client = Client(self.notebook, self.folder, self.look)
            try:
                await begin(client)
            except Exception as error:  # whatever it is: those who wait must hear of it
                await end(client)
                self.tell_kernel("dead", f"No kernel could be started: {error}")
                return
            if mine != self.starts:
                await end(client)
                return
            self.client = client
            for name in self.index:
                if self.role(name) == "setup" and client is self.client:
                    await self.run_one(name)  # before anything else may run
            if client is self.client:
                self.tell_kernel("ready")
                self.watcher = asyncio.ensure_future(self.watch(client))

    async def watch(self, client: Client) -> None:
        """Notice that a kernel is gone while nothing runs; what runs notices it by itself."""
        while client is self.client:
            await asyncio.sleep(ALIVE)
            if not self.turn.locked() and not await client.km.is_alive():
                await self.died(client)

    async def died(self, client: Client) -> None:
        """Tell that the kernel is gone, unless somebody has ended it."""
        if client is self.client:
            self.client = None
            self.tell_kernel("dead", DIED)
            await end(client)

    async def stop(self) -> None:
        """End the kernel, whatever it does; what waits gives up."""
        self.rounds += 1
        self.starts += 1
        client, self.client = self.client, None
        if self.watcher is not None:
            self.watcher.cancel()
        if client is not None:
            await end(client)

    async def restart(self) -> None:
        """Start another kernel; what ran before is still seen, and told as such."""
        self.settled.clear()
        await self.stop()
        for name, known in self.known.items():
            if known.get("state") in RAN:
                self.ended[name] = "before"
                self.tell_cell(name, state="before")
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
            self.tell_cell(name, state="waiting")
        await self.settled.wait()
        while waiting and await self.in_turn(waiting[0], began):
            waiting.popleft()
        for name in names:
            if self.known[name]["state"] == "waiting":
                self.tell_cell(name, state=self.ended.get(name, "stored"))

    async def in_turn(self, name: str, began: int) -> bool:
        """Run a cell when those before it are done; return whether the next may run."""
        async with self.turn:
            return self.rounds == began and self.client is not None and await self.run_one(name)

    async def run_up_to(self, name: str) -> None:
        """Run all cells from the first to this one."""
        names = list(self.index)
        await self.run(names[: names.index(name) + 1])

    async def run_one(self, name: str) -> bool:
        """Run a cell and tell what came; return whether the next may run.

        What a cell put out whose kernel has died gives way to what is stored of the lesson's own
        code, and of other code to a sentence.
        """
        cell, client, began = self.cell(name), self.client, time.monotonic()
        self.runs = cell.source  # it may be edited while it runs
        cell.outputs = []
        client.clear_display_id_mapping(self.index[name])  # of its last run
        self.tell_cell(name, state="running")
        try:
            await client.async_execute_cell(cell, self.index[name])
        except DeadKernelError:
            stored = self.given.cells[self.index[name]]
            is_own = self.runs == stored.source
            face = self.face(stored) if is_own else complaint(DIED_EARLY)
            self.tell_result(name, "stopped", time.monotonic() - began, face)
            await self.died(client)
            return False
        except Exception as error:  # of the machinery: the lesson goes on, and the room is told
            face = complaint(f"This couldn't be run to its end ({type(error).__name__}).")
            self.tell_result(name, "failed", time.monotonic() - began, face)
            return False
        failed = any(output.output_type == "error" for output in cell.outputs)
        state = "failed" if failed else "done"
        self.tell_result(name, state, time.monotonic() - began, self.face(cell))
        return not failed or "raises-exception" in cell.metadata.get("tags", [])

    def edit(self, name: str, source: str | None) -> None:
        """Change what a cell runs, None: back to what the lesson has there; tell how it looks."""
        given = self.given.cells[self.index[name]].source
        cell = self.cell(name)
        cell.source = given if source is None else source
        if self.known[name].get("state") in RAN:
            self.ended[name] = "changed"
            self.tell_cell(name, state="changed")
        self.tell_cell(
            name,
            code=self.renderer.code(cell.source),
            source=cell.source,
            edited=cell.source != given,
            foreign=cell.source != self.made_by[name],
        )

    def look(self, cell: NotebookNode) -> None:
        """Tell what a running cell has put out so far: soon, and a few times a second at most."""
        if self.next_look is None:
            wait = max(0, self.looked + PAUSE - time.monotonic())
            loop = asyncio.get_running_loop()
            self.next_look = loop.call_later(wait, self.look_now, cell)

    def look_now(self, cell: NotebookNode) -> None:
        self.next_look = None
        if cell.outputs:
            self.tell_cell(cell.id, state="running", **self.face(cell))
        self.looked = time.monotonic()

    def tell_result(self, name: str, state: str, seconds: float, face: dict) -> None:
        if self.next_look is not None:
            self.next_look.cancel()
            self.next_look = None
        self.ended[name] = state
        self.tell_cell(name, state=state, seconds=round(seconds, 1), **face)

    def tell_cell(self, name: str, **news) -> None:
        """Tell what is new of a cell, and keep it for those who come later."""
        if "html" in news:
            self.made_by[name] = self.runs
            news["foreign"] = self.cell(name).source != self.runs
        self.known[name] |= news
        self.tell({"cell": name} | news)

    def tell_kernel(self, state: str, words: str = "") -> None:
        self.kernel = {"kernel": state, "words": words}
        self.tell(self.kernel)

    def saved(self) -> NotebookNode:
        """Return the notebook as it was run and changed; no output of code that it does not hold."""
        made = copy.deepcopy(self.notebook)
        for name, at in self.index.items():
            if made.cells[at].source != self.made_by[name]:
                made.cells[at].update(outputs=[], execution_count=None)
        return made

    def face(self, cell: NotebookNode) -> dict:
        """Return what a cell has put out as HTML, just as it is published."""
        alone = NotebookNode(cell_type="code", metadata=NotebookNode(), source=cell.source)
        alone.outputs = copy.deepcopy(cell.outputs)  # no new_code_cell: it takes ms to check each
        for output in alone.outputs:
            if output.output_type == "stream":
                output.text = shortened(output.text)
        made = NotebookNode(cells=[alone], metadata=self.notebook.metadata)
        result = self.renderer.result(prepared(made, notes=True, trust=self.trust).cells[0])
        if len(result.html) > MOST_SHOWN:
            return {"html": TOO_LARGE, "kind": "text", "failed": result.failed}
        failed = self.shown_line(self.runs, result.failed)
        return {"html": result.html, "kind": result.kind, "failed": failed}

    def shown_line(self, source: str, failed: int) -> int:
        """Return which of the lines that are shown has failed, 0 for none: not every blank one is."""
        shown = [number for number, _ in self.renderer.lines(source)]
        return shown.index(failed) + 1 if failed in shown else 0

    def cell(self, name: str) -> NotebookNode:
        return self.notebook.cells[self.index[name]]

    def role(self, name: str) -> str:
        course = self.cell(name).metadata.get("course", {})
        return course.get("role", "") if isinstance(course, dict) else ""
