// Plays what Python recorded. A film holds numbers, words and roles (autograd_graphs/playing/encode_backward.py and
// encode_lab.py say how they are written); every shape is made here. Nothing is asked of the network or of a kernel.

const SVG = "http://www.w3.org/2000/svg";
const SHAPES = [["rect", "x", "y", "width", "height", "rx"], ["circle", "cx", "cy", "r"], ["path", "d"], ["polygon", "points"], ["text", "x", "y"]];
// em: the arithmetic gets the largest that fits
const SIZES = [2.5, 2.1, 1.75, 1.4, 1.19, 1, 0.885];
// ms between two steps while playing
const PACE = 1800;
// nodes: a picture of no more that is seen as a whole needs no buttons to look around
const FEW = 12;
// ms: of two steps within so short a time nothing moves
const HURRY = 380;
const KEYS = "Keys: click the player, or Tab into it, first";
const TROUBLE = { NaN: "NaN", inf: "infinite", zero: "all 0", exploding: "exploding" };
const LEGEND = {
  operation: "backward function", folded: "folded part", leaf: "leaf", held: "saved", freed: "freed",
  next: "on its way", squares: "below 0, above 0; size: magnitude", bars: "how many values below 0, above 0",
};

function element(tag, name, parent, more) {
  const made = Object.assign(document.createElement(tag), { className: name && "player-" + name, ...more });
  parent?.append(made);
  return made;
}

function shape(tag, parent, more = {}, text) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(more)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  parent?.append(made);
  return made;
}

function focus(node) {
  node.focus({ preventScroll: true });
}

// Tab, Shift+Enter and keys with Ctrl are the page's; all others stay here: JupyterLab would cut cells, slides would move.
function isPages({ key, ctrlKey, metaKey, altKey, shiftKey }) {
  return ctrlKey || metaKey || altKey || key === "Tab" || (shiftKey && key === "Enter");
}

// Notebook 7 looks for its shortcuts before a key comes here, and passes over what is marked like this. So each of our
// keys is marked as it comes down the window, and those of the page are not. Returns how to end that.
function keepKeys(room) {
  const mark = (event) => {
    if (room.contains(event.target)) event.target.toggleAttribute("data-lm-suppress-shortcuts", !isPages(event));
  };
  addEventListener("keydown", mark, true);
  return () => removeEventListener("keydown", mark, true);
}

function pairs(flat) {
  const found = [];
  for (let at = 0; at < flat.length; at += 2) found.push([flat[at], flat[at + 1]]);
  return found;
}

const names = (...all) => all.filter(Boolean).join(" ");
const between = (least, value, most) => Math.max(least, Math.min(value, most));
const ease = (part) => (part < 0.5 ? 2 * part * part : 1 - 2 * (1 - part) * (1 - part));
const isStill = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

// A tensor as squares, whose side goes with the root of the magnitude, or as a histogram; filled above 0, hollow below.
function tile([kind, words, norm, health, columns, numbers], wide, high, parent) {
  const rows = kind === 1 ? Math.ceil(numbers.length / columns) : 0;
  const [width, height] = kind === 1 ? [10 * columns, 10 * rows] : [6 * columns, 30];
  const scale = Math.min(kind === 1 ? 1.6 : 9, wide / width, high / height);
  const made = shape("svg", parent, { class: "player-tile", width: width * scale, height: height * scale, viewBox: `0 0 ${width} ${height}` });
  const paths = { grid: "", below: "", above: "", zero: "", bad: "" };
  numbers.forEach((number, at) => {
    if (kind === 2) return number && (paths[at < 7 ? "below" : at > 7 ? "above" : "zero"] += `M${at * 6 + 0.8} 30v${-Math.max(number, 1)}h4.4v${Math.max(number, 1)}z`);
    const [x, y, size] = [(at % columns) * 10, Math.floor(at / columns) * 10, Math.abs(number)];
    paths.grid += `M${x} ${y}h10v10h-10z`;
    if (size > 90) return paths.bad += `M${x + 2} ${y + 2}l6 6m0-6l-6 6`;
    const side = number ? Math.max(2.6, size * 0.86) - (number < 0 ? 1.2 : 0) : 1.6;
    paths[number > 0 ? "above" : number < 0 ? "below" : "zero"] += `M${x + 5 - side / 2} ${y + 5 - side / 2}h${side}v${side}h${-side}z`;
  });
  if (kind === 2) paths.grid = `M0 30h${width}`;
  for (const [name, d] of Object.entries(paths)) if (d) shape("path", made, { class: `player-${name}`, d });
  return made;
}

// What players of steps and of labs share: the frame, the keys, the words that say where the keys are.
class Base {
  constructor(host, film, state, save) {
    Object.assign(this, { film, save: save ?? (() => {}), timer: 0, times: 1, bounds: new Set() });
    this.room = element("div", "room", host);
    this.root = element("div", "", this.room, { className: "player", tabIndex: 0, role: "group", ariaLabel: "Player" });
    this.live = element("p", "live", this.root, { ariaLive: "polite" });
    this.buttons = new Map();
    this.build();
    this.room.addEventListener("keydown", (event) => this.onKey(event));
    this.root.addEventListener("pointerdown", () => this.finish?.(), true);
    this.begin(state);
    this.watch = new ResizeObserver(() => requestAnimationFrame(() => this.fit()));
    this.watch.observe(this.room);
    // slides that gave it another height
    this.room.addEventListener("player-fit", () => this.fit());
    document.fonts?.ready.then(() => this.fit());
  }

  button(parent, name, words, key, act) {
    const made = element("button", name, parent, { type: "button", textContent: words });
    if (key) made.title = `${words} (${key})`;
    made.addEventListener("click", ({ detail }) => {
      // after the mouse the space bar shall not press the same button once more
      if (detail) focus(this.root);
      if (made.ariaDisabled !== "true") act();
      else this.excuse?.(name);
    });
    this.buttons.set(name, made);
    return made;
  }

  // At the left the program over its picture, at the right what is said and done.
  halves() {
    const left = element("div", "left", this.root);
    this.code = element("pre", "code", left);
    this.pane = element("div", "pane", left);
    this.svg = shape("svg", this.pane, { role: "img", "aria-label": this.film.alt });
    this.panel = element("div", "panel", this.root);
    return left;
  }

  // What is folded in the panel and opens over it.
  popover(parent, words) {
    this.details = element("details", "formula", parent);
    element("summary", "", this.details, { textContent: words });
    this.formula = element("div", "", this.details);
  }

  addText() {
    this.told = element("details", "told", this.room);
    element("summary", "", this.told, { textContent: "As text" });
    this.text = element("pre", "", this.told);
    this.told.addEventListener("toggle", () => this.tell());
  }

  // One value of an equation, in its capsule; the caller fills it.
  cell(parent, role, words) {
    const made = element("span", `cell player-${role}`, parent);
    const value = element("b", "", made);
    if (role !== "sign") element("small", "", made, { textContent: words });
    return value;
  }

  // An entry of the legend; the caller draws the sign.
  entry(words) {
    const made = element("span", "", this.legend);
    const sign = shape("svg", made, { viewBox: "0 0 26 16", "aria-hidden": "true" });
    made.append(words);
    return sign;
  }

  sample(parent, role, state = "") {
    if (role === "saved") shape("circle", parent, { cx: 13, cy: 8, r: 5, class: `m-saved s-${state}` });
    else shape("rect", parent, { x: 1, y: 1, width: 24, height: 14, rx: /operation|block/.test(role) ? 3 : 7, class: names(`m-${role}`, state && `s-${state}`) });
  }

  line(number) {
    return this.film.lines[number] ?? "";
  }

  // One line on the keys: while they go to the page it says how to get them, in here which there are.
  keysLine(parent, keys) {
    const line = element("p", "keys", parent);
    element("span", "away", line, { textContent: KEYS });
    const here = element("span", "here", line);
    for (const [key, words] of [...keys, ["Esc", "leaves"]]) {
      for (const one of key.split(" ")) element("kbd", "", here, { textContent: one });
      here.append(` ${words} `);
    }
    return line;
  }

  // The height that a notebook, a slide or a page really shows.
  visible() {
    const given = this.asked("high");
    if (given) return given;
    for (let outer = this.room.parentElement; outer && outer !== document.body; outer = outer.parentElement) {
      const scrolls = /auto|scroll/.test(getComputedStyle(outer).overflowY) && outer.scrollHeight > outer.clientHeight + 1;
      // others are as high as what is in them
      if (scrolls) this.bounds.add(outer);
      if (this.bounds.has(outer)) return Math.min(outer.clientHeight, innerHeight);
    }
    return innerHeight;
  }

  // What the page that holds a player asks for: its height in px (--player-high), its smallest text in px
  // (--player-least), and that the picture of a lab fills its place (--player-near).
  asked(what) {
    return parseFloat(getComputedStyle(this.room).getPropertyValue(`--player-${what}`)) || 0;
  }

  onKey(event) {
    const { key, target } = event;
    if (isPages(event)) return;
    event.stopPropagation();
    this.finish?.();
    const open = key === "Escape" && this.root.querySelector("details[open]");
    if (open) return void (open.open = false);
    if (key === "Escape") return this.escape();
    if (this.told.contains(target) || (target === this.pane && /^(Arrow|Page|Home|End| )/.test(key))) return;
    if (target.type === "range" && /^(Arrow|Page|Home|End)/.test(key) && !event.shiftKey) return;
    if ((key === " " || key === "Enter") && target.closest("button,summary")) return;
    if (target.type === "text") return;
    const leaps = key === "Home" || key === "End"; // to the ends of the page, where the player has no use for it
    if (this.press(key, event) !== false || leaps) event.preventDefault();
  }

