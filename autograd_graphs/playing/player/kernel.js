// A player in a notebook, and in a page. `render` uses what stands in notebook.js, which a page does not carry.
const OLD = "This player was saved by an earlier version. Run its cell again.";
const BROKEN = "The data of this player is damaged. Run its cell again.";

function played(host, data, state, save) {
  const film = JSON.parse(data);
  if (film.version !== (film.moments ? 2 : 3)) return void element("p", "old", host, { textContent: OLD });
  return new (film.moments ? Steps : Lab)(host, film, state, save);
}

function render({ model, el }) {
  const state = { frame: model.get("frame"), guessing: model.get("guessing"), done: model.get("done") };
  const tie = new Tie(model, "guessing");
  const player = played(el, model.get("film"), state, teller(model, tie));
  if (!player) return;
  player.root.addEventListener("player-guess", ({ detail }) => {
    try { model.send?.(detail); } catch { return; }
  });
  const follow = () => player.showFrame(model.get("frame"), model.get("guessing"));
  model.on("change:frame", () => { if (model.get("frame") !== player.frame) follow(); });
  model.on("change:guessing", () => { if (model.get("guessing") !== player.guessing) follow(); });
  const leaveKeys = keepKeys(player.room);
  bringUp(player.room);
  return () => { player.stop?.(); player.watch.disconnect(); tie.loosen(); leaveKeys(); };
}

export function playAll(page) {
  for (const slot of page.querySelectorAll(".player-slot")) {
    try {
      slot.player = played(slot, slot.querySelector("script").textContent, {}, () => {});
    } catch {
      slot.replaceChildren();
      element("p", "old", slot, { textContent: BROKEN });
    }
  }
}

export default { render };
