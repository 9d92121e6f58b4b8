// One real backward, step by step: its parts, what is seen at a stop, and the keys. The files steps_*.js have its other jobs.
class Steps extends Base {
  build() {
    const { film } = this;
    film.offsets = [0];
    // on its side where the page asks for it, as slides do
    if (this.asked("lying") && film.scenes.every(({ lying }) => lying)) {
      this.root.classList.add("player-flat");
      for (const scene of film.scenes) Object.assign(scene, scene.lying);
    }
    for (const scene of film.scenes) {
      scene.at = scene.stops ? chunks(scene.stops, 3) : Array.from({ length: film.steps ? film.steps + 2 : 1 }, (_, at) => [at - 1, at - 1, at]);
      film.offsets.push(film.offsets.at(-1) + scene.at.length);
    }
    Object.assign(this, { least: 560, drawn: new Map() });
    this.tools(this.halves());
    this.code.hidden = !film.program.length;
    this.controls();
    this.title = element("h3", "title", this.panel);
    this.say = element("p", "say", this.panel);
    for (const name of ["eq", "more", "ask"]) this[name] = element("div", name, this.panel);
    this.verdict = element("p", "verdict", this.panel, { ariaLive: "polite" });
    this.footer();
    this.addText();
    this.drag();
  }

  controls() {
    const bar = this.controlBar = element("div", "bar", this.panel);
    if (this.film.steps) {
      this.button(bar, "back", "◀ Back", "←", () => this.go(this.at - 1));
      this.button(bar, "next", "Next ▶", "→", () => this.next());
      this.button(bar, "play", "Play", "space", () => this.play());
      this.button(bar, "guess", "Guess", "g", () => this.visit(this.view, this.at, !this.guessing));
    }
    if (this.film.scenes.length > 1) {
      this.button(bar, "into", this.film.steps ? "Step into" : "Unfold", "i", () => this.into());
      this.button(bar, "fold", "Fold", "f", () => this.fold());
    }
    if (this.film.steps) {
      const go = (at) => { this.stop(); this.go(at); };
      this.slider(element("div", "time", this.panel), 9 + 2 * String(this.film.steps).length, go, { ariaLabel: "Step" });
    }
    const keys = this.film.steps ? [["← →", "step"], ["space", "play"], ["g", "guess"]] : [];
    if (this.film.scenes.length > 1) keys.push(["i", "into"], ["f", "fold"]);
    if (this.film.trouble !== null) keys.push(["n", "first trouble"]);
    if (!this.isSmall) keys.push(["/", "search"]);
    this.keysLine(this.panel, keys, this.film.steps ? "player, then press \u2192" : "picture for its keys");
  }

  tools(parent) {
    const bar = this.bar = element("div", "tools", parent);
    this.finder = element("input", "finder", bar, { type: "text", placeholder: "name or operation", ariaLabel: "Search", hidden: true });
    this.found = element("span", "found", bar, { ariaLive: "polite" });
    this.finder.addEventListener("input", () => this.search(0));
    this.finder.addEventListener("keydown", (event) => {
      if (isPages(event)) return;
      if (event.key === "Enter") this.search(1);
      if (event.key === "Escape") this.hideFinder();
      event.stopPropagation();
    });
    this.button(bar, "find", "Search", "/", () => this.showFinder());
    this.button(bar, "smaller", "−", "-", () => this.zoom(0.8)).ariaLabel = "Smaller";
    this.button(bar, "larger", "+", "+", () => this.zoom(1.25)).ariaLabel = "Larger";
    this.button(bar, "whole", "Fit", "0", () => this.whole());
  }

  footer() {
    const foot = element("div", "foot", this.panel);
    this.popover(foot, "torch’s own formula");
    this.bytes = element("p", "bytes", foot);
    this.legend = element("div", "legend", foot);
    for (const remark of this.film.remarks) written("p", "remark", foot, remark);
  }

  begin(state) {
    this.guessing = Boolean(state.guessing);
    this.view = -1;
    this.showFrame(state.frame ?? this.film.start);
  }

  restart() {
    this.stop();
    this.showFrame(this.film.start, false);
  }

  showFrame(wanted, guessing = this.guessing) {
    const frame = between(0, wanted, this.film.offsets.at(-1) - 1);
    const view = this.film.offsets.findLastIndex((from) => from <= frame);
    this.guessing = guessing;
    this.show(view, frame - this.film.offsets[view]);
  }

