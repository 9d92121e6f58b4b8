// Numbers as blocks that pile up.
class LabStacks {
  // What lies in a stack: what an action adds, where it says so and it is so, on what was there; else the total is one
  // block. What is 0 has none.
  heap(nr) {
    const { states, actions } = this.film;
    let parts = [], was = 0, isNew = false;
    for (const [, action, to] of [[0, -1, 0], ...this.trail]) {
      const total = states[to].totals[nr], adds = actions[action]?.adds, isOther = String(total) !== String(was);
      isNew = total && adds && isOther && total.every((sum, at) => Math.abs(sum - (was[at] ?? 0) - adds[at]) < 1e-4);
      if (!total) parts = [];
      else if (isOther) parts = was && isNew ? [...parts, adds] : [total];
      was = total;
    }
    return { layers: parts.filter((part) => part.some(Boolean)), isNew };
  }

  paintStacks() {
    this.blocks.replaceChildren();
    this.fresh = [];
    this.film.stacks.forEach((stack, nr) => {
      const { layers, isNew } = this.heaps[nr], total = this.state.totals[nr] || [];
      total.forEach((sum, column) => this.pile(stack, column, sum, layers.map((layer) => layer[column]), isNew));
    });
  }

  // One column: a block for each number on those before, and over them their sum.
  pile([, x, base, step, unit, wide], column, sum, numbers, isNew) {
    const middle = x + step * column + wide / 2;
    let top = base;
    shape("path", this.blocks, { class: "player-base", d: `M${middle - step / 2} ${base}h${step}` });
    numbers.forEach((number, at) => {
      if (!number) return;
      const made = shape("g", this.blocks), isFresh = isNew && at === numbers.length - 1, height = Math.abs(number * unit);
      top -= number * unit;
      shape("rect", made, { class: names("m-block", isFresh && "s-now"), x: middle - wide / 2, y: top + 2 - (number < 0 && height), width: wide, height: Math.max(1, height - 3), rx: 3 });
      if (height > 10) shape("text", made, { x: middle, y: top + number * unit / 2 + 5 }, (at ? "+ " : "") + short(number));
      if (isFresh) this.fresh.push(made);
    });
    shape("text", this.blocks, { class: "player-sum", x: middle, y: Math.min(top, base) - 9 }, short(sum));
  }

  drop() {
    const draw = (part) => this.fresh.forEach((one) => { one.style.cssText = `transform:translateY(${-120 * (1 - part) ** 3}px);opacity:${2 * part}`; });
    this.tween(420, draw, () => this.fresh.forEach((one) => { one.style.cssText = ""; }));
  }
}
