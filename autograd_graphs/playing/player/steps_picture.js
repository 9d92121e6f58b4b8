// What is drawn of a view: its nodes and wires, and how they look at a stop.
const WIRE = named("d", "arrow", "box", "what", "times", "factor", "x", "y");

class StepsPicture {
  // The picture of a view is made when it is first seen: a group for each node and each wire.
  draw(number) {
    const scene = this.film.scenes[number], group = shape("g");
    const under = shape("g", group);
    for (const one of scene.marks[0]) this.mark(one, under);
    const starts = scene.starts.map(([d, arrow, box, what, node]) => [d, arrow, box, what, [-1, scene.turns[node][0][0] ?? 0]]);
    const lines = [...starts, ...scene.wires].map((wire) => this.drawWire(WIRE(wire), group));
    const nodes = scene.turns.map(([stretches, freed, inside, opens], node) => {
      const made = shape("g", group, { class: "player-node" });
      const marks = scene.marks[node + 1].map((one) => this.mark(one, made));
      if (opens) made.dataset.opens = "";
      return { made, marks, turns: pairs(stretches), freed, inside, opens: pairs(opens ?? []), slots: [] };
    });
    for (const [node, x, y, width, height, before, after] of scene.slots) {
      const made = shape("g", nodes[node].made, { class: "player-grad" });
      shape("rect", made, { x, y, width, height, rx: 5 });
      nodes[node].slots.push({ made, content: shape("g", made), x: x + width / 2, y: y + height / 2, width, before, after });
    }
    for (const [node, x, y] of scene.corners) {
      const [tick, alarm] = ["tick", "alarm"].map((name) => shape("g", nodes[node].made, { class: `player-${name}`, transform: `translate(${x + 1} ${y + 1})` }));
      shape("circle", tick, { r: 8.5 });
      shape("path", tick, { d: "M-4 0l3 3.5 5.5-7" });
      shape("path", alarm, { d: "M0-10l11 18h-22z" });
      shape("text", alarm, { y: 6 }, "!");
    }
    nodes.forEach(({ made }, node) => made.addEventListener("click", () => this.onNode(node)));
    const made = { group, lines, nodes, moving: shape("g", group, { class: "player-moving" }) };
    this.drawn.set(number, made);
    return made;
  }

  drawWire(wire, parent) {
    const made = shape("g", parent, { class: "player-wire" });
    Object.assign(wire, { made, path: shape("path", made, { d: wire.d }), times: pairs(wire.times) });
    shape("polygon", made, { points: wire.arrow });
    if (wire.box) {
      const [x, y, width, height] = wire.box;
      wire.capsule = shape("g", made, { class: "player-capsule", transform: `translate(${x + width / 2} ${y + height / 2})` });
      shape("rect", wire.capsule, { x: -width / 2, y: -height / 2, width, height, rx: height / 2 });
      wire.content = shape("g", wire.capsule);
    }
    if (wire.y) wire.gate = shape("text", made, { class: "player-gate", x: wire.x, y: wire.y });
    return wire;
  }

  // What a capsule or a slot shows, around the middle: words, or a tensor.
  fill(group, what, wide = 64) {
    if (group.shown === what) return;
    group.shown = what;
    group.replaceChildren();
    const tensor = typeof what === "number" ? this.film.tensors[what] : null;
    if (!tensor?.[0]) return shape("text", group, { y: 5 }, tensor ? tensor[1] : what ?? "…");
    const made = tile(tensor, wide, 18, group);
    for (const [at, size] of [["x", "width"], ["y", "height"]]) made.setAttribute(at, -made.getAttribute(size) / 2);
  }

  // Where along its wire a capsule sits.
  measure(wire) {
    const { path, box } = wire;
    if (wire.length) return;
    wire.length = path.getTotalLength();
    if (!box) return;
    const [x, y] = [box[0] + box[2] / 2, box[1] + box[3] / 2];
    let least = Infinity;
    for (let at = 0; at <= 40; at += 1) {
      const point = path.getPointAtLength((wire.length * at) / 40);
      const far = Math.hypot(point.x - x, point.y - y);
      if (far < least) [least, wire.along] = [far, (wire.length * at) / 40];
    }
  }

  paintNodes(hides) {
    const [first, last] = this.stops[this.at], { trouble } = this.film;
    this.picture.nodes.forEach((node, number) => {
      const isNow = node.turns.some(([from, to]) => from <= last && to >= first);
      const had = node.turns.reduce((sum, [from, to]) => sum + Math.max(0, Math.min(to, last) - from + 1), 0);
      const state = isNow ? "now" : had && had === node.inside ? "done" : "";
      const frees = node.freed >= 0 && node.freed < last;
      const isAlarm = (this.moment.error && number === this.scene.stopped) || (trouble !== null && last >= trouble + hides && node.turns.some(([from, to]) => from <= trouble && trouble <= to));
      node.made.setAttribute("class", names("player-node", isAlarm && "is-alarm", state && `is-${state}`, number === this.match && "is-match"));
      for (const mark of node.marks) {
        if (/^(operation|leaf)$/.test(mark.role_)) this.wear(mark, mark.role_, state || mark.state_);
        if (mark.state_ === "held") this.wear(mark, mark.role_, frees ? "freed" : "held");
      }
      const isFilled = had === node.inside && had > 0 && !(isNow && hides);
      for (const slot of node.slots) this.paintSlot(slot, isFilled ? slot.after : isNow && hides ? "?" : slot.before);
    });
  }

  paintSlot(slot, what) {
    slot.made.setAttribute("class", names("player-grad", what !== null && "is-full"));
    this.fill(slot.content, what ?? "None", slot.width - 12);
    slot.content.setAttribute("transform", `translate(${slot.x} ${slot.y})`);
  }

  paintWires(hides) {
    const [first, last] = this.stops[this.at];
    for (const wire of this.picture.lines) {
      const begun = wire.times.filter(([from]) => from <= last);
      const isNew = begun.some(([from]) => from >= first) && first >= 0;
      let state = "";
      if (begun.some(([, to]) => to >= first && to <= last)) state = "now";
      else if (begun.some(([, to]) => to > last)) state = "next";
      else if (begun.length && begun.length === wire.times.length) state = "done";
      wire.made.setAttribute("class", names("player-wire", state && `is-${state}`, isNew && !hides && "is-new"));
      // nothing to come can be found in the page
      if (wire.content) this.fill(wire.content, isNew && hides ? "?" : state ? wire.what : "", wire.box[2] - 12);
      if (wire.gate) wire.gate.textContent = isNew && !hides ? `× ${wire.factor}` : "";
    }
  }
}
