// Plays frames that Python made (helpers/playing/encode.py says how they are written): mounts a display list, then patches
// it. It knows no shape, no colour and no word of its own, asks nothing of the network, and needs no kernel.

const BAND = 300; // marks that are painted together: of a large picture, a step repaints a band or two

function element(tag, name, parent, more) {
  const made = Object.assign(document.createElement(tag), { className: name && `player-${name}`, ...more });
  parent.append(made);
  return made;
}

function svg(tag, more) {
  return Object.assign(document.createElementNS("http://www.w3.org/2000/svg", tag), more);
}

function focus(node) {
  node.focus({ preventScroll: true });
}

function pairs(flat) {
  const found = [];
  for (let at = 0; at < flat.length; at += 2) found.push([flat[at], flat[at + 1]]);
  return found;
}

// Sentences travel once, among the lines. Several views of the same steps follow each other; the first has the words of
// all. Where a row is 0, nothing changes.
function unpack(film) {
  const { frames, lines, views } = film;
  film.span = frames.length / (views?.length ?? 1);
  for (const frame of frames.slice(0, film.span)) for (const at of [0, 5]) frame[at] = lines[frame[at]];
  for (let at = film.span; at < frames.length; at += 1) {
    const [sentence, , , , , question] = frames[at % film.span];
    const view = Math.floor(at / film.span);
    frames[at] = [sentence, view, ...frames[at] || [[], frames[at - 1][3], []], question, [], views[view][2]];
  }
}

// The picture: the elements of a scene are made when it is first seen, and patched from then on.
class Picture {
  constructor(film, stage) {
    this.film = film;
    this.scenes = new Map();
    this.linked = new Set(film.frames.map((frame) => frame[3]).filter(Boolean));
    this.roots = film.parts.map(() => svg("svg", { role: "img", ariaLabel: film.alt }));
    for (const root of this.roots.slice(0, -1)) root.ariaHidden = true;
    stage.append(...this.roots);
  }

  // A part of the picture: where there is little room it shrinks as far as one can read, then stands above the next.
  lay(root, nodes, box) {
    const [, , width, height] = box;
    for (const [name, value] of Object.entries({ width, height, viewBox: box.join(" ") })) root.setAttribute(name, value);
    const least = 0.8 * width;
    root.style.cssText = `flex:${width} 1 ${least}px;min-width:${least}px;max-width:${width}px`;
    root.replaceChildren(...nodes);
  }

  draw(number, opens) {
    const [shape, , owner, geometry, runs] = this.film.marks[number];
    const [tag, ...names] = this.film.shapes[shape];
    const node = svg(tag);
    names.forEach((name, at) => node.setAttribute(name, geometry[at]));
    if (owner) node.dataset.of = this.film.owners[owner];
    if (this.linked.has(owner)) node.dataset.link = owner;
    this.wear(node, number);
    if (opens?.[owner]) {
      node.dataset.opens = "";
      if (!runs.length) node.append(svg("title", { textContent: this.film.words.unfold }));
    }
    return node;
  }

  wear(node, number, look) {
    const [, ownName, , , ownRuns] = this.film.marks[number];
    const [name, runs, hidden] = this.film.looks[look] || [ownName, null, 0];
    node.setAttribute("class", this.film.classes[name] + (hidden ? " player-hidden" : ""));
    if (ownRuns.length || runs) this.write(node, runs || ownRuns);
  }

  write(node, runs) {
    node.replaceChildren(...pairs(runs).map(([textContent, name]) => {
      const piece = svg("tspan", { textContent });
      if (name) piece.setAttribute("class", this.film.classes[name]);
      return piece;
    }));
  }

  mount(number) {
    const [, box, , opens] = this.film.views?.[number] ?? [];
    const nodes = this.film.scenes[number].map((mark) => this.draw(mark, opens));
    const sides = this.roots.map((_, side) => nodes.filter((_, at) => this.side(this.film.scenes[number][at]) === side));
    const boxes = box ? [box] : this.film.parts;
    this.scenes.set(number, { nodes, boxes, sides: sides.map((side) => this.bands(side)), worn: new Map() });
  }

  // Only texts and bars, which begin with their x, stand in the first of two parts.
  side(mark) {
    return this.roots.length > 1 && !(this.film.marks[mark][3][0] < this.film.parts[1][0]) ? 1 : 0;
  }

