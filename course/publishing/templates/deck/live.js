// A live deck: R runs the code of a slide in the kernel of the server that the deck came from. What comes back is HTML
// that the server has made safe as for any published file. Without server or kernel the stored outputs stay.

const address = location.href.split(/[?#]/)[0];
const cells = {}; // by id: source, code, edited, state, seconds, html, kind, failed
const asked = new Set(); // cells that were run from this window, whose slide is to go on
let kernel = { kernel: "starting", words: "" };
let socket = null;
let hasMet = false; // the server has answered once
let isStranger = false; // it was started anew since and knows this window no more
let since = 0; // when what runs began, in ms

function connect() {
  socket = new WebSocket(`${address.replace(/^http/, "ws")}/channel`);
  socket.onmessage = ({ data }) => hear(JSON.parse(data));
  socket.onopen = () => { hasMet = true; isStranger = false; };
  socket.onclose = () => {
    hasMet = true;
    for (const one of Object.values(cells)) if (["waiting", "running"].includes(one.state)) one.state = "stored";
    tellState();
    setTimeout(connect, 2000);
    askWhetherKnown();
  };
}

// A socket does not say why it was refused, an address does.
async function askWhetherKnown() {
  const answer = await fetch(`${address}/channel`).catch(() => null);
  isStranger = answer?.status === 403;
  tellState();
}

const isConnected = () => socket?.readyState === WebSocket.OPEN;

function order(what, more = {}) {
  if (isConnected()) socket.send(JSON.stringify({ do: what, ...more }));
}

function hear(told) {
  if (told.kernel) kernel = told;
  if (told.cell) {
    if (told.state === "running" && cells[told.cell]?.state !== "running") since = Date.now();
    cells[told.cell] = { ...cells[told.cell], ...told };
    const box = boxOf(told.cell);
    if (box) showCell(box, told);
  }
  tellState();
}

function showCell(box, told) {
  if (told.state) box.out.classList.toggle("old", ["waiting", "running"].includes(told.state) && !("html" in told));
  mark(box); // before all is fitted: a mark takes room
  box.slide.classList.toggle("edited", cellsOf(box.slide).some((name) => cells[name]?.edited));
  if ("code" in told) showCode(box, told.code);
  if ("html" in told) showResult(box, told);
}

// Mark an output that other code made than what is seen, be it only typed so far; its failed line is of that code, too.
function mark({ cell, out, code, slide }) {
  const { foreign, source, failed } = cells[cell], area = code?.querySelector(".typing");
  out.classList.toggle("foreign", Boolean(foreign || (area && area.value !== source)));
  if (failed !== undefined) every(".ln", code || slide).forEach((line, at) => line.classList.toggle("failed", at + 1 === failed && !foreign));
}

// Where a cell stands in the deck: its slide, what holds its code, what holds its output.
function boxOf(cell) {
  const name = CSS.escape(cell);
  const part = document.querySelector(`.part[data-cell="${name}"]:has(.cell)`);
  const out = part ? outOf(part) : document.querySelector(`[data-of="${name}"]`);
  if (!out) return null;
  const code = part || document.querySelector(`[data-run="${name}"]`);
  return { cell, out, code, slide: out.closest("section") };
}

function outOf(part) {
  const cell = part.querySelector(".cell");
  return cell.querySelector(".out") || cell.appendChild(Object.assign(document.createElement("div"), { className: "out" }));
}

const cellsOf = (slide) => every("[data-of], .part:has(.cell)", slide).map((one) => one.dataset.of || one.dataset.cell);

function showCode(box, html) {
  const { code, slide } = box, before = code?.querySelector("pre.src");
  if (!before) return;
  const { hidden } = before; // behind a box to type in
  before.outerHTML = html;
  code.querySelector("pre.src").hidden = hidden;
  mark(box);
  refit(slide);
}

async function showResult({ cell, out, slide }, { html, kind, state }) {
  const frames = asked.has(cell) ? [] : framesIn(out); // after a reload it is what was seen before
  out.innerHTML = html;
  every("script:not([type='application/json'])", out).forEach(started);
  out.dispatchEvent(new Event("play-all", { bubbles: true }));
  lookAgain(out, frames);
  const holder = out.closest(".stage, .cell");
  if (holder) holder.dataset.kind = kind;
  if (slide.dataset.walks) walk(slide, +slide.dataset.step); // what was pressed in a lab stays pressed
  await Promise.all(every("img", out).map(dressed));
  if (state !== "running") refit(slide);
  else grows(out);
  if (out.matches(".scrolls")) out.scrollTop = out.scrollHeight;
  if (slide !== Reveal.getCurrentSlide() || !asked.has(cell)) return;
  if (+slide.dataset.step === 0 && Reveal.availableFragments().next) Reveal.nextFragment();
  if (state !== "running") asked.delete(cell);
}

// A script that comes as text does not run: of a trusted notebook put it in anew. Elsewhere there is none, and none may run.
function started(script) {
  const fresh = document.createElement("script");
  for (const { name, value } of script.attributes) fresh.setAttribute(name, value);
  fresh.textContent = script.textContent;
  script.replaceWith(fresh);
}

// While an output grows, its end is seen, and nothing else moves.
function grows(out) {
  out.classList.add("scrolls");
  resize(every("pre, .err", out), 24);
}

// Fit a slide anew; an output that does not fit at its smallest size scrolls.
function refit(slide) {
  forget(slide);
  tellNext();
  if (slide !== Reveal.getCurrentSlide()) return;
  fit(slide);
  for (const one of every(".stage .out", slide).filter((out) => isHigh(out) || isWide(out))) {
    one.classList.add("scrolls");
    one.tabIndex = 0;
  }
}

function run(what) {
  const names = cellsOf(Reveal.getCurrentSlide());
  if (!names.length) return flash("Nothing runs on this slide", "");
  if (!isConnected() || kernel.kernel === "dead") return tellState();
  names.forEach((name) => asked.add(name));
  look(Reveal.getCurrentSlide(), false);
  order(what, { cells: names });
}

// A box to type in, in the place of the code. Leaving it keeps what was typed.
function edit() {
  const slide = Reveal.getCurrentSlide(), box = cellsOf(slide).map(boxOf).find((one) => one?.code);
  const source = box?.code.querySelector("pre.src");
  if (!source || !isConnected() || !cells[box.cell] || document.querySelector(".typing")) return;
  if (slide.matches(".lab:not(.working)")) return; // its code is not seen yet
  look(slide, !slide.matches(".lab")); // where an output stands over the code
  const area = document.createElement("textarea");
  const before = cells[box.cell].source;
  Object.assign(area, { value: before, wrap: "off", spellcheck: false, className: "typing", ariaLabel: "Code of this slide" });
  area.style.fontSize = getComputedStyle(source).fontSize;
  const grow = () => {
    area.rows = area.value.split("\n").length;
    mark(box);
  };
  source.hidden = true;
  source.after(area);
  grow();
  area.addEventListener("blur", () => {
    area.remove();
    look(slide, false);
    box.code.querySelector("pre.src").hidden = false;
    setTimeout(tell);
    mark(box);
    if (area.value !== before) order("edit", { cells: [box.cell], source: area.value });
  });
  area.addEventListener("keydown", (event) => typed(event, area));
  area.addEventListener("input", grow);
  area.focus();
}

// Tab indents, Enter keeps the indentation, and with Shift it runs.
function typed(event, area) {
  if (!["Enter", "Tab"].includes(event.key) || (event.key === "Tab" && event.shiftKey)) return;
  event.preventDefault();
  if (event.key === "Enter" && (event.shiftKey || event.ctrlKey)) {
    area.blur();
    return run("run");
  }
  const line = area.value.slice(0, area.selectionStart).split("\n").at(-1);
  const words = event.key === "Tab" ? "    " : `\n${line.match(/^ */)[0]}${line.trimEnd().endsWith(":") ? "    " : ""}`;
  area.setRangeText(words, area.selectionStart, area.selectionEnd, "end");
  area.dispatchEvent(new Event("input"));
}

function reset() {
  const slide = Reveal.getCurrentSlide();
  order("edit", { cells: cellsOf(slide), source: null });
  look(slide, isConnected() && !slide.matches(".lab")); // the lesson's own code is seen
}

function save() {
  const link = document.createElement("a");
  link.href = `${address}/notebook`;
  if (!isConnected()) return flash("No connection: not saved", "bad");
  link.click();
  flash("Saved in the browser's folder for downloads", "done");
}

const KEYS = {
  "r": () => run("run"),
  "shift+r": () => run("run up to"),
  "e": edit,
  "shift+e": reset,
  "shift+k": () => order("restart"),
  "ctrl+s": save,
};

// Before the slides see the key. Escape stops what runs, unless a player or a box has the keys.
window.addEventListener("keydown", (event) => {
  if (!forSlides(event) || event.altKey || event.metaKey || Reveal.isPaused()) return;
  const key = `${event.ctrlKey ? "ctrl+" : ""}${event.shiftKey ? "shift+" : ""}${event.key.toLowerCase()}`;
  const action = event.key === "Escape" && isBusy() ? () => order("interrupt") : KEYS[key];
  if (!action) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  action();
}, true);

let said = null; // for a moment in the place of the state

function flash(words, mood) {
  said = [words, mood];
  setTimeout(() => { said = null; }, 2500);
  tellState();
}

const isBusy = () => Object.values(cells).some((one) => one.state === "running");

// What somebody in the back row must know of this slide: [words, mood].
function stateOf(slide) {
  const names = cellsOf(slide), states = names.map((name) => cells[name]?.state);
  if (said) return said;
  if (!hasMet || (isConnected() && names.some((name) => !cells[name]))) return ["Connecting …", "busy"];
  if (isStranger) return ["The server has been restarted: open the address in its terminal", "bad"];
  if (!isConnected()) return ["No connection: stored outputs", "bad"];
  if (kernel.kernel === "dead") return [`${kernel.words} Shift+K starts a new one`, "bad"];
  if (states.includes("running")) return [`Running … ${Math.round((Date.now() - since) / 1000)} s. Esc stops it`, "busy"];
  const before = Object.values(cells).filter((one) => ["waiting", "running"].includes(one.state)).length;
  if (states.includes("waiting")) return [`Waiting: ${before} to run. Esc stops them`, "busy"];
  if (kernel.kernel === "starting" && names.length) return ["The kernel is starting …", "busy"]; // where nothing runs the room need not know
  const seconds = names.reduce((sum, name) => sum + (cells[name]?.seconds || 0), 0).toFixed(1);
  const edited = names.some((name) => cells[name]?.edited) ? ", edited" : "";
  if (states.includes("changed")) return ["Changed since it ran: R runs it", ""];
  if (states.includes("before")) return ["Ran in the kernel before: R runs it", ""];
  const lacks = names.some((name) => /NameError/.test(cells[name]?.html)) ? ". Shift+R runs what comes before" : "";
  if (states.includes("failed")) return [`Raised an error, ${seconds} s${edited}${lacks}`, "bad"];
  if (names.length && states.every((one) => one === "done")) return [`Ran here, ${seconds} s${edited}`, "done"];
  if (!names.length) return ["", ""];
  return [+slide.dataset.step && !edited ? "Stored output: R runs it" : `R runs it${edited}`, ""];
}

function tellState() {
  const slide = Reveal.getCurrentSlide?.();
  if (!slide) return;
  const sign = slide.querySelector(".state") || slide.appendChild(Object.assign(document.createElement("p"), { className: "state" }));
  const [words, mood] = stateOf(slide);
  sign.setAttribute("role", "status");
  if (sign.textContent !== words) sign.textContent = words;
  sign.dataset.mood = mood;
}

Reveal.on("slidechanged", () => { said = null; });
for (const event of ["ready", "slidechanged", "fragmentshown", "fragmenthidden"]) Reveal.on(event, tellState);
Reveal.on("ready", () => {
  Object.assign(HELP, {
    "R, Shift R": "Run this slide; all up to here", "E, Shift E": "Edit the code (Shift Enter runs it); the lesson's own again",
    "Esc": "Stops what is running; otherwise leaves a box or player, closes what is open", "Shift K": "A new kernel", "Ctrl S": "Save what was run as a notebook",
  });
  setInterval(tellState, 500);
  connect();
});