  escape() {
    const outer = this.room.parentElement.closest("[tabindex]");
    outer ? focus(outer) : document.activeElement.blur();
  }

  mark([kind, role, state, ...rest], parent) {
    const [tag, ...attributes] = SHAPES[kind];
    const made = shape(tag, parent);
    attributes.forEach((name, at) => made.setAttribute(name, rest[at]));
    if (tag === "text") this.write(made, rest.slice(2));
    this.wear(made, this.film.roles[role], this.film.roles[state]);
    return Object.assign(made, { role_: this.film.roles[role], state_: this.film.roles[state] });
  }

  wear(node, role, state) {
    node.setAttribute("class", names(`m-${role.replace(" ", "-")}`, state && `s-${state}`));
  }

  write(node, runs) {
    node.replaceChildren(...pairs(runs).map(([text, role]) => shape("tspan", null, this.film.roles[role] ? { class: `m-run-${this.film.roles[role]}` } : {}, text)));
  }

  // Size: one unit for everything, from the room that the page really shows. Below 700 px panel and picture are stacked.
  resize() {
    const wide = this.room.clientWidth, seen = this.visible(), [width, height] = this.size;
    if (!wide) return "";
    this.isWide = wide >= 700;
    const high = between(400, seen - (this.asked("high") ? 0 : 16), Math.max(0.625 * wide, this.least));
    this.unit = this.isWide ? between(this.asked("least") * this.times || 14, Math.min(wide / 64, seen / 40) * this.times, 44) : 15;
    if (this.isWide === (this.panel.lastChild === this.controlBar)) this.placeBar();
    this.root.classList.toggle("player-wide", this.isWide);
    this.root.style.fontSize = `${this.unit}px`;
    this.root.style.height = this.isWide ? `${high}px` : "";
    this.root.style.minHeight = this.isWide ? "" : `${seen - 16}px`;
    this.pane.style.height = this.isWide ? "" : `${Math.min(seen / 2, (height + 20) * between(0.8, wide / width, 1))}px`;
    return [wide, high].join();
  }

  // What is seen first is read first, and reached first by Tab.
  placeBar() {
    const focused = document.activeElement;
    this.isWide ? this.bringBarHome() : this.panel.append(this.controlBar);
    if (this.controlBar.contains(focused)) focus(focused);
  }

  // Room for the highest of several contents: nothing below it moves.
  keepRoom(node, contents, put) {
    const sizer = node.cloneNode();
    sizer.ariaHidden = true;
    sizer.style.cssText = `min-height:0;width:${node.clientWidth}px`;
    sizer.classList.add("player-sizer");
    this.panel.append(sizer);
    let most = 0;
    for (const content of contents) {
      put(sizer, content);
      // a slide may be drawn larger than it is
      most = Math.max(most, sizer.offsetHeight + 1);
    }
    sizer.remove();
    node.style.minHeight = `${most}px`;
  }

  hurries() {
    const now = performance.now(), found = now - (this.last ?? -HURRY) < HURRY;
    this.last = now;
    return found || isStill();
  }

  tween(time, draw, end) {
    const begin = performance.now();
    let id = 0;
    this.finish = () => {
      this.finish = null;
      cancelAnimationFrame(id);
      end();
    };
    const tick = (now) => {
      const part = between(0, (now - begin) / time, 1);
      draw(part);
      if (part < 1) id = requestAnimationFrame(tick);
      else this.finish?.();
    };
    tick(begin);
  }
}

// One real backward, step by step.
class Steps extends Base {
  build() {
    const { film } = this;
    film.offsets = [0];
    for (const scene of film.scenes) {
      const all = scene.stops ?? Array.from({ length: film.steps ? film.steps + 2 : 1 }, (_, at) => [at - 1, at - 1, at]).flat();
      scene.at = [];
      for (let at = 0; at < all.length; at += 3) scene.at.push(all.slice(at, at + 3));
      film.offsets.push(film.offsets.at(-1) + scene.at.length);
    }
    this.drawn = new Map();
    this.least = 560;
    this.tools(this.halves());
    this.code.hidden = !film.program.length;
    this.controls();
    this.title = element("h3", "title", this.panel);
    this.say = element("p", "say", this.panel);
    this.eq = element("div", "eq", this.panel);
    this.more = element("div", "more", this.panel);
    this.ask = element("div", "ask", this.panel);
    this.verdict = element("p", "verdict", this.panel, { ariaLive: "polite" });
    this.footer();
    this.addText();
    this.drag();
  }

  controls() {
    const bar = this.controlBar = element("div", "bar", this.panel);
    if (this.film.steps) {
      this.button(bar, "back", "◀ Back", "←", () => this.go(this.at - 1));
      this.button(bar, "next", "Next ▶", "→", () => this.next());
      this.button(bar, "play", "Play", "space", () => this.play());
      this.button(bar, "guess", "Guess", "g", () => this.visit(this.view, this.at, !this.guessing));
    }
    if (this.film.scenes.length > 1) {
      this.button(bar, "into", this.film.steps ? "Step into" : "Unfold", "i", () => this.into());
      this.button(bar, "fold", "Fold", "f", () => this.fold());
    }
    if (this.film.steps) {
      const time = element("div", "time", this.panel);
      this.range = element("input", "range", time, { type: "range", min: 0, ariaLabel: "Step" });
      this.range.addEventListener("input", () => { this.stop(); this.go(+this.range.value); });
      this.count = element("span", "count", time);
      this.count.style.minWidth = `${9 + 2 * String(this.film.steps).length}ch`;
    }
    const keys = this.film.steps ? [["← →", "step"], ["space", "play"], ["g", "guess"]] : [];
    if (this.film.scenes.length > 1) keys.push(["i", "into"], ["f", "fold"]);
    if (this.film.trouble !== null) keys.push(["n", "first trouble"]);
    if (!this.isSmall) keys.push(["/", "search"]);
    this.keysLine(this.panel, keys);
  }

  tools(parent) {
    const bar = this.bar = element("div", "tools", parent);
    this.finder = element("input", "finder", bar, { type: "text", placeholder: "name or operation", ariaLabel: "Search", hidden: true });
    this.found = element("span", "found", bar, { ariaLive: "polite" });
    this.finder.addEventListener("input", () => this.search(0));
    this.finder.addEventListener("keydown", (event) => {
      if (isPages(event)) return;
      if (event.key === "Enter") this.search(1);
      if (event.key === "Escape") this.hideFinder();
      event.stopPropagation();
    });
    for (const [name, words, key, act] of [["find", "Search", "/", () => this.showFinder()], ["smaller", "−", "-", () => this.zoom(0.8)], ["larger", "+", "+", () => this.zoom(1.25)], ["whole", "Fit", "0", () => this.whole()]]) this.button(bar, name, words, key, act);
    this.buttons.get("smaller").ariaLabel = "Smaller";
    this.buttons.get("larger").ariaLabel = "Larger";
  }

  footer() {
    const foot = element("div", "foot", this.panel);
    this.popover(foot, "torch’s own formula");
    this.bytes = element("p", "bytes", foot);
    this.legend = element("div", "legend", foot);
    for (const remark of this.film.remarks) element("p", "remark", foot, { textContent: remark });
  }

  begin(state) {
    this.guessing = Boolean(state.guessing);
    this.view = -1;
    this.showFrame(state.frame ?? this.film.start);
  }

  showFrame(wanted, guessing = this.guessing) {
    const frame = between(0, wanted, this.film.offsets.at(-1) - 1);
    const view = this.film.offsets.findLastIndex((from) => from <= frame);
    this.guessing = guessing;
    this.show(view, frame - this.film.offsets[view]);
  }

  get frame() {
    return this.film.offsets[this.view] + this.at;
  }

  get isSmall() {
    return this.film.scenes.every((scene) => scene.turns.length <= FEW);
  }

  get scene() {
    return this.film.scenes[this.view];
  }

  get stops() {
    return this.scene.at;
  }

  get moment() {
    return this.film.moments[this.stops[this.at][2]];
  }

  get size() {
    return this.scene.size;
  }

