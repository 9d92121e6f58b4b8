// What a widget needs where it stands in a notebook: the keys, the way on, its place in the window, and a kernel that may
// be gone. Players and questions share it; each brings its own `isPages`.

const GROWS = 2000; // ms that an output may take to be drawn
const GAP = 8; // px
const SUPPRESS = "data-lm-suppress-shortcuts";

// Notebook 7 looks for its shortcuts before a key comes here, and passes over what is marked like this, with all that is in
// it. So each of our keys is marked as it comes down the window, and those of the page are not. `send` is called before
// Shift+Enter goes on. Returns how to end that.
function keepKeys(box, send = () => {}) {
  let marked = null;
  if (!box.hasAttribute("tabindex")) box.tabIndex = -1; // so that a click anywhere in it brings the keys here
  const mark = (event) => {
    if (!box.contains(event.target)) return;
    marked?.removeAttribute(SUPPRESS);
    marked = isPages(event) ? null : event.target;
    marked?.setAttribute(SUPPRESS, "");
    if (!isShiftEnter(event) || !box.closest(".jp-Cell")) return;
    send();
    if (goOn(box)) return;
    // nothing is left to run
    event.preventDefault();
    event.stopImmediatePropagation();
    place(box.closest(".jp-Cell").nextElementSibling);
  };
  addEventListener("keydown", mark, true);
  return () => removeEventListener("keydown", mark, true);
}

function isShiftEnter({ key, shiftKey, ctrlKey, metaKey, altKey }) {
  return key === "Enter" && shiftKey && !ctrlKey && !metaKey && !altKey;
}

// The next cell that has not run becomes the active one, so that Shift+Enter runs that one: to run the cell of a widget once
// more takes away what was done in it.
function goOn(box) {
  let next = box.closest(".jp-Cell")?.nextElementSibling;
  while (next && (hasRun(next) || !next.checkVisibility())) next = next.nextElementSibling;
  return place(next);
}

function hasRun(cell) {
  return cell.matches(".jp-CodeCell") && /[\d*]/.test(cell.querySelector(".jp-InputPrompt")?.textContent);
}

function place(cell) {
  if (!cell?.matches(".jp-Cell")) return false;
  const editor = cell.querySelector(".cm-content");
  const target = editor?.checkVisibility() ? editor : cell;
  if (target === cell && cell.tabIndex === -1) cell.tabIndex = -1; // so that it can be focused
  target.focus({ preventScroll: true });
  return target.contains(document.activeElement);
}

// What its cell has just made comes into view: it is the active cell, or the one before it. A notebook that is opened stays
// where it is. The answer above it is read first; whoever clicks into what was made wants to see all of it.
function bringUp(box) {
  box.addEventListener("click", () => keepInView(box, box), { once: true });
  const isThere = new ResizeObserver(() => {
    const cell = box.closest(".jp-Cell");
    if (!cell) return;
    isThere.disconnect();
    if (![cell, cell.nextElementSibling].some((one) => one?.matches(".jp-mod-active"))) return;
    keepInView(box, cell.previousElementSibling?.querySelector('.prediction:not([data-state="open"])') ?? box);
  });
  isThere.observe(box);
}

// What was made may begin under the edge of the window, or end there. It is brought up as it grows, as far as `first` stays
// in view; whoever does something else meanwhile is left alone.
function keepInView(made, first) {
  const panel = made.closest(".jp-WindowedPanel-outer");
  if (!panel) return;
  const grown = new ResizeObserver(() => {
    const [seen, all, top] = [panel, made, first].map((one) => one.getBoundingClientRect());
    const down = Math.min(all.bottom + GAP - seen.bottom, top.top - GAP - seen.top);
    if (down > 0) panel.scrollTop += down;
    else if (top.top < seen.top) panel.scrollTop += top.top - GAP - seen.top;
  });
  const stop = () => grown.disconnect();
  grown.observe(made);
  setTimeout(stop, GROWS);
  for (const kind of ["wheel", "keydown", "pointerdown"]) panel.addEventListener(kind, stop, { once: true, passive: true });
}

// JupyterLab saves the widgets that a kernel knows, and leaves out the others: a notebook that is saved after a restart, or
// opened and saved before it ran, would lose them ("model not found"). So while a widget is seen it counts as known.
class Tie {
  // `flag`: something of the model that is true or false
  constructor(model, flag) {
    this.known = true;
    this.parts = [];
    const meet = (real) => { if (real && "comm_live" in real) this.parts = [real, real.get("layout")].filter(Boolean); };
    // the event brings the model itself; what we are given stands for it
    model.on(`change:${flag}`, meet);
    for (const change of [!model.get(flag), model.get(flag)]) model.set(flag, change);
    model.off(`change:${flag}`, meet);
    this.hold = () => this.count();
    for (const part of this.parts) part.on("comm_live_update", this.hold);
    this.count();
  }

  count() {
    for (const part of this.parts.filter((one) => !one.comm_live)) {
      this.known = false;
      part.comm_live = true;
    }
  }

  loosen() {
    for (const part of this.parts) part.off("comm_live_update", this.hold);
    if (!this.known) for (const part of this.parts) part.comm_live = false;
  }
}

// With no kernel there is nobody to tell: the widget goes on. Returns whether a kernel was told.
function teller(model, tie) {
  return (state) => {
    try {
      for (const [name, value] of Object.entries(state)) model.set(name, value);
      // null in JupyterLab once it was shut down
      const kernel = model.widget_manager?.kernel;
      if (!tie.known || kernel === null || kernel?.isDisposed) return false;
      model.save_changes();
      return true;
    } catch {
      return false;
    }
  };
}
