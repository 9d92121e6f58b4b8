// The questions of a lab: one is asked at a time, presses are counted, and each has a tick once all of its answer was seen.
class LabGoals {
  ask() {
    const { film, panel } = this;
    this.goals = (film.goals ?? []).map(named("words", "ends"));
    this.seen = new Set(); // "question.answer"
    this.question = 0;
    if (!this.goals.length) return;
    const row = element("div", "goals", panel, { role: "group", ariaLabel: "Questions" });
    const chips = element("div", "chips", row), asks = element("div", "asks", row);
    this.chips = this.goals.map((_, at) => this.button(chips, `goal ${at}`, `${at + 1}`, "", () => this.turnTo(at)));
    this.asks = this.goals.map(({ words }) => spelled(element("p", "", asks), words));
    this.tally = element("p", "tally", row);
  }

  turnTo(at) {
    this.question = at;
    this.paintGoals();
    this.live.textContent = `Question ${at + 1}: ${this.asks[at].textContent}`;
  }

  // What is seen now may answer any of the questions; returns the presses so far.
  meet() {
    const last = this.trail.at(-1), refused = last && this.error(last), { actions } = this.film;
    const isStop = (stop) => (stop.length ? last && stop[0] === last[0] && stop[1] === last[1] : stop === this.frame && !refused);
    const ran = this.trail.map(([, action]) => action).filter((action) => action >= 0);
    const pressed = String(ran.slice(Math.max(0, ran.findLastIndex((action) => actions[action].isAnew))).sort((one, other) => one - other));
    for (const [nr, { ends }] of this.goals.entries()) {
      ends.forEach(([, told, stops], at) => {
        const isHere = (!told.length || String(told) === pressed) && stops.some(isStop);
        if (isHere) this.seen.add(`${nr}.${at}`);
        if (isHere && nr === this.question) this.met = at;
      });
    }
    return this.trail.slice(this.start.length).filter(([, action]) => action >= 0).length;
  }

  paintGoals() {
    if (!this.goals.length) return;
    this.met = null;
    const presses = this.meet(), { ends } = this.goals[this.question];
    const found = (nr) => this.goals[nr].ends.filter((_, at) => this.seen.has(`${nr}.${at}`)).length;
    this.chips.forEach((chip, nr) => {
      const isDone = found(nr) === this.goals[nr].ends.length;
      chip.classList.toggle("is-done", isDone);
      chip.ariaPressed = nr === this.question;
      chip.ariaLabel = `Question ${nr + 1}${isDone ? ", answered" : ""}`;
      this.asks[nr].classList.toggle("is-asked", nr === this.question);
    });
    const [fewest] = ends[this.met] ?? [0], count = `${presses} ${presses === 1 ? "press" : "presses"}`;
    const told = fewest ? (presses > fewest ? "fewer will do" : "the fewest") : ends.length > 1 ? `${found(this.question)} of ${ends.length}` : "";
    this.tally.textContent = (this.met === null ? "" : "✓ ") + (fewest ? `${presses}, ${told}` : [count, told].filter(Boolean).join(" · "));
    this.tally.classList.toggle("is-met", this.met !== null);
  }
}

// Words with `code` and *names* in them.
function spelled(node, words) {
  for (const [at, part] of words.split(/(`[^`]+`|\*[^*]+\*)/).entries()) {
    if (at % 2) element(part[0] === "*" ? "b" : "code", "", node, { textContent: part.slice(1, -1) });
    else node.append(part);
  }
  return node;
}