  // The picture of a view is made when it is first seen: a group for each node and each wire.
  draw(number) {
    const scene = this.film.scenes[number], group = shape("g");
    const under = shape("g", group);
    for (const one of scene.marks[0]) this.mark(one, under);
    const wires = [...scene.starts.map(([d, arrow, box, what, node]) => ({ d, arrow, box, what, times: [-1, scene.turns[node][0][0] ?? 0] })),
      ...scene.wires.map(([d, arrow, box, what, times, factor]) => ({ d, arrow, box, what, times, factor }))];
    const lines = wires.map((wire) => this.drawWire(wire, group));
    const nodes = scene.turns.map(([stretches, freed, inside, opens], node) => {
      const made = shape("g", group, { class: "player-node" });
      const marks = scene.marks[node + 1].map((one) => this.mark(one, made));
      if (opens) made.dataset.opens = "";
      return { made, marks, turns: pairs(stretches), freed, inside, opens: pairs(opens ?? []), slots: [] };
    });
    for (const [node, x, y, width, height, before, after] of scene.slots) {
      const made = shape("g", nodes[node].made, { class: "player-grad" });
      shape("rect", made, { x, y, width, height, rx: 5 });
      nodes[node].slots.push({ made, content: shape("g", made), x: x + width / 2, y: y + height / 2, width, before, after });
    }
    for (const [node, x, y] of scene.corners) {
      const badge = shape("g", nodes[node].made, { class: "player-tick", transform: `translate(${x + 1} ${y + 1})` });
      shape("circle", badge, { r: 8.5 });
      shape("path", badge, { d: "M-4 0l3 3.5 5.5-7" });
      const alarm = shape("g", nodes[node].made, { class: "player-alarm", transform: `translate(${x + 1} ${y + 1})` });
      shape("path", alarm, { d: "M0-10l11 18h-22z" });
      shape("text", alarm, { y: 6 }, "!");
    }
    nodes.forEach(({ made }, node) => made.addEventListener("click", () => this.onNode(node)));
    const made = { group, lines, nodes, moving: shape("g", group, { class: "player-moving" }) };
    this.drawn.set(number, made);
    return made;
  }

  drawWire(wire, parent) {
    const made = shape("g", parent, { class: "player-wire" });
    const path = shape("path", made, { d: wire.d });
    shape("polygon", made, { points: wire.arrow });
    const found = { ...wire, made, path, times: pairs(wire.times) };
    if (wire.box) {
      const [x, y, width, height] = wire.box;
      found.capsule = shape("g", made, { class: "player-capsule", transform: `translate(${x + width / 2} ${y + height / 2})` });
      shape("rect", found.capsule, { x: -width / 2, y: -height / 2, width, height, rx: height / 2 });
      found.content = shape("g", found.capsule);
    }
    if (wire.factor) found.gate = shape("text", made, { class: "player-gate" });
    return found;
  }

  // What a capsule or a slot shows, around the middle: words, or a tensor.
  fill(group, what, wide = 64) {
    if (group.shown === what) return;
    group.shown = what;
    group.replaceChildren();
    const tensor = typeof what === "number" ? this.film.tensors[what] : null;
    if (!tensor?.[0]) return shape("text", group, { y: 5 }, tensor ? tensor[1] : what ?? "…");
    const made = tile(tensor, wide, 18, group);
    made.setAttribute("x", -made.getAttribute("width") / 2);
    made.setAttribute("y", -made.getAttribute("height") / 2);
  }

  // Where along its wire a capsule sits, and where its factor stands: half way before it.
  measure(wire) {
    const { path, box, gate } = wire;
    if (wire.length) return;
    wire.length = path.getTotalLength();
    if (!box) return;
    const [x, y] = [box[0] + box[2] / 2, box[1] + box[3] / 2];
    let least = Infinity;
    for (let at = 0; at <= 40; at += 1) {
      const point = path.getPointAtLength((wire.length * at) / 40);
      const far = Math.hypot(point.x - x, point.y - y);
      if (far < least) [least, wire.along] = [far, (wire.length * at) / 40];
    }
    if (!gate) return;
    const [start, half] = [path.getPointAtLength(0), path.getPointAtLength(Math.max(0, (wire.along - box[3] / 2) / 2))];
    const isLevel = Math.abs(half.y - start.y) < 4;
    const isLeft = x < start.x - 4;
    // then it stands beside the capsule
    const isShort = !isLevel && box[1] - start.y < 30;
    gate.setAttribute("x", isShort ? (isLeft ? box[0] - 5 : box[0] + box[2] + 5) : half.x + (isLevel ? 0 : isLeft ? -10 : 10));
    gate.setAttribute("y", isShort ? y + 5 : half.y + (isLevel ? -8 : 6));
    gate.setAttribute("text-anchor", isLevel ? "middle" : isLeft ? "end" : "start");
  }

  show(view, at, by = 0) {
    this.finish?.();
    if (view !== this.view) {
      this.view = view;
      this.picture = this.drawn.get(view) ?? this.draw(view);
      this.svg.replaceChildren(this.picture.group);
      for (const wire of this.picture.lines) this.measure(wire);
      this.camera = null;
      this.matches = null;
      if (this.range) this.range.max = this.stops.length - 1;
      this.drawLegend();
      this.bar.hidden = this.isSmall && this.finder.hidden;
    }
    this.at = between(0, at, this.stops.length - 1);
    this.isRevealed = false;
    const hurries = this.hurries();
    this.paint();
    this.fit();
    if (by === 1 && !hurries) this.move(!this.pending());
  }

  visit(view, at, guessing = this.guessing, by = 0) {
    this.guessing = guessing;
    this.show(view, at, by);
    this.save({ frame: this.frame, guessing });
  }

  go(at) {
    at = between(0, at, this.stops.length - 1);
    if (at !== this.at) this.visit(this.view, at, this.guessing, at - this.at);
  }

  next() {
    if (this.pending()) return this.reveal();
    this.go(this.at + 1);
  }

  pending() {
    return this.guessing && !this.isRevealed && Boolean(this.moment.rows?.some((row) => row.some((cell) => cell[3])));
  }

  // The stop in a folded part that one can look into: where one is, else the next.
  folded() {
    return this.ahead(this.at) ?? this.ahead();
  }

  // What is folded and comes next, or has just been stepped over.
  ahead(at = this.at + 1) {
    const stop = this.stops[at];
    return stop && stop[1] > stop[0] ? stop : undefined;
  }

  boxOf(step) {
    return this.picture.nodes.findIndex(({ turns }) => turns.some(([first, last]) => first <= step && step <= last));
  }

  // The same step in the view in which a folded node is open.
  opened(node, step) {
    return this.picture.nodes[node]?.opens.findLast(([from]) => from <= step)?.[1];
  }

  into() {
    const stop = this.folded();
    if (stop) return this.open(this.boxOf(stop[0]), stop[0]);
    const node = this.picture.nodes.findIndex(({ opens }) => opens.length);
    if (!this.film.steps && node >= 0) this.open(node, -1);
  }

  open(node, step) {
    const view = this.opened(node, step);
    if (view) this.visit(view, this.stopAt(view, step));
  }

  fold() {
    if (this.view) this.visit(this.scene.parent, this.stopAt(this.scene.parent, this.stops[this.at][1]));
  }

  stopAt(view, step) {
    return Math.max(0, this.film.scenes[view].at.findIndex(([, last]) => last >= step));
  }

  onNode(node) {
    focus(this.root);
    if (this.wasDragged) return;
    const [first, last] = this.stops[this.at];
    const { turns, opens } = this.picture.nodes[node];
    if (opens.length) {
      const turn = turns.find(([from, to]) => to >= first && from <= last) ?? turns.find(([from]) => from > last) ?? turns.at(-1);
      return this.open(node, turn?.[0] ?? -1);
    }
    this.verdict.textContent = this.scene.names[node];
    if (!this.film.steps) return;
    this.stop();
    const about = turns.map(([from]) => this.stopAt(this.view, from));
    if (about.length) this.go(about.find((at) => at > this.at) ?? about[0]);
  }

  paint() {
    const hides = this.pending();
    this.paintNodes(hides);
    this.paintWires(hides);
    this.paintCode();
    this.words(hides);
    this.paintControls(hides);
    this.tell();
    if (this.said !== this.frame || hides !== this.saidHiding) this.live.textContent = this.spoken(hides);
    [this.said, this.saidHiding] = [this.frame, hides];
  }

  paintNodes(hides) {
    const [first, last] = this.stops[this.at], { trouble } = this.film;
    this.picture.nodes.forEach((node, number) => {
      const isNow = node.turns.some(([from, to]) => from <= last && to >= first);
      const had = node.turns.reduce((sum, [from, to]) => sum + Math.max(0, Math.min(to, last) - from + 1), 0);
      const state = isNow ? "now" : had && had === node.inside ? "done" : "";
      const frees = node.freed >= 0 && node.freed < last;
      const isAlarm = (this.moment.error && number === this.scene.stopped) || (trouble !== null && last >= trouble + hides && node.turns.some(([from, to]) => from <= trouble && trouble <= to));
      node.made.setAttribute("class", names("player-node", isAlarm && "is-alarm", state && `is-${state}`, this.matches?.includes(number) && "is-match"));
      for (const mark of node.marks) {
        if (/^(operation|leaf)$/.test(mark.role_)) this.wear(mark, mark.role_, state || mark.state_);
        if (mark.state_ === "held") this.wear(mark, mark.role_, frees ? "freed" : "held");
      }
      const isFilled = had === node.inside && had > 0 && !(isNow && hides);
      for (const slot of node.slots) this.paintSlot(slot, isFilled ? slot.after : isNow && hides ? "?" : slot.before);
    });
  }

  paintSlot(slot, what) {
    slot.made.setAttribute("class", names("player-grad", what !== null && "is-full"));
    this.fill(slot.content, what ?? "None", slot.width - 12);
    slot.content.setAttribute("transform", `translate(${slot.x} ${slot.y})`);
  }

