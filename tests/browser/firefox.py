"""Drive Firefox where there is one, by WebDriver BiDi, which it speaks itself.

Its network is cut: files open, and what this machine serves.
"""

import json
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from threading import Thread

import websocket  # websocket-client, which comes with JupyterLab

NAMES = ("firefox-esr", "firefox")
MISSING = (
    f"There is no Firefox in PATH ({', '.join(NAMES)}), so nothing was opened in it. Where changes are checked only "
    "Chromium is installed, and no Firefox is asked for. To try it, as root on Debian: apt-get install firefox-esr"
)
KEYS = {"ArrowRight": "\ue014", "Escape": "\ue00c"}
NOWHERE = {
    "type": 1,
    "http": "127.0.0.1",
    "http_port": 9,
    "ssl": "127.0.0.1",
    "ssl_port": 9,
}  # a proxy that is not


def firefox():
    """Return the path of Firefox, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Firefox:
    """Hold a window of 1280×720, what its pages asked for beyond files, and what they complained
    of.
    """

    def __enter__(self):
        self.errors, self.foreign, self.number = [], [], 0
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        said = [
            f"user_pref({json.dumps('network.proxy.' + name)}, {json.dumps(to)});"
            for name, to in NOWHERE.items()
        ]
        Path(self.profile.name, "user.js").write_text("\n".join(said), encoding="utf-8")
        command = [
            firefox(),
            "--headless",
            "--no-remote",
            "--profile",
            self.profile.name,
            "--remote-debugging-port=0",
        ]
        self.process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        found = next(
            filter(None, (re.search(r"ws://127\S+", line) for line in self.process.stderr)), None
        )
        assert found, "Firefox ended before it said where it listens."
        self.drain = Thread(target=self.process.stderr.read, daemon=True)
        self.drain.start()  # else it would wait for a reader one day
        self.socket = websocket.create_connection(
            f"{found[0]}/session", suppress_origin=True, timeout=60
        )
        self.call("session.new", capabilities={})
        self.call("session.subscribe", events=["log.entryAdded", "network.beforeRequestSent"])
        self.context = self.call("browsingContext.getTree")["contexts"][0]["context"]
        self.call(
            "browsingContext.setViewport",
            context=self.context,
            viewport={"width": 1280, "height": 720},
        )
        return self

    def __exit__(self, *_):
        self.socket.close()
        self.process.terminate()
        self.process.wait(20)
        self.drain.join(20)
        self.process.stderr.close()
        self.profile.cleanup()

    def call(self, method, **params):
        """Send a command and return its result; what is reported before that is kept."""
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": params}))
        while (answer := json.loads(self.socket.recv())).get("id") != self.number:
            self.report(answer.get("method"), answer.get("params", {}))
        assert answer["type"] == "success", answer
        return answer["result"]

    def report(self, what, params):
        if what == "log.entryAdded" and params["level"] == "error":
            self.errors.append(params["text"])
        if what == "network.beforeRequestSent":
            url = params["request"]["url"]
            self.foreign += [] if url.startswith(("file:", "data:", "about:")) else [url]

    def open(self, path):
        self.go(path.as_uri())

    def go(self, address):
        self.call("browsingContext.navigate", context=self.context, url=address, wait="complete")

    def wait(self, condition):
        """Wait until an expression holds in the page. Raises AssertionError after half a minute."""
        for _ in range(300):
            if self.evaluate(condition):
                return
            time.sleep(0.1)
        raise AssertionError(f"{condition} does not hold")

    def evaluate(self, expression):
        """Return the value of an expression in the page, through JSON."""
        where = {"target": {"context": self.context}, "awaitPromise": True}
        said = self.call(
            "script.evaluate", expression=f"JSON.stringify(({expression}) ?? null)", **where
        )
        assert said["type"] == "success", said
        return json.loads(said["result"]["value"])

    def press(self, key):
        strokes = [{"type": kind, "value": KEYS.get(key, key)} for kind in ("keyDown", "keyUp")]
        actions = [{"type": "key", "id": "keys", "actions": strokes}]
        self.call("input.performActions", context=self.context, actions=actions)
