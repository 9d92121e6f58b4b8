// A player in a notebook, tied to its model.
function render({ model, el }) {
  const [film, frame, guessing, done] = ["film", "frame", "guessing", "done"].map((name) => model.get(name));
  const tie = new Tie(model, "guessing");
  const player = played(el, film, { frame, guessing, done }, teller(model, tie));
  if (!player) return;
  player.root.addEventListener("player-guess", ({ detail }) => {
    try { model.send?.(detail); } catch { return; }
  });
  for (const name of ["frame", "guessing"]) {
    model.on(`change:${name}`, () => { if (model.get(name) !== player[name]) player.showFrame(model.get("frame"), model.get("guessing")); });
  }
  const leaveKeys = keepKeys(player.room);
  bringUp(player.room);
  return () => { player.stop?.(); player.watch.disconnect(); tie.loosen(); leaveKeys(); };
}

export default { render };