  get frame() {
    return this.film.offsets[this.view] + this.at;
  }

  get isSmall() {
    return this.film.scenes.every((scene) => scene.turns.length <= FEW);
  }

  get scene() {
    return this.film.scenes[this.view];
  }

  get stops() {
    return this.scene.at;
  }

  get moment() {
    return this.film.moments[this.stops[this.at][2]];
  }

  get size() {
    return this.scene.size;
  }

  paint() {
    const hides = this.pending();
    this.paintNodes(hides);
    this.paintWires(hides);
    this.paintCode();
    this.words(hides);
    this.paintControls(hides);
    this.tell();
    if (this.said !== this.frame || hides !== this.saidHiding) this.live.textContent = this.spoken(hides);
    [this.said, this.saidHiding] = [this.frame, hides];
  }

  paintControls(hides) {
    const { at, film, stops } = this, isLast = at === stops.length - 1;
    this.enable({ back: at > 0, next: hides || !isLast, into: this.opened(...this.folded()), fold: this.view > 0 });
    if (!film.steps) return;
    const of = (name) => this.buttons.get(name);
    if (of("into")) of("into").textContent = this.ahead(at) ? "Look inside" : "Step into";
    of("next").textContent = hides ? "Show" : this.ahead() ? "Step over" : "Next ▶";
    of("guess").ariaPressed = this.guessing;
    this.range.value = at;
    const words = at === 0 ? `${stops.length - 2} steps` : isLast ? "the end" : `step ${at} of ${stops.length - 2}`;
    this.range.ariaValueText = this.count.textContent = words;
  }

  drawLegend() {
    const { scene, film } = this;
    this.legend.replaceChildren();
    const kinds = new Set([...scene.wires.map((wire) => wire[3]), ...scene.slots.map((slot) => slot[6])].filter((what) => typeof what === "number").map((what) => film.tensors[what][0]));
    const more = { freed: scene.turns.some(([, freed]) => freed >= 0), next: film.steps, squares: kinds.has(1), bars: kinds.has(2) };
    for (const key of new Set([...scene.keys, ...Object.keys(more).filter((one) => more[one])])) this.sample(this.entry(typeof key === "string" ? LEGEND[key] ?? key : key[1]), key);
  }

  sample(parent, key) {
    if (typeof key !== "string") for (let nr = 0; nr < key[0]; nr += 1) shape("rect", parent, { x: 6 * nr + 2, y: 1, width: 4, height: 14, class: "m-bar" });
    else if (key === "held" || key === "freed") super.sample(parent, "saved", key);
    else if (key === "next") super.sample(parent, "capsule", key);
    else if (key === "folded") for (const by of [4, 0]) shape("rect", parent, { x: 1 + by, y: 1 + by, width: 20, height: 10, rx: 3, class: "m-operation" });
    else if (key === "squares" || key === "bars") {
      shape("path", parent, { class: "player-below", d: key === "bars" ? "M3 15V8h6v7z" : "M3 4h8v8h-8z" });
      shape("path", parent, { class: "player-above", d: key === "bars" ? "M16 15V3h6v12z" : "M15 4h9v9h-9z" });
    } else super.sample(parent, key);
  }

  press(key, event) {
    if (event.shiftKey && key.startsWith("Arrow")) return this.pan(...{ ArrowLeft: [80, 0], ArrowRight: [-80, 0], ArrowUp: [0, 80], ArrowDown: [0, -80] }[key]);
    if (this.pending() && /^[-.\d[(ni]$/.test(key)) return focus(this.fields.find((field) => !field.value) ?? this.fields[0]), false;
    const { steps, trouble } = this.film, to = { Home: 0, End: Infinity, n: trouble === null ? undefined : this.stopAt(this.view, trouble) }[key];
    if (!steps) return this.click(key);
    if (key === " ") return this.pending() ? this.reveal() : this.play();
    if (to !== undefined || /^(Enter|Arrow(Left|Right))$/.test(key)) this.stop();
    if (key === "Enter") return this.pending() && this.reveal();
    return to === undefined ? this.click(key) : this.go(to);
  }
}

withJobs(Steps, StepsPicture, StepsWalk, StepsWords, StepsGuess, StepsCamera, StepsFinder, StepsMotion);
