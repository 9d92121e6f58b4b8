"""Drive Debian's Chromium: pages that are watched, so that a request to another host or an error of
ours is seen.
"""

import contextlib
import os
from dataclasses import dataclass, field
from pathlib import Path

from chromium import chromium
from playwright.sync_api import sync_playwright

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # nothing else can be reached
]
SHOTS = Path(__file__).resolve().parents[2] / "build" / "screenshots"
# What a cell made is seen once its question is answered.
GUESS_ALL = """() => {
  for (const slot of document.querySelectorAll(".prediction-slot")) {
    const { count } = JSON.parse(slot.querySelector("script").textContent);
    const [first] = slot.querySelectorAll("input");
    const own = slot.querySelector("textarea");
    const cards = [...slot.querySelectorAll(".prediction-card")].slice(0, 2);
    const [, down] = slot.querySelectorAll(".prediction-arrow");
    if (count) first.value = Array(count).fill(0).join(", ");
    if (own) own.value = "Because of what the graph has kept.";
    if (count || own) (own ?? first).dispatchEvent(new Event("input"));
    else [...cards, ...(cards.length ? [] : [down ?? first])].forEach((one) => one.click());
    slot.querySelector(".prediction-lock").click();
  }
}"""
LOCAL = ("data:", "blob:", "file:", "http://127.0.0.1:", "ws://127.0.0.1:")


@dataclass
class Watched:
    """Hold a page, and what must not happen in it."""

    page: object
    foreign: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    noise: tuple[str, ...] = ()  # beginnings of errors that are not ours

    def __post_init__(self):
        self.page.context.on("request", self._request)
        self.page.on(
            "websocket",
            lambda socket: socket.url.startswith(LOCAL) or self.foreign.append(socket.url),
        )
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self._error(str(error)))

    def _request(self, request):
        if not request.url.startswith(LOCAL):
            self.foreign.append(request.url)

    def _console(self, message):
        if message.type == "error":
            self._error(message.text)

    def _error(self, text):
        if not text.startswith(self.noise):
            self.errors.append(text)


@contextlib.contextmanager
def browser(*more):
    """Start Chromium."""
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium(), args=[*ARGUMENTS, *more])
        yield started
        started.close()


@contextlib.contextmanager
def watched(started, noise=(), **options):
    """Open an empty page (1280×720 unless told), with no memory of other pages; see `checked`."""
    context = started.new_context(**({"viewport": {"width": 1280, "height": 720}} | options))
    with checked(context, noise) as watch:
        yield watch
    context.close()


@contextlib.contextmanager
def checked(context, noise=()):
    """Open a page; afterwards nothing was asked of another host, and no error seen."""
    watch = Watched(context.new_page(), noise=noise)
    yield watch
    context.remove_listener("request", watch._request)
    watch.page.close()
    assert not watch.foreign, "a request to another host"
    assert not watch.errors, f"an error in the console: {watch.errors[:3]}"


def rgb(colour):
    """Return a colour of the palette as a browser writes it."""
    return "rgb({}, {}, {})".format(*bytes.fromhex(colour[1:]))


def press(page, *keys):
    for key in keys:
        page.keyboard.press(key)


def wants_photographs():
    return os.environ.get("PHOTOGRAPHS") == "yes"


def photograph(page, name, **options):
    """Keep a picture of a page for people to look at, where `PHOTOGRAPHS=yes` asks for it."""
    if wants_photographs():
        path = SHOTS / f"{name}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=path, **options)
