// Put code into a line that may break, but not within a number: 1e-12.
function unbroken(parent, code) {
  spelled(parent, code, /([\d.]+e[-+]\d+)/i, (textContent) => written("span", "whole", parent, textContent));
}

// What is said: the program, the sentence, the arithmetic, and all of it as text.
class StepsWords {
  // The program above the graph: the line of this step, what it computed, and its operator.
  paintCode() {
    const { program } = this.film, mark = this.moment.mark;
    this.code.replaceChildren();
    program.forEach((text, at) => {
      const line = element("div", mark && mark[0] !== at ? "off" : "", this.code);
      if (mark?.[0] !== at || mark[2] <= mark[1]) return unbroken(line, text || " ");
      const [, start, stop, from, to] = mark;
      const made = element("mark", "", null);
      unbroken(made, text.slice(start, from));
      written("u", "", made, text.slice(from, to));
      unbroken(made, text.slice(to, stop));
      unbroken(line, text.slice(0, start));
      line.append(made);
      unbroken(line, text.slice(stop));
    });
  }

  words(hides) {
    const { moment } = this;
    this.title.replaceChildren();
    if (moment.health && !hides) written("span", "trouble", this.title, `▲ ${TROUBLE[moment.health]} `);
    this.title.append(this.line(moment.title));
    if (moment.kind) written("i", "", this.title, this.line(moment.kind));
    this.title.title = this.line(moment.title);
    this.say.textContent = this.line(hides ? moment.ask : moment.say);
    this.say.classList.toggle("player-error", Boolean(moment.error));
    this.eq.replaceChildren();
    this.ask.replaceChildren();
    if (!this.keepsVerdict) this.verdict.replaceChildren();
    this.fields = [];
    for (const row of moment.rows ?? []) this.row(row, hides);
    this.formulas(hides ? [] : moment.formulas ?? []);
    this.more.replaceChildren();
    if (moment.way && !hides) {
      this.more.append("the whole path: ");
      written("b", "", this.more, moment.way);
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
      const line = written("p", "", this.formula, `${this.line(name)}: `);
      written("code", "", line, this.line(rule));
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
    const trouble = TROUBLE[tensor[3]];
    Object.assign(made, { role: "img", ariaLabel: `tensor ${tensor[1]}${trouble ? `, ${trouble}` : ""}` });
    if (trouble) written("em", "", value, trouble);
  }

  // How large the gradient was at the border of each copy.
  bars(all) {
    const most = Math.max(...all.map(([, size]) => size)) || 1;
    const chart = element("div", "bars", this.more, { role: "img", ariaLabel: all.map(([name, size]) => `${name}: ${size}`).join(", ") });
    for (const [name, size] of all) {
      const bar = element("span", "", chart, { title: `${name}: norm ${size}` });
      bar.style.setProperty("--part", size / most);
    }
    const ends = element("div", "ends", this.more), into = ([name, size]) => `${size} into ${name}`;
    written("small", "", ends, `norm ${into(all[0])}`);
    written("small", "", ends, into(all.at(-1)));
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
    return way ? [...told, `the whole path: ${way}`] : told;
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
}
