// Motion between two stops, and playing on by itself.
class StepsMotion {
  // Motion: what arrives goes into its node; what is handed on comes out, takes its factor, and goes to its place.
  move(shows, isLate) {
    const [first, last] = this.stops[this.at];
    const node = this.picture.nodes.find(({ turns }) => turns.some(([from, to]) => from <= last && to >= first));
    if (!node || first < 0) return;
    const slot = node.slots.find((one) => one.after !== one.before);
    const isLeaf = node.marks[0]?.role_ === "leaf";
    const cut = isLate && !isLeaf ? 0 : 0.36;
    const copy = (wire) => ({ wire, made: this.picture.moving.appendChild(wire.capsule.cloneNode(true)) });
    const drawn = this.picture.lines.filter(({ capsule }) => capsule);
    const came = cut ? drawn.filter(({ times }) => times.some(([, to]) => to >= first && to <= last)).map(copy) : [];
    const went = !shows || isLeaf ? [] : drawn.filter(({ times }) => times.some(([from]) => from >= first && from <= last)).map(copy);
    const before = came.length === 1 ? came[0].made.querySelector("text")?.textContent : undefined;
    for (const { wire, made } of came) if (isLeaf && slot) shape("text", made, { x: -wire.box[2] / 2 - 10, y: 7, class: "player-plus" }, "+");
    for (const { wire } of went) wire.made.classList.add("is-flying");
    if (isLeaf && slot && shows) this.paintSlot(slot, slot.before);
    const ride = ({ wire, made }, along, size = 1) => {
      const at = wire.path.getPointAtLength(along);
      made.setAttribute("transform", `translate(${at.x} ${at.y}) scale(${size})`);
      return at;
    };
    this.tween(this.timer ? 700 : 420, (part) => {
      for (const one of came) {
        const { wire, made } = one, done = ease(Math.min(1, part / (isLeaf ? 0.5 : cut)));
        const at = ride(one, wire.along + (wire.length - wire.along) * done);
        made.style.opacity = isLeaf ? +(part < 0.85) : +(part < cut);
        if (isLeaf && slot && shows && part > 0.8) this.paintSlot(slot, slot.after);
        if (isLeaf && slot && part > 0.5) {
          const rest = ease(Math.min(1, (part - 0.5) / 0.3));
          made.setAttribute("transform", `translate(${at.x + (slot.x - at.x) * rest} ${at.y + (slot.y - at.y) * rest})`);
        }
      }
      for (const one of went) {
        const { wire, made } = one, done = ease(Math.max(0, (part - cut) / (1 - cut)));
        ride(one, wire.along * done, 0.7 + 0.3 * done);
        made.style.opacity = +(part >= cut);
        const text = made.querySelector("text");
        if (text && before && typeof wire.what === "string") text.textContent = done < 0.55 ? before : wire.what;
      }
    }, () => {
      this.picture.moving.replaceChildren();
      for (const { wire } of went) wire.made.classList.remove("is-flying");
      if (isLeaf && slot && shows) this.paintSlot(slot, slot.after);
    });
  }

  play() {
    if (this.timer) return this.stop();
    if (this.at === this.stops.length - 1) this.go(0);
    this.timer = setInterval(() => this.tick(), PACE);
    this.buttons.get("play").textContent = "Pause";
  }

  tick() {
    if (!this.root.isConnected) return this.stop();
    this.next();
    if (this.at === this.stops.length - 1 && !this.pending()) this.stop();
  }

  stop() {
    clearInterval(this.timer);
    this.timer = 0;
    const button = this.buttons.get("play");
    if (button) button.textContent = "Play";
  }
}
