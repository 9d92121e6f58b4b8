"""Print one page after the other in one Chromium, for it takes long to start.

It is told what to do through two pipes, by Chrome's DevTools protocol. A port would let others on
this machine read files through the browser.
"""

from __future__ import annotations

import json
import os
import signal
from base64 import b64decode
from contextlib import ExitStack
from pathlib import Path
from select import select
from tempfile import TemporaryDirectory
from time import monotonic, sleep
from typing import Any

from course.publishing import chromium
from course.publishing.notebook_file import Unpublishable

HEARS, SAYS = 3, 4  # where Chromium looks for its ends of the pipes
CAN_SPAWN = hasattr(os, "posix_spawn")  # Windows cannot
READY = """document.readyState === "complete" && document.fonts.status === "loaded"
    && (!document.scripts.length || document.documentElement.dataset.paper === "ready")"""


class Printer:
    """A browser that prints; it starts with the first page, and ends with the `with` block.

    One that does not listen to pipes is started anew for each page.
    """

    def __init__(self, program: str) -> None:
        self.program, self.pid, self.count, self.rest, self.page = program, 0, 0, b"", ""
        self.open, self.listens = ExitStack(), CAN_SPAWN

    def __enter__(self) -> Printer:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def print(self, address: str, out: Path) -> None:
        """Print a page to a PDF. Raises Unpublishable."""
        if self.listens and not self.pid:
            self.listens = self.starts()
        if not self.listens:
            return chromium.print_page(self.program, address, out)
        try:
            out.unlink(missing_ok=True)
            out.write_bytes(self.printed(address))
        except OSError as error:
            self.end()
            why = f"{self.program} did not print {address} to {out} ({error})."
            raise Unpublishable(why) from None

    def starts(self) -> bool:
        """Start the browser; tell whether it answers."""
        try:
            self.start()
            self.tell("Browser.getVersion")
        except OSError:
            self.end()
        return bool(self.pid)

    def start(self) -> None:
        profile = self.open.enter_context(TemporaryDirectory(ignore_cleanup_errors=True))
        hears, self.to = os.pipe()
        self.of, says = os.pipe()
        for end in (self.to, self.of):
            self.open.callback(os.close, end)
        command = chromium.command(self.program, profile, "--remote-debugging-pipe")
        ends = [(os.POSIX_SPAWN_DUP2, hears, HEARS), (os.POSIX_SPAWN_DUP2, says, SAYS)]
        ends += [(os.POSIX_SPAWN_OPEN, nr, os.devnull, os.O_WRONLY, 0) for nr in (1, 2)]
        try:
            self.pid = os.posix_spawn(self.program, command, os.environ, file_actions=ends)
        finally:
            os.close(hears)
            os.close(says)

    def end(self) -> None:
        """End the browser, and forget what it was told and said."""
        if self.pid:
            os.kill(self.pid, signal.SIGTERM)
            os.waitpid(self.pid, 0)
        self.open.close()
        self.pid, self.rest, self.page = 0, b"", ""

    def printed(self, address: str) -> bytes:
        """Return a page as a PDF, when its scripts are done. Raises OSError."""
        if not self.page:  # one for all, so that its process goes on
            made = self.tell("Target.createTarget", url="about:blank")
            self.page = self.tell("Target.attachToTarget", flatten=True, **made)["sessionId"]
        self.tell("Page.navigate", self.page, url=address)
        end = monotonic() + chromium.SECONDS
        while not self.tell("Runtime.evaluate", self.page, expression=READY)["result"].get("value"):
            if monotonic() > end:
                raise TimeoutError("its scripts were not done in time")
            sleep(0.02)
        paper = {"printBackground": True, "preferCSSPageSize": True}
        return b64decode(self.tell("Page.printToPDF", self.page, **paper)["data"])

    def tell(self, method: str, session: str = "", **given: object) -> dict[str, Any]:
        """Tell the browser, or one of its pages, to do something; return what it answers."""
        self.count += 1
        order: dict[str, object] = {"id": self.count, "method": method, "params": given}
        if session:
            order["sessionId"] = session
        os.write(self.to, json.dumps(order).encode() + b"\0")
        while True:
            heard = self.heard()
            if heard.get("id") != self.count:
                continue
            if "error" in heard:
                raise OSError(heard["error"]["message"])
            return heard["result"]

    def heard(self) -> dict[str, Any]:
        while b"\0" not in self.rest:
            if not select([self.of], [], [], chromium.SECONDS)[0]:
                raise TimeoutError("it did not answer in time")
            some = os.read(self.of, 1 << 20)
            if not some:
                raise OSError("it ended")
            self.rest += some
        message, _, self.rest = self.rest.partition(b"\0")
        return json.loads(message)
