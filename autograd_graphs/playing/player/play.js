// A player, made of the data of a film, and all players of a page.
const OLD = "This player was saved by an earlier version. Run its cell again.";
const BROKEN = "The data of this player is damaged. Run its cell again.";

function played(host, data, state, save) {
  const film = JSON.parse(data);
  if (film.version !== (film.moments ? 2 : 3)) return void written("p", "old", host, OLD);
  return new (film.moments ? Steps : Lab)(host, film, state, save);
}

export function playAll(page) {
  for (const slot of page.querySelectorAll(".player-slot")) {
    try {
      slot.player = played(slot, slot.querySelector("script").textContent, {}, () => {});
    } catch {
      slot.replaceChildren();
      written("p", "old", slot, BROKEN);
    }
  }
}
