"""Drive Debian's Chromium: pages that are watched, so that a request to another host or an error of ours is seen."""

import contextlib
from dataclasses import dataclass, field

import pytest
from chromium import MISSING, chromium, under_ci
from playwright.sync_api import sync_playwright

ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking", "--disable-sync"]
LOCAL = ("data:", "blob:", "file:", "http://127.0.0.1:", "ws://127.0.0.1:")


@dataclass
class Watched:
    """Hold a page, and what must not happen in it."""

    page: object
    foreign: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    noise: tuple[str, ...] = ()  # beginnings of errors that are not ours

    def __post_init__(self):
        self.page.context.route("**/*", self._route)
        self.page.on("websocket", lambda socket: socket.url.startswith(LOCAL) or self.foreign.append(socket.url))
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))

    def _route(self, route):
        if route.request.url.startswith(LOCAL):
            return route.continue_()
        self.foreign.append(route.request.url)
        return route.abort()

    def _console(self, message):
        if message.type == "error" and not message.text.startswith(self.noise):
            self.errors.append(message.text)


@contextlib.contextmanager
def browser(*more):
    """Start Chromium. Without one, tests are skipped with the line that installs it; under CI they fail."""
    if not chromium():
        (pytest.fail if under_ci() else pytest.skip)(MISSING)
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium(), args=[*ARGUMENTS, *more])
        yield started
        started.close()


@contextlib.contextmanager
def watched(started, noise=(), **options):
    """Open an empty page (1280×720 unless told); afterwards nothing was asked of another host, and no error seen."""
    context = started.new_context(**({"viewport": {"width": 1280, "height": 720}} | options))
    watch = Watched(context.new_page(), noise=noise)
    yield watch
    context.close()
    assert not watch.foreign, "a request to another host"
    assert not watch.errors, "an error in the console"
