// The picture of a state, and what in it is other than before the last line.
class LabPicture {
  // How each mark of a state looks, where it is not as its scene has it.
  looks(frame) {
    const { states, scenes, looks } = this.film, { scene, patch } = states[frame], worn = new Map(pairs(patch));
    return scenes[scene].map((mark, at) => [mark, looks[worn.get(at)]]);
  }

  paintPicture() {
    const { marks, owned } = this.film, looks = this.looks(this.frame), news = this.news(looks);
    this.svg.replaceChildren(...looks.map(([mark, look]) => {
      const [kind, role, state, ...rest] = marks[mark], [ownRole, ownState, runs] = look ?? [role, state];
      const node = this.mark([kind, ownRole, ownState, ...rest]);
      node.classList.toggle("is-fresh", news.includes(mark));
      if (runs) this.write(node, runs);
      if (this.about(owned[mark] || -1).length) node.dataset.link = owned[mark];
      return node;
    }), this.blocks);
  }

  // The marks of one thing each. A box keeps its place; a card is known by its words, all but its tag, or by its name.
  groups(looks) {
    const { marks, owned, roles } = this.film;
    return [...Map.groupBy(looks, ([mark]) => owned[mark])].map(([owner, all]) => {
      const [, nr, , ...from] = marks[all[0][0]], kind = owner && roles[nr].slice(0, 3), isCard = kind && !/tag|row|edg/.test(kind);
      const parts = all.map(([mark, look]) => {
        const [tag, role, state, ...rest] = marks[mark];
        return [mark, String([role, look?.[1] ?? state, tag === 4 && (look?.[2] || rest.slice(2))]), isCard && /^tag/.test(roles[role])];
      });
      const words = parts.filter((part) => !part[2]).map((part) => part[1]);
      return { parts, isCard, isWire: kind === "edg", from, keys: isCard ? [String(words), words[1]?.split(" =")[0]] : [owner, owner] };
    });
  }

  // The marks that look other than before the last line: what found no partner there; none where it is another picture.
  news(looks) {
    const last = this.trail.at(-1);
    if (!last || last[1] < 0 || this.isStart) return [];
    const before = this.groups(this.looks(last[0])), now = this.groups(looks);
    for (const by of [0, 1]) {
      for (const one of now.toReversed()) {
        one.was ??= before.findLast((old) => !old.isTaken && old.keys[by] === one.keys[by]);
        if (one.was) one.was.isTaken = true;
      }
    }
    const meets = ([x, y]) => now.some(({ isCard, was, from: [left, top, wide, high] }) => isCard && !was && x > left - 12 && x < left + wide + 12 && y > top - 12 && y < top + high + 12);
    const found = now.flatMap(({ parts, isWire, keys, was, from }) => {
      const ends = isWire && from[0].match(/-?[\d.]+/g);
      if (ends) return meets(ends) || meets(ends.slice(-2)) ? parts : [];
      const old = before.flatMap((one) => one.parts.filter((part) => one === was || (part[2] && one.keys[0] === keys[0])).map((part) => part[1]));
      return parts.toReversed().filter((part) => !old.includes(part[1]) || !old.splice(old.indexOf(part[1]), 1));
    });
    return found.length > looks.length / 2 && this.film.actions[last[1]].isAnew ? [] : found.map(([mark]) => mark);
  }

  onPicture(target) {
    focus(this.root);
    const about = this.about(+target.closest("[data-link]")?.dataset.link || -1);
    this.jump(about.find((at) => at > this.frame) ?? about[0]);
  }
}
