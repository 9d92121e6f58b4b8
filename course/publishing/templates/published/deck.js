// Starts the slides. Keys belong to the slides until something on a slide has the focus that wants them itself.

const WANTS = ".player, .scrolls, input, select, textarea";
const PRESSED = "summary, a, button"; // they want the space bar and Enter only
const sign = document.querySelector(".keys");

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

// Where a slide is too full, long lines of code make room for the picture beside them; a player gets the
// width of the slide, and all the height that the rest of it leaves.
function fit(slide) {
  if (slide.dataset.fitted) return;
  slide.dataset.fitted = "yes";
  const rooms = [...slide.querySelectorAll(".player-room")];
  give(rooms, () => 5000);
  for (const cell of slide.querySelectorAll(".code:has(.source):has(.outputs img)")) {
    const before = slide.scrollHeight;
    if (before <= 720) break;
    cell.classList.add("beside");
    const narrow = cell.querySelector(".source").clientWidth < 330;
    if (narrow || slide.scrollHeight >= before || slide.scrollWidth > 1280) cell.classList.remove("beside");
    if (slide.scrollHeight > 720 && cell.querySelectorAll(".outputs > .html").length === 1) putAside(slide, cell);
  }
  give(rooms, (room) => Math.max(320, room.firstChild.offsetHeight + 720 - slide.scrollHeight));
  grow(slide, [...slide.querySelectorAll(".output.html > img, .words img")].filter((one) => one.clientWidth));
  unroll(slide);
}

// Where much was printed as well, the picture stands beside the code and what was printed, below each other.
function putAside(slide, cell) {
  const [before, classes] = [slide.scrollHeight, cell.className];
  cell.classList.remove("beside");
  cell.classList.add("aside");
  if (slide.scrollHeight >= before || slide.scrollWidth > 1280) cell.className = classes;
}

// Tell players how high they may be.
function give(rooms, high) {
  for (const room of rooms) {
    room.style.setProperty("--player-high", `${high(room)}px`);
    room.dispatchEvent(new Event("player-fit"));
  }
}

// A traceback gets the room that is left, in whole lines: nobody scrolls on paper.
function unroll(slide) {
  for (const box of slide.querySelectorAll(".scrolls")) {
    const { lineHeight, paddingTop } = getComputedStyle(box);
    const used = Math.max(...[...slide.children].map((one) => one.offsetTop + one.offsetHeight));
    const lines = Math.floor((box.clientHeight + Math.max(0, 700 - used) - parseFloat(paddingTop)) / parseFloat(lineHeight));
    box.style.maxHeight = `${parseFloat(paddingTop) + lines * parseFloat(lineHeight)}px`;
  }
}

// Pictures grow into the room that is left; they never shrink, for their text is 12 px high.
function grow(slide, pictures) {
  const sizes = pictures.map((one) => one.clientWidth);
  for (let times = 1.5; times >= 1 && pictures.length; times -= 0.05) {
    pictures.forEach((one, at) => { one.style.width = `${Math.round(sizes[at] * times)}px`; });
    const whole = pictures.every((one) => one.clientWidth >= parseInt(one.style.width));
    if (whole && slide.scrollHeight <= 720 && slide.scrollWidth <= 1280) return;
  }
}

Reveal.on("ready", (event) => fit(event.currentSlide));
Reveal.on("slidechanged", (event) => fit(event.currentSlide));
Reveal.on("pdf-ready", () => document.querySelectorAll(".slides section:not(.stack)").forEach(fit));
Reveal.on("slidechanged", (event) => {
  if (!event.currentSlide.contains(document.activeElement) && document.activeElement?.closest(".slides")) release();
});

Reveal.initialize({
  width: 1280, height: 720, margin: 0, minScale: 0.1, maxScale: 4, center: false, hash: true, transition: "none",
  backgroundTransition: "none", slideNumber: "c/t", pdfSeparateFragments: false, pdfMaxPagesPerSlide: 1, keyboardCondition: forSlides,
  scrollActivationWidth: null,
});
