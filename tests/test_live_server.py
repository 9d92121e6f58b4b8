"""What the server of live decks lets in, what it does with orders, and what it never does; no browser."""

import asyncio
import contextlib
import json
import os
import re
import signal
import socket
from pathlib import Path

import hostile_outputs
import nbformat
import pytest
from jupyter_core.paths import jupyter_runtime_dir
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from tornado.httpclient import AsyncHTTPClient, HTTPClientError, HTTPRequest
from tornado.websocket import WebSocketClosedError, websocket_connect

from course.live import lesson as live_lesson
from course.live.server import Presentation, listen
from course.publishing.cell_renderer import CellRenderer
from course.publishing.prepare import prepared

pytestmark = [pytest.mark.slow]
LONGEST = 60  # seconds until a test gives up
SLIDE = {"slideshow": {"slide_type": "slide"}}
SECRET = "what stands in no deck"


def code(name, source, tags=(), outputs=()):
    return new_code_cell(source, id=name, metadata=SLIDE | {"tags": [*tags]}, outputs=[*outputs])


def cells():
    stored = [new_output("stream", text="stored")]
    return [
        new_markdown_cell("# Live", id="title", metadata=SLIDE),
        code("first", "seen = []\nseen.append('first')", outputs=stored),
        code("second", "seen.append('second')"),
        code("expected", "seen.append('expected')\n1 / 0", tags=["raises-exception"]),
        code("third", "seen.append('third')"),
        code("fails", "seen.append('fails')\n1 / 0"),
        code("never", "seen.append('never')"),
        code("free", "print(seen)"),
        code("also", "print('also')"),
    ]


class Live:
    """A server with a small lesson, and somebody who has entered."""

    def __init__(self, folder):
        self.runner = asyncio.Runner()
        self.path = folder / "small.ipynb"
        self.scheme = "http"
        kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
        nbformat.write(new_notebook(cells=cells(), metadata=kernel), self.path)
        none = {"kernelspec": {"name": "nowhere", "display_name": "Nowhere"}}
        nbformat.write(new_notebook(cells=cells(), metadata=none), folder / "none.ipynb")
        (folder / "secret.txt").write_text(SECRET)
        self.bytes = self.path.read_bytes()
        self.tickets = []
        self.run(self._start(folder))

    async def _start(self, folder):
        names = {"small": self.path, "none": folder / "none.ipynb", "Übung-好": self.path}
        self.presentation = Presentation(names, "small", None)
        self.presentation.announce = self.tickets.append
        self.server = listen(self.presentation, 0)
        self.cookie = await self.entered()

    def run(self, work):
        async def within():
            async with asyncio.timeout(LONGEST):
                return await work

        return self.runner.run(within())

    async def fetch(self, path, cookie=None, method="GET", **headers):
        """Ask for a path as it is written; `cookie` is that of somebody who has entered, unless given."""
        cookie = self.cookie if cookie is None else cookie
        request = HTTPRequest(
            f"http://127.0.0.1:{self.presentation.port}{path}",
            method=method,
            headers={"Cookie": cookie} | headers,
            follow_redirects=False,
            allow_nonstandard_methods=True,
        )
        return await AsyncHTTPClient(force_instance=True).fetch(request, raise_error=False)

    def get(self, path, **more):
        return self.run(self.fetch(path, **more))

    def way_in(self, address=None):
        """Return the path of a new address, or of one that was announced."""
        address = address or self.presentation.new_address()
        return address.partition(str(self.presentation.port))[2]

    async def entered(self):
        answer = await self.fetch(self.way_in(), "")
        assert answer.code == 200
        return answer.headers["Set-Cookie"].partition(";")[0]

    @contextlib.asynccontextmanager
    async def seat(self, name="small", cookie=None, origin=None):
        host = f"127.0.0.1:{self.presentation.port}"
        headers = {"Cookie": self.cookie if cookie is None else cookie}
        headers["Origin"] = origin or f"http://{host}"
        request = HTTPRequest(f"ws://{host}/{name}/channel", headers=headers)
        made = Seat(await websocket_connect(request, max_message_size=50_000_000))
        try:
            yield made
        finally:
            made.connection.close()

    def close(self):
        self.server.stop()
        self.run(self.presentation.close())
        self.runner.close()