  bands(nodes) {
    const bands = [];
    for (let at = 0; at < nodes.length; at += BAND) {
      const band = svg("g");
      if (nodes.length > BAND) band.setAttribute("class", "player-band");
      band.append(...nodes.slice(at, at + BAND));
      bands.push(band);
    }
    return bands;
  }

  // Show a scene in which the marks at some places wear other looks than their own.
  show(number, looks) {
    if (!this.scenes.has(number)) this.mount(number);
    const scene = this.scenes.get(number);
    for (const at of new Set([...scene.worn.keys(), ...looks.keys()])) {
      if (scene.worn.get(at) === looks.get(at)) continue;
      this.wear(scene.nodes[at], this.film.scenes[number][at], looks.get(at));
      this.changed ??= scene.nodes[at];
    }
    scene.worn = looks;
    if (this.scene !== scene) this.roots.forEach((root, side) => this.lay(root, scene.sides[side], scene.boxes[side]));
    this.scene = scene;
  }
}

class Player {
  constructor(host, film, state, save) {
    unpack(film);
    Object.assign(this, { film, save, trail: [], timer: 0 });
    this.root = element("div", "", host, { className: "player", tabIndex: 0, role: "group", ariaLabel: film.words.player });
    this.addWords();
    this.stage = element("div", "stage", this.root, { role: "group", ariaLabel: film.words.picture });
    this.picture = new Picture(film, this.stage);
    this.buttons = new Map();
    for (const row of film.rows) this.addRow(row);
    if (!film.lab) this.addScrubber();
    this.note = element("span", "note", this.bar, { ariaLive: "polite" });
    this.addText();
    this.root.addEventListener("keydown", (event) => this.onKey(event));
    this.stage.addEventListener("click", (event) => this.onPicture(event.target));
    this.show(state.frame ?? film.start, Boolean(state.guessing));
    const watch = new ResizeObserver(() => requestAnimationFrame(() => this.fit()));
    for (const part of [this.sentence, this.stage, this.bar]) watch.observe(part);
  }

  addWords() {
    const words = element("div", "words", this.root);
    this.sentence = element("p", "sentence", words, { ariaLive: "polite" });
    for (const textContent of this.film.sizers) element("p", "sizer", words, { ariaHidden: true, textContent });
  }

  addRow(row) {
    this.bar = element("div", "bar", this.root);
    for (const [name, words, key] of row) {
      const says = { type: "button", textContent: words, title: key ? `${words} (${key})` : words };
      const button = element("button", name.split(" ")[0], this.bar, says);
      button.dataset.key = key;
      button.addEventListener("click", ({ detail }) => {
        if (detail) focus(this.root); // after the mouse the space bar shall not press the same button once more
        this.attempt(name);
      });
      this.buttons.set(name, button);
    }
  }

  addScrubber() {
    const says = { type: "range", max: this.film.span - 1, value: 0, ariaLabel: this.film.words.position };
    this.range = element("input", "range", this.bar, says);
    this.range.addEventListener("input", () => { this.stop(); this.go(+this.range.value + this.base); });
    this.count = element("span", "count", this.bar);
  }

  addText() {
    this.told = element("details", "told", this.root);
    element("summary", "", this.told, { textContent: this.film.words.text });
    this.text = element("pre", "", this.told, { tabIndex: 0 });
    this.told.addEventListener("toggle", () => this.tell());
  }

  // The picture as text; in a film of steps also its sentences, when one guesses only those of frames that were seen.
  tell() {
    if (!this.told.open) return;
    const { frames, lines, texts, lab } = this.film;
    const told = texts[this.now[7]].map((line) => lines[line]);
    const seen = frames.slice(this.base, this.guessing ? this.frame : this.end + 1);
    if (!lab) told.push("", ...seen.map(([sentence]) => sentence));
    this.text.textContent = told.join("\n");
  }

  // Leave the stage what sentence and buttons do not need; a stage that scrolls is reached by Tab.
  fit() {
    const rest = this.root.offsetHeight - this.stage.offsetHeight - (this.told.open ? this.text.offsetHeight : 0);
    this.root.style.setProperty("--player-rest", `${rest}px`);
    const { scrollHeight, clientHeight, scrollWidth, clientWidth } = this.stage;
    if (scrollHeight > clientHeight || scrollWidth > clientWidth) this.stage.tabIndex = 0;
    else this.stage.removeAttribute("tabindex");
  }

