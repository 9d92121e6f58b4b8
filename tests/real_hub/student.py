"""One simulated student: what a browser with JupyterLab asks of a hub, over HTTP and a WebSocket."""

import asyncio
import contextlib
import json
import re
import uuid

import httpx
import nbformat
from jupyter_server.services.kernels.connection.base import deserialize_binary_message
from nbformat.v4 import output_from_msg
from tornado.httpclient import HTTPRequest
from tornado.websocket import websocket_connect

LESSON = "work/00_start_here.ipynb"
PATIENCE = 300  # seconds for one answer: as long as the hub waits for a server
OUTPUTS = ("stream", "display_data", "execute_result", "error")


class Failed(Exception):
    """Say what a student did not get."""


class Student:
    """Hold one student's cookies and kernel."""

    def __init__(self, hub, name, password):
        self.hub, self.name, self.password = hub, name, password
        self.notebook, self.channel, self.kernel = None, None, None
        self.browser = httpx.AsyncClient(base_url=hub, timeout=PATIENCE, follow_redirects=True)

    @property
    def home(self):
        return f"/user/{self.name}"

    def token(self, path):
        """Return the token against forged requests that the page at `path` was given."""
        fitting = [one for one in self.browser.cookies.jar if one.name == "_xsrf"]
        fitting = [one for one in fitting if path.startswith(one.path)]
        return max(fitting, key=lambda one: len(one.path)).value if fitting else ""

    async def ask(self, method, path, **more):
        """Return the answer to a request as the page sends it; raise Failed if it is a refusal."""
        headers = {"X-XSRFToken": self.token(path), "Referer": f"{self.hub}{self.home}/lab"}
        answer = await self.browser.request(method, path, headers=headers, **more)
        if answer.is_error:
            asked = f"{method} {path.partition('?')[0]}"
            raise Failed(f"{asked}: {answer.status_code} {reason(answer)}")
        return answer

    async def log_in(self):
        """Come from the login page to JupyterLab with the lesson in its address."""
        await self.ask("GET", "/hub/login")
        form = {"username": self.name, "password": self.password, "_xsrf": self.token("/hub/login")}
        await self.ask("POST", "/hub/login", data=form)
        await self.until_ready()
        page = await self.ask("GET", f"{self.home}/lab/tree/{LESSON}")
        if "jupyter-config-data" not in page.text:
            raise Failed(f"no JupyterLab at {page.url.path}")

    async def until_ready(self):
        """Ask for the server, and follow the hub's own report until it is there."""
        await self.ask("GET", "/hub/spawn")
        address = f"/hub/api/users/{self.name}/server/progress?_xsrf={self.token('/hub/')}"
        async with self.browser.stream("GET", address) as events:
            if events.status_code == 400:
                return  # it runs already
            async for line in events.aiter_lines():
                event = json.loads(line.removeprefix("data: ")) if line.startswith("data: ") else {}
                if event.get("failed"):
                    raise Failed(f"the server did not start: {event.get('message')}")
                if event.get("ready"):
                    return
        raise Failed("the hub's report ended, and no server was there")

    async def open_lesson(self):
        """Open the lesson, start its kernel and listen to it."""
        answer = await self.ask("GET", f"{self.home}/api/contents/{LESSON}?type=notebook&content=1")
        self.notebook = nbformat.from_dict(answer.json()["content"])
        session = {"path": LESSON, "name": LESSON, "type": "notebook"}
        session["kernel"] = {"name": "python3"}
        started = await self.ask("POST", f"{self.home}/api/sessions", json=session)
        self.kernel = started.json()["kernel"]["id"]
        await self.listen()

    async def listen(self):
        """Open the channels of the kernel, with the cookies of the page."""
        path = f"{self.home}/api/kernels/{self.kernel}/channels"
        request = self.browser.build_request("GET", path)
        url = f"{self.hub.replace('http', 'ws', 1)}{path}?session_id={uuid.uuid4().hex}"
        headers = {"Cookie": request.headers.get("cookie", ""), "Origin": self.hub}
        asked = HTTPRequest(
            f"{url}&_xsrf={self.token(path)}", headers=headers, request_timeout=PATIENCE
        )
        self.channel = await websocket_connect(asked, max_message_size=2**27)

    async def run(self, source):
        """Run code in the kernel and return its outputs; raise Failed if it fails."""
        content = {"code": source, "silent": False, "store_history": True, "allow_stdin": False}
        content |= {"user_expressions": {}, "stop_on_error": True}
        outputs = await self.send("execute_request", content, {"idle", "reply"})
        errors = [one for one in outputs if one.output_type == "error"]
        if errors:
            raise Failed(f"a cell raised {errors[0].ename}: {errors[0].evalue[:80]}")
        return outputs

    async def send(self, kind, content, until):
        """Send a message to the kernel; return the outputs that came before all of `until` had."""
        asked = uuid.uuid4().hex
        header = {"msg_id": asked, "msg_type": kind, "username": self.name}
        header |= {"session": self.kernel, "version": "5.4", "date": "2026-01-01T00:00:00Z"}
        message = {"channel": "shell", "header": header, "content": content}
        message |= {"parent_header": {}, "metadata": {}, "buffers": []}
        await self.channel.write_message(json.dumps(message))
        return await asyncio.wait_for(self.answers(asked, set(until)), PATIENCE)

    async def answers(self, asked, waiting):
        """Return the outputs of one request, read until nothing is waited for."""
        outputs = []
        while waiting:
            text = await self.channel.read_message()
            if text is None:
                raise Failed("the kernel's channel was closed")
            message = read(text)
            if message["parent_header"].get("msg_id") != asked:
                continue
            kind, content = message["header"]["msg_type"], message["content"]
            if kind == "execute_reply":
                waiting.discard("reply")
            elif kind == "status" and content["execution_state"] == "idle":
                waiting.discard("idle")
            elif kind in OUTPUTS:
                outputs.append(output_from_msg(message))
        return outputs

    async def save(self):
        """Save the notebook and read it back; it has to be the same."""
        path = f"{self.home}/api/contents/{LESSON}"
        model = {"type": "notebook", "format": "json", "content": self.notebook}
        await self.ask("PUT", path, json=model)
        if await self.saved() != sources(self.notebook):
            raise Failed("what was read back is not what was saved")

    async def saved(self):
        """Return the sources of the lesson as the server has it on disk."""
        path = f"{self.home}/api/contents/{LESSON}?type=notebook&content=1"
        return sources(nbformat.from_dict((await self.ask("GET", path)).json()["content"]))

    async def leave(self):
        """Close the page; server and kernel go on."""
        if self.channel:
            self.channel.close()
        await self.browser.aclose()


def reason(answer):
    """Return what a refusal says, in one line."""
    with contextlib.suppress(ValueError, AttributeError):
        return str(answer.json().get("message"))[:120]
    return " ".join(re.sub(r"<[^>]+>", " ", answer.text).split())[:120]


def read(text):
    """Return a message of a kernel; one with binary parts comes as bytes."""
    return json.loads(text) if isinstance(text, str) else deserialize_binary_message(text)


def sources(notebook):
    return [cell.source for cell in notebook.cells]
