// What the RISE app lacks, as a federated extension of JupyterLab; course/present.py fills in the version of Lab.
(() => {
  const name = "rise-shim";

  // ipywidgets' manager asks for @jupyterlab/console, for a token that it can do without. Lab shares that module, the
  // RISE app does not, and then no widget loads (jupyterlab-rise, issues 119 and 126). Where it is missing: a stub.
  const missing = "@jupyterlab/console";
  const stub = { IConsoleTracker: { name: `${missing}:IConsoleTracker (stub)` } };

  // RISE leaves the focus on the page, where Shift+Enter runs nothing; else Shift+Enter goes to the next slide before
  // the output is seen. So the focus stays in the slide that is seen, and running a cell stays where it is.
  const slide = ".rise-enabled .slides section.present section.present";
  const seen = (cell) => cell.checkVisibility({ visibilityProperty: true });

  function takeFocus({ fragment }) {
    const [here, place] = [document.querySelector(slide), document.activeElement];
    if (!here || place.closest(".jp-Dialog")) return;
    const cells = [...here.querySelectorAll(".jp-Cell")].filter(seen);
    const code = cells.filter((cell) => cell.matches(".jp-CodeCell"));
    const shown = code.find((cell) => fragment?.contains(cell) && fragment.matches(".visible"));
    if (!shown && here.contains(place) && seen(place)) return;
    (shown || cells.find((cell) => cell.matches(".jp-mod-active")) || code[0] || cells[0])?.focus({ preventScroll: true });
  }

  // The RISE app asks Lab's shortcuts before what has the focus: in a player d d would delete its cell. Outside, a key
  // hit by mistake must not do that either, and the arrows are for the slides. RISE's own letters stay: t, w, f.
  function quieten({ key, target, ctrlKey, metaKey, altKey, shiftKey }) {
    const inPlayer = target.closest(".player") && key !== "Tab" && !(shiftKey && key === "Enter");
    const typing = target.closest("input, textarea, select, [contenteditable=true]");
    const stray = !typing && /^([a-eg-su-vx-z0-9]|Arrow(Left|Right))$/i.test(key);
    const quiet = !(ctrlKey || metaKey || altKey) && (inPlayer || stray);
    target.toggleAttribute("data-lm-suppress-shortcuts", Boolean(target.closest(slide) && quiet));
  }

  function activate(app) {
    // Lab forgets a cell that is run before its kernel is there: wait for it.
    const execute = async () => {
      await app.shell.currentWidget?.context?.sessionContext.ready;
      return app.commands.execute("notebook:run-cell");
    };
    app.commands.addCommand(`${name}:run`, { label: "Run the cell and stay", execute });
    const command = ".rise-enabled .reveal .jp-Notebook.jp-Notebook.jp-mod-commandMode:not(.jp-mod-readWrite) :focus";
    for (const selector of [command, ".rise-enabled .reveal .jp-Notebook.jp-mod-editMode"]) {
      app.commands.addKeyBinding({ command: `${name}:run`, keys: ["Shift Enter"], selector });
    }
    for (const moment of ["ready", "slidechanged", "fragmentshown", "fragmenthidden", "click"]) {
      document.addEventListener(moment, takeFocus);
    }
    document.addEventListener("fragmentshown", (event) => event.fragment.scrollIntoView({ block: "nearest" }));
    window.addEventListener("keydown", quieten, true);
  }

  window._JUPYTERLAB = window._JUPYTERLAB || {};
  window._JUPYTERLAB[name] = {
    init(shared) {
      const stubbed = { LAB_VERSION: { get: async () => () => stub, loaded: 1, eager: false, from: name } };
      shared[missing] = shared[missing] || stubbed;
    },
    get: async () => () => ({ __esModule: true, default: { id: `${name}:plugin`, autoStart: true, activate } }),
  };
})();
