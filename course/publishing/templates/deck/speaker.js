// The speaker's window (key S): notes of this step, the next step as a picture, clock and plan, counts of votes. It holds
// no script of its own and loads nothing, so it works from disk; opening, closing or reloading it moves nothing here.

const LOOK = `body{display:grid;grid-template:76px minmax(0,1fr) 40px/minmax(0,1.15fr) minmax(0,1fr);gap:12px 24px;height:100vh;margin:0;padding:18px 24px;box-sizing:border-box;background:var(--ground);color:var(--ink);color-scheme:dark;font:20px/1.4 var(--sans)}
#bar{grid-column:1/3;font-variant-numeric:tabular-nums}#bar p{display:flex;gap:28px;align-items:baseline;height:40px;margin:0;white-space:nowrap}#bar :is(#slide,#room){overflow:hidden;text-overflow:ellipsis}#slide{flex:0 1 auto}
#time{font-size:30px}#plan.late,#room{color:var(--now)}#slide,#pictures p,#notes h3{color:var(--faint)}
#notes{overflow:auto}#notes p{margin:0 0 .5em}#notes h3{margin:.7em 0 .2em;font-size:17px}#notes code{font-family:var(--mono);background:none}
#notes pre{margin:0;font:17px/1.4 var(--mono);white-space:pre-wrap}#notes .right{font-size:26px;color:var(--good)}#room{font-weight:600}
#pictures{display:grid;grid-template-rows:auto minmax(0,1fr) auto minmax(0,1fr);gap:4px;min-height:0}#pictures p{margin:0;overflow:hidden;white-space:nowrap;text-overflow:ellipsis}
#votes{grid-column:1/3;display:flex;gap:14px;align-items:center;overflow:hidden;white-space:nowrap}#wanted,#votes input{width:4em;font:inherit}button{font:inherit;font-size:17px;padding:2px 12px}#reset{margin-left:auto}`;
const VOTES = `votes: ${document.title}`;
const BEGAN = `began: ${document.title}`;
let view = null;
let began = kept(BEGAN) || 0; // it goes on when the slides are loaded again
let wanted = Number(document.querySelector(".reveal").dataset.minutes) || 0; // of a route; 0: what the slides reckon with

// The window does not: it would belong to nobody.
addEventListener("pagehide", () => { if (isOpen()) view.close(); });

const own = (id) => view.document.getElementById(id);

// A window that was reloaded belongs to nobody: it can only be opened anew.
function isOpen() {
  try {
    return Boolean(view && !view.closed && view.document);
  } catch {
    view.close();
    view = null;
    return false;
  }
}

function made(tag, id, ...inside) {
  const element = view.document.createElement(tag);
  if (id) element.id = id;
  element.append(...inside);
  return element;
}

function button(id, words, action) {
  return Object.assign(made("button", id, words), { onclick: action });
}

function openView() {
  if (isOpen()) return view.focus();
  view = window.open("", "speaker", "width=1100,height=760");
  if (!view) return;
  fillView();
}

// It begins with the first step in the slides, whenever this window is opened.
function startTime() {
  began = Date.now();
  keep(BEGAN, began);
}

// Who has another time than the slides reckon with types it: the plan stretches.
function askMinutes() {
  const field = Object.assign(made("input", "wanted"), { type: "number", min: 1, value: wanted || Math.round(plannedIn(Reveal.getSlides()) / 60) });
  field.oninput = () => {
    wanted = Number(field.value);
    tick();
  };
  return field;
}

// The first press asks, for the time that is gone cannot be had back.
function askRestart() {
  const asks = own("reset");
  if (asks.dataset.asked) startTime();
  tick();
  asks.dataset.asked = asks.dataset.asked ? "" : "yes";
  asks.textContent = asks.dataset.asked ? "Sure? Start at 00:00" : "Restart the clock";
}

// Write the window, or write it anew.
function fillView() {
  const page = view.document;
  page.documentElement.lang = "en";
  const styles = [...document.querySelectorAll("style")].map((one) => page.importNode(one, true));
  page.head.replaceChildren(...styles, made("style", "", LOOK));
  page.title = `Notes: ${document.title}`;
  page.body.replaceChildren(
    made("div", "bar", made("p", "", made("span", "time"), made("span", "plan"), made("label", "of", "of ", askMinutes(), " min")), made("p", "", made("span", "slide"), made("span", "room"))),
    made("div", "notes"),
    made("div", "pictures", made("p", "now"), made("div", "seen"), made("p", "then"), made("div", "picture")),
    made("div", "votes", button("reset", "Restart the clock", askRestart)),
  );
  for (const name of ["seen", "picture"]) Object.assign(own(name), { inert: true, className: "picture" });
  page.onkeydown = pass;
  view.onresize = tellNext;
  tick();
  tellView();
}

