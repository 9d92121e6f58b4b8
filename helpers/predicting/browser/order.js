// Put lines in order; what stands below the bar is not used. Every order was run, and afterwards each says what it does.

class Order {
  legend = "Put the lines in order. Lines below the bar aren't used";
  empty = "Move a line first";
  rows = new Map();
  held = "";

  constructor(owner, { head, lines, start, indent }) {
    Object.assign(this, { owner, lines, start, order: [...start] });
    for (const text of head) element("code", "fixed", owner.body, { textContent: text });
    this.list = element("ol", "order", owner.body, { ariaLabel: "Lines. Space picks one up, and the up and down keys move it." });
    this.list.style.setProperty("--indent", `${indent}ch`);
    for (const letter of this.order) this.drawRow(letter, lines[letter]);
    this.paint();
  }

  drawRow(letter, text) {
    const row = element("li", text ? "item" : "bar", this.list);
    this.rows.set(letter, row);
    if (!text) return (row.textContent = "below this bar: not used");
    const line = element("button", "move", row, { type: "button" });
    element("span", "grip", line, { textContent: "\u283f", ariaHidden: "true" });
    element("code", "", line, { textContent: text });
    const may = ({ pointerType, target }) => !this.isFixed && (pointerType !== "touch" || target.closest(".prediction-grip"));
    draggable(line, may, (event) => this.drag(letter, event), () => {});
    line.addEventListener("click", () => this.pick(letter));
    line.addEventListener("keydown", (event) => this.pressed(event, letter));
    for (const [by, sign, word] of [[-1, "\u2191", "up"], [1, "\u2193", "down"]])
      element("button", "arrow", row, { type: "button", textContent: sign, ariaLabel: `Move ${word}: ${text}`, onclick: () => this.move(letter, by) });
  }

  // Open: to answer. Answered: to try other orders.
  get isFixed() {
    return !this.owner.isOpen && !this.owner.state.answer;
  }

  get used() {
    return this.order.join("").split("-")[0];
  }

  pick(letter) {
    this.held = this.isFixed || this.held === letter ? "" : letter;
    this.paint();
  }

  pressed(event, letter) {
    const by = BY[event.key]?.[1];
    if (isPages(event) || (!by && event.key !== "Escape")) return;
    event.preventDefault();
    if (!by) return this.pick(this.held);
    if (this.held === letter) return this.move(letter, by);
    const lines = this.order.filter((one) => one !== "-");
    this.rows.get(lines[lines.indexOf(letter) + by])?.querySelector("button").focus();
  }

  drag(letter, { clientY }) {
    const { top, bottom } = this.rows.get(letter).getBoundingClientRect();
    if (clientY < top) this.move(letter, -1);
    else if (clientY > bottom) this.move(letter, 1);
  }

  // It is the neighbour that moves in the page: so a line keeps the focus, and the pointer.
  move(letter, by) {
    const at = this.order.indexOf(letter);
    const neighbour = this.order[at + by];
    if (this.isFixed || !neighbour) return;
    [this.order[at], this.order[at + by]] = [neighbour, letter];
    this.rows.get(letter)[by < 0 ? "after" : "before"](this.rows.get(neighbour));
    this.paint();
    const { state } = this.owner;
    if (state.choice) return this.owner.say(this.words(state.choice, state.answer, this.used));
    this.owner.show();
    this.owner.say({ head: this.where(letter) });
  }

  where(letter) {
    const at = this.used.indexOf(letter);
    return at < 0 ? "Not used" : `Line ${at + 1} of ${this.used.length}`;
  }

  paint() {
    for (const [letter, row] of this.rows) {
      row.classList.toggle("is-out", !this.used.includes(letter));
      row.classList.toggle("is-held", letter === this.held);
      const line = row.querySelector("button");
      line?.setAttribute("aria-pressed", letter === this.held);
      line?.setAttribute("aria-label", `${this.where(letter)}: ${this.lines[letter]}`);
    }
  }

  picked = () => (this.order.join("") === this.start ? "" : this.used);
  draft = () => (this.order.join("") === this.start ? "" : this.order.join(""));
  named = () => "This is my order";
  kept = () => "Your order is kept.";

  resume(draft) {
    if ([...draft].sort().join() === [...this.start].sort().join()) this.arrange([...draft]);
  }

  put(choice) {
    this.arrange([...choice, "-", ...[...this.start].filter((one) => one !== "-" && !choice.includes(one))]);
  }

  arrange(order) {
    this.order = order;
    this.list.append(...this.order.map((letter) => this.rows.get(letter)));
    this.paint();
  }

  settle() {
    element("p", "hint", this.owner.body, { textContent: "Your first order is kept. Keep moving lines if you like: we ran every order, so you can read what each of them does." });
  }

  words(choice, { of, outcomes, takeaway }, now = choice) {
    const { says, facts, isGood } = outcomes[of[now] ?? 0];
    const items = facts.map((fact) => [isGood ? "right" : "fact", fact]);
    return { head: `${now === choice ? "Your order" : "This order"}: ${says}`, items, foot: isGood ? takeaway : "" };
  }

  static isMeant(choice, { lines }) {
    const letters = [...choice];
    return letters.length > 0 && new Set(letters).size === letters.length && letters.every((letter) => letter in lines);
  }
}

KINDS.order = Order;
