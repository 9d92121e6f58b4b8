// Draw the graph before you see it: connect cards; afterwards the real edges lie over yours.

const [STEP_ASIDE, GLIDE] = [150, 900]; // ms that a card takes to another place, and all to their real ones
const TELL = 300; // ms from the verdict on one edge to the next
const SIGNS = { extra: "\u2715", missing: "+", turned: "\u21bb", right: "\u2713" };
const MARKS = ["right", "turned", "extra", "missing"]; // in this order they are told
const HINT = "Drag from one card to another, or click first one and then the other: that's an edge. To move a card, drag it to a free spot. By keyboard: Enter picks up a card, and the arrow keys move it.";
const isStill = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
const mix = (from, to, part) => from + (to - from) * part;

function svg(tag, parent, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  parent.append(made);
  return made;
}

// "AB AC AC" → Map { AB: 1, AC: 2 }
function tally(edges) {
  const found = new Map();
  for (const edge of edges.split(" ").filter(Boolean)) found.set(edge, (found.get(edge) ?? 0) + 1);
  return found;
}

// Every arrow of two graphs that lie over each other; `drawn` is the edge as one drew it. Of two between the same cards
// each goes its own way.
function verdicts(mine, truth) {
  const found = [];
  const add = (edge, drawn, times) => {
    const count = mine.get(drawn) ?? 0;
    const most = Math.max(times, count);
    const met = drawn === edge ? "right" : "turned";
    for (let at = 0; at < most; at += 1) {
      const mark = at >= times ? "extra" : at >= count ? "missing" : met;
      found.push({ edge, mark, drawn: at < count ? drawn : "", at, lane: at - (most - 1) / 2 });
    }
  };
  const back = (edge) => edge[1] + edge[0];
  for (const [edge, times] of truth) add(edge, mine.has(edge) ? edge : mine.has(back(edge)) ? back(edge) : "", times);
  for (const edge of mine.keys()) if (!truth.has(edge) && !truth.has(back(edge))) add(edge, edge, 0);
  return found;
}

class Draw {
  legend = "Draw the graph: connect the cards";
  empty = "My drawing";
  cards = new Map();
  edges = new Map();
  from = "";
  verdicts = null; // once the real graph is known
  told = 0; // of them
  seen = new Map(); // where each card was painted last, and how far each edge was bent
  bends = new Map();
  motion = { seen: this.seen, bends: this.bends, part: 1 };

  constructor(owner, { cards, cols, rows }) {
    Object.assign(this, { owner, cols, rows });
    this.board = element("div", "board", owner.body);
    this.board.style.cssText = `--cols:${cols};--rows:${rows}`;
    this.lines = svg("svg", this.board, { "aria-hidden": "true" });
    this.ghost = element("div", "ghost", this.board, { hidden: true });
    for (const card of cards) this.drawCard(card);
    this.hint = element("p", "hint", owner.body, { textContent: HINT });
    this.list = element("ul", "chips", owner.body, { ariaLabel: "Your edges" });
    this.board.addEventListener("click", (event) => event.target === this.board && this.place(this.from, this.cellAt(event)));
    new ResizeObserver(() => this.paint()).observe(this.board);
  }

  // Click two cards, or drag from one to the other: an edge. Drag to an empty place: the card moves there.
  drawCard(card) {
    const button = element("button", "card", this.board, { type: "button" });
    button.dataset.kind = card.kind;
    const broken = (name) => name.replace(/(?<=[a-z])(?=[A-Z])|(?<=\.)/g, "\u200b"); // where a long name may be
    element("b", card.title.length > 14 ? "long" : "", button, { textContent: broken(card.title) });
    element("small", "", button, { textContent: broken(card.rest) });
    this.cards.set(card.id, { ...card, button });
    draggable(button, () => this.owner.isOpen, (event) => this.drag(card.id, event), (event) => this.drop(card.id, event));
    button.addEventListener("click", () => this.clicked(card.id));
    button.addEventListener("keydown", (event) => this.pressed(event, card.id));
  }