  paintWires(hides) {
    const [first, last] = this.stops[this.at];
    for (const wire of this.picture.lines) {
      const begun = wire.times.filter(([from]) => from <= last);
      const isNew = begun.some(([from]) => from >= first) && first >= 0;
      let state = "";
      if (begun.some(([, to]) => to >= first && to <= last)) state = "now";
      else if (begun.some(([, to]) => to > last)) state = "next";
      else if (begun.length && begun.length === wire.times.length) state = "done";
      const isSecret = isNew && hides;
      wire.made.setAttribute("class", names("player-wire", state && `is-${state}`, isNew && !hides && "is-new"));
      // nothing to come can be found in the page
      if (wire.content) this.fill(wire.content, isSecret ? "?" : state ? wire.what : "", wire.box[2] - 12);
      if (wire.gate) wire.gate.textContent = isNew && !hides ? `× ${wire.factor}` : "";
    }
  }

  // The program above the graph: the line of this step, what it computed, and its operator.
  paintCode() {
    const { program } = this.film, mark = this.moment.mark;
    this.code.replaceChildren();
    program.forEach((text, at) => {
      const line = element("div", mark && mark[0] !== at ? "off" : "", this.code);
      if (mark?.[0] !== at || mark[2] <= mark[1]) return void (line.textContent = text || " ");
      const [, start, stop, from, to] = mark;
      const made = element("mark", "", null);
      made.append(text.slice(start, from));
      element("u", "", made, { textContent: text.slice(from, to) });
      made.append(text.slice(to, stop));
      line.append(text.slice(0, start), made, text.slice(stop));
    });
  }

  words(hides) {
    const { moment } = this;
    this.title.replaceChildren();
    if (moment.health && !hides) element("span", "trouble", this.title, { textContent: `▲ ${TROUBLE[moment.health]} ` });
    this.title.append(this.line(moment.title));
    if (moment.kind) element("i", "", this.title, { textContent: this.line(moment.kind) });
    this.title.title = this.line(moment.title);
    this.say.textContent = this.line(hides ? moment.ask : moment.say);
    this.say.classList.toggle("player-error", Boolean(moment.error));
    this.eq.replaceChildren();
    this.ask.replaceChildren();
    if (!this.keepsVerdict) this.verdict.replaceChildren();
    this.fields = [];
    const rows = moment.rows ?? [];
    for (const row of rows) this.row(row, hides);
    this.formulas(hides ? [] : moment.formulas ?? []);
    this.more.replaceChildren();
    if (moment.way && !hides) {
      this.more.append("the whole way: ");
      element("b", "", this.more, { textContent: moment.way });
    }
    if (moment.bars) this.bars(moment.bars);
    if (hides) this.choices(moment.choices ?? []);
    const left = moment.bytes ?? 0, most = this.film.moments[0].bytes ?? 0;
    this.bytes.textContent = most >= 1000 ? `kept for backward: ${inBytes(left)} of ${inBytes(most)}` : "";
    this.bytes.style.setProperty("--part", most ? left / most : 0);
  }

  formulas(all) {
    this.details.hidden = !all.length;
    this.formula.replaceChildren();
    for (const [name, rule] of all) {
      const line = element("p", "", this.formula, { textContent: `${this.line(name)}: ` });
      element("code", "", line, { textContent: this.line(rule) });
    }
  }

  row(cells, hides) {
    const row = element("div", "row", this.eq);
    for (const [role, what, words, isAsked] of cells) {
      const isHidden = hides && (isAsked || role === "factor" || role === "words");
      const says = isHidden && !isAsked ? "" : this.line(words).replace("norm ", "norm\u00a0").replace(/\S{15,}/g, (long) => long.replace(/[._](?=\w{3})|[a-z](?=[A-Z])/g, "$&\u200b"));
      const value = this.cell(row, role, isHidden ? says.split("\n")[0] : says);
      const tensor = typeof what === "number" ? this.film.tensors[what] : null;
      if (isHidden && isAsked) this.field(value, tensor ? tensor[1] : what);
      else if (isHidden) value.textContent = "?";
      else if (tensor) this.showTensor(value, tensor);
      else value.textContent = what ?? "None";
    }
  }

  showTensor(value, tensor) {
    value.className = "player-tensor";
    if (!tensor[0]) return void (value.textContent = tensor[1]);
    const made = tile(tensor, 96, 40, value);
    made.style.cssText = `width:${made.getAttribute("width") / 15}em;height:${made.getAttribute("height") / 15}em`;
    made.setAttribute("role", "img");
    made.setAttribute("aria-label", `tensor ${tensor[1]}${tensor[3] ? `, ${TROUBLE[tensor[3]]}` : ""}`);
    if (tensor[3]) element("em", "", value, { textContent: TROUBLE[tensor[3]] });
  }

  // How large the gradient was at the border of each copy.
  bars(all) {
    const most = Math.max(...all.map(([, size]) => size)) || 1;
    const chart = element("div", "bars", this.more, { role: "img", ariaLabel: all.map(([name, size]) => `${name}: ${size}`).join(", ") });
    for (const [name, size] of all) {
      const bar = element("span", "", chart, { title: `${name}: norm ${size}` });
      bar.style.setProperty("--part", size / most);
    }
    const [first, last] = [all[0], all.at(-1)];
    const ends = element("div", "ends", this.more);
    element("small", "", ends, { textContent: `norm ${first[1]} into ${first[0]}` });
    element("small", "", ends, { textContent: `${last[1]} into ${last[0]}` });
  }

  // Guessing: a field stands where the number will be; of a tensor one gives the shape.
  field(parent, truth) {
    const made = element("input", "field", parent, { type: "text", inputMode: "decimal", placeholder: "?", ariaLabel: "Your guess", autocomplete: "off" });
    made.truth = truth;
    made.addEventListener("input", () => this.typed());
    made.addEventListener("focus", () => { this.inField = made; });
    made.addEventListener("keydown", (event) => {
      if (isPages(event)) return;
      if (event.key === "Enter") {
        event.preventDefault();
        const empty = this.fields.find((field) => !field.value);
        made.value && empty ? focus(empty) : this.reveal();
      }
      if (event.key === "Escape") { event.preventDefault(); focus(this.root); }
      event.stopPropagation();
    });
    this.fields.push(made);
  }

  choices(all) {
    if (!all.length) return;
    element("span", "", this.ask, { textContent: "Type, or choose:" });
    for (const choice of all) {
      const made = element("button", "choice", this.ask, { type: "button", textContent: choice });
      made.addEventListener("click", () => {
        const field = this.inField?.isConnected && !this.inField.value ? this.inField : this.fields.find((one) => !one.value) ?? this.fields.at(-1);
        field.value = choice;
        this.typed();
        focus(this.root);
      });
    }
  }

  typed() {
    this.buttons.get("next").textContent = this.fields.some((field) => field.value) ? "Check" : "Show";
  }

  reveal() {
    const hasFocus = this.root.contains(document.activeElement);
    const guesses = this.fields.filter((field) => field.value.trim()).map((field) => [field.value.trim(), field.truth, agrees(field.value, field.truth)]);
    this.verdict.replaceChildren();
    for (const [guess, truth, isRight] of guesses) {
      element("b", isRight ? "right" : "wrong", this.verdict, { textContent: isRight ? `✓ ${truth}` : `✗ not ${guess}, but ${truth}` });
      this.verdict.append(" ");
    }
    if (guesses.length) this.committed({ frame: this.frame, guesses });
    this.isRevealed = this.keepsVerdict = true;
    this.paint();
    this.keepsVerdict = false;
    this.fitWords();
    if (hasFocus) focus(this.root);
    if (!isStill()) this.move(true, true);
  }

  // Called once for every guess that is committed.
  committed(guess) {
    this.root.dispatchEvent(new CustomEvent("player-guess", { bubbles: true, detail: guess }));
  }

  paintControls(hides) {
    const { at, film, stops } = this, isLast = at === stops.length - 1;
    const can = { back: at > 0, next: hides || !isLast, into: this.canOpen(), fold: this.view > 0 };
    for (const [name, able] of Object.entries(can)) if (this.buttons.has(name)) this.buttons.get(name).ariaDisabled = !able;
    if (!film.steps) return;
    if (this.buttons.has("into")) this.buttons.get("into").textContent = this.ahead(at) ? "Look inside" : "Step into";
    this.buttons.get("next").textContent = hides ? "Show" : this.ahead() ? "Step over" : "Next ▶";
    this.buttons.get("guess").ariaPressed = this.guessing;
    this.range.value = at;
    const words = at === 0 ? `${stops.length - 2} steps` : isLast ? "the end" : `step ${at} of ${stops.length - 2}`;
    this.range.ariaValueText = this.count.textContent = words;
  }

  canOpen() {
    const stop = this.folded();
    if (stop) return Boolean(this.opened(this.boxOf(stop[0]), stop[0]));
    return !this.film.steps && this.picture.nodes.some(({ opens }) => opens.length);
  }

  // What a screen reader says once: the sentence and the arithmetic.
  spoken(hides) {
    const { moment } = this;
    if (hides) return this.line(moment.ask);
    return [TROUBLE[moment.health], this.line(moment.title), this.line(moment.say), ...this.rowsAsText(moment)].filter(Boolean).join(" ");
  }

  rowsAsText({ rows = [], way }) {
    const told = rows.map((row) => row.map(([role, what, words]) => {
      const shown = typeof what === "number" ? `tensor ${this.film.tensors[what][1]}` : what ?? "None";
      const says = this.line(words).replaceAll("\n", ", ");
      return says && says !== "arrives" ? `${shown} (${says})` : shown;
    }).join(" "));
    return way ? [...told, `the whole way: ${way}`] : told;
  }