  // A button that does nothing here says why: an action ran, or its lab's map ends, and then what leads on.
  attempt(name) {
    const to = this.targets()[name];
    if (this.able(name) && to !== this.frame) return this.act(name);
    const { words } = this.film;
    const ways = [this.now[6].length ? "beyond" : "end", ...["undo", "reset"].filter((way) => this.able(way))];
    const why = to === this.frame ? words.ran : ways.map((way) => words[way]).join(" ");
    this.note.textContent = `${this.buttons.get(name).textContent}: ${words["no " + name] ?? why}`;
  }

  act(name) {
    if (name === "play") return this.timer ? this.stop() : this.play();
    this.stop();
    if (name === "guess") return this.visit(this.frame, !this.guessing);
    if (name === "reveal" || (name === "next" && this.pending())) return this.reveal();
    const to = this.targets()[name];
    if (name !== "undo") return this.go(to);
    this.trail.pop();
    this.visit(to);
  }

  able(name, targets = this.targets()) {
    if (name === "guess") return true;
    if (name === "play") return this.film.span > 1;
    if (this.pending() && (name === "next" || name === "reveal")) return true;
    return targets[name] !== undefined;
  }

  get now() {
    return this.film.frames[this.frame];
  }

  // How far in its view the frame is; the first and the last frame of that view.
  get step() {
    return this.frame % this.film.span;
  }

  get base() {
    return this.frame - this.step;
  }

  get end() {
    return this.base + this.film.span - 1;
  }

  // The same step in the view in which what is of an owner is open: of several copies, the one whose turn it is.
  opening(owner) {
    const [, view] = pairs(this.film.views?.[this.now[1]][3][owner] ?? []).findLast(([from]) => from <= this.step) ?? [];
    return view ? view + this.step : undefined;
  }

  // The frames that the buttons lead to from here.
  targets() {
    const path = this.path();
    const before = path.findLast((at) => at < this.frame);
    const after = path.find((at) => at > this.frame);
    const found = { previous: before, next: after, undo: this.trail.at(-1), unfold: this.opening(0) };
    if (this.base) found.fold = this.film.views[this.now[1]][0] + this.step;
    if (before !== undefined) found.first = path[0];
    if (after !== undefined) found.last = path.at(-1);
    if (this.frame !== this.film.start) found.reset = this.film.start;
    for (const [action, to] of pairs(this.now[6])) found[`action ${action}`] = to;
    return found;
  }

  // The frames that are walked one by one: all of them; in a lab those about a node of the scene that is seen.
  path() {
    const all = [...this.film.frames.keys()].slice(this.base, this.end + 1);
    const isSeen = ([, scene, , node]) => node && scene === this.now[1];
    return this.film.lab ? all.filter((at) => isSeen(this.film.frames[at])) : all;
  }

  go(frame) {
    if (frame === undefined || frame === this.frame) return;
    this.trail.push(this.frame);
    this.visit(frame);
  }

  visit(frame, guessing = this.guessing) {
    this.show(frame, guessing);
    this.save({ frame: this.frame, guessing });
  }

  // Show a frame; a new number that is to be guessed is hidden again.
  show(frame, guessing = this.guessing) {
    this.frame = Math.max(0, Math.min(frame, this.film.frames.length - 1));
    this.guessing = guessing;
    this.revealed = false;
    this.paint();
    this.follow();
  }

  pending() {
    const [, , , , cover, question] = this.now;
    return this.guessing && !this.revealed && Boolean(cover.length || question);
  }

  reveal() {
    this.revealed = true;
    this.paint();
  }

  looks() {
    const found = new Map();
    for (const [, , patch] of this.film.frames.slice(this.base, this.frame + 1)) {
      for (const [place, look] of pairs(patch)) look < 0 ? found.delete(place) : found.set(place, look);
    }
    return found;
  }

  paint() {
    const [sentence, scene, , , cover, question] = this.now;
    const hides = this.pending();
    const looks = this.looks();
    this.picture.changed = undefined;
    if (hides) for (const [place, look] of pairs(cover)) looks.set(place, look);
    this.picture.show(scene, looks);
    const words = hides && question ? question : sentence;
    if (this.sentence.textContent !== words) this.sentence.textContent = words;
    this.note.textContent = "";
    this.tell();
    const targets = this.targets();
    for (const [name, button] of this.buttons) {
      button.ariaDisabled = !this.able(name, targets);
      if (name === "guess") button.ariaPressed = this.guessing;
    }
    if (!this.range) return;
    this.range.value = this.step;
    this.range.ariaValueText = this.count.textContent = `${this.step + 1} / ${this.film.span}`;
  }