  label(id) {
    const { title, name } = this.cards.get(id);
    return name && name !== title ? `${title} (${name})` : title;
  }

  way(edge) {
    return `${this.label(edge[0])} \u2192 ${this.label(edge[1])}`;
  }

  clicked(id) {
    if (!this.owner.isOpen) return;
    if (this.from && this.from !== id) return this.connect(this.from, id);
    this.from = this.from === id ? "" : id;
    this.paint();
    this.owner.say({ head: this.from ? `From ${this.label(id)}: now click the card it leads to.` : "" });
  }

  // Once: an edge. Twice: two of them. Again: none. The other way round: it is turned.
  connect(from, to) {
    this.edges.delete(to + from);
    const times = ((this.edges.get(from + to) ?? 0) + 1) % 3;
    if (times) this.edges.set(from + to, times);
    else this.edges.delete(from + to);
    this.changed(`${this.way(from + to)}: ${["no edge", "an edge. Once more for two", "two edges. Once more for none"][times]}.`);
  }

  changed(head) {
    this.from = "";
    this.paint();
    this.listEdges();
    this.owner.show();
    this.owner.say({ head });
  }

  place(id, [col, row]) {
    if (!id || !this.owner.isOpen || col < 0 || row < 0 || col >= this.cols || row >= this.rows) return;
    const card = this.cards.get(id);
    const other = [...this.cards.values()].find(({ at }) => at[0] === col && at[1] === row);
    if (other) other.at = card.at;
    card.at = [col, row];
    this.move(STEP_ASIDE);
    this.owner.show();
  }

  pressed(event, id) {
    if (!this.from || isPages(event) || !(event.key in BY || event.key === "Escape")) return;
    event.preventDefault();
    if (event.key === "Escape") this.clicked(this.from);
    else if (this.from === id) this.place(id, this.cards.get(id).at.map((at, i) => at + BY[event.key][i]));
  }

  drag(id, event) {
    const over = this.cardAt(event);
    this.ghost.hidden = Boolean(over);
    this.placeAt(this.ghost, this.cellAt(event));
    for (const [other, { button }] of this.cards) button.classList.toggle("is-over", other === over && other !== id);
    const { x, y } = this.lines.getBoundingClientRect();
    this.paint();
    this.drawLine(curve(this.box(id), { x: event.clientX - x, y: event.clientY - y, wide: 0, tall: 0 }, 0), "live");
  }

  drop(id, event) {
    this.ghost.hidden = true;
    for (const { button } of this.cards.values()) button.classList.remove("is-over");
    const over = this.cardAt(event);
    if (over && over !== id) this.connect(id, over);
    else if (!over) this.place(id, this.cellAt(event));
    this.paint();
  }

  cardAt({ clientX: x, clientY: y }) {
    const isIn = ({ left, right, top, bottom }) => x >= left && x <= right && y >= top && y <= bottom;
    return [...this.cards.keys()].find((id) => isIn(this.cards.get(id).button.getBoundingClientRect()));
  }

  cellAt({ clientX, clientY }) {
    const { left, top, width, height } = this.board.getBoundingClientRect();
    const cell = (at, most) => Math.max(0, Math.min(most - 1, Math.floor(at * most)));
    return [cell((clientX - left) / width, this.cols), cell((clientY - top) / height, this.rows)];
  }

  placeAt(element, [col, row]) {
    element.style.left = `${((col + 0.5) / this.cols) * 100}%`;
    element.style.top = `${((row + 0.5) / this.rows) * 100}%`;
  }

  // The cards go to where they belong, and their edges with them.
  move(long, then = () => {}) {
    cancelAnimationFrame(this.frame);
    const start = performance.now();
    this.motion = { seen: this.seen, bends: this.bends };
    const step = (now) => {
      const part = isStill() ? 1 : Math.max(0, Math.min(1, (now - start) / long));
      this.motion.part = part * part * (3 - 2 * part);
      this.paint();
      if (part < 1) this.frame = requestAnimationFrame(step);
      else then();
    };
    step(start);
  }