  // All stops as text; who guesses is told of those that were seen.
  tell() {
    if (!this.told.open) return;
    const last = this.guessing ? this.at + (this.pending() ? 0 : 1) : this.stops.length;
    const lines = this.stops.slice(0, last).map(([first, to, number]) => {
      const moment = this.film.moments[number];
      const which = first < 0 || first === this.film.steps ? "" : first === to ? `step ${first + 1} of ${this.film.steps}: ` : `steps ${first + 1} to ${to + 1}: `;
      return [which + this.line(moment.title) + this.line(moment.kind), `  ${this.line(moment.say)}`, ...this.rowsAsText(moment).map((row) => `  ${row}`)].join("\n");
    });
    this.text.textContent = [this.line(this.scene.text), ...lines].join("\n");
  }

  drawLegend() {
    const { scene, film } = this;
    this.legend.replaceChildren();
    const kinds = new Set([...scene.wires.map((wire) => wire[3]), ...scene.slots.map((slot) => slot[6])].filter((what) => typeof what === "number").map((what) => film.tensors[what][0]));
    const frees = scene.turns.some(([, freed]) => freed >= 0);
    const keys = [...scene.keys, ...(frees ? ["freed"] : []), ...(film.steps ? ["next"] : []), ...(kinds.has(1) ? ["squares"] : []), ...(kinds.has(2) ? ["bars"] : [])];
    for (const key of new Set(keys)) this.sample(this.entry(typeof key === "string" ? LEGEND[key] ?? key : key[1]), key);
  }

  sample(parent, key) {
    if (typeof key !== "string") for (let nr = 0; nr < key[0]; nr += 1) shape("rect", parent, { x: 6 * nr + 2, y: 1, width: 4, height: 14, class: "m-bar" });
    else if (key === "held" || key === "freed") super.sample(parent, "saved", key);
    else if (key === "next") super.sample(parent, "capsule", key);
    else if (key === "folded") for (const by of [4, 0]) shape("rect", parent, { x: 1 + by, y: 1 + by, width: 20, height: 10, rx: 3, class: "m-operation" });
    else if (key === "squares" || key === "bars") {
      shape("path", parent, { class: "player-below", d: key === "bars" ? "M3 15V8h6v7z" : "M3 4h8v8h-8z" });
      shape("path", parent, { class: "player-above", d: key === "bars" ? "M16 15V3h6v12z" : "M15 4h9v9h-9z" });
    } else super.sample(parent, key);
  }

  fit() {
    if (!this.resize()) return;
    this.roomForWords();
    this.fitWords();
    this.frameCamera();
  }

  bringBarHome() {
    this.panel.prepend(this.controlBar);
  }

  roomForWords() {
    const key = `${this.say.clientWidth} ${this.unit}`;
    if (this.roomKey === key) return;
    this.roomKey = key;
    const texts = new Set(this.film.moments.flatMap(({ say, ask }) => [this.line(say), this.line(ask)]));
    this.keepRoom(this.say, [...texts].sort((a, b) => b.length - a.length).slice(0, 6), (sizer, text) => { sizer.textContent = text; });
  }

  // The largest of several sizes at which the arithmetic fits; the same for guess and answer.
  fitWords() {
    this.panel.classList.remove("is-crowded");
    for (const size of SIZES) {
      this.eq.style.setProperty("--size", `${size}em`);
      this.eq.classList.toggle("is-tight", size < 1.2);
      const isIn = this.eq.scrollWidth <= this.eq.clientWidth + 1 && (!this.isWide || this.panel.scrollHeight <= this.panel.clientHeight + 1);
      if (isIn) return;
    }
    this.panel.classList.add("is-crowded");
  }

  // The camera: the whole picture where it can be read, else as large as needed, and what has its turn in sight.
  frameCamera() {
    const { clientWidth: wide, clientHeight: high } = this.pane, [width, height] = this.scene.size;
    if (!wide || !high) return;
    const em = this.unit / 15, least = this.unit >= 24 ? 1.03 * em : 0.81;
    if (!this.camera || this.camera.isOurs) {
      const scale = Math.max(Math.min(wide / width, high / height, 1.35 * em), least);
      this.camera = { scale, x: this.camera?.x ?? width / 2, y: this.camera?.y ?? 0, isOurs: true };
    }
    this.follow();
    this.aim();
  }

  // Bring what has its turn into sight where the picture is larger than its pane.
  follow() {
    const { camera } = this, { clientWidth: wide, clientHeight: high } = this.pane, [width, height] = this.scene.size;
    const [halfWide, halfHigh] = [wide / camera.scale / 2, high / camera.scale / 2];
    const now = this.picture.nodes.findIndex(({ made }) => made.classList.contains("is-now"));
    const node = now < 0 && !this.at && this.scene.starts.length ? this.scene.starts[0][4] : now;
    if (node >= 0) this.bringIn(node, halfWide, halfHigh);
    camera.x = width <= 2 * halfWide ? width / 2 : between(halfWide, camera.x, width - halfWide);
    camera.y = height <= 2 * halfHigh ? height / 2 : between(halfHigh, camera.y, height - halfHigh);
  }

  bringIn(node, halfWide, halfHigh) {
    const { camera } = this, box = this.picture.nodes[node].made.getBBox(), around = 60;
    const beside = Math.min(around, halfWide - box.width / 2);
    camera.x = Math.max(camera.x, box.x + box.width + beside - halfWide);
    camera.x = Math.min(camera.x, box.x - beside + halfWide);
    if (box.y - around < camera.y - halfHigh || box.y + box.height + around > camera.y + halfHigh) camera.y = box.y + box.height / 2;
  }

  aim() {
    const { x, y, scale } = this.camera, { clientWidth: wide, clientHeight: high } = this.pane;
    this.svg.setAttribute("viewBox", [x - wide / scale / 2, y - high / scale / 2, wide / scale, high / scale].join(" "));
  }

  zoom(by) {
    this.camera = { ...this.camera, scale: between(0.1, this.camera.scale * by, 6), isOurs: false };
    this.aim();
  }

  whole() {
    const { clientWidth: wide, clientHeight: high } = this.pane, [width, height] = this.scene.size;
    const scale = Math.min(wide / width, high / height, 1.35 * this.unit / 15);
    this.camera = { scale, x: width / 2, y: height / 2, isOurs: false };
    this.aim();
  }

  pan(dx, dy) {
    this.camera = { ...this.camera, x: this.camera.x - dx / this.camera.scale, y: this.camera.y - dy / this.camera.scale, isOurs: false };
    this.aim();
  }

  drag() {
    let from = null;
    this.pane.addEventListener("pointerdown", (event) => {
      from = event.target.closest("button,input") ? null : [event.clientX, event.clientY];
      this.wasDragged = false;
    });
    this.pane.addEventListener("pointermove", (event) => {
      if (!from || !event.buttons) return;
      const [dx, dy] = [event.clientX - from[0], event.clientY - from[1]];
      if (!this.wasDragged && Math.hypot(dx, dy) < 5) return;
      this.wasDragged = true;
      from = [event.clientX, event.clientY];
      this.pan(dx, dy);
    });
    this.pane.addEventListener("wheel", (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      this.zoom(event.deltaY < 0 ? 1.1 : 0.9);
    }, { passive: false });
    this.pane.addEventListener("click", (event) => { if (!event.target.closest("button,input")) focus(this.root); });
  }

  showFinder() {
    this.bar.hidden = this.finder.hidden = false;
    this.fit();
    focus(this.finder);
    this.finder.select();
  }

  hideFinder() {
    this.finder.hidden = true;
    this.bar.hidden = this.isSmall;
    this.fit();
    this.found.textContent = "";
    this.matches = null;
    this.paintNodes(this.pending());
    focus(this.root);
  }

  // Nodes by name or operation: those of this view first, then those inside what is folded here.
  search(by) {
    const wanted = this.finder.value.trim().toLowerCase();
    const inView = (view) => this.film.scenes[view].names.flatMap((name, node) => (name.toLowerCase().includes(wanted) ? [[view, node]] : []));
    const home = inView(this.view), nameOf = ([view, node]) => this.film.scenes[view].names[node];
    const told = new Set(home.map(nameOf));
    // a node is in many views
    const isNew = (one) => !told.has(nameOf(one)) && told.add(nameOf(one));
    const others = [...this.film.scenes.keys()].filter((view) => view !== this.view).flatMap(inView).filter(isNew);
    const all = wanted ? [...home, ...others] : [];
    this.hit = wanted === this.wanted && all.length ? (this.hit + by) % all.length : 0;
    this.wanted = wanted;
    this.found.textContent = wanted ? (all.length ? `${this.hit + 1} of ${all.length}` : "nothing found") : "";
    if (!all.length) this.matches = null;
    else this.see(...all[this.hit]);
    this.paintNodes(this.pending());
  }

  see(view, node) {
    if (view !== this.view) {
      const step = this.stops[this.at][1];
      this.visit(view, this.stopAt(view, step));
    }
    this.matches = [node];
    const box = this.picture.nodes[node].made.getBBox();
    this.camera = { ...this.camera, x: box.x + box.width / 2, y: box.y + box.height / 2, isOurs: false };
    this.aim();
  }

