// What a lab says: the lines that were run, the sentence or the error, and a row of arithmetic.
class LabWords {
  // What makes the lab, and the last lines that were run. The pane is always as high; where a page asks for so many lines
  // (--player-lines), it makes room for those that were run.
  paintCode() {
    const { film } = this, given = this.asked("lines"), all = this.trail.filter(([, action]) => film.actions[action]?.code);
    const ran = all.slice(Math.max(0, all.findLastIndex(([, action]) => film.actions[action].isAnew)));
    const lines = ran.flatMap((one) => film.actions[one[1]].code.split("\n").map((line, nr) => [(!nr && this.error(one) ? "✗ " : "") + line, this.error(one), one === ran.at(-1) && !(this.range && nr)]));
    const from = given && between(0, film.code.length + lines.length - given, film.code.length);
    const rows = given ? given - film.code.length + from : this.rows;
    this.code.replaceChildren(...film.code.slice(from).map((textContent) => written("div", "off player-setup", null, textContent)));
    for (let at = 0; at < rows; at += 1) {
      const [words = " ", error, isNewest] = lines.slice(-rows)[at] ?? [];
      const made = element("div", error ? "error" : isNewest ? "" : "off", this.code, { title: words });
      written(isNewest ? "mark" : "span", "", made, (!at && lines.length > rows ? "… " : "") + words);
    }
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
      written("b", "", outcome, `✗ ${kind}`);
      outcome.append(`: ${first} `);
      told = outcome.textContent;
      if (error.length > kind.length + first.length + 3) {
        this.popover(outcome, "whole message");
        written("code", "", this.formula, error);
      }
    } else written("p", "say", node, words);
    if (note) written("p", "outcome", node, note);
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
    const { frame, range } = this;
    if (range) return this.film.actions.findIndex((_, at) => at === +range.value + by);
    return by < 0 ? this.about().findLast((at) => at < frame) : this.about().find((at) => at > frame);
  }
}
