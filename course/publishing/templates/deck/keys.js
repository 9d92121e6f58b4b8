// Who gets a key. A player that is seen takes → and ← until its end, wherever the focus is, and the keys that only it
// knows. The rest is the slides', unless one types or scrolls.

const WANTS = ".player, .scrolls, .out pre[tabindex], input, select, textarea, dialog[open]";
const PRESSED = "summary, a, button"; // they want the space bar and Enter only
const WAYS = { ArrowRight: "next", PageDown: "next", " ": "next", ArrowLeft: "back", PageUp: "back" };
const KEPT_IN_VIEW = 80; // px of a slide that scrolls, at its next look
const OF_PLAYERS = /^([1-9giu]|Home|End)$/;
const HELP = {
  "→ ← Space": "On and back; through a player, too", "1 … 9, g, Home": "For the player or lab on the slide", "O": "All slides: choose one",
  "S": "Notes, clock and hands, in a window of their own", "N": "Notes on this screen, without the answer", "C": "The code again, or the questions of a lab",
  "A": "To the answer of this slide",
  "L": "Light or dark", "B": "Black; any key brings the slides back", "F": "The whole screen", "Esc": "Leaves a box or player; closes what is open", "?": "This list",
};
const sign = document.querySelector(".keys");
let isPassing = false; // a key is on its way to a player

function forSlides(event) {
  const at = event.target?.closest ? event.target : document.body;
  if (at.closest(WANTS)) return false;
  return !(at.closest(PRESSED) && [" ", "Enter"].includes(event.key));
}

function tell() {
  const has = document.activeElement?.closest(WANTS);
  const who = has?.closest(".player") ? "player" : has?.matches("input, textarea") ? "typing" : "scrolling";
  const words = has && !has.closest("dialog") ? `Keys: ${who} · Esc for slides` : "";
  if (sign.textContent !== words) sign.textContent = words;
}

function release() {
  if (document.activeElement !== document.body) document.activeElement.blur();
}

const playerHere = () => every(".player", Reveal.getCurrentSlide()).find((one) => one.checkVisibility({ visibilityProperty: true }));

// One step in a player; false where it has none left.
function stepped(player, way) {
  const button = player.querySelector(`.player-${way}`);
  if (!button || button.ariaDisabled === "true") return false;
  button.click();
  tellNext();
  return true;
}

// Whether a key is a step in this player, unless its slide presses its keys, or shows what came after it.
function isNext(player, way) {
  const { walks = "", step } = Reveal.getCurrentSlide().dataset;
  return !/[^,]/.test(walks) && (way === "next" || +step <= +(player.closest("[data-at]")?.dataset.at ?? 0));
}

// What is typed in, dragged or scrolled keeps its arrows; a line of text until its end.
function keepsArrows({ target, key }) {
  if (target.matches("input[type=text]")) return key.startsWith("Arrow") && target.selectionStart !== (WAYS[key] === "next" ? target.value.length : 0);
  return target.matches("input, textarea, select, .player-pane") || Boolean(target.closest(".player-told, .scrolls"));
}