// Keys of this window are pressed in the deck, wherever the keys are there, but for those of this window's fields.
function pass(event) {
  if (event.key === "F5" || (event.key === "r" && (event.ctrlKey || event.metaKey))) {
    event.preventDefault();
    return fillView();
  }
  if (event.target.closest("input")) {
    if (/^(\d|Backspace|Delete|Tab|Home|End|Arrow\w+)$/.test(event.key)) return;
    event.target.blur(); // what is no number is meant for the deck
    if (["Enter", "Escape"].includes(event.key)) return;
  }
  if (event.target.closest("button") && [" ", "Enter"].includes(event.key)) return;
  if (event.key === "Tab" || event.ctrlKey || event.metaKey || event.altKey) return;
  const { key, code, keyCode, shiftKey } = event;
  const pressed = new KeyboardEvent("keydown", { key, code, keyCode, shiftKey, bubbles: true, cancelable: true });
  (document.querySelector("dialog[open] :focus") || document.activeElement || document.body).dispatchEvent(pressed);
  if (["Escape", "Enter", " "].includes(key) && document.querySelector("dialog[open]")) pressInDialog(key);
  event.preventDefault();
}

// What a browser itself does in a dialog it does for real keys only.
function pressInDialog(key) {
  const shown = document.querySelector("dialog[open]");
  if (key === "Escape") shown.close();
  else shown.querySelector(":focus")?.click();
}

const pair = (number) => String(number).padStart(2, "0");
const minutes = (seconds) => `${pair(Math.floor(seconds / 60))}:${pair(Math.floor(seconds) % 60)}`;

function tick() {
  if (!isOpen()) return;
  const gone = began ? (Date.now() - began) / 1000 : 0;
  const all = plannedIn(Reveal.getSlides()), times = (60 * wanted) / all || 1;
  const planned = times * plannedUntilNow();
  own("time").textContent = `${minutes(gone)} · ${new Date().toLocaleTimeString("en-GB")}`;
  const off = Math.round((gone - planned) / 60);
  own("plan").className = off > 1 ? "late" : "";
  const words = !began ? "the clock starts at the first →" : off > 0 ? `${off} min behind` : off < 0 ? `${-off} min ahead` : "on plan";
  own("room").textContent = seen();
  const end = new Date(Date.now() + 1000 * (times * all - planned)).toLocaleTimeString("en-GB", { timeStyle: "short" });
  own("plan").textContent = `${words}, to end at ${end} · plan ${minutes(planned)}`;
}

// What the room sees in the place of the slide, who has the keys there, or what is wrong with a live deck.
function seen() {
  if (Reveal.isPaused()) return "The room sees: black";
  const shown = document.querySelector("dialog[open] h2");
  if (shown) return `The room sees: ${shown.textContent}`;
  return sign.textContent || Reveal.getCurrentSlide().querySelector(".state[data-mood=bad]")?.textContent || "";
}

const plannedIn = (slides) => slides.reduce((sum, one) => sum + Number(one.dataset.seconds), 0);

// What the slides before this one take, and the steps of this one that are done.
function plannedUntilNow() {
  const slides = Reveal.getSlides(), at = slides.indexOf(Reveal.getCurrentSlide()), here = slides[at];
  return plannedIn(slides.slice(0, at)) + (Number(here.dataset.seconds) * Number(here.dataset.step)) / Number(here.dataset.steps);
}

function tellView() {
  if (!isOpen() || !own("notes")) return;
  const slides = Reveal.getSlides(), here = Reveal.getCurrentSlide(), at = slides.indexOf(here);
  own("slide").textContent = `${at + 1} / ${slides.length} · ${here.ariaLabel}`;
  view.document.documentElement.className = isDark() ? "dark" : "light"; // of the pictures
  const told = here.querySelector("aside.notes");
  own("notes").replaceChildren(...[...(told?.childNodes || [])].map((one) => view.document.importNode(one, true)));
  tellNext();
  askVotes(here);
}

