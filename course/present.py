"""Present lessons with a kernel (`python -m course.present 05`, or the path of a notebook of one's
own): decks on a server that only this machine can reach.

Writes nothing itself. What a lesson's code writes goes into a folder that is gone at the end; the code
of your own notebook runs beside it.
"""

import argparse
import asyncio
import signal
import sys
import webbrowser
from pathlib import Path

from course import workspace
from course.live.server import Presentation, listen
from course.publishing.notebook_file import Unpublishable, parsed, text_of
from course.routes import Block, routes

PORT = 8899
OWN = "own"  # the address of a notebook of one's own


def main(arguments: list[str] | None = None, root: Path = workspace.ROOT) -> int:
    """Serve until Ctrl+C; return 0, or 1 where there is nothing to show."""
    given = parser().parse_args(arguments)
    try:
        notebooks, first = chosen(given.lesson, root)
        route = route_named(given.route, root)
    except Unpublishable as error:
        print(error, file=sys.stderr)
        return 1
    listen_to_signals()
    try:
        # zmq cannot wait in the loop that Windows takes by itself; elsewhere it is this one anyway
        with asyncio.Runner(loop_factory=asyncio.SelectorEventLoop) as runner:
            ours = root / "notebooks"
            presentation = Presentation(notebooks, first, ours, trust=given.trust, route=route)
            runner.run(serve(presentation, given))
    except KeyboardInterrupt:
        print("\nThe kernels are stopped.")
    return 0


def listen_to_signals() -> None:
    """End as Ctrl+C does where the terminal is closed, unless that is to be survived (nohup); in the
    background, too, where this process and its kernels would ignore it.
    """
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for name in ("SIGTERM", "SIGHUP"):  # Windows has no SIGHUP
        number = getattr(signal, name, None)
        if number and signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, lambda *_: signal.raise_signal(signal.SIGINT))


def chosen(named: str, root: Path) -> tuple[dict[str, Path], str]:
    """Return the notebooks that may be shown, by name, and which address to open first.

    Raises Unpublishable.
    """
    lessons = {name: path for name, path in workspace.lessons(root).items() if name.isdigit()}
    if named.endswith(".ipynb"):
        path = Path(named).absolute()
        parsed(path, text_of(path))
        return lessons | {OWN: path}, OWN
    number = named.partition("_")[0].zfill(2)
    if named and number not in lessons:
        there = f"There is no lesson {named!r}. There are {', '.join(lessons)}."
        raise Unpublishable(f"{there} For example: make present N=05")
    return lessons, number if named else ""


def route_named(name: str, root: Path) -> list[Block]:
    """Return the blocks of a route, none where no name is given. Raises Unpublishable."""
    if not name:
        return []
    known = routes(root)
    if name not in known:
        there = f"There is no route {name!r}. There are {', '.join(known)}."
        raise Unpublishable(f"{there} For example: make present ROUTE=day")
    return known[name]


async def serve(presentation: Presentation, given: argparse.Namespace) -> None:
    """Listen, say the address, open a browser; end the kernels at the end."""
    server = listen(presentation, given.port)
    presentation.announce = lambda address: print(f"  {address}", flush=True)
    print("Present at this address. It works once, then the next one is printed. Ctrl+C ends it.")
    address = presentation.new_address()
    presentation.announce(address)
    if given.browser:
        webbrowser.open(address)
    try:
        while True:  # between two naps Windows hears of Ctrl+C
            await asyncio.sleep(0.5)
    finally:
        server.stop()
        await presentation.close()


def port(given: str) -> int:
    """Return the number of a port. Raises ArgumentTypeError, which argparse says in a sentence."""
    if not given.isdecimal() or int(given) > 65535:
        said = f"{given!r} isn't a port: give a number up to 65535, or 0 for a free one"
        raise argparse.ArgumentTypeError(said)
    return int(given)


def parser() -> argparse.ArgumentParser:
    about = __doc__.split("\n\n")[0]
    made = argparse.ArgumentParser("python -m course.present", description=about)
    add = made.add_argument
    add("lesson", nargs="?", default="", help="its number, or the path of your own notebook")
    add("--port", type=port, default=PORT, help="a different one is used if it isn't free")
    add("--trust", action="store_true", help="keep HTML and scripts of your own notebook")
    add("--route", default="", help="day, or week-1 and so on: what TEACHING.md plans, in order")
    add("--no-browser", dest="browser", action="store_false", help="only print the address")
    return made


if __name__ == "__main__":
    sys.exit(main())
