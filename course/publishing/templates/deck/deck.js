// Starts the slides: steps, themes, keys. Keys belong to the slides until something on a slide has the focus that
// wants them itself.

const WANTS = ".player, .scrolls, .out pre[tabindex], input, select, textarea";
const PRESSED = "summary, a, button"; // they want the space bar and Enter only
const sign = document.querySelector(".keys");
const root = document.documentElement;

function forSlides(event) {
  const at = event.target?.closest ? event.target : document.body;
  if (at.closest(WANTS)) return false;
  return !(at.closest(PRESSED) && [" ", "Enter"].includes(event.key));
}

function tell() {
  const has = document.activeElement?.closest(WANTS);
  const who = has?.closest(".player") ? "player" : "scrolling";
  const words = has ? `Keys: ${who} · Esc for slides` : "";
  if (sign.textContent !== words) sign.textContent = words;
}

function release() {
  if (document.activeElement !== document.body) document.activeElement.blur();
}

// Before the slides see the key: Escape only gives the keys back, and does not open the overview as well.
window.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || !document.activeElement?.closest(WANTS)) return;
  event.stopPropagation();
  release();
}, true);
document.addEventListener("focusin", tell);
document.addEventListener("focusout", () => setTimeout(tell));

// Show a slide at one of its steps: what comes later is hidden, but has its place.
function show(slide, step) {
  slide.dataset.step = step;
  const last = +slide.dataset.steps - 1;
  slide.classList.toggle("told", step > 0 && step === last && slide.matches(":has(.takeaway)"));
  for (const one of slide.querySelectorAll("[data-at]")) one.classList.toggle("on", step >= +one.dataset.at);
  for (const one of slide.querySelectorAll("aside.say")) one.classList.toggle("notes", +one.dataset.step === step);
}

function follow() {
  const slide = Reveal.getCurrentSlide();
  if (!slide) return;
  show(slide, slide.querySelectorAll(".tick.visible").length);
  slide.classList.remove("peek");
  fit(slide);
  document.getElementById("say").innerHTML = slide.querySelector("aside.notes")?.innerHTML || "";
}

for (const event of ["ready", "slidechanged", "fragmentshown", "fragmenthidden"]) Reveal.on(event, follow);
Reveal.on("slidechanged", (event) => {
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

function bind(keyCode, key, description, action) {
  Reveal.addKeyBinding({ keyCode, key, description }, action);
}

const upright = innerHeight > innerWidth * 1.2; // a phone: the slide has the shape of its screen

function start() {
  root.classList.toggle("upright", upright);
  Reveal.initialize({
    width: upright ? 720 : 1280, height: upright ? Math.round((720 * innerHeight) / innerWidth) : 720, margin: 0, minScale: 0.1, maxScale: 4,
    center: false, hash: true, transition: "none", backgroundTransition: "none", slideNumber: false, controls: false, progress: true,
    pdfSeparateFragments: false, pdfMaxPagesPerSlide: 1, scrollActivationWidth: null, display: "flex", keyboardCondition: forSlides,
  });
  bind(76, "L", "Light or dark", () => {
    const dark = isDark();
    root.classList.toggle("dark", !dark);
    root.classList.toggle("light", dark);
  });
  bind(67, "C", "The code again", () => Reveal.getCurrentSlide().classList.toggle("peek"));
  bind(78, "N", "Notes on this screen", () => { const box = document.getElementById("say"); box.hidden = !box.hidden; });
  startSpeaker();
}

await Promise.all([...document.images].map((one) => one.decode().catch(() => null)));
const sheets = new URLSearchParams(location.search).get("handout");
if (sheets === "check") fitAll();
else if (sheets) handOut(sheets === "answers");
else start();
