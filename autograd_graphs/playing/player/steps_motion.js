// Motion between two stops, and playing on by itself.
class StepsMotion {
  // Motion: what arrives goes into its node; what is handed on comes out, takes its factor, and goes to its place.
  move(shows, isLate) {
    const [first, last] = this.stops[this.at];
    const node = this.picture.nodes.find(({ turns }) => turns.some(([from, to]) => from <= last && to >= first));
    if (!node || first < 0) return;
    const isLeaf = node.marks[0]?.role_ === "leaf";
    // of a leaf, where it adds up
    const slot = isLeaf && node.slots.find((one) => one.after !== one.before);
    const cut = isLate && !isLeaf ? 0 : 0.36;
    const copy = (wire) => ({ wire, made: this.picture.moving.appendChild(wire.capsule.cloneNode(true)) });
    const drawn = this.picture.lines.filter(({ capsule }) => capsule);
    const copies = (end) => drawn.filter(({ times }) => times.some((time) => time[end] >= first && time[end] <= last)).map(copy);
    const came = cut ? copies(1) : [], went = !shows || isLeaf ? [] : copies(0);
    const before = came.length === 1 && came[0].made.querySelector("text")?.textContent;
    if (slot) for (const { wire, made } of came) shape("text", made, { x: -wire.box[2] / 2 - 10, y: 7, class: "player-plus" }, "+");
    for (const { wire } of went) wire.made.classList.add("is-flying");
    if (slot && shows) this.paintSlot(slot, slot.before);
    const ride = ({ wire, made }, along, size = 1) => {
      const at = wire.path.getPointAtLength(along);
      made.setAttribute("transform", `translate(${at.x} ${at.y}) scale(${size})`);
      return at;
    };
    this.tween(this.timer ? 700 : 420, (part) => {
      for (const one of came) {
        const { wire, made } = one, done = ease(part / (isLeaf ? 0.5 : cut));
        const at = ride(one, wire.along + (wire.length - wire.along) * done);
        made.style.opacity = +(part < (isLeaf ? 0.85 : cut));
        if (slot && shows && part > 0.8) this.paintSlot(slot, slot.after);
        if (slot && part > 0.5) {
          const rest = ease((part - 0.5) / 0.3);
          made.setAttribute("transform", `translate(${at.x + (slot.x - at.x) * rest} ${at.y + (slot.y - at.y) * rest})`);
        }
      }
      for (const one of went) {
        const { wire, made } = one, done = ease((part - cut) / (1 - cut));
        ride(one, wire.along * done, 0.7 + 0.3 * done);
        made.style.opacity = +(part >= cut);
        const text = made.querySelector("text");
        if (text && before && typeof wire.what === "string") text.textContent = done < 0.55 ? before : wire.what;
      }
    }, () => {
      this.picture.moving.replaceChildren();
      for (const { wire } of went) wire.made.classList.remove("is-flying");
      if (slot && shows) this.paintSlot(slot, slot.after);
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
