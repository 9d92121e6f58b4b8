// Makes sheets of the slides: ?handout=questions and ?handout=answers, and ?handout=check for the build.

const SHEET = "@page{size:A4 portrait;margin:8mm 10mm}"; // after that of the slides, which lie on their side
const READABLE = 19.1; // px on a slide are 8 points on a sheet
const BELOW = ":has(>.drawn) pre.src, :is([data-covers=text],[data-covers=picture],[data-covers=player],[data-covers=rest]) .code pre.src, .walk";

// Fit every slide as it stands on the wall, for the check of a build: what does not fit is noted on it.
function fitAll() {
  root.classList.add("checked");
  for (const slide of document.querySelectorAll(".slides section")) {
    slide.classList.add("present");
    show(slide, +slide.dataset.steps - 1);
    fit(slide);
    const isSmall = leastInPlayers(slide) < LEAST ? "player" : "";
    const isEmpty = slide.matches(".round:not(:has(.votes))") && atSteps(slide, () => isHalfEmpty(slide)).some(Boolean) ? "empty" : "";
    slide.dataset.trouble = `${slide.dataset.trouble} ${isSmall} ${isEmpty} ${lacksOf(slide).join(" ")}`.trim();
    slide.classList.remove("present");
  }
  root.dataset.paper = "ready";
}

// The smallest size of words in the players of a slide, at any of its steps and theirs, in px; noted on it, with the words.
function leastInPlayers(slide) {
  let least = Infinity;
  atSteps(slide, () => {
    for (const player of every(".player", slide).filter(isSeen)) {
      do {
        for (const one of every("*", player).filter(isWritten)) {
          const size = Math.round(10 * sizeOf(one)) / 10;
          if (size < least) slide.dataset.words = `${size} px: ${one.textContent}`;
          least = Math.min(least, size);
        }
      } while (stepped(player, "next"));
    }
  });
  return least;
}

// What is measured at each step of a slide.
const atSteps = (slide, measure) => Array.from({ length: +slide.dataset.steps }, (_, step) => {
  show(slide, step);
  return measure();
});

const isSeen = (one) => one.checkVisibility({ visibilityProperty: true }) && !one.closest(".player-live, .player-moving");
const isWritten = (one) => isSeen(one) && [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim());

// As it is drawn: in a picture that may be larger or smaller than its own px.
function sizeOf(one) {
  const size = parseFloat(getComputedStyle(one).fontSize), matrix = one.getScreenCTM?.();
  return matrix ? size * Math.hypot(matrix.a, matrix.b) : size;
}

// Whether a strip of half the room between title and band has nothing in it, as a slide stands.
function isHalfEmpty(slide) {
  const body = slide.querySelector(".body"), { top, bottom, height } = body.getBoundingClientRect();
  const seen = every(".lead, .code, .chart, .grey>*, .drawn>*, .out>*", body).filter((one) => isSeen(one) && one.offsetHeight !== 0);
  const edges = seen.map((one) => one.getBoundingClientRect()).sort((one, other) => one.top - other.top);
  let reached = top, widest = 0;
  for (const box of [...edges, { top: bottom, bottom }]) {
    widest = Math.max(widest, box.top - reached);
    reached = Math.max(reached, box.bottom);
  }
  return 2 * widest >= height;
}

// What every slide is to have: a heading, and at each step something for the speaker.
function lacksOf(slide) {
  const lacks = [], told = every("aside.say", slide);
  if (!slide.querySelector("h1, h2")?.textContent.trim()) lacks.push("heading");
  if (told.length < +slide.dataset.steps || told.some((one) => !one.textContent.trim())) lacks.push("notes");
  return lacks;
}

// Players stand at their end: there all that was handed on is seen.
function playToTheEnd(within) {
  isPassing = true;
  for (const player of within.querySelectorAll(".player:not(.player-lab)")) {
    player.dispatchEvent(new KeyboardEvent("keydown", { key: "End", bubbles: true }));
  }
  isPassing = false;
}

// Plain printing: each slide on a page, at its end; afterwards the deck goes on where it was.
let onTheWall = "";

