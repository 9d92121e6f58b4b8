// JupyterLab saves the widgets that a kernel knows, and leaves out the others. A player lives without a kernel, so
// while it is seen it counts as known: else a notebook that is opened, and saved before it ran, would lose it.
class Tie {
  constructor(model) {
    this.known = true;
    this.parts = [];
    const meet = (real) => { if (real && "comm_live" in real) this.parts = [real, real.get("layout")].filter(Boolean); };
    // the event brings the model itself; what we are given stands for it
    model.on("change:guessing", meet);
    for (const change of [!model.get("guessing"), model.get("guessing")]) model.set("guessing", change);
    model.off("change:guessing", meet);
    this.hold = () => this.count();
    for (const part of this.parts) part.on("comm_live_update", this.hold);
    this.count();
  }

  count() {
    for (const part of this.parts.filter((one) => !one.comm_live)) {
      this.known = false;
      part.comm_live = true;
    }
  }

  loosen() {
    for (const part of this.parts) part.off("comm_live_update", this.hold);
    if (!this.known) for (const part of this.parts) part.comm_live = false;
  }
}

// With no kernel there is nobody to tell: the film plays on.
function teller(model, tie) {
  return (state) => {
    try {
      for (const [name, value] of Object.entries(state)) model.set(name, value);
      // null in JupyterLab once it was shut down
      const kernel = model.widget_manager?.kernel;
      if (tie.known && kernel !== null && !kernel?.isDisposed) model.save_changes();
    } catch {
      return;
    }
  };
}

const OLD = "This player was saved by an earlier version. Run its cell again.";
const BROKEN = "The data of this player is damaged. Run its cell again.";

function played(host, data, state, save) {
  const film = JSON.parse(data);
  if (film.version !== (film.moments ? 2 : 3)) return void element("p", "old", host, { textContent: OLD });
  return new (film.moments ? Steps : Lab)(host, film, state, save);
}

function render({ model, el }) {
  const state = { frame: model.get("frame"), guessing: model.get("guessing") };
  const tie = new Tie(model);
  const player = played(el, model.get("film"), state, teller(model, tie));
  if (!player) return;
  player.root.addEventListener("player-guess", ({ detail }) => {
    try { model.send?.(detail); } catch { return; }
  });
  const follow = () => player.showFrame(model.get("frame"), model.get("guessing"));
  model.on("change:frame", () => { if (model.get("frame") !== player.frame) follow(); });
  model.on("change:guessing", () => { if (model.get("guessing") !== player.guessing) follow(); });
  const leaveKeys = keepKeys(player.room);
  return () => { player.stop?.(); player.watch.disconnect(); tie.loosen(); leaveKeys(); };
}

export function playAll(page) {
  for (const slot of page.querySelectorAll(".player-slot")) {
    try {
      played(slot, slot.querySelector("script").textContent, {}, () => {});
    } catch {
      slot.replaceChildren();
      element("p", "old", slot, { textContent: BROKEN });
    }
  }
}

export default { render };
