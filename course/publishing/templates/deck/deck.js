// Starts the slides: steps, themes, what they look like on paper.

const root = document.documentElement;

// Show a slide at one of its steps: what comes later is hidden, but has its place.
function show(slide, step) {
  slide.dataset.step = step;
  const last = +slide.dataset.steps - 1;
  slide.classList.toggle("told", step > 0 && step === last && slide.matches(":has(.takeaway)"));
  slide.classList.toggle("working", slide.matches(".lab:has(.of)") && ("answer" in slide.dataset ? !root.classList.contains("handout") : step > 0 && step < last));
  for (const one of slide.querySelectorAll("[data-at]")) one.classList.toggle("on", step >= +one.dataset.at && step <= +(one.dataset.until ?? last));
  placeOptions(slide);
  enlarge(slide);
  const isPressed = Boolean(slide.dataset.walks?.replaceAll(",", ""));
  if (isPressed) walk(slide, step);
  walked(slide, [], "[data-at]:not(.on) .player-room"); // what is not seen yet begins anew
  for (const one of slide.querySelectorAll("[data-at]:has(.player)")) if (!isPressed && step > +one.dataset.at) playToTheEnd(one);
  for (const one of slide.querySelectorAll("aside.say")) one.classList.toggle("notes", +one.dataset.step === step);
}

// Press in a lab what is pressed at this step; where nothing is, it stays as somebody left it.
function walk(slide, step) {
  const keys = slide.dataset.walks.split(",")[step];
  if (keys !== undefined) walked(slide, keys.split(" ").filter(Boolean));
}

// Press keys in the players of a slide, from their start.
function walked(slide, keys, which = ".player-room") {
  for (const room of slide.querySelectorAll(which)) room.dispatchEvent(new CustomEvent("player-walk", { detail: keys }));
}

function follow() {
  const slide = Reveal.getCurrentSlide();
  if (!slide) return;
  slide.classList.remove("peek");
  show(slide, slide.querySelectorAll(".tick.visible").length);
  for (const fold of document.querySelectorAll(".slides details[open]")) fold.open = false;
  fit(slide);
  const last = every(".scrolls>.part.on", slide).at(-1); // else what has just come would be out of sight
  if (last) last.parentElement.scrollTop = Math.min(last.offsetTop - last.parentElement.offsetTop, endOf(last.parentElement));
  for (const one of slide.querySelectorAll("time")) tellUntil(one);
  document.getElementById("say").innerHTML = slide.querySelector("aside.notes")?.innerHTML || "";
  document.getElementById("say").classList.toggle("early", !slide.matches(".told"));
}

// A break is as long as it was planned, from when it is first shown.
function tellUntil({ dataset, firstChild }) {
  const name = `until: ${document.title} ${Reveal.getSlidePastCount()}`;
  let until = kept(name);
  if (!(until > Date.now())) keep(name, until = Date.now() + 60000 * dataset.minutes);
  firstChild.data = `${dataset.until} ${new Date(until).toLocaleTimeString("en-GB", { timeStyle: "short" })}`;
}

for (const event of ["ready", "slidechanged", "fragmentshown", "fragmenthidden"]) Reveal.on(event, follow);
Reveal.on("slidechanged", (event) => {
  const before = Reveal.getSlides().indexOf(event.previousSlide);
  if (before < Reveal.getSlides().indexOf(event.currentSlide)) walked(event.currentSlide, []);
  else playToTheEnd(event.currentSlide);
  for (const box of every(".scrolls", event.currentSlide)) {
    const isOn = before < Reveal.getSlides().indexOf(event.currentSlide);
    box.scrollTop = isOn ? 0 : endOf(box);
    box.scrollLeft = isOn ? 0 : box.scrollWidth;
  }
  if (!event.currentSlide.contains(document.activeElement) && document.activeElement?.closest(".slides")) release();
});

