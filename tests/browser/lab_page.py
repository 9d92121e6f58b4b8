"""One notebook, open in real JupyterLab: run and save it, stop its kernel, look at it, through
menus, keys and the model that Lab itself keeps (`jupyterapp`, which `Lab` asks for).
"""

import contextlib
from itertools import count

from driver import checked

PANEL = "window.jupyterapp.shell.currentWidget"
CELLS = f"{PANEL}.content.widgets"
OPENED = f"window.jupyterapp?.shell?.currentWidget?.context?.isReady && {CELLS}.length > 0"
IDLE = f"{PANEL}.sessionContext.session?.kernel?.status === 'idle'"
# Once a cell raises, be it by its tag, Lab takes all others for idle: only their counts tell.
STOPPED = f"""{IDLE} && (all => all.every((cell) => cell.executionState !== 'running') && (
        all.every((cell) => cell.executionCount || !cell.sharedModel.source.trim()) ||
        all.some((cell) => !(cell.getMetadata('tags') || []).includes('raises-exception') &&
            cell.outputs.toJSON().some((output) => output.output_type === 'error'))))(
    {CELLS}.map((cell) => cell.model).filter((cell) => cell.type === 'code'))"""
DRAWN = "!/Loading widget/.test(document.querySelector('.jp-Notebook').textContent)"
READ = f"""() => {CELLS}.map(({{ model }}) => ({{ kind: model.type, source: model.sharedModel.source,
    tags: model.getMetadata('tags') || [], count: model.executionCount, outputs: model.outputs?.toJSON() || [] }}))"""
TOP = f"""() => {{ {PANEL}.content.activeCellIndex = 0;
    document.querySelector('.jp-WindowedPanel-outer').scrollTop = 0; }}"""
HIGH = """() => { const edges = [...document.querySelectorAll('.jp-Notebook .jp-Cell')]
        .map((one) => one.getBoundingClientRect()).flatMap(({ top, bottom }) => [top, bottom]);
    const rest = innerHeight - document.querySelector('.jp-WindowedPanel-outer').clientHeight + 30;
    return Math.ceil(rest + Math.max(...edges) - Math.min(...edges)); }"""
THEMED = """(light) => document.body.dataset.jpThemeLight === light && !document.getElementById('jupyterlab-splash')"""
SEEN = """[...document.querySelectorAll('.jp-Notebook .jp-Cell-inputWrapper')]
    .every((one) => one.checkVisibility({ contentVisibilityAuto: true }))"""
NEXT = """async (path) => { const { commands, shell } = jupyterapp, panel = shell.currentWidget;
    await panel.context.save();
    await panel.sessionContext.shutdown();
    panel.close();
    await commands.execute("docmanager:open", { path }); }"""
NOISE = (
    # Lab's debugger, asked while its kernel goes down
    "Could not restore the debugger state: Canceled future",
)
ABROAD = ("/lab/api/news", "/lab/api/update")  # asked for these, the server asks other hosts
TALL = 20_000  # px: higher than any lesson
numbers = count(1)


@contextlib.contextmanager
def window(chromium, lab, noise=NOISE):
    """Open a window of JupyterLab; yield it and the watch over it."""
    with checked(lab.context(chromium), noise) as watch:
        watch.page.on("request", lambda request: watch.foreign.extend(_abroad(request.url)))
        yield Notebook(lab, watch.page, watch.errors), watch
    lab.stop_kernels()


def _abroad(url):
    return [url] if any(path in url for path in ABROAD) else []