class Seat:
    """A socket of somebody who watches a lesson."""

    def __init__(self, connection):
        self.connection = connection
        self.heard = []
        self.longest = 0

    async def say(self, do, *names, **more):
        await self.connection.write_message(json.dumps({"do": do, "cells": names} | more))

    async def next(self):
        message = await self.connection.read_message()
        assert message is not None, "the server has closed the socket"
        self.longest = max(self.longest, len(message))
        self.heard.append(json.loads(message))
        return self.heard[-1]

    async def until(self, wanted):
        """Return the next that is told and wanted."""
        while not wanted(told := await self.next()):
            pass
        return told

    async def kernel(self, state):
        return await self.until(lambda told: told.get("kernel") == state)

    async def result(self, name):
        ended = ("done", "failed", "stopped")
        return await self.until(lambda one: one.get("cell") == name and one.get("state") in ended)

    async def ran(self, name, source=None):
        if source is not None:
            await self.say("edit", name, source=source)
        await self.say("run", name)
        return await self.result(name)


def settled(told):
    return told["state"] not in ("waiting", "running")


def words(told):
    return re.sub(r"<[^>]*>", "", told["html"]).replace("&#39;", "'").strip()


@pytest.fixture(scope="module")
def live(tmp_path_factory):
    made = Live(tmp_path_factory.mktemp("live"))
    yield made
    made.close()


@pytest.fixture
def seated(live):
    """Run what a test does in the seat of somebody whose kernel is ready."""

    def run(work):
        async def all_of_it():
            async with live.seat() as seat:
                for _ in range(1 + len(live.presentation.lesson("small").index)):
                    await seat.next()  # what there was before
                if seat.heard[0]["kernel"] != "ready":
                    await seat.kernel("ready")
                return await work(seat)

        return live.run(all_of_it())

    return run


# The way in


@pytest.mark.parametrize("path", ["/small", "/small/notebook", "/small/channel", "/enter"])
def test_no_address_answers_without_the_cookie(live, path):
    answer = live.get(path, cookie="")
    assert answer.code == 403
    assert b"works once" in answer.body
    assert "Set-Cookie" not in answer.headers


def test_a_cookie_of_another_server_or_one_that_was_changed_lets_nobody_in(live):
    name, _, value = live.cookie.partition("=")
    assert live.get("/small", cookie=f'{name}={value[:-3]}ff"').code == 403
    other = Presentation(live.presentation.notebooks, "small", None)
    listening = None

    async def start():
        nonlocal listening
        listening = listen(other, 0)

    live.run(start())
    name = name.replace(str(live.presentation.port), str(other.port))
    port, live.presentation.port = live.presentation.port, other.port
    try:
        assert live.get("/small", cookie=f"{name}={value}").code == 403
    finally:
        live.presentation.port = port
        listening.stop()
        other.scratch.cleanup()


def test_the_address_in_the_terminal_works_once_and_the_next_one_is_announced(live):
    path = live.way_in()
    told = len(live.tickets)
    first, again = live.get(path, cookie=""), live.get(path, cookie="")
    assert (first.code, again.code) == (200, 403)
    assert len(live.tickets) == told + 1
    new = live.way_in(live.tickets[-1])
    assert live.get(new, cookie="").code == 200
    assert live.get(new, cookie="").code == 403


def test_a_wrong_ticket_lets_nobody_in_and_does_not_use_up_the_right_one(live):
    right = live.presentation.new_address().partition("once=")[2]
    told = len(live.tickets)
    asked = ["", "once=", "once=x", f"once={right[:-1]}", f"once={right}&once=", "once=%00"]
    asked += [f"Once={right}", "once=%ff", f"once={'x' * 5000}", f"once={right.swapcase()}"]
    for query in asked:
        answer = live.get(f"/enter?{query}", cookie="")
        assert answer.code in (400, 403), query
        assert "Set-Cookie" not in answer.headers
    assert len(live.tickets) == told
    assert live.get(f"/enter?once={right}", cookie="").code == 200


def test_the_cookie_is_signed_stays_with_this_server_and_out_of_reach_of_scripts(live):
    path = live.way_in()
    answer = live.get(path, cookie="")
    cookie, *kinds = answer.headers["Set-Cookie"].split("; ")
    assert cookie.startswith(f"present-{live.presentation.port}=2|")
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(kinds)
    assert not any(kind.startswith(("Domain", "expires", "Max-Age")) for kind in kinds)
    ticket = path.partition("once=")[2]
    assert ticket not in answer.body.decode() + str(dict(answer.headers))


@pytest.mark.parametrize("path", ["/small", "/small/notebook", "/enter", "/nothing"])
def test_no_answer_is_kept_framed_or_tells_where_it_was_asked_from(live, path):
    headers = live.get(path).headers
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["Cache-Control"] == "no-store"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert "Access-Control-Allow-Origin" not in headers


