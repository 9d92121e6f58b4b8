// Room: all of a lab is seen at once, in every state alike.
class LabRoom {
  // All of it fits by standing closer, in every state alike, for all that changes keeps the room of its longest.
  fit() {
    // slides let a picture fill its place
    this.room.dispatchEvent(new CustomEvent("player-fits", { bubbles: true, detail: this }));
    const room = this.resize();
    if (room && this.fitted !== room) this.fitWords();
    this.fitted = room;
    const { scrollWidth, clientWidth, scrollHeight, clientHeight } = this.pane;
    if (scrollWidth > clientWidth || scrollHeight > clientHeight) this.bringIn();
    else this.pane.removeAttribute("tabindex");
  }

  // A picture that scrolls is reached by Tab, and shows what the talk is of.
  bringIn() {
    this.pane.tabIndex = 0;
    const node = this.svg.querySelector(".s-now, .is-fresh");
    if (!node) return;
    const one = node.getBoundingClientRect(), pane = this.pane.getBoundingClientRect();
    const beyond = (start, end, first, last) => Math.max(0, end - last + 8) + Math.min(0, start - first - 8);
    this.pane.scrollBy(beyond(one.left, one.right, pane.left, pane.right), beyond(one.top, one.bottom, pane.top, pane.bottom));
  }

  fitWords() {
    for (const [close, times] of CLOSE) {
      this.times = times;
      this.resize();
      this.root.className = names("player player-lab", this.isWide && "player-wide", close);
      this.keepRoom(this.words, this.longest(), (sizer, content) => this.say(sizer, ...content));
      if (!this.isWide || this.panel.scrollHeight <= this.panel.clientHeight + 1) return;
    }
  }

  // The longest of all that may be said.
  longest() {
    const { states } = this.film, said = new Map();
    states.forEach(({ say, ways }, at) => {
      said.set(this.line(say), [this.line(say), "", ways.includes(IDLE) && LAB.idle]);
      ways.forEach((way, action) => {
        const step = [at, action], error = this.error(step), note = this.note(step);
        if (error) said.set(inShort(error).join("") + note, ["", error, note]);
      });
    });
    return [...said].sort(([one], [other]) => other.length - one.length).slice(0, 8).map(([, content]) => content);
  }
}