class Notebook:
    """Hold a page of JupyterLab with one notebook, and the errors that its console told."""

    def __init__(self, lab, page, errors):
        self.lab, self.page, self.errors = lab, page, errors

    def open(self, name):
        """Open a file of work/ in a workspace of its own, so that no other tab is restored beside
        it.
        """
        self.page.goto(
            f"{self.lab.address}/lab/workspaces/w{next(numbers)}/tree/{name}?token={self.lab.token}"
        )
        return self.wait()

    def open_next(self, name):
        """Open another file in the same window, what is open saved, stopped and closed."""
        self.page.evaluate(NEXT, name)
        self.page.set_viewport_size({"width": 1280, "height": 720})
        self.page.wait_for_function(f"{PANEL}?.context?.path === '{name}'")
        return self.wait()

    def reload(self):
        """Load the page again, as often as a reader would.

        With a new kernel, ipywidgets' manager reads the widgets of the kernel and those of the file
        at the same time, and where the kernel's come first it takes the file's for lost.
        """
        for _ in range(4):
            self.page.reload()
            self.wait()
            if not self.page.get_by_text("Error displaying widget: model not found").count():
                break
            self.errors[:] = [one for one in self.errors if "widget model not found" not in one]
        return self

    def wait(self):
        """Wait until the cells are there, the kernel has started and saved widgets are drawn."""
        self.page.wait_for_function(OPENED)
        self.page.wait_for_function(IDLE)
        self.page.wait_for_function(DRAWN)
        return self

    def menu(self, name, entry):
        self.page.click(f".lm-MenuBar-itemLabel:text-is('{name}')")
        self.page.click(f".lm-Menu-itemLabel:text-is('{entry}')")

    def run_all(self, limit=120):
        """Run all cells through the menu, and wait until each has run or an error has stopped the
        rest.
        """
        self.page.evaluate(f"() => {CELLS}.forEach((cell) => cell.model.clearExecution?.())")
        self.menu("Run", "Run All Cells")
        self.page.wait_for_function(STOPPED, timeout=1000 * limit)
        self.page.wait_for_function(DRAWN)

    def cells(self):
        """Return what Lab has of every cell: kind, source, tags, count and outputs."""
        return self.page.evaluate(READ)

    def save(self):
        """Save by the keyboard, and wait until the server has the file."""
        with self.page.expect_response(
            lambda answer: answer.request.method == "PUT" and "/contents/" in answer.url
        ):
            self.page.keyboard.press("Control+s")
        self.page.wait_for_function(f"!{PANEL}.context.model.dirty")

    def restart(self):
        self.menu("Kernel", "Restart Kernel…")
        self.page.click(".jp-Dialog .jp-mod-accept")
        self.page.wait_for_function(IDLE)

    def stop_kernel(self):
        self.menu("Kernel", "Shut Down Kernel")
        self.page.wait_for_function(f"!{PANEL}.sessionContext.session?.kernel")

    def theme(self, name):
        """Change the theme, and wait until Lab has taken away what covers the window meanwhile."""
        change = "(theme) => jupyterapp.commands.execute('apputils:change-theme', { theme })"
        self.page.evaluate(change, f"JupyterLab {name}")
        self.page.wait_for_function(THEMED, arg=str(name == "Light").lower())

    def show_whole(self, width=1280):
        """Make the window as high as the notebook, without the file browser."""
        if self.page.locator(".jp-FileBrowser").is_visible():
            self.page.keyboard.press("Control+b")
        self.page.set_viewport_size({"width": width, "height": TALL})
        self.page.evaluate(TOP)
        self.page.wait_for_function(SEEN)
        self.page.set_viewport_size({"width": width, "height": self.page.evaluate(HIGH)})
        self.page.evaluate(TOP)
        self.page.wait_for_function(SEEN)

    def unfold(self):
        """Open all folded text."""
        self.page.evaluate(
            "document.querySelectorAll('.jp-Notebook details').forEach((one) => { one.open = true; })"
        )

    def active(self):
        """Return which cell is selected, and whether keys are commands or text."""
        return self.page.evaluate(f"[{PANEL}.content.activeCellIndex, {PANEL}.content.mode]")

    def select(self, cell):
        """Select a cell by a click left of it, so that keys are commands."""
        where = self.page.evaluate_handle(
            f"(cell) => {CELLS}[cell].node.querySelector('.jp-InputPrompt')", cell
        )
        where.as_element().click()

    def has(self, cell, selector):
        """Say whether the outputs of a cell hold what a selector names."""
        return self.page.evaluate(
            f"([cell, what]) => Boolean({CELLS}[cell].node.querySelector(`.jp-OutputArea ${{what}}`))",
            [cell, selector],
        )

    def output(self, cell):
        """Return what a reader sees of the outputs of a cell, as text."""
        find = f"(cell) => [...{CELLS}[cell].node.querySelectorAll('.jp-OutputArea-output')]"
        return self.page.evaluate(f"{find}.map((one) => one.innerText).join('\\n')", cell)

    def player(self, cell):
        """Return the player in the outputs of a cell, with the focus on it."""
        find = f"(cell) => {CELLS}[cell].node.querySelector('.player')"
        return Player(self.page, self.page.wait_for_function(find, arg=cell).as_element())


class Player:
    """Hold one player in a page: press its keys and buttons, and read what it shows."""

    def __init__(self, page, root):
        self.page, self.root = page, root
        root.focus()

    def press(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)

    def click(self, selector):
        self.root.query_selector(selector).click()

    def sentence(self):
        return self.root.query_selector(".player-say, .player-outcome").inner_text()

    def title(self):
        return self.root.query_selector(".player-title").inner_text()

    def row(self):
        """Return the arithmetic: the numbers of each row."""
        cells = "(all) => all.map((row) => [...row.querySelectorAll('b')].map((one) => one.textContent).join(' '))"
        return self.root.eval_on_selector_all(".player-row", cells)

    def count(self):
        return self.root.query_selector(".player-count").inner_text()