  // Motion: what arrives goes into its node; what is handed on comes out, takes its factor, and goes to its place.
  move(shows, isLate) {
    const [first, last] = this.stops[this.at];
    const node = this.picture.nodes.find(({ turns }) => turns.some(([from, to]) => from <= last && to >= first));
    if (!node || first < 0) return;
    const slot = node.slots.find((one) => one.after !== one.before);
    const isLeaf = node.marks[0]?.role_ === "leaf";
    const cut = isLate && !isLeaf ? 0 : 0.36;
    const copy = (wire) => ({ wire, made: this.picture.moving.appendChild(wire.capsule.cloneNode(true)) });
    const drawn = this.picture.lines.filter(({ capsule }) => capsule);
    const came = cut ? drawn.filter(({ times }) => times.some(([, to]) => to >= first && to <= last)).map(copy) : [];
    const went = !shows || isLeaf ? [] : drawn.filter(({ times }) => times.some(([from]) => from >= first && from <= last)).map(copy);
    const before = came.length === 1 ? came[0].made.querySelector("text")?.textContent : undefined;
    for (const { wire, made } of came) if (isLeaf && slot) shape("text", made, { x: -wire.box[2] / 2 - 10, y: 7, class: "player-plus" }, "+");
    for (const { wire } of went) wire.made.classList.add("is-flying");
    if (isLeaf && slot && shows) this.paintSlot(slot, slot.before);
    const ride = ({ wire, made }, along, size = 1) => {
      const at = wire.path.getPointAtLength(along);
      made.setAttribute("transform", `translate(${at.x} ${at.y}) scale(${size})`);
      return at;
    };
    this.tween(this.timer ? 700 : 420, (part) => {
      for (const one of came) {
        const { wire, made } = one, done = ease(Math.min(1, part / (isLeaf ? 0.5 : cut)));
        const at = ride(one, wire.along + (wire.length - wire.along) * done);
        made.style.opacity = isLeaf ? +(part < 0.85) : +(part < cut);
        if (isLeaf && slot && shows && part > 0.8) this.paintSlot(slot, slot.after);
        if (isLeaf && slot && part > 0.5) {
          const rest = ease(Math.min(1, (part - 0.5) / 0.3));
          made.setAttribute("transform", `translate(${at.x + (slot.x - at.x) * rest} ${at.y + (slot.y - at.y) * rest})`);
        }
      }
      for (const one of went) {
        const { wire, made } = one, done = ease(Math.max(0, (part - cut) / (1 - cut)));
        ride(one, wire.along * done, 0.7 + 0.3 * done);
        made.style.opacity = +(part >= cut);
        const text = made.querySelector("text");
        if (text && before && typeof wire.what === "string") text.textContent = done < 0.55 ? before : wire.what;
      }
    }, () => {
      this.picture.moving.replaceChildren();
      for (const { wire } of went) wire.made.classList.remove("is-flying");
      if (isLeaf && slot && shows) this.paintSlot(slot, slot.after);
    });
  }

  play() {
    if (this.timer) return this.stop();
    if (this.at === this.stops.length - 1) this.go(0);
    this.timer = setInterval(() => this.tick(), PACE);
    this.buttons.get("play").textContent = "Pause";
  }

  tick() {
    if (!this.root.isConnected) return this.stop();
    this.next();
    if (this.at === this.stops.length - 1 && !this.pending()) this.stop();
  }

  stop() {
    clearInterval(this.timer);
    this.timer = 0;
    const button = this.buttons.get("play");
    if (button) button.textContent = "Play";
  }

