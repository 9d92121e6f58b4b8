// The questions of a lab: one is asked at a time, presses are counted, and each has a tick once all of its answer was seen.
class LabGoals {
  ask() {
    this.goals = (this.film.goals ?? []).map(named("words", "ends"));
    this.question = 0;
    const row = element("div", "goals", this.panel, { role: "group", ariaLabel: "Questions", hidden: !this.goals.length });
    const chips = element("div", "chips", row), asks = element("div", "stack", row);
    this.tally = element("p", "tally", row);
    this.goals.forEach((goal, at) => {
      goal.chip = this.button(chips, `goal ${at}`, `${at + 1}`, "", () => this.turnTo(at));
      goal.asks = element("p", "", asks);
      // words with `code` and *names* in them
      spelled(goal.asks, goal.words, /(`[^`]+`|\*[^*]+\*)/, (part) => written(part[0] === "*" ? "b" : "code", "", goal.asks, part.slice(1, -1)));
    });
  }

  turnTo(at) {
    this.question = at;
    this.paintGoals();
    this.live.textContent = `Question ${at + 1}: ${this.goals[at].asks.textContent}`;
  }

  // What is seen now may answer any of the questions: in a state, or in what a press made of one; if an answer says what to
  // press, once that was pressed last.
  paintGoals() {
    const ran = (trail) => trail.map(([, action]) => action).filter((action) => action >= 0), all = ran(this.trail);
    const here = [this.frame, this.trail.at(-1)?.slice(0, 2)].map(String);
    this.goals.forEach(({ ends, chip, asks }, nr) => {
      const met = ends.find(([, told, stops], at) => {
        const isMet = String(all.slice(all.length - told.length).sort()) === String(told) && stops.some((stop) => here.includes(String(stop)));
        return isMet && this.seen.add(`${nr}.${at}`);
      });
      const isAsked = nr === this.question, found = ends.filter((_, at) => this.seen.has(`${nr}.${at}`)).length, isDone = found === ends.length;
      chip.classList.toggle("is-done", isDone);
      chip.ariaPressed = isAsked;
      chip.ariaLabel = `Question ${nr + 1}${isDone ? ", answered" : ""}`;
      asks.classList.toggle("is-open", isAsked);
      if (!isAsked) return;
      const done = ran(this.trail.slice(this.start.length)).length, fewest = met?.[0];
      const told = fewest ? `${done}, ${done > fewest ? "fewer will do" : "the fewest"}` : this.range ? "" : presses(done) + (ends.length > 1 ? ` · seen ${found}/${ends.length}` : "");
      this.tally.textContent = (met ? "✓ " : "") + told;
      this.tally.classList.toggle("is-met", Boolean(met));
    });
  }
}
