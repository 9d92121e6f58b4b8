// Where one is: the stops of a film, and the ways into a folded part and out of it.
class StepsWalk {
  show(view, at, by = 0) {
    this.finish?.();
    if (view !== this.view) {
      this.view = view;
      this.picture = this.drawn.get(view) ?? this.draw(view);
      this.svg.replaceChildren(this.picture.group);
      for (const wire of this.picture.lines) this.measure(wire);
      this.camera = null;
      this.match = null;
      if (this.range) this.range.max = this.stops.length - 1;
      this.drawLegend();
      this.bar.hidden = this.isSmall && this.finder.hidden;
    }
    this.at = between(0, at, this.stops.length - 1);
    this.isRevealed = false;
    const hurries = this.hurries();
    this.paint();
    this.fit();
    if (by === 1 && !hurries) this.move(!this.pending());
  }

  visit(view, at, guessing = this.guessing, by = 0) {
    this.guessing = guessing;
    this.show(view, at, by);
    this.save({ frame: this.frame, guessing });
  }

  go(at) {
    at = between(0, at, this.stops.length - 1);
    if (at !== this.at) this.visit(this.view, at, this.guessing, at - this.at);
  }

  next() {
    if (this.pending()) return this.reveal();
    this.go(this.at + 1);
  }

  pending() {
    return this.guessing && !this.isRevealed && Boolean(this.moment.rows?.some((row) => row.some((cell) => cell[3])));
  }

  // The folded node that one can look into, and its step: where one is, else the next; in a graph without steps the first.
  folded() {
    const { steps } = this.film, [step = -1] = this.ahead(this.at) ?? this.ahead() ?? [];
    return [this.picture.nodes.findIndex(({ turns, opens }) => (steps ? turns.some(([first, last]) => first <= step && step <= last) : opens.length)), step];
  }

  // What is folded and comes next, or has just been stepped over.
  ahead(at = this.at + 1) {
    const stop = this.stops[at];
    return stop && stop[1] > stop[0] ? stop : undefined;
  }

  boxOf(node) {
    return this.picture.nodes[node].made.getBBox();
  }

  // The same step in the view in which a folded node is open.
  opened(node, step) {
    return this.picture.nodes[node]?.opens.findLast(([from]) => from <= step)?.[1];
  }

  into() {
    this.open(...this.folded());
  }

  open(node, step) {
    const view = this.opened(node, step);
    if (view) this.visit(view, this.stopAt(view, step));
  }

  fold() {
    if (this.view) this.visit(this.scene.parent, this.stopAt(this.scene.parent, this.stops[this.at][1]));
  }

  stopAt(view, step) {
    return Math.max(0, this.film.scenes[view].at.findIndex(([, last]) => last >= step));
  }

  onNode(node) {
    focus(this.root);
    if (this.wasDragged) return;
    const [first, last] = this.stops[this.at];
    const { turns, opens } = this.picture.nodes[node], name = this.scene.names[node];
    if (opens.length) {
      const turn = turns.find(([from, to]) => to >= first && from <= last) ?? turns.find(([from]) => from > last) ?? turns.at(-1);
      this.open(node, turn?.[0] ?? -1);
      // who explores a graph reads what was opened
      return void (this.film.steps || (this.verdict.textContent = name));
    }
    this.verdict.textContent = name;
    if (!this.film.steps) return;
    this.stop();
    const about = turns.map(([from]) => this.stopAt(this.view, from));
    if (about.length) this.go(about.find((at) => at > this.at) ?? about[0]);
  }
}
