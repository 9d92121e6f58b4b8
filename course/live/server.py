"""Serve decks to this machine alone, each with a kernel of its own.

Whoever enters by the address in the terminal, which works once, gets a cookie; without it every
address answers 403. There is no other way to the kernel than the few orders of `Channel`.
"""

import asyncio
import hmac
import json
import secrets
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from urllib.parse import quote

import nbformat
from jinja2 import Environment, FileSystemLoader
from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import Application, HTTPError, RequestHandler
from tornado.websocket import WebSocketClosedError, WebSocketHandler

from course.live.lesson import LiveLesson
from course.publishing.assets import reading
from course.publishing.deck import TEMPLATES, deck
from course.publishing.notebook_file import Unpublishable, parsed, text_of, title_of
from course.publishing.stretches import Stretch
from course.routes import Block

OURS = r"(127\.0\.0\.1|localhost)"  # names by which this machine may be asked for
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
NOBODY = "Open the address in the terminal. It works once, in one browser."


class Presentation:
    """What all handlers share: the notebooks that may be shown, those that are, and the way in."""

    def __init__(
        self, notebooks: dict[str, Path], first: str, ours: Path | None, *, trust=False, route=()
    ) -> None:
        self.notebooks, self.first, self.ours = notebooks, first, ours
        self.route: list[Block] = list(route)
        self.trust = trust  # notebooks of one's own, not the lessons
        self.port, self.ticket = 0, secrets.token_urlsafe(32)
        self.shown: dict[str, LiveLesson] = {}
        self.watching: dict[str, set[Channel]] = {name: set() for name in notebooks}
        self.tasks: set[asyncio.Task] = set()
        # On Windows a kernel that has just ended may hold its folder for a moment longer.
        self.scratch = tempfile.TemporaryDirectory(prefix="present-", ignore_cleanup_errors=True)
        self.announce: Callable[[str], None] = print

    def new_address(self) -> str:
        """Return an address that lets one browser in, and make the one before useless."""
        self.ticket = secrets.token_urlsafe(32)
        return f"http://127.0.0.1:{self.port}/enter?once={self.ticket}"

    def lesson(self, name: str) -> LiveLesson:
        """Return a lesson that is shown, from now on with a kernel. Raises Unpublishable."""
        if name not in self.shown:
            path = self.notebooks[name]
            given, trust, folder = parsed(path, text_of(path)), False, Path(self.scratch.name)
            if path.parent != self.ours:
                trust, folder = self.trust, path.parent
            self.shown[name] = LiveLesson(given, folder, partial(self.tell, name), trust=trust)
            self.do(self.shown[name].start())
        return self.shown[name]

    def tell(self, name: str, news: dict) -> None:
        for channel in tuple(self.watching[name]):
            channel.say(news)

    def do(self, work) -> None:
        """Let something go on in the background; keep hold of it until it is done."""
        task = asyncio.ensure_future(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    def address(self, at: int) -> str:
        return f"/{self.route[at].lesson}?at={at}"

    def stretch(self, name: str, given: str) -> Stretch | None:
        """Return what a block of the route shows of a lesson; None where none is asked for."""
        if not given.isdecimal() or int(given) >= len(self.route):
            return None
        block, then = self.route[int(given)], int(given) + 1
        if block.lesson != name:
            return None
        if then == len(self.route):
            return Stretch(block.parts, block.minutes, block.after)
        onward = self.route[then]
        pauses = tuple(pause for pause in onward.before if pause.what != "Opening")
        when = f"{onward.begins} · {onward.minutes} minutes"
        title = titled(self.notebooks[onward.lesson])
        return Stretch(block.parts, block.minutes, pauses, title, when, self.address(then))

    async def close(self) -> None:
        for lesson in self.shown.values():
            await lesson.stop()
        self.scratch.cleanup()


class Guarded(RequestHandler):
    """Answers those alone who have the cookie."""

    def initialize(self, presentation: Presentation) -> None:
        self.presentation = presentation

    def prepare(self) -> None:
        if self.get_signed_cookie(f"present-{self.presentation.port}") != b"presenter":
            raise HTTPError(403, reason="Forbidden")

    def set_default_headers(self) -> None:
        for name, value in HEADERS.items():
            self.set_header(name, value)

    def write_error(self, status_code: int, **_) -> None:
        words = {403: NOBODY, 404: "There is nothing at this address."}
        self.set_header("Content-Type", "text/plain; charset=utf-8")
        self.finish(words.get(status_code, "This couldn't be shown."))

    def named(self, name: str) -> str:
        if name not in self.presentation.notebooks:
            raise HTTPError(404)
        return name


class Nothing(Guarded):
    """Any other address."""

    def prepare(self) -> None:
        raise HTTPError(404)


class Enter(Guarded):
    """Takes the ticket of the address in the terminal, once."""

    def prepare(self) -> None:
        given = self.get_query_argument("once", "").encode()
        if not hmac.compare_digest(given, self.presentation.ticket.encode()):
            raise HTTPError(403)

    def get(self) -> None:
        name, kept = f"present-{self.presentation.port}", {"httponly": True, "samesite": "Strict"}
        self.set_signed_cookie(name, "presenter", expires_days=None, **kept)
        self.presentation.announce(self.presentation.new_address())
        # A page of its own, not a redirect: a Strict cookie is not sent along a way that began elsewhere.
        self.write('<!doctype html><link rel="icon" href="data:,">')
        self.write(f'<meta http-equiv="refresh" content="0;url=/{self.presentation.first}">')


class Lessons(Guarded):
    """The list of all that may be shown."""

    def get(self) -> None:
        titles = {name: titled(path) for name, path in self.presentation.notebooks.items()}
        rows = []
        for at, block in enumerate(self.presentation.route):
            rows.append((self.presentation.address(at), titles[block.lesson], block))
        rows = rows or [(f"/{name}", title, None) for name, title in titles.items()]
        page = Environment(loader=FileSystemLoader(TEMPLATES), autoescape=True)
        self.write(page.get_template("lessons.html.j2").render(rows=rows, style=reading()))


def titled(path: Path) -> str:
    """Return what a notebook is called, its file where it cannot be read: its deck says why."""
    try:
        return title_of(parsed(path, text_of(path)))
    except Unpublishable:
        return path.name


class Deck(Guarded):
    """The deck of a notebook; its kernel starts when it is first asked for."""

    def get(self, name: str) -> None:
        folder = self.presentation.notebooks[self.named(name)].parent
        try:
            lesson = self.presentation.lesson(name)
            stretch = self.presentation.stretch(name, self.get_query_argument("at", ""))
            self.write(deck(lesson.given, folder, trust=lesson.trust, live=True, stretch=stretch))
        except Unpublishable as error:
            self.set_header("Content-Type", "text/plain; charset=utf-8")
            self.finish(str(error))


class Copy(Guarded):
    """The notebook as it was run and changed, to keep."""

    def get(self, name: str) -> None:
        lesson = self.presentation.lesson(self.named(name))
        self.set_header("Content-Type", "application/x-ipynb+json")
        file = quote(f"{self.presentation.notebooks[name].stem}-live.ipynb")
        self.set_header("Content-Disposition", f"attachment; filename*=UTF-8''{file}")
        self.write(nbformat.writes(lesson.saved()))


class Channel(WebSocketHandler):
    """Carries orders to a lesson, and to those who watch what comes of them.

    Orders are objects with "do" and, but for two, the ids of "cells"; whatever is none is passed over.
    """

    initialize, prepare, named = Guarded.initialize, Guarded.prepare, Guarded.named
    set_default_headers, write_error = Guarded.set_default_headers, Guarded.write_error

    def open(self, name: str) -> None:
        self.name = self.named(name)
        self.lesson = self.presentation.lesson(name)
        self.presentation.watching[name].add(self)
        for news in self.lesson.state():
            self.say(news)

    def on_close(self) -> None:
        for channels in self.presentation.watching.values():
            channels.discard(self)

    def say(self, news: dict) -> None:
        try:
            self.write_message(json.dumps(news))
        except WebSocketClosedError:
            self.on_close()

    def on_message(self, message: str | bytes) -> None:
        try:
            order = json.loads(message)
            json.dumps(order, ensure_ascii=False).encode()  # half a character is no code
            do, cells = order["do"], [str(name) for name in order.get("cells", [])]
            source = order.get("source")
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return
        cells = [name for name in cells if name in self.lesson.index]
        if do == "interrupt":
            self.presentation.do(self.lesson.interrupt())
        elif do == "restart":
            self.presentation.do(self.lesson.restart())
        elif do == "run" and cells:
            self.presentation.do(self.lesson.run(cells))
        elif do == "run up to" and cells:
            self.presentation.do(self.lesson.run_up_to(cells[-1]))
        elif do == "edit" and cells and isinstance(source, str | None):
            self.lesson.edit(cells[0], source)


def application(presentation: Presentation) -> Application:
    """Return the web application; it answers nobody who asks for another machine."""
    shared = {"presentation": presentation}
    made = Application(
        default_handler_class=Nothing,
        default_handler_args=shared,
        cookie_secret=secrets.token_bytes(32),
        xsrf_cookies=True,
        log_function=lambda handler: None,  # no addresses in the terminal but the one to open
        websocket_ping_interval=20,
        websocket_max_message_size=1_000_000,
    )
    made.add_handlers(OURS, [(path, handler, shared) for path, handler in HANDLERS.items()])
    return made


HANDLERS = {"/enter": Enter, "/": Lessons, r"/([^/]+)/channel": Channel}
HANDLERS |= {r"/([^/]+)/notebook": Copy, r"/([^/]+)": Deck}


def listen(presentation: Presentation, port: int) -> HTTPServer:
    """Listen on the loopback address alone, at `port` or, where that is taken, at a free one."""
    try:
        sockets = bind_sockets(port, "127.0.0.1")
    except OSError:
        sockets = bind_sockets(0, "127.0.0.1")
    presentation.port = sockets[0].getsockname()[1]
    server = HTTPServer(application(presentation), max_body_size=1_000_000)
    server.add_sockets(sockets)
    return server
