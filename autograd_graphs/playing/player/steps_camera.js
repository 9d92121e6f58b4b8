// Room: the size of words, and which piece of a large picture is in sight.
class StepsCamera {
  fit() {
    if (!this.resize()) return;
    this.roomForWords();
    this.fitWords();
    this.frameCamera();
  }

  bringBarHome() {
    this.panel.prepend(this.controlBar);
  }

  roomForWords() {
    const key = `${this.say.clientWidth} ${this.unit}`;
    if (this.roomKey === key) return;
    this.roomKey = key;
    const texts = new Set(this.film.moments.flatMap(({ say, ask }) => [this.line(say), this.line(ask)]));
    this.keepRoom(this.say, [...texts].sort((a, b) => b.length - a.length).slice(0, 6), (sizer, text) => { sizer.textContent = text; });
  }

  // The largest of several sizes at which the arithmetic fits; the same for guess and answer.
  fitWords() {
    this.panel.classList.remove("is-crowded");
    for (const size of SIZES) {
      this.eq.style.setProperty("--size", `${size}em`);
      this.eq.classList.toggle("is-tight", size < 1.2);
      const isIn = this.eq.scrollWidth <= this.eq.clientWidth + 1 && (!this.isWide || this.panel.scrollHeight <= this.panel.clientHeight + 1);
      if (isIn) return;
    }
    this.panel.classList.add("is-crowded");
  }

  // The camera: the whole picture where it can be read, else as large as needed, and what has its turn in sight.
  frameCamera() {
    const [wide, high, width, height] = this.sides();
    if (!wide || !high) return;
    const em = this.unit / 15, least = this.asked("least") ? 0.9 * em : this.unit >= 24 ? 1.03 * em : 0.81;
    if (!this.camera || this.camera.isOurs) {
      const scale = Math.max(Math.min(wide / width, high / height, 1.35 * em), least);
      this.camera = { scale, x: this.camera?.x ?? width / 2, y: this.camera?.y ?? 0, isOurs: true };
    }
    this.follow();
    this.aim();
  }

  // Bring what has its turn into sight where the picture is larger than its pane.
  follow() {
    const { camera } = this, [wide, high, width, height] = this.sides();
    const [halfWide, halfHigh] = [wide / camera.scale / 2, high / camera.scale / 2];
    const now = this.picture.nodes.findIndex(({ made }) => made.classList.contains("is-now"));
    const node = now < 0 && !this.at && this.scene.starts.length ? this.scene.starts[0][4] : now;
    if (node >= 0) this.bringIn(node, halfWide, halfHigh);
    camera.x = width <= 2 * halfWide ? width / 2 : between(halfWide, camera.x, width - halfWide);
    camera.y = height <= 2 * halfHigh ? height / 2 : between(halfHigh, camera.y, height - halfHigh);
  }

  // A node, and what it hands on where that fits, too.
  bringIn(node, halfWide, halfHigh) {
    const { camera } = this, around = 60, own = this.boxOf(node);
    const news = this.picture.lines.filter(({ made, box }) => box && made.matches(".is-new")).map(({ box: [x, , width] }) => ({ x, width }));
    const all = [own, ...news], x = Math.min(...all.map((one) => one.x)), width = Math.max(...all.map((one) => one.x + one.width)) - x;
    const box = width < 2 * halfWide ? { x, width } : own, beside = Math.min(around, halfWide - box.width / 2);
    camera.x = Math.min(Math.max(camera.x, box.x + box.width + beside - halfWide), box.x - beside + halfWide);
    if (own.y - around < camera.y - halfHigh || own.y + own.height + around > camera.y + halfHigh) camera.y = own.y + own.height / 2;
  }

  // Of the pane, and of the picture.
  sides() {
    return [this.pane.clientWidth, this.pane.clientHeight, ...this.scene.size];
  }

  aim() {
    const { x, y, scale } = this.camera, [wide, high] = this.sides();
    this.svg.setAttribute("viewBox", [x - wide / scale / 2, y - high / scale / 2, wide / scale, high / scale].join(" "));
  }

  // What a reader asks to see.
  look(camera) {
    this.camera = { ...this.camera, ...camera, isOurs: false };
    this.aim();
  }

  zoom(by) {
    this.look({ scale: between(0.1, this.camera.scale * by, 6) });
  }

  whole() {
    const [wide, high, width, height] = this.sides();
    this.look({ scale: Math.min(wide / width, high / height, 1.35 * this.unit / 15), x: width / 2, y: height / 2 });
  }

  pan(dx, dy) {
    const { x, y, scale } = this.camera;
    this.look({ x: x - dx / scale, y: y - dy / scale });
  }

  drag() {
    let from = null;
    this.pane.addEventListener("pointerdown", (event) => {
      from = [event.clientX, event.clientY];
      this.wasDragged = false;
    });
    this.pane.addEventListener("pointermove", (event) => {
      if (!from || !event.buttons) return;
      const [dx, dy] = [event.clientX - from[0], event.clientY - from[1]];
      if (!this.wasDragged && Math.hypot(dx, dy) < 5) return;
      this.wasDragged = true;
      from = [event.clientX, event.clientY];
      this.pan(dx, dy);
    });
    this.pane.addEventListener("wheel", (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      this.zoom(event.deltaY < 0 ? 1.1 : 0.9);
    }, { passive: false });
    this.pane.addEventListener("click", () => focus(this.root));
  }
}
