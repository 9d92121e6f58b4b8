// The questions of a lab: one is asked at a time, presses are counted, and each has a tick once all of its answer was seen.
class LabGoals {
  ask() {
    this.goals = (this.film.goals ?? []).map(named("words", "ends"));
    this.question = 0;
    if (!this.goals.length) return;
    const row = element("div", "goals", this.panel, { role: "group", ariaLabel: "Questions" });
    const chips = element("div", "chips", row), asks = element("div", "stack", row);
    this.chips = this.goals.map((_, at) => this.button(chips, `goal ${at}`, `${at + 1}`, "", () => this.turnTo(at)));
    this.asks = this.goals.map(({ words }) => spelled(element("p", "", asks), words));
    this.tally = element("p", "tally", row);
  }

  turnTo(at) {
    this.question = at;
    this.paintGoals();
    this.live.textContent = `Question ${at + 1}: ${this.asks[at].textContent}`;
  }

  // An answer is seen in a state, or in what a press made of one; if it says what to press, once that was pressed last.
  isMet([, told, stops]) {
    const here = [String(this.frame), String(this.trail.at(-1)?.slice(0, 2))], ran = this.ran(this.trail);
    return String(ran.slice(ran.length - told.length).sort()) === String(told) && stops.some((stop) => here.includes(String(stop)));
  }

  ran(trail) {
    return trail.map(([, action]) => action).filter((action) => action >= 0);
  }

  // What is seen now may answer any of the questions.
  paintGoals() {
    this.goals.forEach(({ ends }, nr) => {
      const isAsked = nr === this.question, chip = this.chips[nr], met = ends.find((end) => this.isMet(end));
      ends.forEach((end, at) => this.isMet(end) && this.seen.add(`${nr}.${at}`));
      const found = ends.filter((_, at) => this.seen.has(`${nr}.${at}`)).length, isDone = found === ends.length;
      chip.classList.toggle("is-done", isDone);
      chip.ariaPressed = isAsked;
      chip.ariaLabel = `Question ${nr + 1}${isDone ? ", answered" : ""}`;
      this.asks[nr].classList.toggle("is-open", isAsked);
      if (isAsked) this.count(met, found, ends.length);
    });
  }

  count(met, found, all) {
    const done = this.ran(this.trail.slice(this.start.length)).length, fewest = met?.[0];
    const told = fewest ? `${done}, ${done > fewest ? "fewer will do" : "the fewest"}` : this.turn ? "" : presses(done) + (all > 1 ? ` · ${found} of ${all}` : "");
    this.tally.textContent = (met ? "✓ " : "") + told;
    this.tally.classList.toggle("is-met", Boolean(met));
  }
}

// Words with `code` and *names* in them.
function spelled(node, words) {
  words.split(/(`[^`]+`|\*[^*]+\*)/).forEach((part, at) => (at % 2 ? element(part[0] === "*" ? "b" : "code", "", node, { textContent: part.slice(1, -1) }) : node.append(part)));
  return node;
}
