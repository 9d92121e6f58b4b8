// Draw the graph before you see it: connect cards; afterwards the real edges lie over yours.

const GLIDE = 700; // ms that the cards take to their real places
// how far an edge bends to pass a card, against its length; and where on it one looks
const BENDS = [0, 0.45, -0.45, 0.8, -0.8, 1.2, -1.2, 1.6, -1.6];
const PARTS = Array.from({ length: 19 }, (_, at) => (at + 1) / 20);
const SIGNS = { extra: "\u2715", missing: "+", turned: "\u21bb", right: "\u2713" };

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

// Which edges are right, turned round, missing, and too many.
function compare(mine, truth) {
  const found = { right: [], turned: [], missing: [], extra: [] };
  for (const [edge, times] of truth) {
    const drawn = mine.get(edge) ?? mine.get(edge[1] + edge[0]) ?? 0;
    if (drawn && drawn !== times) found[drawn < times ? "missing" : "extra"].push(edge);
    else found[mine.has(edge) ? "right" : drawn ? "turned" : "missing"].push(edge);
  }
  for (const edge of mine.keys()) if (!truth.has(edge) && !truth.has(edge[1] + edge[0])) found.extra.push(edge);
  return found;
}

class Draw {
  legend = "Draw the graph: connect the cards";
  empty = "My drawing";
  cards = new Map();
  edges = new Map();
  from = "";

  constructor(owner, { cards, cols, rows }) {
    Object.assign(this, { owner, cols, rows });
    this.board = element("div", "board", owner.body);
    this.board.style.cssText = `--cols:${cols};--rows:${rows}`;
    this.lines = svg("svg", this.board, { "aria-hidden": "true" });
    this.ghost = element("div", "ghost", this.board, { hidden: true });
    for (const card of cards) this.drawCard(card);
    this.list = element("ul", "chips", owner.body, { ariaLabel: "Your edges" });
    this.board.addEventListener("click", (event) => event.target === this.board && this.place(this.from, this.cellAt(event)));
    new ResizeObserver(() => this.paint()).observe(this.board);
  }

