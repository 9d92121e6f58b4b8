// A lab: a map of states that one walks by running lines. What was run is the trail, [from, action, to] each, and all
// that is seen follows from it. A way is a state, or [state, error], or ENDS, or IDLE.
class Lab extends Base {
  build() {
    const { film, root } = this, [wide, high] = film.size;
    root.classList.add("player-lab");
    film.states = film.states.map(named("title", "say", "scene", "patch", "focus", "text", "ways", "came", "chosen", "totals"));
    film.actions = film.actions.map(named("code", "does", "key", "adds", "group", "isAnew", "called"));
    Object.assign(this, { least: 620, size: film.size, guessing: false });
    this.halves();
    this.ask();
    this.svg.setAttribute("viewBox", `0 0 ${wide} ${high}`);
    this.svg.style.cssText = `--wide:${wide};--high:${high}`;
    // in a narrow room the panel makes way for the picture
    root.style.setProperty("--wide", wide);
    this.rows = Math.max(3, ...film.actions.map(({ code }) => code.split("\n").length));
    this.pane.addEventListener("click", ({ target }) => this.onPicture(target));
    this.title = element("h3", "title", this.panel);
    this.words = element("div", "saying", this.panel);
    this.eq = element("div", "eq", this.panel, { hidden: !film.stacks.length });
    const longest = Math.max(4, ...film.states.flatMap(({ totals }) => totals.map((total) => list(total).length)));
    // three of them fit a row
    this.eq.style.setProperty("--size", `${Math.min(1.19, 18 / (1.5 * longest + 2.5))}em`);
    this.controls();
    this.footer();
    this.addText();
    this.blocks = shape("g", null, { class: "player-blocks" });
  }

