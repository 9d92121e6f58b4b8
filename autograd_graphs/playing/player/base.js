// What players of steps and of labs share: the frame, the keys, the words that say where the keys are.
class Base {
  constructor(host, film, state, save) {
    Object.assign(this, { film, save: save ?? (() => {}), timer: 0, times: 1, bounds: new Set() });
    this.room = element("div", "room", host);
    this.root = element("div", "", this.room, { className: "player", tabIndex: 0, role: "group", ariaLabel: "Player" });
    this.live = element("p", "live", this.root, { ariaLive: "polite" });
    this.buttons = new Map();
    this.keys = new Map();
    this.build();
    this.room.addEventListener("keydown", (event) => this.onKey(event));
    this.root.addEventListener("pointerdown", () => this.finish?.(), true);
    this.begin(state);
    this.watch = new ResizeObserver(() => requestAnimationFrame(() => this.fit()));
    this.watch.observe(this.room);
    // slides that gave it another height
    this.room.addEventListener("player-fit", () => this.fit());
    // slides press the keys of an answer
    this.room.addEventListener("player-walk", ({ detail }) => {
      this.restart();
      for (const key of detail) this.press(key, {});
    });
    document.fonts?.ready.then(() => this.fit());
  }

  button(parent, name, words, key, act) {
    const made = element("button", name, parent, { type: "button", textContent: words });
    if (key) made.title = `${words} (${key})`;
    this.keys.set(key, made);
    made.addEventListener("click", ({ detail }) => {
      // after the mouse the space bar shall not press the same button once more
      if (detail) focus(this.root);
      if (made.ariaDisabled !== "true") act();
      else this.excuse?.(name);
    });
    this.buttons.set(name, made);
    return made;
  }

  // Press the button that has a key; false where none has it.
  click(key) {
    const made = this.keys.get(KEYS[key] ?? key);
    if (!made) return false;
    made.click();
  }

  enable(can) {
    for (const [name, able] of Object.entries(can)) if (this.buttons.has(name)) this.buttons.get(name).ariaDisabled = !able;
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
    written("summary", "", this.details, words);
    this.formula = element("div", "", this.details);
  }

  addText() {
    this.told = element("details", "told", this.room);
    written("summary", "", this.told, "As text");
    this.text = element("pre", "", this.told);
    this.told.addEventListener("toggle", () => this.tell());
  }

  // One value of an equation, in its capsule; the caller fills it.
  cell(parent, role, words) {
    const made = element("span", `cell player-${role}`, parent);
    const value = element("b", "", made);
    const [what, norm] = words?.split(/(?=, norm)/) ?? [];
    if (role !== "sign") written("span", "norm", written("small", "", made, what), norm);
    return value;
  }

  // A slider, and beside it words of so many letters.
  slider(parent, letters, go, more) {
    this.range = element("input", "range", parent, { type: "range", ...more, oninput: () => go(+this.range.value) });
    this.count = element("span", "count", parent, { style: `min-width:${letters}ch` });
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
  keysLine(parent, keys, where) {
    const line = element("p", "keys", parent);
    written("span", "away", line, `Click into the ${where}`);
    const here = element("span", "here", line);
    for (const [key, words] of [...keys, ["Esc", "leaves"]]) {
      for (const one of key.split(" ")) written("kbd", "", here, one);
      here.append(` ${words} `);
    }
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

  // What the page that holds a player asks for, in px: its height (--player-high), its smallest text (--player-least).
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
    // to the ends of the page, where the player has no use for it
    const leaps = key === "Home" || key === "End";
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
    this.unit = this.isWide ? between(this.asked("least") || 14 * this.times, Math.min(wide / 64, seen / 40) * this.times, 44) : this.asked("least") || 15;
    if (this.isWide === (this.panel.lastChild === this.controlBar)) this.placeBar();
    this.root.classList.toggle("player-wide", this.isWide);
    this.root.style.fontSize = `${this.unit}px`;
    this.root.style.height = this.isWide ? `${high}px` : "";
    this.root.style.minHeight = this.isWide ? "" : `${seen - 16}px`;
    this.pane.style.height = this.isWide ? "" : `${Math.min(seen / 2, (height + 20) * between(0.8, wide / width, this.unit / 15))}px`;
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