  // Click two cards, or drag from one to the other: an edge. Drag to an empty place: the card moves there.
  drawCard(card) {
    const button = element("button", "card", this.board, { type: "button" });
    button.dataset.kind = card.kind;
    const isLong = card.title.length > 10; // as BackwardHook: small, and broken before a capital where it has to be
    const title = isLong ? card.title.replace(/(?<=[a-z])(?=[A-Z])/g, "\u200b") : card.title;
    element("b", isLong ? "long" : "", button, { textContent: title });
    element("small", "", button, { textContent: card.rest });
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
    this.glide();
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
    const board = this.board.getBoundingClientRect();
    this.paint();
    this.drawEdge(this.centre(id), { x: event.clientX - board.x, y: event.clientY - board.y, wide: 0, tall: 0 }, "live", "");
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

  // The cards move by a transition of the style; the lines follow them.
  glide(until = performance.now() + GLIDE) {
    this.paint();
    if (performance.now() < until) requestAnimationFrame(() => this.glide(until));
  }

  paint() {
    for (const [id, { button, at }] of this.cards) {
      this.placeAt(button, at);
      button.setAttribute("aria-pressed", this.owner.isOpen && id === this.from);
      const to = [...this.edges].filter(([edge]) => edge[0] === id).map(([edge, n]) => this.label(edge[1]) + (n > 1 ? ", twice" : ""));
      button.ariaLabel = `${this.label(id)}. ${to.length ? `Leads to ${to.join(" and ")}` : "Leads nowhere yet"}.`;
    }
    this.lines.replaceChildren();
    this.signs = [];
    for (const [mark, edges] of Object.entries(this.found ?? { mine: [...this.edges.keys()] }))
      for (const edge of edges) {
        const times = (this.truth?.get(edge) ?? this.edges.get(edge)) > 1 ? "\u00d72" : "";
        this.drawEdge(this.centre(edge[0]), this.centre(edge[1]), mark, `${SIGNS[mark] ?? ""} ${times}`.trim());
      }
  }

  centre(id) {
    const [board, card] = [this.board, this.cards.get(id).button].map((one) => one.getBoundingClientRect());
    return { x: card.x - board.x + card.width / 2, y: card.y - board.y + card.height / 2, wide: card.width / 2 + 3, tall: card.height / 2 + 3 };
  }

  // From rim to rim, and round what stands in between; a sign beside it, over nothing else.
  drawEdge(from, to, mark, word) {
    const [dx, dy] = [to.x - from.x, to.y - from.y];
    const far = Math.hypot(dx, dy) || 1;
    const cards = [...this.cards.keys()].map((id) => this.centre(id));
    const others = cards.filter(({ x, y }) => ![from, to].some((end) => Math.hypot(end.x - x, end.y - y) < 1));
    const control = (bend) => [from.x + dx / 2 - dy * bend, from.y + dy / 2 + dx * bend];
    const on = (part, bend) => control(bend).map((by, at) => {
      const [start, end] = at ? [from.y, to.y] : [from.x, to.x];
      return (1 - part) ** 2 * start + 2 * part * (1 - part) * by + part ** 2 * end;
    });
    const isOver = ([u, v], { x, y, wide, tall }) => Math.abs(u - x) < wide && Math.abs(v - y) < tall;
    const hits = (bend) => PARTS.map((part) => on(part, bend)).filter((at) => at[0] < 4 || at[0] > this.board.clientWidth - 4 || others.some((one) => isOver(at, one))).length;
    // of two ways round a card the one with less beside it
    const beside = (bend) => others.filter(({ x, y }) => bend * (dx * (y - from.y) - dy * (x - from.x)) > 1).length / 99;
    const cost = (bend) => hits(bend) + beside(bend);
    const bend = to.tall ? BENDS.reduce((best, one) => (cost(one) < cost(best) ? one : best)) : 0;
    const [cx, cy] = control(bend);
    const rim = ({ x, y, wide, tall }) => {
      const part = Math.min(0.9, wide / Math.abs(cx - x || 1e-9), tall / Math.abs(cy - y || 1e-9));
      return [x + (cx - x) * part, y + (cy - y) * part];
    };
    const [[x1, y1], [x2, y2]] = [rim(from), rim(to)];
    const long = Math.hypot(x2 - cx, y2 - cy) || 1;
    const [ux, uy] = [(x2 - cx) / long, (y2 - cy) / long];
    const corner = (side) => `${x2 - 10 * ux - side * uy},${y2 - 10 * uy + side * ux}`;
    const group = svg("g", this.lines, { "data-mark": mark });
    svg("path", group, { d: `M${x1} ${y1}Q${cx} ${cy} ${x2 - 7 * ux} ${y2 - 7 * uy}` });
    svg("polygon", group, { points: `${x2},${y2} ${corner(5)} ${corner(-5)}` });
    if (!word) return;
    const [side, half] = [14 + 3 * word.length, 6 + 4 * word.length];
    const places = [0.5, 0.35, 0.65, 0.25].flatMap((part) => [1, -1].map((way) => {
      const [x, y] = on(part, bend);
      return [x + (dy / far) * side * way * (dy < 0 ? -1 : 1), y - (dx / far) * side * way * (dy < 0 ? -1 : 1)];
    }));
    const isFree = ([x, y]) => ![...cards, ...this.signs].some((one) => isOver([x, y], { ...one, wide: one.wide + half, tall: one.tall + 8 }));
    const [x, y] = places.find(isFree) ?? places[0];
    this.signs.push({ x, y, wide: half, tall: 10 });
    svg("rect", group, { x: x - half, y: y - 10, width: 2 * half, height: 20, rx: 10 });
    svg("text", group, { x, y: y + 4.5 }).textContent = word;
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

  named = (choice) => `This is my graph (edges: ${choice.split(" ").length})`;
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

  // The cards glide to where they stand in the real picture.
  settle(choice, { edges, places }) {
    this.truth = tally(edges);
    this.found = compare(this.edges, this.truth);
    for (const [id, card] of this.cards) {
      card.at = places[id];
      card.button.classList.toggle("is-decoy", !edges.includes(id));
    }
    this.glide();
  }

  words(choice, { reasons, takeaway }) {
    const { right, turned, missing, extra } = this.found;
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