  // A button for each action: its name, what it does, and what is run. Of many, one group is seen at a time. Where they are
  // values of one thing that is turned, a slider.
  controls() {
    const { actions, states } = this.film, turns = actions[0]?.group === "turn";
    this.acts = element("div", turns ? "time" : "acts", this.panel);
    this.tabs = new Map();
    if (turns) this.slider(this.acts, 7, (at) => this.act(at), { max: actions.length - 1 });
    else if (actions.length > MANY) this.fold(new Set(actions.map(({ group }) => group)));
    this.actions = (turns ? [] : actions).map(({ code, does, key, group, called = "" }, at) => {
      const made = this.button(this.tabs.get(group)?.box ?? this.acts, `action ${at}`, "", "", () => this.act(at));
      Object.assign(made, { className: "player-action", ariaKeyShortcuts: key || null });
      this.keys.set(key, made);
      made.style.order = at;
      if (states.some(({ chosen }) => chosen.includes(at))) made.ariaPressed = false;
      for (const [tag, words] of [["kbd", key], ["b", called], ["small", does]]) written(tag, "", made, words);
      made.firstChild.ariaHidden = true;
      // breaks before its brackets
      const line = element("code", "", made);
      spelled(line, code, /()(?=\()/, () => element("wbr", "", line));
      return made;
    });
    const bar = this.controlBar = element("div", "bar", this.panel);
    if (!turns) this.button(bar, "undo", "Undo", "u", () => this.walk(this.trail.slice(0, -1)));
    this.button(bar, "reset", "Reset", "r", () => this.restart());
    this.rest = element("span", "rest", bar);
    if (!turns && !states.some(({ focus }) => focus)) return;
    for (const [name, as, words, key, by] of [["earlier", "back", "◀ Back", "←", -1], ["later", "next", "Next ▶", "→", 1]]) {
      this.button(bar, name, words, key, () => this.jump(this.around(by))).classList.toggle(`player-${as}`, turns);
    }
  }

  fold(groups) {
    const tabs = element("div", "chips", this.acts), stack = element("div", "stack", this.acts);
    for (const name of groups) if (name) this.tabs.set(name, { tab: this.button(tabs, `group ${name}`, name, "", () => this.open(name)), box: element("div", "acts", stack) });
    this.open([...this.tabs.keys()][0]);
  }

  open(group) {
    if (this.tabs.has(group)) for (const [name, { tab, box }] of this.tabs) box.classList.toggle("is-open", tab.ariaPressed = name === group);
  }

  footer() {
    const { actions, legend, roles } = this.film;
    const used = actions.map(({ key }) => key).filter(Boolean), first = used[0], last = used.at(-1);
    const keys = first ? [[first, "to"], [last, "run"], ["u", "undo"]] : [];
    keys.push(["r", "reset"]);
    if (this.buttons.has("later")) keys.push(["← →", this.range ? "turn" : "node"]);
    if (this.goals.length > 1) keys.push(["q", "next question"]);
    this.keysLine(this.panel, keys, `lab, then press ${first ? `${first} to ${last}` : "→"}`);
    this.legend = element("div", "legend", element("div", "foot", this.panel));
    for (const [role, state, words] of legend) this.sample(this.entry(words), roles[role] ?? role, roles[state] ?? state);
  }

  bringBarHome() {
    this.acts.after(this.controlBar);
  }

  // What was done before: the answers that were seen ("question.answer"), and the trail.
  begin({ frame, done: [seen, trail] = [] }) {
    let at = 0;
    this.seen = new Set(seen);
    this.start = this.film.start.map((action) => [at, action, (at = this.target(at, action))]);
    this.showFrame(frame ?? at, trail);
  }

  get frame() {
    return this.trail.at(-1)?.[2] ?? 0;
  }

  get state() {
    return this.film.states[this.frame];
  }

  get isStart() {
    return String(this.trail) === String(this.start);
  }

  // Action -1 goes on to the next node.
  target(from, action) {
    const { states } = this.film, [to] = [states[from].ways[action]].flat();
    if (action < 0) return states.findIndex(({ focus, scene }, at) => at > from && focus && scene === states[from].scene);
    return to < 0 ? from : to;
  }

  // What a line of the trail raised.
  error([from, action]) {
    return this.line(this.film.states[from].ways[action]?.[1]);
  }

  // Of a state that somebody sets only the shortest trail is known.
  showFrame(frame, trail) {
    const { states } = this.film;
    this.trail = this.start;
    if (frame !== this.frame) this.trail = [];
    for (let at = between(0, frame, states.length - 1); at !== this.frame && states[at].came?.[0] < at; [at] = states[at].came) this.trail = [[...states[at].came, at], ...this.trail];
    if (trail?.at?.(-1)?.[2] === this.frame) this.trail = trail;
    this.show();
  }

  act(action) {
    this.walk([...(this.range ? [] : this.trail), [this.frame, action, this.target(this.frame, action)]], true);
  }

  jump(to) {
    if (this.range) this.act(to);
    else if (to !== undefined && to !== this.frame) this.walk([...this.trail, [this.frame, -1, to]]);
  }

  walk(trail, drops = false) {
    this.trail = trail;
    this.show(drops);
    this.save({ frame: this.frame, done: [[...this.seen], trail] });
  }

  show(drops = false) {
    this.finish?.();
    const hurries = this.hurries();
    this.paint();
    this.fit();
    if (drops && !hurries && this.fresh.length) this.drop();
  }

  paint() {
    const { title, say, ways, chosen } = this.state, last = this.trail.at(-1);
    this.heaps = this.film.stacks.map((_, nr) => this.heap(nr));
    this.paintCode();
    this.paintPicture();
    this.paintStacks();
    this.paintRow();
    this.paintGoals();
    this.open(this.film.actions[last?.[1]]?.group);
    this.title.textContent = this.line(title);
    const outcome = this.say(this.words, this.line(say), last ? this.error(last) : "", last && !this.isStart ? this.note(last) : "");
    this.actions.forEach((button, at) => {
      button.ariaDisabled = ways[at] === ENDS;
      button.classList.toggle("is-last", !this.isStart && last?.[1] === at);
      if (button.ariaPressed) button.ariaPressed = chosen.includes(at);
    });
    if (this.range) {
      this.range.value = last[1];
      this.range.ariaLabel = this.range.ariaValueText = this.count.textContent = this.film.actions[last[1]].called;
    }
    if (this.film.left) this.rest.textContent = `${presses(this.film.left[this.frame])} left`;
    this.enable({ undo: this.trail.length && !this.isStart, reset: !this.isStart, earlier: this.around(-1) >= 0, later: this.around(1) >= 0 });
    this.tell();
    this.live.textContent = outcome || [this.line(title), this.line(say), ...[...this.eq.querySelectorAll("b")].map((one) => one.textContent)].filter(Boolean).join(" ");
  }

  press(key) {
    if (key === "q" && this.goals.length) return this.turnTo((this.question + 1) % this.goals.length);
    return this.click(key);
  }

  tell() {
    if (this.told.open) this.text.textContent = this.state.text.map((line) => this.line(line)).join("\n");
  }

  restart() {
    this.walk(this.start);
  }
}

const [ENDS, IDLE] = [-1, -2];
// actions: of more than that, one group is seen at a time
const MANY = 6;
const LAB = {
  end: "no press left: undo or reset", idle: "∅ no error, and nothing you can see has changed", moved: "it failed, but something has changed all the same",
  undo: "there is nothing to undo", reset: "this is the start", earlier: "this is the first", later: "this is the last",
};

const presses = (count) => `${count} press${count === 1 ? "" : "es"}`;
const CLOSE = [["", 1], ["is-dense", 1], ["is-dense", 0.93]];

withJobs(Lab, LabGoals, LabWords, LabPicture, LabStacks, LabRoom);