  press(key, event) {
    if (event.shiftKey && key.startsWith("Arrow")) return this.pan(...{ ArrowLeft: [80, 0], ArrowRight: [-80, 0], ArrowUp: [0, 80], ArrowDown: [0, -80] }[key]);
    if (this.pending() && /^[-.\d[(ni]$/.test(key)) return focus(this.fields.find((field) => !field.value) ?? this.fields[0]), false;
    const press = (name) => this.buttons.has(name) && this.buttons.get(name).ariaDisabled !== "true" && this.buttons.get(name).click();
    const act = {
      "/": () => this.showFinder(), "+": () => this.zoom(1.25), "-": () => this.zoom(0.8), 0: () => this.whole(),
      n: () => this.film.trouble !== null && this.toStep(this.film.trouble), i: () => press("into"), o: () => press("into"), f: () => press("fold"),
      ...(this.film.steps && {
        ArrowRight: () => this.next(), ArrowLeft: () => this.go(this.at - 1), Home: () => this.go(0), End: () => this.go(this.stops.length - 1),
        " ": () => (this.pending() ? this.reveal() : this.play()), Enter: () => this.pending() && this.reveal(), g: () => press("guess"),
      }),
    }[key];
    if (!act) return false;
    if (key.length > 1) this.stop();
    return act();
  }

  toStep(step) {
    this.stop();
    this.visit(this.view, this.stopAt(this.view, step));
  }
}

// A lab: a map of states that one walks by running lines. What was run is the trail, [from, action, to] each, and all
// that is seen follows from it. A way is a state, or [state, error], or ENDS, or IDLE.
class Lab extends Base {
  build() {
    const { film, root } = this;
    root.classList.add("player-lab");
    film.states = film.states.map(named("title", "say", "scene", "patch", "focus", "text", "ways", "came", "chosen", "totals"));
    film.actions = film.actions.map(named("code", "does", "key", "adds", "group", "isAnew"));
    Object.assign(this, { least: 620, size: film.size, guessing: false, scenes: new Map() });
    this.halves();
    const [wide, high] = film.size;
    this.svg.setAttribute("viewBox", `0 0 ${wide} ${high}`);
    this.svg.style.cssText = `--wide:${wide};--high:${high}`;
    this.rows = Math.max(3, ...film.actions.map(({ code }) => code.split("\n").length));
    this.pane.addEventListener("click", ({ target }) => this.onPicture(target));
    this.title = element("h3", "title", this.panel);
    this.words = element("div", "saying", this.panel);
    this.eq = element("div", "eq", this.panel, { hidden: !film.stacks.length });
    const longest = Math.max(4, ...film.states.flatMap(({ totals }) => totals.map((total) => list(total).length)));
    // three of them fit a row
    this.eq.style.setProperty("--size", `${Math.min(1.19, 18 / (1.5 * longest + 2.5))}em`);
    this.controls();
    this.footer();
    this.addText();
    this.blocks = shape("g", null, { class: "player-blocks" });
  }

  // A button for each action: what is run, and under it what that does, or why it cannot be.
  controls() {
    const { actions, states } = this.film;
    this.acts = element("div", "acts", this.panel);
    this.actions = actions.map(({ code, does, key, group }, at) => {
      const made = this.button(this.acts, `action ${at}`, "", "", () => this.act(at));
      const isApart = at && group !== actions[at - 1].group;
      Object.assign(made, { className: names("player-action", isApart && "is-apart"), ariaKeyShortcuts: key || null });
      if (states.some(({ chosen }) => chosen.includes(at))) made.ariaPressed = false;
      for (const [tag, name, textContent, ariaHidden] of [["kbd", "", key, true], ["code", "", code], ["small", "does", does], ["small", "why", LAB.end]]) element(tag, name, made, { textContent, ariaHidden });
      return made;
    });
    const bar = this.controlBar = element("div", "bar", this.panel);
    this.button(bar, "undo", "Undo", "u", () => this.walk(this.trail.slice(0, -1)));
    this.button(bar, "reset", "Reset", "r", () => this.walk(this.start));
    if (!states.some(({ focus }) => focus)) return;
    this.button(bar, "earlier", "◀ Back", "←", () => this.jump(this.around(-1)));
    this.button(bar, "later", "Next ▶", "→", () => this.jump(this.around(1)));
  }

  footer() {
    const { actions, legend, roles } = this.film;
    const keys = actions.filter(({ key }) => key).map(({ key }) => key);
    const nodes = this.buttons.has("later") ? [["← →", "node"]] : [];
    this.keysLine(this.panel, [[keys[0], "to"], [keys.at(-1), "run"], ["u", "undo"], ["r", "reset"], ...nodes]);
    this.legend = element("div", "legend", element("div", "foot", this.panel));
    for (const [role, state, words] of legend) this.sample(this.entry(words), roles[role] ?? role, roles[state] ?? state);
  }

  bringBarHome() {
    this.acts.after(this.controlBar);
  }

  begin({ frame }) {
    let at = 0;
    this.start = this.film.start.map((action) => [at, action, (at = this.target(at, action))]);
    this.showFrame(frame ?? at);
  }

  get frame() {
    return this.trail.at(-1)?.[2] ?? 0;
  }

  get state() {
    return this.film.states[this.frame];
  }

  get isStart() {
    return String(this.trail) === String(this.start);
  }

  // Action -1 goes on to the next node.
  target(from, action) {
    const { states } = this.film, to = [states[from].ways[action]].flat()[0];
    if (action < 0) return states.findIndex(({ focus, scene }, at) => at > from && focus && scene === states[from].scene);
    return to < 0 ? from : to;
  }

  // What a line of the trail raised.
  error([from, action]) {
    return this.line(this.film.states[from].ways[action]?.[1]);
  }

  // Of a state that was saved only the shortest trail is known.
  showFrame(frame) {
    const { states } = this.film;
    this.trail = this.start;
    if (frame !== this.frame) this.trail = [];
    for (let at = between(0, frame, states.length - 1); at !== this.frame && states[at].came; [at] = states[at].came) this.trail = [[...states[at].came, at], ...this.trail];
    this.show();
  }

  act(action) {
    this.walk([...this.trail, [this.frame, action, this.target(this.frame, action)]], true);
  }

  jump(to) {
    if (to !== undefined && to !== this.frame) this.walk([...this.trail, [this.frame, -1, to]]);
  }

  walk(trail, drops = false) {
    this.trail = trail;
    this.show(drops);
    this.save({ frame: this.frame, guessing: false });
  }

  show(drops = false) {
    this.finish?.();
    const hurries = this.hurries();
    this.paint();
    this.fit();
    if (drops && !hurries && this.fresh.length) this.drop();
  }

  paint() {
    const { title, say, ways, chosen } = this.state, last = this.trail.at(-1);
    this.heaps = this.film.stacks.map((_, nr) => this.heap(nr));
    this.paintCode();
    this.paintPicture();
    this.paintStacks();
    this.paintRow();
    this.comeNear();
    this.title.textContent = this.line(title);
    const outcome = this.say(this.words, this.line(say), last ? this.error(last) : "", last && !this.isStart ? this.note(last) : "");
    this.actions.forEach((button, at) => {
      button.ariaDisabled = ways[at] === ENDS;
      if (button.ariaPressed) button.ariaPressed = chosen.includes(at);
    });
    const can = { undo: this.trail.length && !this.isStart, reset: !this.isStart, earlier: this.around(-1) >= 0, later: this.around(1) >= 0 };
    for (const [name, able] of Object.entries(can)) if (this.buttons.has(name)) this.buttons.get(name).ariaDisabled = !able;
    this.tell();
    this.live.textContent = outcome || [this.line(title), this.line(say), ...[...this.eq.querySelectorAll("b")].map((one) => one.textContent)].filter(Boolean).join(" ");
  }

  // What makes the lab, and the last lines that were run. The pane is always as high.
  paintCode() {
    const { film, rows } = this, all = this.trail.filter(([, action]) => film.actions[action]?.code);
    const ran = all.slice(Math.max(0, all.findLastIndex(([, action]) => film.actions[action].isAnew)));
    const lines = ran.flatMap((one, at) => film.actions[one[1]].code.split("\n").map((line, nr) => [(!nr && this.error(one) ? "✗ " : "") + line, this.error(one), at === ran.length - 1]));
    this.code.replaceChildren(...film.code.map((textContent) => element("div", "off player-setup", null, { textContent })));
    for (let at = 0; at < rows; at += 1) {
      const [words = " ", error, isNewest] = lines.slice(-rows)[at] ?? [];
      const made = element("div", error ? "error" : isNewest ? "" : "off", this.code, { title: words });
      element(isNewest ? "mark" : "span", "", made, { textContent: (!at && lines.length > rows ? "… " : "") + words });
    }
  }

  // How each mark of a state looks, where it is not as its scene has it.
  looks(frame) {
    const { states, scenes, looks } = this.film, { scene, patch } = states[frame], worn = new Map(pairs(patch));
    return scenes[scene].map((mark, at) => [mark, looks[worn.get(at)]]);
  }

  paintPicture() {
    const { film } = this, { scene } = this.state, looks = this.looks(this.frame), news = this.news(looks);
    if (!this.scenes.has(scene)) this.scenes.set(scene, film.scenes[scene].map((mark) => this.mark(film.marks[mark])));
    const nodes = this.scenes.get(scene);
    nodes.forEach((node, at) => {
      const [mark, look] = looks[at], [kind, role, state, ...rest] = film.marks[mark];
      const [ownRole, ownState, runs] = look ?? [role, state];
      this.wear(node, film.roles[ownRole], film.roles[ownState]);
      node.classList.toggle("is-fresh", news.includes(mark));
      if (SHAPES[kind][0] === "text") this.write(node, runs || rest.slice(2));
      if (this.about(film.owned[mark] || -1).length) node.dataset.link = film.owned[mark];
    });
    this.svg.replaceChildren(...nodes, this.blocks);
  }

  // The marks of one thing each. A box keeps its place; a card is known by its words, all but its tag, or by its name.
  groups(looks) {
    const { marks, owned, roles } = this.film;
    return [...Map.groupBy(looks, ([mark]) => owned[mark])].map(([owner, all]) => {
      const [, nr, , ...from] = marks[all[0][0]], kind = owner && roles[nr].slice(0, 3), isCard = kind && !/tag|row|edg/.test(kind);
      const parts = all.map(([mark, look]) => {
        const [tag, role, state, ...rest] = marks[mark];
        return [mark, String([role, look?.[1] ?? state, tag === 4 && (look?.[2] || rest.slice(2))]), isCard && /^tag/.test(roles[role])];
      });
      const words = parts.filter((part) => !part[2]).map((part) => part[1]);
      return { parts, isCard, isWire: kind === "edg", from, keys: isCard ? [String(words), words[1]?.split(" =")[0]] : [owner, owner] };
    });
  }

  // The marks that look other than before the last line: what found no partner there; none where it is another picture.
  news(looks) {
    const last = this.trail.at(-1);
    if (!last || last[1] < 0 || this.isStart) return [];
    const before = this.groups(this.looks(last[0])), now = this.groups(looks);
    for (const by of [0, 1]) {
      for (const one of now.toReversed()) {
        one.was ??= before.findLast((old) => !old.isTaken && old.keys[by] === one.keys[by]);
        if (one.was) one.was.isTaken = true;
      }
    }
    const meets = ([x, y]) => now.some(({ isCard, was, from: [left, top, wide, high] }) => isCard && !was && x > left - 12 && x < left + wide + 12 && y > top - 12 && y < top + high + 12);
    const found = now.flatMap(({ parts, isWire, keys, was, from }) => {
      const ends = isWire && from[0].match(/-?[\d.]+/g);
      if (ends) return meets(ends) || meets(ends.slice(-2)) ? parts : [];
      const old = before.flatMap((one) => one.parts.filter((part) => one === was || (part[2] && one.keys[0] === keys[0])).map((part) => part[1]));
      return parts.toReversed().filter((part) => !old.includes(part[1]) || !old.splice(old.indexOf(part[1]), 1));
    });
    return found.length > looks.length / 2 && this.film.actions[last[1]].isAnew ? [] : found.map(([mark]) => mark);
  }

  // What lies in a stack: what an action adds, where it says so and it is so, on what was there; else the total is one
  // block. What is 0 has none.
  heap(nr) {
    const { states, actions } = this.film;
    let parts = [], was = 0, isNew = false;
    for (const [, action, to] of [[0, -1, 0], ...this.trail]) {
      const total = states[to].totals[nr], adds = actions[action]?.adds;
      isNew = total && adds && String(total) !== String(was) && total.every((sum, at) => Math.abs(sum - (was[at] ?? 0) - adds[at]) < 1e-4);
      if (!total) parts = [];
      else if (String(total) !== String(was)) parts = was && isNew ? [...parts, adds] : [total];
      was = total;
    }
    return { layers: parts.filter((part) => part.some(Boolean)), isNew };
  }

  paintStacks() {
    this.blocks.replaceChildren();
    this.fresh = [];
    this.film.stacks.forEach((stack, nr) => {
      const { layers, isNew } = this.heaps[nr], total = this.state.totals[nr] || [];
      total.forEach((sum, column) => this.pile(stack, column, sum, layers.map((layer) => layer[column]), isNew));
    });
  }

  // One column: a block for each number on those before, and over them their sum.
  pile([, x, base, step, unit, wide], column, sum, numbers, isNew) {
    const middle = x + step * column + wide / 2;
    let top = base;
    shape("path", this.blocks, { class: "player-base", d: `M${middle - step / 2} ${base}h${step}` });
    numbers.forEach((number, at) => {
      if (!number) return;
      const made = shape("g", this.blocks), isFresh = isNew && at === numbers.length - 1, height = Math.abs(number * unit);
      top -= number * unit;
      shape("rect", made, { class: names("m-block", isFresh && "s-now"), x: middle - wide / 2, y: top + 2 - (number < 0 && height), width: wide, height: Math.max(1, height - 3), rx: 3 });
      if (height > 12) shape("text", made, { x: middle, y: top + number * unit / 2 + 5 }, (at ? "+ " : "") + short(number));
      if (isFresh) this.fresh.push(made);
    });
    shape("text", this.blocks, { class: "player-sum", x: middle, y: Math.min(top, base) - 9 }, short(sum));
  }

  drop() {
    const draw = (part) => this.fresh.forEach((one) => { one.style.cssText = `transform:translateY(${-120 * (1 - part) ** 3}px);opacity:${2 * part}`; });
    this.tween(420, draw, () => this.fresh.forEach((one) => { one.style.cssText = ""; }));
  }

  // That a line did nothing, or that it was refused and did something.
  note([from, action]) {
    const way = this.film.states[from].ways[action];
    return way === IDLE ? LAB.idle : way?.length && way[0] !== from ? LAB.moved : "";
  }

  // The sentence, or in its place what torch said to a line that it refused; under it a note.
  say(node, words, error, note) {
    if (node.contains(document.activeElement)) focus(this.root);
    node.replaceChildren();
    let told = "";
    if (error) {
      const [kind, first] = inShort(error), outcome = element("div", "outcome player-error", node);
      element("b", "", outcome, { textContent: `✗ ${kind}` });
      outcome.append(`: ${first} `);
      told = outcome.textContent;
      if (error.length > kind.length + first.length + 3) {
        this.popover(outcome, "whole message");
        element("code", "", this.formula, { textContent: error });
      }
    } else element("p", "say", node, { textContent: words });
    if (note) element("p", "outcome", node, { textContent: note });
    return told + note;
  }

  // before + arrives = x.grad, after a line that added; else its room.
  paintRow() {
    const { stacks, states, actions } = this.film, [from, action] = this.trail.at(-1) ?? [], row = element("div", "row");
    const nr = this.heaps.findIndex(({ isNew }) => isNew), was = states[from]?.totals[nr];
    const sum = [["before", list(was), was ? "before" : "nothing yet"], ["sign", "+"], ["arrives", list(actions[action]?.adds), "arrives"], ["sign", "="], ["total", list(this.state.totals[nr]), stacks[0]?.[0]]];
    for (const [role, what, words] of nr < 0 ? [["total", "", "\u00a0"]] : sum) this.cell(row, role, words).textContent = what;
    row.style.visibility = nr < 0 ? "hidden" : "";
    this.eq.replaceChildren(row);
  }

  excuse(name) {
    this.live.textContent = LAB[name] ?? `${this.film.actions[name.split(" ")[1]].code}: ${LAB.end}`;
  }

  // The states of this picture in which it is the turn of some node, or of this one.
  about(owner) {
    const { states } = this.film;
    return [...states.keys()].filter((at) => states[at].scene === this.state.scene && (owner ? states[at].focus === owner : states[at].focus));
  }

  around(by) {
    return by < 0 ? this.about().findLast((at) => at < this.frame) : this.about().find((at) => at > this.frame);
  }

  onPicture(target) {
    focus(this.root);
    const about = this.about(+target.closest("[data-link]")?.dataset.link || -1);
    this.jump(about.find((at) => at > this.frame) ?? about[0]);
  }

  press(key) {
    const at = this.film.actions.findIndex((action) => action.key === key);
    const button = this.actions[at] ?? this.buttons.get({ u: "undo", r: "reset", ArrowLeft: "earlier", ArrowRight: "later" }[key]);
    if (!button) return false;
    button.click();
  }

  tell() {
    if (this.told.open) this.text.textContent = this.state.text.map((line) => this.line(line)).join("\n");
  }

  stop() {}

  // All of it fits by standing closer, in every state alike, for all that changes keeps the room of its longest.
  fit() {
    const room = this.resize();
    if (room && this.fitted !== room) this.fitWords();
    this.fitted = room;
    const { scrollWidth, clientWidth, scrollHeight, clientHeight } = this.pane;
    if (scrollWidth > clientWidth || scrollHeight > clientHeight) this.bringIn();
    else this.pane.removeAttribute("tabindex");
  }

  // A picture that scrolls is reached by Tab, and shows what the talk is of.
  bringIn() {
    this.pane.tabIndex = 0;
    const node = this.svg.querySelector(".s-now, .is-fresh");
    if (!node) return;
    const one = node.getBoundingClientRect(), pane = this.pane.getBoundingClientRect();
    const beyond = (start, end, first, last) => Math.max(0, end - last + 8) + Math.min(0, start - first - 8);
    this.pane.scrollBy(beyond(one.left, one.right, pane.left, pane.right), beyond(one.top, one.bottom, pane.top, pane.bottom));
  }

  fitWords() {
    for (const [close, times] of CLOSE) {
      this.times = times;
      this.resize();
      this.root.className = names("player player-lab", this.isWide && "player-wide", close);
      this.keepRoom(this.words, this.longest(), (sizer, content) => this.say(sizer, ...content));
      if (!this.isWide || this.panel.scrollHeight <= this.panel.clientHeight + 1) return;
    }
  }

  // On a slide the picture is as large as what is seen of it now allows; elsewhere it keeps the room of its largest.
  comeNear() {
    if (!this.asked("near")) return;
    const { x, y, width, height } = this.svg.getBBox(), margin = 10;
    if (!width) return;
    const [wide, high] = [width + 2 * margin, height + 2 * margin];
    this.svg.setAttribute("viewBox", `${x - margin} ${y - margin} ${wide} ${high}`);
    this.svg.style.cssText = `--wide:${wide};--high:${high}`;
  }

  // The longest of all that may be said.
  longest() {
    const { states } = this.film, said = new Map();
    states.forEach(({ say, ways }, at) => {
      said.set(this.line(say), [this.line(say), "", ways.includes(IDLE) && LAB.idle]);
      ways.forEach((way, action) => {
        const step = [at, action], error = this.error(step), note = this.note(step);
        if (error) said.set(inShort(error).join("") + note, ["", error, note]);
      });
    });
    return [...said].sort(([one], [other]) => other.length - one.length).slice(0, 8).map(([, content]) => content);
  }
}

const [ENDS, IDLE] = [-1, -2];
const LAB = {
  end: "this map ends here: undo or reset", idle: "∅ ran, and all that is seen is as before", moved: "refused, and yet what is marked has changed",
  undo: "there is nothing to undo", reset: "this is the start", earlier: "this is the first", later: "this is the last",
};

const named = (...fields) => (row) => Object.fromEntries(fields.map((field, at) => [field, row[at]]));
const CLOSE = [["", 1], ["is-dense", 1], ["is-dense is-denser", 1], ["is-dense is-denser", 0.93], ["is-dense is-denser is-bare", 0.93], ["is-dense is-denser is-bare", 0.88]];

// The name of an error and its first sentence, without what it adds in brackets.
function inShort(error) {
  const [, kind = "Error", message] = error.match(/^(?:([\w.]+): )?([^]*)$/);
  return [kind, message.match(/^.*?(?=[.!?](\s|$|[A-Z][a-z]+ )|\n|$)/)[0].replace(/\([^)]{20,}\)/, "(…)")];
}

const short = (number) => String(+number.toFixed(3));
const list = (numbers) => (numbers ? `[${numbers.map(short).join(", ")}]` : "None");

function inBytes(count) {
  if (count < 1000) return `${count} bytes`;
  const at = Math.min(4, Math.floor(Math.log10(count) / 3));
  return `${(count / 1000 ** at).toFixed(1)} ${["", "kB", "MB", "GB", "TB"][at]}`;
}

// A number agrees within one per cent, a shape or a list as it is written, however it is spaced.
function agrees(guess, truth) {
  const plain = (text) => String(text).trim().replace("−", "-").replace(/\s+/g, "").replace(/[x*,](?=\d)/g, "×").replace(/^[([]|[)\]]$/g, "");
  const [one, other] = [plain(guess), plain(truth)];
  const near = one !== "" && Number.isFinite(+one) && Number.isFinite(+other) && Math.abs(one - other) <= Math.abs(other) * 0.01;
  return one === other || near;
}

// JupyterLab saves the widgets that a kernel knows, and leaves out the others. A player lives without a kernel, so
// while it is seen it counts as known: else a notebook that is opened, and saved before it ran, would lose it.
class Tie {
  constructor(model) {
    this.known = true;
    this.parts = [];
    const meet = (real) => { if (real && "comm_live" in real) this.parts = [real, real.get("layout")].filter(Boolean); };
    // the event brings the model itself; what we are given stands for it
    model.on("change:guessing", meet);
    for (const change of [!model.get("guessing"), model.get("guessing")]) model.set("guessing", change);
    model.off("change:guessing", meet);
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

// With no kernel there is nobody to tell: the film plays on.
function teller(model, tie) {
  return (state) => {
    try {
      for (const [name, value] of Object.entries(state)) model.set(name, value);
      // null in JupyterLab once it was shut down
      const kernel = model.widget_manager?.kernel;
      if (tie.known && kernel !== null && !kernel?.isDisposed) model.save_changes();
    } catch {
      return;
    }
  };
}

const OLD = "This player was saved by an earlier version. Run its cell again.";

function played(host, data, state, save) {
  const film = JSON.parse(data);
  if (film.version !== (film.moments ? 2 : 3)) return void element("p", "old", host, { textContent: OLD });
  return new (film.moments ? Steps : Lab)(host, film, state, save);
}

function render({ model, el }) {
  const state = { frame: model.get("frame"), guessing: model.get("guessing") };
  const tie = new Tie(model);
  const player = played(el, model.get("film"), state, teller(model, tie));
  if (!player) return;
  player.root.addEventListener("player-guess", ({ detail }) => {
    try { model.send?.(detail); } catch { return; }
  });
  const follow = () => player.showFrame(model.get("frame"), model.get("guessing"));
  model.on("change:frame", () => { if (model.get("frame") !== player.frame) follow(); });
  model.on("change:guessing", () => { if (model.get("guessing") !== player.guessing) follow(); });
  const leaveKeys = keepKeys(player.room);
  return () => { player.stop(); player.watch.disconnect(); tie.loosen(); leaveKeys(); };
}

export function playAll(page) {
  for (const slot of page.querySelectorAll(".player-slot")) {
    played(slot, slot.querySelector("script").textContent, {}, () => {});
  }
}

export default { render };