// On paper every slide stands at its end; with ?print-pdf&step=0 as a question.
Reveal.on("pdf-ready", () => {
  const asked = new URLSearchParams(location.search).get("step");
  root.classList.remove("dark");
  root.classList.add("light");
  for (const slide of document.querySelectorAll(".slides section")) {
    const last = +slide.dataset.steps - 1;
    show(slide, asked === null ? last : Math.min(+asked, last));
    fit(slide);
    if (asked === null) playToTheEnd(slide);
  }
  root.dataset.paper = "ready";
});

// As the system has it, until L is pressed.
function isDark() {
  const said = root.classList.contains("dark") || root.classList.contains("light");
  return said ? root.classList.contains("dark") : matchMedia("(prefers-color-scheme: dark)").matches;
}

function changeTheme() {
  const dark = isDark();
  root.classList.toggle("dark", !dark);
  root.classList.toggle("light", dark);
  tellView();
}

// The answer of this slide, past all that leads to it.
function leap() {
  const slide = Reveal.getCurrentSlide(), { h, v } = Reveal.getIndices();
  Reveal.slide(h, v, +(slide.dataset.answer ?? slide.dataset.steps - 1) - 1);
}

const peek = () => look(Reveal.getCurrentSlide());

// See the code again that an output covers, or no longer.
function look(slide, isOn) {
  slide.classList.toggle("peek", isOn);
  const out = slide.querySelector(".stage .out");
  out?.classList.toggle("cut", isHigh(out) && !out.matches(".scrolls")); // all of its code leaves it no room
  placeOptions(slide);
}

function showNotes() {
  const box = document.getElementById("say");
  box.hidden = !box.hidden;
  root.classList.toggle("noted", !box.hidden);
  Reveal.layout();
}

// What is kept in this tab, for a browser that keeps something for files from disk.
function kept(name) {
  try {
    return JSON.parse(sessionStorage.getItem(name));
  } catch {
    return null;
  }
}

function keep(name, value) {
  try {
    sessionStorage.setItem(name, JSON.stringify(value));
  } catch {
    // it lasts as long as the slides are open
  }
}

// A reload leads back to what was seen, in players, too.
const SEEN = `seen: ${document.title}`;
const framesIn = (within) => every(".player-slot", within).map((slot) => slot.player?.frame);

function lookAgain(within, frames) {
  every(".player-slot", within).forEach((slot, at) => frames[at] !== undefined && slot.player?.showFrame(frames[at]));
}

function comeBack() {
  const seen = kept(SEEN), [how] = performance.getEntriesByType("navigation");
  addEventListener("pagehide", () => keep(SEEN, { ...Reveal.getIndices(), frames: framesIn(Reveal.getCurrentSlide()) }));
  if (!seen || how?.type !== "reload") return;
  Reveal.slide(seen.h, seen.v, seen.f);
  lookAgain(Reveal.getCurrentSlide(), seen.frames);
}

const upright = innerHeight > innerWidth * 1.2; // a phone: the slide has the shape of its screen

function start() {
  root.classList.toggle("upright", upright);
  Reveal.initialize({
    width: upright ? 720 : 1280, height: upright ? Math.round((720 * innerHeight) / innerWidth) : 720, margin: 0, minScale: 0.1, maxScale: 4,
    center: false, hash: true, transition: "none", backgroundTransition: "none", slideNumber: false, controls: false, progress: true,
    pdfSeparateFragments: false, pdfMaxPagesPerSlide: 1, scrollActivationWidth: null, display: "flex", keyboardCondition: forSlides,
    overview: false, jumpToSlide: false, help: false, keyboard: { 72: null, 74: null, 75: null, 80: null, 86: null, 191: null },
  });
  const keys = { o: showContents, l: changeTheme, a: leap, c: peek, n: showNotes, s: openView };
  for (const [key, action] of Object.entries(keys)) Reveal.addKeyBinding(key.toUpperCase().charCodeAt(0), action);
  Reveal.on("ready", comeBack);
  startSpeaker();
}

// Before anything is measured: a line of another font may be a line more.
await Promise.all([...document.fonts].map((one) => one.load().catch(() => null)));
await Promise.all([...document.images].map(dressed));
const sheets = new URLSearchParams(location.search).get("handout");
if (sheets === "check") fitAll();
else if (sheets) handOut(sheets === "answers");
else start();
