"""What `make present` may show, how it starts and how it ends, without a browser. In tmp_path."""

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
from contextlib import closing
from http.cookiejar import CookieJar
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import HTTPCookieProcessor, build_opener

import nbformat
import pytest
import websocket
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from course import present

ROOT = Path(__file__).resolve().parents[1]
NUMBERS = ["03", "11"]
CELL = "the-cell"
PROGRAM = """
import pathlib, sys
from course import present
sys.exit(present.main(sys.argv[2:], pathlib.Path(sys.argv[1])))
"""


def write(path, title):
    """Write a notebook of a title and a cell that names its process; return its path."""
    source = "import os\nos.getpid()"
    cells = [new_markdown_cell(f"# {title}"), new_code_cell(source, id=CELL)]
    nbformat.write(new_notebook(cells=cells), path)
    return path


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A course of two lessons and the glossary, and nothing else in its folder; none is served here."""
    monkeypatch.setattr(present, "serve", None)
    (tmp_path / "notebooks").mkdir()
    for name in ("03_leaf", "11_training_loop", "glossary"):
        write(tmp_path / "notebooks" / f"{name}.ipynb", name)
    return tmp_path


@pytest.mark.parametrize("named", ["03", "3", "03_leaf"])
def test_a_lesson_is_named_by_its_number(course, named):
    notebooks, first = present.chosen(named, course)
    assert (list(notebooks), first) == (NUMBERS, "03")
    assert notebooks["03"] == course / "notebooks" / "03_leaf.ipynb"


@pytest.mark.parametrize("name", ["03.ipynb", "enter.ipynb", 'Übung "1" & 2.ipynb'])
def test_a_notebook_of_ones_own_stands_beside_the_lessons_whatever_its_name(
    course, tmp_path, monkeypatch, name
):
    path = write(tmp_path / name, "Mine")
    monkeypatch.chdir(tmp_path)
    notebooks, first = present.chosen(name, course)
    assert list(notebooks) == [*NUMBERS, first]
    assert notebooks[first] == path
    assert first not in [*NUMBERS, "enter"]
    assert notebooks["03"] == course / "notebooks" / "03_leaf.ipynb"


@pytest.mark.parametrize("named", ["77", "../x", "glossary"])
def test_a_lesson_that_is_not_there_gets_a_sentence(course, capsys, named):
    assert present.main([named], course) == 1
    said = f"There is no lesson {named!r}. There are 03, 11. For example: make present N=05\n"
    assert capsys.readouterr() == ("", said)


def test_a_file_that_is_no_notebook_gets_a_sentence(course, tmp_path, capsys):
    path = tmp_path / "my talk.ipynb"
    path.write_text("no notebook", encoding="utf-8")
    assert present.main([str(path)], course) == 1
    out, error = capsys.readouterr()
    assert (out, error.count("\n")) == ("", 1)
    assert error.startswith(f"{path} isn't a notebook: it isn't JSON (line 1).")


class Started:
    """Hold `make present` as a process of its own; `address` is the one that it said first."""

    def __init__(self, course, *arguments, ignored=""):
        self.scratch = course / "scratch"
        self.scratch.mkdir()
        self.opened = course / "opened"
        self.process = subprocess.Popen(
            [sys.executable, "-c", ignored + PROGRAM, str(course), *arguments],
            env=os.environ | self.surroundings(course),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.said = [self.process.stdout.readline(), self.process.stdout.readline()]
        self.address = self.said[1].strip()
        self.port = urlsplit(self.address).port

    def surroundings(self, course):
        """Return the variables of the process: where it may write, what it takes for a browser."""
        browser = course / "browser"
        browser.write_text(f'#!/bin/sh\nprintf %s "$1" > "{self.opened}"\n', encoding="utf-8")
        browser.chmod(0o755)
        path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
        return {"PYTHONPATH": path, "BROWSER": f"{browser} %s", "TMPDIR": str(self.scratch)}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def enter(self):
        """Come in as a browser does; return what opens addresses from there on, and its cookie."""
        cookies = CookieJar()
        browser = build_opener(HTTPCookieProcessor(cookies))
        browser.open(self.address).close()
        return browser, "; ".join(f"{one.name}={one.value}" for one in cookies)

    def ended_by(self, what):
        """Send a signal; return the exit code and what was said from there."""
        self.process.send_signal(what)
        said, _ = self.process.communicate(timeout=60)
        return self.process.returncode, said


def result_of_the_cell(started, name, cookie):
    """Run the cell of a lesson in its kernel; return the text that comes of it."""
    address = f"ws://127.0.0.1:{started.port}/{name}/channel"
    socket = websocket.create_connection(address, cookie=cookie, timeout=60)
    with closing(socket):
        told = {}
        while told.get("kernel") != "ready":
            told = json.loads(socket.recv())
        socket.send(json.dumps({"do": "run", "cells": [CELL]}))
        while told.get("state") != "done":
            told = json.loads(socket.recv())
    return re.sub("<.*?>", "", told["html"])


IGNORED = "import signal\nsignal.signal(signal.{}, signal.SIG_IGN)\n"
ENDS = [  # what ends it, and what its process ignores, as one in the background does
    (signal.SIGINT, ""),
    pytest.param(signal.SIGHUP, "", marks=pytest.mark.thorough),
    pytest.param(signal.SIGTERM, IGNORED.format("SIGINT"), marks=pytest.mark.thorough),
]


@pytest.mark.slow
@pytest.mark.parametrize(("end", "ignored"), ENDS)
def test_it_lists_the_lessons_and_ends_with_its_kernels_and_nothing_is_written(
    course, end, ignored
):
    own = write(course / "my talk.ipynb", "My talk & yours")
    before = {path: path.read_bytes() for path in (course / "notebooks").iterdir()}
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with Started(course, str(own), f"--port={port}", ignored=ignored) as started:
            assert started.said[0].endswith("Ctrl+C ends it.\n")
            assert started.port != port
            browser, cookie = started.enter()
            with browser.open(f"http://127.0.0.1:{started.port}/") as page:
                found = re.findall(r'<a href="/(.*?)">(.*?)</a>', page.read().decode())
            kernel = int(result_of_the_cell(started, "03", cookie))
            os.kill(kernel, 0)
            code, said = started.ended_by(end)
    assert started.opened.read_text(encoding="utf-8") == started.address
    titles = ["03_leaf", "11_training_loop", "My talk &amp; yours"]
    assert found == list(zip([*NUMBERS, present.OWN], titles, strict=True))
    assert (code, said.splitlines()[-1]) == (0, "The kernels are stopped."), said
    assert "Traceback" not in said
    with pytest.raises(ProcessLookupError):
        os.kill(kernel, 0)
    assert {path: path.read_bytes() for path in (course / "notebooks").iterdir()} == before
    assert [path for path in started.scratch.iterdir() if path.name.startswith("present-")] == []


def test_it_takes_the_loop_that_zmq_can_wait_in_on_windows_too(course, monkeypatch):
    """What Windows takes by itself is another kind: here it stands for that."""
    loops = []

    async def serve(room, given):
        loops.append(asyncio.get_running_loop())
        await room.close()

    monkeypatch.setattr(present, "serve", serve)
    monkeypatch.setattr(asyncio.events, "new_event_loop", lambda: pytest.fail("its own kind"))
    before = [signal.getsignal(one) for one in (signal.SIGTERM, signal.SIGHUP)]
    try:
        assert present.main(["3"], course) == 0
    finally:
        for one, was in zip((signal.SIGTERM, signal.SIGHUP), before, strict=True):
            signal.signal(one, was)
    assert [type(loop) for loop in loops] == [asyncio.SelectorEventLoop]


@pytest.mark.thorough
@pytest.mark.slow
def test_with_nohup_it_survives_its_terminal(course):
    with Started(course, "--port=0", "--no-browser", ignored=IGNORED.format("SIGHUP")) as started:
        started.process.send_signal(signal.SIGHUP)
        browser, _ = started.enter()
        with browser.open(f"http://127.0.0.1:{started.port}/") as page:
            assert b"03_leaf" in page.read()
        assert not started.opened.exists(), "--no-browser opens none"


@pytest.mark.parametrize("given", ["65536", "-3", "x"])
def test_what_is_no_port_is_said_in_a_sentence(given, capsys):
    with pytest.raises(SystemExit):
        present.main([f"--port={given}"])
    assert f"{given!r} isn't a port" in capsys.readouterr().err


def test_trust_is_for_a_notebook_of_ones_own_and_not_for_the_lessons(course, tmp_path):
    path = write(tmp_path / "mine.ipynb", "Mine")
    notebooks, first = present.chosen(str(path), course)
    assert present.parser().parse_args(["mine.ipynb", "--trust"]).trust

    async def looked():
        presentation = present.Presentation(notebooks, first, course / "notebooks", trust=True)
        found = [presentation.lesson(name).trust for name in (first, "03")]
        for task in presentation.tasks:
            task.cancel()
        await presentation.close()
        return found

    assert asyncio.run(looked()) == [True, False]