function layOut() {
  if (root.dataset.paper) return; // it is laid out already
  onTheWall = root.className;
  root.classList.remove("dark");
  root.classList.add("light", "handout", "answers", "print-pdf", "on-paper");
  for (const slide of document.querySelectorAll(".slides section")) {
    show(slide, +slide.dataset.steps - 1);
    forget(slide);
    fit(slide);
    playToTheEnd(slide);
  }
}

function takeUp() {
  if (!root.classList.contains("on-paper")) return;
  root.className = onTheWall;
  for (const slide of document.querySelectorAll(".slides section")) forget(slide);
  Reveal.layout();
  follow();
}

addEventListener("beforeprint", layOut);
addEventListener("afterprint", takeUp);

// A sheet of questions, or of answers: two slides a page, and below each what one writes on, or looks up.
function handOut(answers) {
  root.classList.add("handout", "light", "print-pdf"); // the last keeps what reveal.js does for plain printing away
  root.classList.toggle("answers", answers);
  document.head.append(Object.assign(document.createElement("style"), { textContent: SHEET }));
  document.body.prepend(Object.assign(document.createElement("h1"), { textContent: document.title, className: "sheet-title" }));
  const asked = new Set();
  for (const slide of document.querySelectorAll(".slides section")) {
    const explains = slide.matches(".table") && asked.has(slide.dataset.cell); // the reason of a round, as a table
    asked.add(slide.dataset.cell);
    const isOpen = slide.dataset.steps === "1"; // a question that is answered elsewhere, as those of the quiz
    const isPaper = slide.matches(".round:not([data-goes-on]),.lab,.table:has([data-at])") || (answers && "again" in slide.dataset);
    const isWanted = isPaper && !(answers ? isOpen : explains);
    isWanted ? sheetOf(slide, answers) : slide.remove();
  }
  root.dataset.paper = "ready";
}

function sheetOf(slide, answers) {
  const sheet = document.createElement("div");
  sheet.className = "sheet";
  slide.replaceWith(sheet);
  sheet.append(slide);
  show(slide, answers ? +slide.dataset.steps - 1 : 0);
  answers ? fitLowest(slide) : fit(slide);
  if (answers) {
    playToTheEnd(slide);
    sheet.append(...slide.querySelectorAll(BELOW)); // what is covered
    for (const short of slide.querySelectorAll("pre.src:has(.gap)")) sheet.append(short.cloneNode(true)); // whole
    return;
  }
  if (slide.matches(".round")) sheet.insertAdjacentHTML("beforeend", "<p class='guess'>My guess: <i></i> because <i class='long'></i></p><p class='guess'><i class='long'></i></p>");
  takeAnswersOut(slide);
}

// The lowest shape in which all can be read and no more is covered, so that two or three go on a page with their code.
function fitLowest(slide) {
  const isUsual = fitAs(slide, ""), { covers } = slide.dataset;
  for (const shape of slide.querySelector(".stage .player") ? [] : ["lowest", "low"]) {
    if (fitAs(slide, shape) && slide.dataset.covers === covers) return;
  }
  fitAs(slide, isUsual ? "" : "tall");
}

function fitAs(slide, shape) {
  slide.classList.remove("lowest", "low", "tall");
  if (shape) slide.classList.add(shape);
  forget(slide);
  fit(slide);
  return +slide.dataset.least >= READABLE && !slide.dataset.trouble && every(".stage .player-pane>svg", slide).every(isWhole);
}

function isWhole(svg) {
  const seen = svg.viewBox.baseVal, all = svg.getBBox(), margin = 4;
  const isCut = all.x < seen.x - margin || all.x + all.width > seen.x + seen.width + margin;
  return !isCut && all.y >= seen.y - margin && all.y + all.height <= seen.y + seen.height + margin;
}

// What is only hidden would still stand in the file: a PDF can be searched, and read aloud.
function takeAnswersOut(slide) {
  for (const one of slide.querySelectorAll(".out,.takeaway,.asked,.walk,aside,.tick")) one.remove();
  for (const one of slide.querySelectorAll("[data-at]")) one.replaceChildren();
  for (const one of slide.querySelectorAll(".right,.wrong")) one.classList.remove("right", "wrong");
}