  paint() {
    const { seen, part } = this.motion;
    this.seen = new Map([...this.cards].map(([id, { at }]) => [id, (seen.get(id) ?? at).map((one, i) => mix(one, at[i], part))]));
    for (const [id, { button }] of this.cards) {
      this.placeAt(button, this.seen.get(id));
      button.setAttribute("aria-pressed", this.owner.isOpen && id === this.from);
      const to = [...this.edges].filter(([edge]) => edge[0] === id).map(([edge, n]) => this.label(edge[1]) + (n > 1 ? ", twice" : ""));
      button.ariaLabel = `${this.label(id)}. ${to.length ? `Leads to ${to.join(" and ")}` : "Leads nowhere yet"}.`;
    }
    this.hint.hidden = !this.owner.isOpen || this.edges.size > 0;
    this.lines.replaceChildren();
    this.signs = [];
    this.paintArrows();
  }

  // Before the answer one's own edges; then the real ones over them, as far as they were told.
  paintArrows() {
    const { bends, part } = this.motion;
    const ends = new Map([...this.cards].map(([id, { at }]) => [id, this.box(id, at)])); // of the motion
    const all = this.verdicts ?? verdicts(this.edges, this.edges);
    const laid = [];
    this.bends = new Map();
    all.forEach(({ edge, drawn, at, lane, mark }, nr) => {
      const between = [ends.get(edge[0]), ends.get(edge[1])];
      const end = bestBend(...between, [...ends.values()], laid, this.board) + lane * LANE;
      laid.push(...pointsOn(curve(...between, end)));
      const bend = mix(bends.get(edge + at) ?? end, end, part);
      this.bends.set(edge + at, bend);
      if (this.verdicts && nr < this.told) this.drawEdge(edge, bend, mark);
      else if (drawn) this.drawEdge(drawn, drawn === edge ? bend : -bend, "mine");
    });
  }

  box(id, [col, row] = this.seen.get(id)) {
    const { clientWidth, clientHeight } = this.board;
    const { offsetWidth, offsetHeight } = this.cards.get(id).button;
    return { x: ((col + 0.5) / this.cols) * clientWidth, y: ((row + 0.5) / this.rows) * clientHeight, wide: offsetWidth / 2 + 3, tall: offsetHeight / 2 + 3 };
  }

  drawEdge(edge, bend, mark) {
    const line = curve(this.box(edge[0]), this.box(edge[1]), bend);
    const group = this.drawLine(line, mark);
    const taken = [...[...this.cards.keys()].map((id) => this.box(id)), ...this.signs];
    if (SIGNS[mark]) this.drawSign(group, signPlace(line, taken, this.board), SIGNS[mark]);
  }

  drawLine(line, mark) {
    const { d, points } = route(line);
    const group = svg("g", this.lines, { "data-mark": mark });
    svg("path", group, { d });
    svg("polygon", group, { points });
    return group;
  }

  drawSign(group, [x, y], sign) {
    this.signs.push({ x, y, wide: SIGN, tall: SIGN });
    svg("rect", group, { x: x - SIGN, y: y - SIGN, width: 2 * SIGN, height: 2 * SIGN, rx: SIGN });
    svg("text", group, { x, y: y + 4.5 }).textContent = sign;
  }

  // The edges once more, as a list: to hear, and to take one back.
  listEdges() {
    this.list.replaceChildren();
    for (const [edge, times] of this.edges) {
      const words = `${this.way(edge)}${times > 1 ? " \u00d72" : ""}`;
      const chip = { type: "button", textContent: `${words} \u2715`, ariaLabel: `Take back ${words}` };
      element("button", "chip", element("li", "", this.list), chip).onclick = () => {
        this.edges.delete(edge);
        this.changed(`Taken back: ${words}.`);
        (this.list.querySelector("button") ?? this.cards.get(edge[0]).button).focus();
      };
    }
  }