// Give a key to the player that is seen; tell whether it, or the step out of it, took the key.
function toPlayer(event) {
  const { target, key } = event, player = playerHere(), inside = target.closest?.(".player");
  if (!player || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return false;
  if (key in WAYS) {
    const isOwn = key === " " && target.closest(`.player, ${PRESSED}`);
    if (isOwn || keepsArrows(event) || (inside && !inside.querySelector(".player-next"))) return false;
    if (isNext(player, WAYS[key]) && stepped(player, WAYS[key])) return true;
    if (!inside) return false;
    release();
    WAYS[key] === "next" ? Reveal.next() : Reveal.prev();
    return true;
  }
  if (inside || !OF_PLAYERS.test(key)) return false;
  isPassing = true;
  const taken = !player.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  isPassing = false;
  return taken;
}

// What is too wide or too tall is scrolled to its end before a key leads on; false where no more of it is to be seen.
function scrolledOn(event) {
  const way = { ArrowDown: "next", ArrowUp: "back", ...WAYS }[event.key];
  if (!way || !forSlides(event) || event.ctrlKey || event.altKey || event.metaKey) return false;
  const behavior = matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth";
  for (const [box, side, at, end, seen] of sidesOf(Reveal.getCurrentSlide())) {
    const left = way === "next" ? end - at : at;
    if (left < 2) continue;
    const by = Math.min(left, seen - KEPT_IN_VIEW);
    box.scrollBy({ [side]: way === "next" ? by : -by, behavior });
    return true;
  }
  return false;
}

// What scrolls on a slide: first what is seen and too wide, then what is too tall; nothing under a large picture.
function sidesOf(slide) {
  const boxes = slide.querySelector(".large") ? [] : every(".scrolls", slide), screen = slide.getBoundingClientRect();
  const isSeen = (box) => {
    const { top, height } = box.getBoundingClientRect(), middle = top + height / 2;
    return box.matches(".flow") || (middle > screen.top && middle < screen.bottom);
  };
  const wide = boxes.filter(isSeen).map((box) => [box, "left", box.scrollLeft, box.scrollWidth - box.clientWidth, box.clientWidth]);
  return [...wide, ...boxes.map((box) => [box, "top", box.scrollTop, endOf(box), box.clientHeight])];
}

// How far a box scrolls until the end of what is seen in it so far.
function endOf(box) {
  const last = every(":scope>:not([data-at]),:scope>.on", box).at(-1);
  return Math.max(0, (last ? last.offsetTop + last.offsetHeight - box.offsetTop : box.scrollHeight) - box.clientHeight);
}

// The last slide of a block leads on to the next one.
function ledOn(event) {
  const link = Reveal.getCurrentSlide().querySelector("a.onward");
  if (!link || !forSlides(event) || (WAYS[event.key] !== "next" && event.key !== "Enter")) return false;
  link.click();
  return true;
}

// Escape gives the keys back, or closes what is open; it never leads away from what the room sees.
function escaped() {
  const fold = Reveal.getCurrentSlide().querySelector("details[open]");
  if (document.activeElement?.closest(WANTS)) release();
  if (fold) fold.open = false;
}

// Before the slides see the key. Any key ends the black screen or closes the help, and does nothing else.
window.addEventListener("keydown", (event) => {
  const help = document.querySelector("#help[open]"), isAlone = !["Shift", "Control", "Alt", "Meta"].includes(event.key);
  if (isPassing || root.classList.contains("print-pdf") || document.querySelector("dialog[open]:not(#help)")) return; // on paper nothing is pressed
  if (help && isAlone) help.close();
  else if (help) return;
  else if (Reveal.isPaused() && isAlone) Reveal.togglePause(false);
  else if (event.key === "Escape") escaped();
  else if (event.key === "?" && forSlides(event)) showHelp();
  else if (!toPlayer(event) && !scrolledOn(event) && !ledOn(event)) return;
  event.preventDefault();
  event.stopImmediatePropagation();
}, true);
document.addEventListener("focusin", tell);
document.addEventListener("focusout", () => setTimeout(tell));

// A whole traceback opens at its end, where the error stands.
document.addEventListener("toggle", ({ target }) => {
  const text = target.open && target.querySelector?.("pre[tabindex]");
  if (!text) return;
  text.scrollTop = text.scrollHeight;
  text.focus();
}, true);

function panel(id, title, ...inside) {
  const made = Object.assign(document.createElement("dialog"), { id });
  made.append(Object.assign(document.createElement("h2"), { textContent: title }), ...inside);
  document.body.append(made);
  return made;
}

function showHelp() {
  const rows = Object.entries(HELP).map(([key, words]) => {
    const row = document.createElement("p");
    row.append(Object.assign(document.createElement("kbd"), { textContent: key }), words);
    return row;
  });
  (document.getElementById("help") || panel("help", "Keys", ...rows)).showModal();
}

// All slides as they were last seen, with number and title. One that is chosen begins at its question.
function showContents() {
  const shown = contents();
  shown.showModal();
  every("li>button", shown)[Reveal.getSlides().indexOf(Reveal.getCurrentSlide())].focus();
}

function contents() {
  const list = document.createElement("ol");
  const shown = panel("contents", "Slides", list);
  const seen = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) if (isIntersecting) draw(target);
  }, { root: shown, rootMargin: "100%" });
  const draw = (picture) => {
    seen.unobserve(picture);
    const slide = Reveal.getSlides()[[...list.children].indexOf(picture.parentElement)];
    picture.replaceChildren(pictureOf(slide, +slide.dataset.step, picture));
  };
  Reveal.getSlides().forEach((slide, at) => {
    const row = document.createElement("li"), picture = document.createElement("div"), button = document.createElement("button");
    Object.assign(picture, { className: "picture", inert: true });
    button.textContent = `${at + 1} · ${slide.ariaLabel}`;
    button.addEventListener("click", () => {
      shown.close();
      release(); // else the keys are for a while those of a list that is gone
      Reveal.slide(at, 0, -1);
      walked(Reveal.getCurrentSlide(), []);
      for (const box of every(".scrolls", Reveal.getCurrentSlide())) box.scrollTo(0, 0);
    });
    row.append(picture, button);
    list.append(row);
    seen.observe(picture);
  });
  shown.onkeydown = (event) => move(event, shown);
  shown.onclose = () => {
    seen.disconnect();
    shown.remove();
  };
  return shown;
}

let digits = ""; // typed so far, such as 12

// Which slide is meant once this digit is typed; undefined for another key.
function numbered(key, count) {
  digits = /^\d$/.test(key) ? digits + key : "";
  if (+digits > count) digits = key;
  if (+digits) return +digits - 1;
}

function move(event, shown) {
  const all = every("li>button", shown), at = all.indexOf(document.activeElement), last = all.length - 1;
  const inRow = all.filter((one) => one.parentElement.offsetTop === all[0].parentElement.offsetTop).length;
  const to = { Home: 0, End: last, ArrowRight: at + 1, ArrowLeft: at - 1, ArrowDown: at + inRow, ArrowUp: at - inRow }[event.key] ?? numbered(event.key, all.length);
  const isClosed = /^[o?]$/i.test(event.key);
  if (isClosed) shown.close();
  if (event.key === "?") showHelp();
  if (to !== undefined) all[Math.max(0, Math.min(to, last))].focus();
  if (!isClosed && to === undefined) return;
  event.preventDefault();
  event.stopPropagation(); // it has done all it is to do
}