  // Where the picture is larger than its stage, bring what this frame is about into sight.
  follow() {
    const node = this.stage.querySelector(`[data-link="${this.now[3]}"]`) || this.picture.changed;
    if (!node) return;
    const [seen, here] = [this.stage.getBoundingClientRect(), node.getBoundingClientRect()];
    const [high, wide] = [seen.height / 4, seen.width / 4];
    if (here.top < seen.top || here.bottom > seen.bottom - high) this.stage.scrollTop += here.top - seen.top - high;
    if (here.left < seen.left || here.right > seen.right) this.stage.scrollLeft += here.left - seen.left - wide;
  }

  play() {
    if (this.frame === this.end) this.go(this.base);
    this.timer = setInterval(() => this.tick(), this.film.pace);
    this.label();
  }

  tick() {
    if (this.pending()) return this.reveal();
    this.go(this.frame + 1);
    if (this.frame === this.end && !this.pending()) this.stop();
  }

  stop() {
    clearInterval(this.timer);
    this.timer = 0;
    this.label();
  }

  label() {
    const button = this.buttons.get("play");
    if (button) button.textContent = this.film.words[this.timer ? "pause" : "play"];
  }

  // Keys with Ctrl, and Tab, are for the page; all others stay here: JupyterLab would cut cells, slides would move.
  onKey(event) {
    const { key, target } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || key === "Tab") return;
    if (event.shiftKey && key === "Enter") return;
    event.stopPropagation();
    if (key === "Escape") return this.leave();
    if ((key === " " || key === "Enter") && target.closest("button,summary")) return;
    if ((target === this.stage || target === this.text) && /^(Arrow|Page|Home|End| )/.test(key)) return;
    let name = this.film.keys[key];
    if (!name) return;
    event.preventDefault();
    if (name === "space") name = this.guessing && !this.timer ? "reveal" : "play";
    if (this.buttons.has(name) && (target !== this.range || this.able(name))) this.attempt(name);
  }

  // Give the keys back to the notebook or the slides around.
  leave() {
    const outer = this.root.parentElement.closest("[tabindex]");
    outer ? focus(outer) : document.activeElement.blur();
  }

  onPicture(target) {
    focus(this.root);
    const node = target.closest("[data-of],text");
    const at = this.picture.scene.nodes.indexOf(node);
    const covered = pairs(this.now[4]).some(([place]) => place === at);
    const owner = +node?.dataset.link;
    if (this.pending() && (covered || !owner)) return this.reveal();
    if (!owner) return;
    const about = this.path().filter((at) => this.film.frames[at][3] === owner);
    this.stop();
    this.go(this.opening(owner) ?? about.find((at) => at > this.frame) ?? about[0]);
  }
}

// JupyterLab saves the widgets that a kernel knows, and leaves out the others. A player lives without a kernel, so
// while it is seen it counts as known: else a notebook that is opened, and saved before it ran, would lose it.
class Tie {
  constructor(model) {
    this.known = true;
    this.parts = [];
    const meet = (real) => { if (real && "comm_live" in real) this.parts = [real, real.get("layout")].filter(Boolean); };
    model.on("change:guessing", meet); // the event brings the model itself; what we are given stands for it
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
      const kernel = model.widget_manager?.kernel; // null in JupyterLab once it was shut down
      if (tie.known && kernel !== null && !kernel?.isDisposed) model.save_changes();
    } catch {
      return;
    }
  };
}

function render({ model, el }) {
  const state = { frame: model.get("frame"), guessing: model.get("guessing") };
  const tie = new Tie(model);
  const player = new Player(el, JSON.parse(model.get("film")), state, teller(model, tie));
  const follow = () => player.show(model.get("frame"), model.get("guessing"));
  model.on("change:frame", () => { if (model.get("frame") !== player.frame) follow(); });
  model.on("change:guessing", () => { if (model.get("guessing") !== player.guessing) follow(); });
  return () => { player.stop(); tie.loosen(); };
}

export function playAll(page) {
  for (const slot of page.querySelectorAll(".player-slot")) {
    new Player(slot, JSON.parse(slot.querySelector("script").textContent), {}, () => {});
  }
}

export default { render };
