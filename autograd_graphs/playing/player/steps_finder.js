// Looking for a node by its name or operation.
class StepsFinder {
  showFinder() {
    this.bar.hidden = this.finder.hidden = false;
    this.fit();
    focus(this.finder);
    this.finder.select();
  }

  hideFinder() {
    this.finder.hidden = true;
    this.bar.hidden = this.isSmall;
    this.fit();
    this.found.textContent = "";
    this.match = null;
    this.paintNodes(this.pending());
    focus(this.root);
  }

  // Nodes by name or operation: those of this view first, then those inside what is folded here.
  search(by) {
    const wanted = this.finder.value.trim().toLowerCase();
    const inView = (view) => this.film.scenes[view].names.flatMap((name, node) => (name.toLowerCase().includes(wanted) ? [[view, node]] : []));
    const home = inView(this.view), nameOf = ([view, node]) => this.film.scenes[view].names[node];
    const told = new Set(home.map(nameOf));
    // a node is in many views
    const isNew = (one) => !told.has(nameOf(one)) && told.add(nameOf(one));
    const others = [...this.film.scenes.keys()].filter((view) => view !== this.view).flatMap(inView).filter(isNew);
    const all = wanted ? [...home, ...others] : [];
    this.hit = wanted === this.wanted && all.length ? (this.hit + by) % all.length : 0;
    this.wanted = wanted;
    this.found.textContent = wanted ? (all.length ? `${this.hit + 1} of ${all.length}` : "nothing found") : "";
    if (!all.length) this.match = null;
    else this.see(...all[this.hit]);
    this.paintNodes(this.pending());
  }

  see(view, node) {
    if (view !== this.view) this.visit(view, this.stopAt(view, this.stops[this.at][1]));
    this.match = node;
    const { x, y, width, height } = this.boxOf(node);
    this.look({ x: x + width / 2, y: y + height / 2 });
  }
}