  picked = () => [...this.edges].flatMap(([edge, times]) => Array(times).fill(edge)).sort().join(" ");

  // The edges, and where the cards stand: "AB BC;A02 B11".
  draft = () => {
    const places = [...this.cards.values()].map(({ id, at }) => `${id}${at.join("")}`).join(" ");
    this.start ??= places;
    return this.edges.size || places !== this.start ? `${this.picked()};${places}` : "";
  };

  resume(draft) {
    this.draft(); // as it was before
    const [edges, places = ""] = draft.split(";");
    if (edges && !Draw.isMeant(edges, { cards: [...this.cards.values()] })) return;
    for (const [id, col, row] of places.split(" ")) if (this.cards.has(id) && col < this.cols && row < this.rows) this.cards.get(id).at = [+col, +row];
    this.edges = tally(edges);
    this.paint();
    this.listEdges();
  }

  named = () => "This is my graph";
  kept = () => "Your drawing is kept.";

  put(choice) {
    this.edges = tally(choice);
    this.from = "";
    this.list.replaceChildren();
    this.paint();
  }

  static isMeant(choice, { cards }) {
    const isCard = (letter) => cards.some(({ id }) => id === letter);
    return Boolean(choice) && choice.split(" ").every((edge) => edge.length === 2 && [...edge].every(isCard));
  }

  // The cards go to where they stand in the real picture; then one edge after the other is told of. An answer that was there
  // before stands at once.
  settle(choice, { edges, places }) {
    this.truth = tally(edges);
    const depth = ({ edge, mark }) => 10 * MARKS.indexOf(mark) + places[edge[0]][1];
    this.verdicts = verdicts(this.edges, this.truth).sort((one, other) => depth(one) - depth(other));
    this.began = this.seen;
    for (const [id, card] of this.cards) {
      card.at = places[id];
      card.button.classList.toggle("is-decoy", !edges.includes(id));
    }
    const again = { type: "button", hidden: isStill(), textContent: "\u21ba From my drawing again", onclick: () => this.play() };
    element("button", "chip", this.owner.row, again);
    this.told = this.verdicts.length;
    if (this.owner.isMade) this.play();
    else this.paint();
  }

  play() {
    clearTimeout(this.timer);
    this.seen = this.began;
    this.told = 0;
    this.move(GLIDE, () => this.tell(isStill() ? this.verdicts.length : 1));
  }

  tell(count) {
    this.told = count;
    this.paint();
    [...this.lines.children].filter((one) => one.dataset.mark !== "mine").at(-1)?.classList.add("is-new");
    if (count < this.verdicts.length) this.timer = setTimeout(() => this.tell(count + 1), TELL);
  }

  words(choice, { reasons, takeaway }) {
    const marks = new Map(this.verdicts.map(({ edge, mark }) => [edge, mark])); // the last of an edge says what is wrong with it
    const [right, turned, extra, missing] = MARKS.map((mark) => [...marks.keys()].filter((edge) => marks.get(edge) === mark));
    const items = extra.map((edge) => ["extra", `${this.way(edge)}: ${reasons[edge] ?? "there's only one edge."}`]);
    for (const edge of missing) {
      const isTwice = this.truth.get(edge) > 1;
      items.push(["missing", `${this.way(edge)} ${isTwice ? "belongs there twice: the tensor goes in twice, and each time it gets an edge" : "is missing"}.`]);
    }
    for (const edge of turned) items.push(["turned", `${this.way(edge)}: points the wrong way. Edges lead back, from a result to what it was computed from.`]);
    const found = right.length + turned.length;
    const head = `You found ${found} of ${this.truth.size} edges. Missing: ${missing.length}. Too many: ${extra.length}.`;
    return { head: items.length ? head : "That's the graph PyTorch made, edge for edge.", items, foot: takeaway };
  }
}

KINDS.draw = Draw;