UNKNOWN = [
    r"/api/contents/secret.txt", r"/static/x.js", r"/small/secret.txt", r"/secret.txt",
    r"/../../etc/passwd", r"/%2e%2e%2fsecret.txt", r"/%252e%252e%252fsecret.txt",
    r"/..\secret.txt", r"/small%00", r"//127.0.0.1/small", r"/__proto__",
]  # fmt: skip


@pytest.mark.parametrize("cookie", [None, ""], ids=["entered", "not entered"])
def test_nothing_is_at_any_other_address(live, cookie):
    for path in UNKNOWN:
        answer = live.get(path, cookie=cookie)
        assert answer.code in (403, 404), path
        assert SECRET.encode() not in answer.body
        assert len(answer.body) < 100, path


@pytest.mark.parametrize(
    "host", ["evil.example:{port}", "127.0.0.1.evil.example", "0.0.0.0:{port}", "10.0.0.1"]
)
def test_who_asks_for_another_machine_finds_nothing(live, host):
    for path in ("/small", "/", live.way_in()):
        answer = live.get(path, Host=host.format(port=live.presentation.port))
        assert answer.code in (400, 404)
        assert "Set-Cookie" not in answer.headers
        assert len(answer.body) < 100


@pytest.mark.parametrize("method", ["POST", "DELETE", "OPTIONS", "HEAD"])
def test_nothing_but_reading_is_answered(live, method):
    ticket = live.way_in()
    for path in ("/", "/small", "/small/notebook", "/small/channel", ticket):
        answer = live.get(path, method=method, **{"Content-Length": "0"})
        assert answer.code in (400, 403, 405), path
        assert "Set-Cookie" not in answer.headers
    assert live.get(ticket, cookie="").code == 200


def test_only_this_machine_is_listened_to(live):
    (own,) = live.server._sockets.values()
    assert own.family == socket.AF_INET
    assert own.getsockname() == ("127.0.0.1", live.presentation.port)
    with socket.socket() as other:  # the whole of 127/8 is this machine, yet nobody listens there
        assert other.connect_ex(("127.0.0.2", live.presentation.port)) != 0


ORIGINS = ["http://evil.example", "http://127.0.0.1:1", "null", "file://"]


@pytest.mark.parametrize(
    "stranger", [*({"origin": one} for one in ORIGINS), {"cookie": ""}, {"cookie": "x=y"}]
)
def test_a_socket_is_refused_to_the_page_of_another_origin_and_without_the_cookie(live, stranger):
    async def sit():
        async with live.seat(**stranger):
            pass

    with pytest.raises(HTTPClientError, match="403"):
        live.run(sit())


# Orders


def test_up_to_runs_in_order_passes_an_expected_failure_and_stops_at_another(seated):
    async def work(seat):
        await seat.say("edit", "free", source=None)
        await seat.say("run up to", "never")
        names = ("first", "second", "expected", "third", "fails")
        ended = [await seat.result(name) for name in names]
        assert [told["state"] for told in ended] == ["done", "done", "failed", "done", "failed"]
        assert ended[2]["failed"] == 2
        told = await seat.until(lambda one: one.get("cell") == "never" and settled(one))
        assert told["state"] == "stored"
        assert words(await seat.ran("free")) == str([*names])

    seated(work)


MALFORMED = [
    "", "[]", '{"do": "run", "cells": 7}', '{"do": "run", "cells": [null, {}, "nowhere", "title"]}',
    '{"do": "__init__", "cells": ["first"]}', '{"do": "edit", "cells": ["first"], "source": 7}',
    '{"do": "edit", "cells": ["first"], "source": "\\ud800"}', "[" * 100_000, b"\xff\xfe",
]  # fmt: skip


def test_an_order_that_is_none_changes_nothing_and_ends_nothing(live, seated):
    async def work(seat):
        before = (await live.fetch("/small/notebook")).body
        for order in MALFORMED:
            await seat.connection.write_message(order, binary=isinstance(order, bytes))
        assert (await live.fetch("/small/notebook")).body == before
        seat.heard.clear()
        assert words(await seat.ran("also")) == "also"
        assert {told["cell"] for told in seat.heard} == {"also"}

    seated(work)


def test_a_huge_order_costs_its_own_socket_at_most(live, seated):
    async def work(seat):
        order = {"do": "edit", "cells": ["also"], "source": "#" * 20_000_000}
        with contextlib.suppress(WebSocketClosedError):
            await seat.connection.write_message(json.dumps(order))
        assert await seat.connection.read_message() is None

    seated(work)
    seated(lambda seat: seat.ran("also"))
    assert "####" not in live.get("/small/notebook").body.decode()


