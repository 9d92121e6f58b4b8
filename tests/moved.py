"""Say which outputs moved, and from what to what: a plugin of pytest (`-p moved`) that reads what
nbval compared.

nbval decides what moved. This prints and changes nothing; it ends with 0 once there is a report,
whatever that says.
"""

import base64
from importlib.metadata import version
from itertools import takewhile, zip_longest

import pytest
from nbval.plugin import IPyNbCell
from notebook_rules.lesson import SVG_URI, Cell

FIRST = (
    "error",
    "stderr",
    "stdout",
    "text/plain",
    "text/html",
    "image/svg+xml",
)  # most readable first
DIFFER = "Cell outputs differ"  # nbval's words where a cell ran to its end
WIDTH, BEFORE = 100, 30  # characters that are shown of a line, and of these before the difference


class Report:
    """What a run found: the cells that were run, and for each that moved its lesson and lines to
    print.
    """

    def __init__(self):
        self.lessons, self.cells, self.moved, self.unread, self.skipped = set(), 0, [], [], 0

    def pytest_collectreport(self, report):
        """Note a notebook that cannot be read."""
        if report.failed:
            self.unread.append(
                f"{report.nodeid} could not be read: {shortened(report.longreprtext.split(chr(10))[-1])}"
            )

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item, call):
        """Note a cell after it ran, and one that could not be run."""
        report = yield
        if isinstance(item, IPyNbCell) and (report.when == "call" or report.failed):
            self.lessons.add(item.parent.path.stem)
            self.cells += 1
            self.skipped += report.skipped
            if report.failed:
                self.moved.append(
                    (item.parent.path.stem, [where(item), *difference(item, call.excinfo)])
                )
        return report

    def pytest_terminal_summary(self, terminalreporter):
        """Print a paragraph for each cell that moved, and the count."""
        for lesson, (place, *lines) in self.moved:
            terminalreporter.write_line(
                "\n".join([f"\n{lesson}, {place}", *(f"    {line}" for line in lines)])
            )
        terminalreporter.write_line("\n".join(["", *self.unread, self.count()]))

    def count(self):
        """Return the last line of the report."""
        if not self.cells:
            return "There is no report: no cell was run."
        on, lessons = f"on torch {version('torch')}", len(self.lessons)
        after = (
            f" Not compared, after a cell that did not end: {self.skipped}." if self.skipped else ""
        )
        if not self.moved:
            return f"Nothing moved {on}: {self.cells} cells show what is stored; lessons run: {lessons}."
        where_moved = {lesson for lesson, _ in self.moved}
        return f"{len(self.moved)} of {self.cells} cells moved {on}; lessons: {len(where_moved)} of {lessons}.{after}"

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session, exitstatus):
        """A report that says much is no failure of the command."""
        if exitstatus == pytest.ExitCode.TESTS_FAILED and self.cells and not self.unread:
            session.exitstatus = pytest.ExitCode.OK


def pytest_configure(config):
    """Take part in this run."""
    config.pluginmanager.register(Report())


def where(item):
    """Return the cell as a reader of the notebook counts, and the heading above it."""
    cells = [Cell(number, node) for number, node in enumerate(item.parent.nb.cells, start=1)]
    cell = next(cell for cell in cells if cell.node is item.cell)
    headings = [
        c.source.split("\n")[0]
        for c in cells[: cell.number]
        if not c.is_code and c.source.startswith("#")
    ]
    under = headings[-1].lstrip("# ") if headings else "no heading"
    return f"{cell}, under {under!r}"


def difference(item, excinfo):
    """Return lines that say in which kinds of output a cell moved, with the first difference of the
    first kind.
    """
    old, new = (
        shown(outputs or [], item.sanitize) for outputs in (item.cell.outputs, item.test_outputs)
    )
    kinds = sorted((kind for kind in {**old, **new} if old.get(kind) != new.get(kind)), key=order)
    lines = [] if str(excinfo.value) == DIFFER else [f"nbval: {shortened(str(excinfo.value))}"]
    if kinds:
        was, now = apart(old.get(kinds[0], ""), new.get(kinds[0], ""))
        lines += [", ".join(kinds), f"stored  {was}", f"now     {now}"]
    return lines or ["its outputs came in another order or number"]


def order(kind):
    return FIRST.index(kind) if kind in FIRST else len(FIRST)


def shown(outputs, sanitize):
    """Return {kind: text} of what a cell shows and nbval compares."""
    found = {}
    for output in outputs:
        if "ename" in output:
            texts = {"error": f"{output['ename']}: {output['evalue']}"}
        else:
            texts = output.get("data") or {output.get("name"): output.get("text")}
        for kind, text in texts.items():
            if kind not in ("image/png", "image/jpeg", "application/vnd.jupyter.widget-view+json"):
                found[kind] = found.get(kind, "") + SVG_URI.sub(decoded, str(sanitize(text)))
    return found


def decoded(found):
    return base64.b64decode(found[1]).decode("utf-8", errors="replace")


def apart(old, new):
    """Return the first line in which two texts differ, as it was and as it is, shortened to the
    difference.
    """
    pairs = zip_longest(old.split("\n"), new.split("\n"))
    one, other = next((one or "", other or "") for one, other in pairs if one != other)
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
    start = max(0, same - BEFORE)
    return shortened(one, start), shortened(other, start)


def shortened(line, start=0):
    """Return what a line says from `start` on; "(nothing)" for an empty one."""
    text = "".join(c if c.isprintable() else "·" for c in line)
    cut = text[start : start + WIDTH]
    return (
        f"{'…' if start else ''}{cut}{'…' if len(text) > start + WIDTH else ''}"
        if text
        else "(nothing)"
    )