function tellNext() {
  if (!isOpen() || !own("picture")) return;
  const slides = Reveal.getSlides(), here = Reveal.getCurrentSlide(), at = slides.indexOf(here);
  const step = Number(here.dataset.step), ahead = stepAhead();
  own("now").textContent = "Now";
  showPicture("seen", here, step);
  const stays = step + 1 < Number(here.dataset.steps);
  const next = stays ? here : slides[at + 1];
  own("then").textContent = `Next: ${ahead}${stays ? "more on this slide" : next?.ariaLabel || "the end"}`;
  if (next) showPicture("picture", next, stays ? step + 1 : 0);
  else own("picture").replaceChildren();
}

// What the next key does in a player that is seen; "" where it leads on in the slides.
function stepAhead() {
  const player = playerHere(), next = player?.querySelector(".player-next");
  if (!next || next.ariaDisabled === "true" || !isNext(player, "next")) return "";
  return `a step in the player (${player.querySelector(".player-count").textContent}), then `;
}

function showPicture(name, slide, step) {
  const box = own(name);
  box.replaceChildren(pictureOf(slide, step, box));
  box.style.colorScheme = isDark() ? "dark" : "light";
}

// A slide at one of its steps, as they will see it: a copy, as large as a box allows.
function pictureOf(slide, step, box) {
  fit(slide);
  const { width, height } = Reveal.getConfig(), page = box.ownerDocument;
  const copy = page.importNode(slide, true), frame = page.createElement("div"), slides = page.createElement("div");
  copy.classList.remove("past", "future");
  copy.classList.add("present");
  copy.removeAttribute("hidden");
  if (step !== +slide.dataset.step) show(copy, step);
  slides.append(copy);
  frame.append(slides);
  [frame.className, slides.className] = ["reveal", "slides"];
  frame.style.cssText = `width:${width}px;height:${height}px;transform:scale(${Math.min(box.clientWidth / width, box.clientHeight / height)})`;
  return frame;
}

// Counts of votes last as long as this browser keeps them.
let counted = "{}";
function hands() {
  try {
    const found = localStorage.getItem(VOTES) || counted;
    JSON.parse(found);
    counted = found;
  } catch {
    // not to be had, or somebody wrote into it
  }
  return JSON.parse(counted);
}

// Hands that were counted, by letter: they stay in this browser until they are saved as a file.
function askVotes(slide) {
  const byLetter = [...slide.querySelectorAll(".votes li")].map((one) => one.dataset.letter);
  const letters = slide.dataset.asks === "numbers" ? ["right", "other"] : byLetter;
  const counts = hands()[slide.dataset.cell]?.counts || {};
  const fields = letters.map((letter) => {
    const field = Object.assign(made("input"), { type: "number", min: 0, value: counts[letter] ?? "" });
    field.oninput = () => count(slide, letter, field.value);
    return made("label", "", `${letter} `, field);
  });
  const save = button("save", "Save all votes (CSV)", saveVotes);
  own("votes").replaceChildren(...(fields.length ? ["Hands: ", ...fields, save] : [save]), own("reset"));
}

function count(slide, letter, shown) {
  const all = hands();
  const right = slide.querySelector(".votes .right")?.dataset.letter || (slide.dataset.asks ? "right" : "");
  const entry = all[slide.dataset.cell] || { title: slide.ariaLabel, right, counts: {} };
  entry.counts[letter] = shown;
  counted = JSON.stringify({ ...all, [slide.dataset.cell]: entry });
  try {
    localStorage.setItem(VOTES, counted);
  } catch {
    // they stay in `counted`
  }
}

function saveVotes() {
  const quoted = (words) => `"${String(words).replaceAll('"', '""')}"`;
  const rows = Object.values(hands()).flatMap(({ title, right, counts }) =>
    Object.entries(counts).map(([letter, count]) => [quoted(title), letter, count, right].join(",")));
  const text = ["question,letter,hands,right", ...rows].join("\r\n");
  const lesson = document.title.replace(/[^\w]+/g, "-").slice(0, 40);
  const link = made("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  link.download = `votes-${lesson}-${new Date().toISOString().slice(0, 10)}.csv`;
  link.click();
}

function startSpeaker() {
  for (const event of ["slidechanged", "fragmentshown", "fragmenthidden"]) Reveal.on(event, tellView);
  for (const event of ["slidechanged", "fragmentshown"]) Reveal.on(event, () => { if (!began) startTime(); });
  setInterval(tick, 1000);
}