def test_interrupt_ends_a_loop_and_what_waits_gives_up(seated):
    async def work(seat):
        await seat.say("edit", "first", source="print('begun', flush=True)\nwhile True: pass")
        await seat.say("edit", "second", source="print('it never ran')")
        await seat.say("run", "first", "second")
        await seat.say("run", "also")
        await seat.until(lambda told: "begun" in told.get("html", ""))
        await seat.say("interrupt")
        told = await seat.result("first")
        assert told["state"] == "failed"
        assert "KeyboardInterrupt" in told["html"]
        await seat.until(lambda one: one.get("cell") == "also" and settled(one))
        assert not any("never ran" in told.get("html", "") for told in seat.heard)
        assert words(await seat.ran("also")) == "also"

    seated(work)


def test_nothing_is_lost_by_one_who_leaves_in_the_middle(live, seated):
    async def leave(seat):
        source = "for n in range(3): print(n, flush=True)\nprint('end')"
        await seat.say("edit", "free", source=source)
        await seat.say("run", "free")
        await seat.until(lambda told: told.get("state") == "running")

    async def come_back(seat):
        heard = [one for one in seat.heard if one.get("cell") == "free" and "html" in one]
        told = heard[0] if heard else None
        while not (told and "end" in told["html"] and told["state"] == "done"):
            told = await seat.until(lambda one: one.get("cell") == "free" and "html" in one)
        assert words(told).split() == ["0", "1", "2", "end"]

    seated(leave)
    seated(come_back)


@pytest.mark.parametrize(
    "source",
    ["for number in range(100_000): print('line', number)", "for n in range(1000): display(n)"],
    ids=["lines", "outputs"],
)
def test_what_is_put_out_without_measure_is_told_in_measure(seated, source):
    async def work(seat):
        told = await seat.ran("free", source + "\nprint('the end')")
        assert told["state"] == "done"
        assert "the end" in told["html"]
        assert seat.longest < 200_000
        assert "left out" in told["html"]

    seated(work)


CLEARED = "from IPython.display import *\nprint('before')\nclear_output({})\nprint('after')"
SHOWN = {  # code, and what is seen of it
    CLEARED.format(""): "after",
    CLEARED.format("wait=True"): "after",
    "handle = display('before', display_id=True)\nhandle.update('after')": "'after'",
    "for part in range(4): print(f'{part} of 3', end='\\r', flush=True)": "3 of 3",
    "print('a')\ndisplay(1)\nprint('b')": "a1b",
}


def test_an_output_is_shown_as_a_notebook_shows_it(seated):
    async def work(seat):
        for source, shown in SHOWN.items():
            assert words(await seat.ran("free", source)) == shown

    seated(work)


# What is kept


def test_the_notebook_stays_as_it_is_and_the_copy_has_what_was_typed_and_what_came(live, seated):
    async def work(seat):
        await seat.ran("free", "print('typed', 'here')")
        answer = await live.fetch("/small/notebook")
        assert answer.headers["Content-Disposition"].endswith("=UTF-8''small-live.ipynb")
        copy = nbformat.reads(answer.body.decode(), as_version=4)
        nbformat.validate(copy)
        (free,) = [cell for cell in copy.cells if cell.id == "free"]
        assert free.source == "print('typed', 'here')"
        assert free.outputs == [new_output("stream", text="typed here\n")]
        await seat.say("edit", "free", source=None)
        told = await seat.until(lambda told: told.get("cell") == "free" and "code" in told)
        assert (told["source"], told["edited"]) == ("print(seen)", False)

    seated(work)
    assert live.path.read_bytes() == live.bytes
    there = {path.name for path in live.path.parent.iterdir()}
    assert there == {"small.ipynb", "none.ipynb", "secret.txt"}


def test_what_lets_in_is_in_no_file(live, seated):
    seated(lambda seat: seat.ran("also"))
    secrets = [
        live.presentation.ticket,
        live.tickets[-1][-43:],
        live.cookie.partition("=")[2].strip('"'),
    ]
    connection = Path(live.presentation.lesson("small").client.km.connection_file)
    assert connection.stat().st_mode & 0o077 == 0, "others may talk to the kernel"
    folders = [Path(jupyter_runtime_dir()), Path(live.presentation.scratch.name), live.path.parent]
    paths = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    assert len(paths) >= 3
    for path in (connection, *paths):
        assert not any(secret.encode() in path.read_bytes() for secret in secrets), path

    async def work(seat):
        source = f"import os\nprint([n for n in os.environ if os.environ[n] in {secrets}])"
        assert words(await seat.ran("free", source)) == "[]"

    seated(work)


# The kernel's end


def test_a_kernel_that_dies_is_told_and_no_output_of_other_code_stays(live, seated):
    async def work(seat):
        told = await seat.ran("first", "import os\nprint('last words', flush=True)\nos._exit(1)")
        assert told["state"] == "stopped"
        assert words(told) == "The kernel died before this code was done."
        told = await seat.kernel("dead")
        assert told["words"] == "The kernel died."
        await seat.say("run", "also")
        told = await seat.until(lambda one: one.get("cell") == "also" and one["state"] != "waiting")
        assert told["state"] != "running"
        await seat.say("interrupt")
        await seat.say("restart")
        await seat.kernel("ready")
        assert words(await seat.ran("also")) == "also"

    seated(work)


def test_a_kernel_that_is_killed_while_nothing_runs_is_told_without_an_order(live, seated):
    async def work(seat):
        await seat.ran("also")
        os.kill(live.presentation.lesson("small").client.km.provisioner.pid, signal.SIGKILL)
        assert (await seat.kernel("dead"))["words"] == "The kernel died."
        await seat.say("restart")
        await seat.kernel("ready")

    seated(work)


def test_an_output_of_other_code_than_what_is_seen_is_told_as_such_and_not_saved(live, seated):
    async def edited(seat, source):
        await seat.say("edit", "also", source=source)
        told = await seat.until(lambda told: told.get("cell") == "also" and "code" in told)
        return told["foreign"]

    async def outputs():
        answer = await live.fetch("/small/notebook")
        cells = nbformat.reads(answer.body.decode(), as_version=4).cells
        return next(cell.outputs for cell in cells if cell.id == "also")

    async def work(seat):
        await edited(seat, None)
        await seat.ran("also")
        assert await edited(seat, "print('other')") is True
        assert await outputs() == []
        assert await edited(seat, None) is False
        assert await outputs() == [new_output("stream", text="also\n")]
        await edited(seat, "print('other')")
        assert (await seat.ran("also"))["foreign"] is False
        assert await edited(seat, None) is True
        await seat.ran("also")

    seated(work)


def test_whatever_keeps_a_kernel_from_starting_is_told_and_another_can_be_had(seated, monkeypatch):
    async def fails(client):
        raise UserWarning("a folder is not writable")

    async def work(seat):
        with monkeypatch.context() as patched:
            patched.setattr(live_lesson, "begin", fails)
            await seat.say("restart")
            told = await seat.kernel("dead")
            assert told["words"] == "No kernel could be started: a folder is not writable"
        await seat.say("restart")
        assert words(await seat.ran("also")) == "also"

    seated(work)


# What comes back


SENDS = """from IPython import get_ipython
import json
shell = get_ipython().kernel
for one in json.loads(%r):
    kind = one.pop('output_type')
    if kind == 'display_data': one['transient'] = {}
    told = {"parent": shell.get_parent('shell'), "ident": kind.encode()}
    shell.session.send(shell.iopub_socket, kind, one, **told)"""
LOADS = r"<(script|iframe|object|embed|svg|form|base|meta|link|video|style)\b"


def test_hostile_outputs_come_back_as_they_are_published(live, seated):
    """Nothing that a kernel sends reaches the browser in another form than in a published file."""
    outputs = hostile_outputs.outputs()

    async def work(seat):
        renderer = CellRenderer(live.path.parent)
        for output in outputs:
            told = await seat.ran("free", SENDS % json.dumps([output]))
            came = new_code_cell("x", outputs=[output])
            published = renderer.result(prepared(new_notebook(cells=[came]), notes=True).cells[0])
            assert told["html"] == published.html
            assert len(told["html"]) < live_lesson.MOST_PRINTED
            assert not re.search(LOADS, told["html"], re.I)

    seated(work)


def test_a_notebook_that_cannot_be_read_is_listed_by_its_file_and_its_deck_says_why(live):
    broken = live.path.with_name("broken.ipynb")
    broken.write_text("{")
    live.presentation.notebooks["broken"] = broken
    live.presentation.watching["broken"] = set()
    try:
        listed, shown = live.get("/"), live.get("/broken")
    finally:
        del live.presentation.notebooks["broken"], live.presentation.watching["broken"]
    assert (listed.code, shown.code) == (200, 200)
    assert b">broken.ipynb</a>" in listed.body
    assert b"a notebook: it " in shown.body
