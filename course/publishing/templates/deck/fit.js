// Makes everything on a slide as large as it fits. Nothing is cut in silence: what does not fit at its smallest size
// is noted in data-trouble, which the build reads.

const WORDS = [34, 32, 30, 28, 26, 24];
const CODE = [30, 28, 26, 24, 22, 20];
const OUT = [42, 40, 38, 36, 34, 32, 30, 28, 26, 24, 22, 20];
const ASK = [40, 36, 32, 30, 28, 26, 24];
const CARDS = [30, 28, 26, 24, 22, 20];
const HEADINGS = [38, 36, 34, 32, 30, 28];
const TABLE = [34, 32, 30, 28, 26, 24];
const FLOW = [30, 28, 26, 24, 22, 20];
const PLAIN = [36, 34, 32, ...FLOW]; // words and code alone
const SPLITS = [50, 56, 62, 68];
const LEAST = 18; // px of words in pictures and players
const BESIDE = 262; // px of what was printed, beside a picture

const every = (selector, root) => [...root.querySelectorAll(selector)];
const isWide = (one) => one.scrollWidth > one.clientWidth + 1;
const isHigh = (one) => one.scrollHeight > one.clientHeight + 1;
const resize = (elements, size) => elements.forEach((one) => { one.style.fontSize = `${size}px`; });

// Try sizes from the largest; return the first at which all fits, 0 where none does (the smallest stays).
function largest(sizes, elements, fits) {
  for (const size of sizes) {
    resize(elements, size);
    if (fits()) return size;
  }
  return 0;
}

// Forget how a slide was fitted, so that it is fitted anew.
function forget(slide) {
  delete slide.dataset.fitted;
  slide.classList.remove("plays");
  for (const one of every(".stage, .out", slide)) one.classList.remove("wrapped", "wrapped-out", "row", "scrolls");
}

function fit(slide) {
  if (slide.dataset.fitted) return;
  slide.dataset.fitted = "yes";
  const found = { least: Infinity, trouble: [] };
  const note = (what, size, smallest) => {
    if (!size) found.trouble.push(what);
    found.least = Math.min(found.least, size || smallest);
  };
  fitHeading(slide, note);
  take(slide, formOf(slide));
  fitLead(slide, note);
  fitVotes(slide, note);
  fitCards(slide, note);
  fitStage(slide, note);
  fitTable(slide, note);
  fitFlow(slide, note);
  if (isHigh(slide) || isWide(slide)) found.trouble.push("slide");
  slide.dataset.least = found.least;
  slide.dataset.trouble = found.trouble.join(" ");
}

// Where a picture stands: between set-up and options; below a set-up of one line; or beside both, at all the height,
// with less and less for their column. The first form in which its words are large enough is taken, or else the best.
const FORMS = [["", 0], ["brief", 0], ["panel", 400], ["panel", 350], ["panel", 310], ["panel", 280]];

function formOf(slide) {
  if (!slide.querySelector(".stage[data-kind=picture] .out img") || !hasRoom(["panel"])) return FORMS[0];
  let best = { words: 0, form: FORMS[0] };
  for (const form of FORMS.filter(([name]) => name !== "brief" || !slide.querySelector(".votes, .takeaway"))) {
    const words = wordsAs(slide, form);
    if (words > best.words) best = { words, form };
    if (words >= LEAST) break;
  }
  return best.form;
}

// Return how large the words of the picture come out in a form; 0 where something else does not fit then.
function wordsAs(slide, form) {
  let size = 0, fits = true;
  const note = (what, found, least) => {
    if (what === "picture") size = found || least;
    else if (!found) fits = false;
  };
  take(slide, form);
  fitLead(slide, note);
  fitVotes(slide, note);
  fitStage(slide, note);
  return fits ? size : 0;
}

function take(slide, [name, column]) {
  for (const one of ["brief", "panel"]) slide.classList.toggle(one, one === name);
  slide.style.setProperty("--column", `${column}px`);
}

function fitHeading(slide, note) {
  const heading = slide.querySelector("h2");
  if (heading) note("title", largest(HEADINGS, [heading], () => !isWide(heading.parentElement) && heading.offsetHeight <= 104), 28);
}

function fitLead(slide, note) {
  const lead = slide.querySelector(".lead");
  if (!lead) return;
  const high = slide.classList.contains("panel") ? 230 : isUpright() ? 180 : lead.clientHeight;
  for (const one of lead.children) {
    if (one.textContent) note(one.className, largest(WORDS, [one], () => one.offsetHeight <= high + 1 && !isWide(one)), 24);
  }
}

// Options stand in one row as wide as each needs, in equal columns, or two by two; below each other beside a picture
// and on a phone.
function fitVotes(slide, note) {
  const strip = slide.querySelector(".votes");
  if (!strip) return;
  const items = every("li", strip);
  const fits = (high) => strip.offsetHeight <= high && !isWide(strip) && items.every((one) => !isWide(one));
  if (slide.classList.contains("panel") || isUpright()) {
    strip.dataset.form = "column";
    const column = () => !isHigh(strip) && items.every((one) => !isWide(one));
    note("votes", largest([28, 26, 24, 22], items, column), 22);
    return;
  }
  let best = { size: 0 };
  for (const [form, high] of [["free", 72], ["even", 104], ["two", 132]]) {
    strip.dataset.form = form;
    const size = largest([28, 26, 24, 22], items, () => fits(high));
    if (size > best.size) best = { form, size };
  }
  strip.dataset.form = best.form || "two";
  resize(items, best.size || 22);
  note("votes", best.size, 22);
}

function fitCards(slide, note) {
  const cards = slide.querySelector(".cards");
  if (!cards) return;
  note("cards", largest(CARDS, every("li", cards), () => !isHigh(cards) && !isWide(cards)), 20);
  for (const one of every(".asked>*", slide)) note("asked", largest(CARDS, [one], () => one.offsetHeight <= 100 && !isWide(one)), 20);
  const out = slide.querySelector(".out");
  if (!out) return;
  fitPlayers(out);
  const texts = every(":scope>*>pre,:scope>*>.err", out);
  if (texts.length) note("output", largest(CODE, texts, () => !isHigh(out) && !isWide(out)), 20);
}

// Tell players how high they may be.
function fitPlayers(out, high = out.clientHeight) {
  for (const room of every(".player-room", out)) {
    room.style.setProperty("--player-high", `${Math.max(320, high)}px`);
    room.dispatchEvent(new Event("player-fit"));
  }
}

function fitStage(slide, note) {
  const stage = slide.querySelector(".stage");
  if (!stage) return;
  const parts = {
    stage,
    code: stage.querySelector(".code"),
    source: stage.querySelector("pre.src"),
    out: stage.querySelector(".out"),
    texts: every(".out>pre,.out>.err", stage),
    pictures: every(".out img", stage),
    ask: stage.querySelector(".ask"),
  };
  if (slide.classList.contains("panel")) fitPanel(parts, note);
  else if (stage.dataset.kind === "player") fitPlayer(slide, parts, note);
  else if (stage.dataset.kind === "picture" && parts.pictures.length) fitPicture(parts, note);
  else fitText(parts, note);
  if (parts.ask) note("ask", sizeOfAsk(parts), 24);
}

const sizeOfAsk = ({ ask }) => ask ? largest(ASK, [ask], () => !isHigh(ask) && !isWide(ask)) : ASK[0];
const codeFits = ({ code, source }) => !source || (!isWide(source) && source.offsetHeight <= code.clientHeight - 28 + 1);
const outFits = ({ out, texts }) => !out || (!isHigh(out) && !isWide(out) && texts.every((one) => !isWide(one)));

// Of the layouts, take the one in which code and output are largest; long lines hang before they become small.
function fitText(parts, note) {
  let best = { size: 0 };
  for (const wraps of [false, true]) {
    for (const layout of [...SPLITS.map((split) => ["beside", split]), ["stacked", 0]].filter(hasRoom)) {
      arrange(parts, layout, wraps);
      const size = largest(CODE, [parts.source, ...parts.texts].filter(Boolean), () => codeFits(parts) && outFits(parts));
      if (size > best.size && sizeOfAsk(parts)) best = { size, layout, wraps };
    }
    if (best.size >= 24) break;
  }
  if (best.size < 24 && hasRoom(["wide"]) && fitOver(parts, best.size, note)) return;
  arrange(parts, best.layout || ["stacked", 0], best.wraps ?? true);
  resize([parts.source, ...parts.texts].filter(Boolean), best.size || 20);
  note("code", best.size, 20);
  growOut(parts, best.size || 20);
}

// A short output is what they wait for: it may be larger than the code, up to 1.4 times.
function growOut(parts, code) {
  const sizes = OUT.filter((size) => size >= code && size <= code * 1.4);
  if (!largest(sizes, parts.texts, () => outFits(parts))) resize(parts.texts, code);
}

// On a phone held upright nothing stands beside anything.
const isUpright = () => document.documentElement.classList.contains("upright");
const hasRoom = ([layout]) => layout === "stacked" || !isUpright();

function arrange({ stage }, [layout, split], wraps) {
  stage.dataset.layout = layout;
  stage.style.setProperty("--split", `${split}%`);
  stage.classList.toggle("wrapped", wraps);
  stage.classList.toggle("wrapped-out", wraps);
}

// The output takes the place of the code; C brings the code back.
function fitOver(parts, other, note) {
  arrange(parts, ["wide", 56], true);
  const code = parts.source ? largest(CODE, [parts.source], () => codeFits(parts)) : 30;
  const out = largest([32, ...CODE], parts.texts, () => outFits(parts));
  if (Math.min(code, out) <= other) return false;
  note("code", code, 20);
  note("output", out, 20);
  return true;
}

// A picture stands beside the code, or over it where it would be too small there.
function fitPicture(parts, note) {
  const tries = [...SPLITS.slice(0, 2).map((split) => ["beside", split]), ["beside", 38], ["stacked", 0], ["wide", 56], ["wide", 72], ["wide", 80]].filter(hasRoom);
  let best = null;
  for (const layout of tries) {
    for (const wraps of [false, true]) {
      arrange(parts, layout, wraps);
      const code = parts.source ? largest(CODE, [parts.source], () => codeFits(parts)) : 30;
      const texts = parts.texts.length ? largest(CODE, parts.texts, () => outFits(parts) && roomFor(parts) > 120) : 30;
      const words = zoom(parts);
      const score = Math.min(words, 22) * 2 + Math.min(code, texts) - (layout[0] === "wide" ? 3 : 0) - (wraps ? 6 : 0);
      if (code && texts && sizeOfAsk(parts) && (!best || score > best.score)) best = { layout, wraps, code, texts, score };
    }
  }
  const { layout, wraps, code, texts } = best || { layout: ["stacked", 0], wraps: true, code: 0, texts: 0 };
  arrange(parts, layout, wraps);
  if (parts.source) resize([parts.source], code || 20);
  resize(parts.texts, texts || 20);
  note("code", code, 20);
  note("output", texts, 20);
  noteWords(zoom(parts), note);
}

const noteWords = (words, note) => note("picture", words >= LEAST ? words : 0, words);

// The height that a mark and what was printed leave for the pictures: all of it where the print stands beside them.
function roomFor({ out, texts }) {
  const room = out.clientHeight - markOn(out);
  if (out.classList.contains("row")) return room;
  return room - texts.reduce((sum, one) => sum + one.offsetHeight + 10, 0);
}

// The height of the mark over an output that other code made, in a live deck.
const markOn = (out) => (out.classList.contains("foreign") ? parseFloat(getComputedStyle(out, "::before").height) + 18 : 0);

// Let the pictures fill their room; return how large their smallest words come out, in px.
function zoom(parts) {
  const { out, pictures } = parts;
  const high = roomFor(parts) / pictures.length - 8;
  const wide = out.clientWidth - (out.classList.contains("row") ? BESIDE : 8);
  let least = 99;
  for (const picture of pictures) {
    const times = Math.min(2.4, wide / picture.naturalWidth, high / picture.naturalHeight);
    picture.style.width = `${Math.floor(picture.naturalWidth * Math.max(times, 0.2))}px`;
    least = Math.min(least, wordsIn(picture) * times);
  }
  return Math.round(least * 10) / 10;
}

// The smallest size of words in a drawing, as it says itself; 14 where it does not (a plot).
function wordsIn(picture) {
  if (picture.dataset.words) return +picture.dataset.words;
  const found = /^data:image\/svg\+xml;base64,(.*)/.exec(picture.src);
  const sizes = found ? [...atob(found[1]).matchAll(/font-size[=:]\s*"?([\d.]+)/g)].map((one) => +one[1]) : [];
  picture.dataset.words = sizes.length ? Math.min(...sizes) : 14;
  return +picture.dataset.words;
}

// Code and question stand below each other, what comes of them takes the place of both.
function fitOverCode(parts, note) {
  arrange(parts, ["over", 0], false);
  if (parts.source) {
    const fits = () => codeFits(parts) && !isHigh(parts.stage);
    const size = largest(CODE.slice(0, 4), [parts.source], fits);
    if (!size) parts.stage.classList.add("wrapped");
    note("code", size || largest(CODE, [parts.source], fits), 20);
  }
}

// A player takes the whole slide below the title; the takeaway comes in the place of the title.
function fitPlayer(slide, parts, note) {
  fitOverCode(parts, note);
  slide.classList.add("plays");
  const takeaway = slide.querySelector(".takeaway");
  if (takeaway) note("takeaway", largest(WORDS, [takeaway], () => takeaway.offsetHeight <= (isUpright() ? 110 : 70)), 24);
  fitPlayers(parts.out, roomFor(parts));
}

// What was printed becomes smaller before the words of the picture do; then it stands beside it.
function fitPanel(parts, note) {
  fitOverCode(parts, note);
  parts.stage.classList.add("wrapped-out");
  const sizeAs = (row) => {
    parts.out.classList.toggle("row", row);
    return largest(CODE, parts.texts, () => outFits(parts) && zoom(parts) >= LEAST);
  };
  const size = sizeAs(false) || (parts.texts.length && sizeAs(true)) || sizeAs(false);
  const words = zoom(parts);
  note("output", size || (outFits(parts) ? CODE.at(-1) : 0), 20);
  noteWords(words, note);
}

function fitTable(slide, note) {
  const table = slide.querySelector(".tablebox table");
  if (!table) return;
  const box = table.parentElement;
  note("table", largest(TABLE, [table], () => table.offsetHeight <= box.clientHeight && !isWide(box)), 24);
}

// Cells below each other: long lines hang, then pictures become smaller, before words do.
function fitFlow(slide, note) {
  const flow = slide.querySelector(".flow");
  if (!flow) return;
  const pictures = every(".pic img,.words img", flow);
  fitPlayers(flow, 320);
  if (scrollWide(slide, flow)) note("wide", 0, Infinity);
  const tries = [[1, false], [1, true], ...(pictures.length ? [0.8, 0.65, 0.5, 0.35].map((times) => [times, true]) : [])];
  let best = { size: 0, times: 1, wraps: true };
  for (const [times, wraps] of tries) {
    const size = sizeOfFlow(flow, pictures, times, wraps);
    if (size > best.size) best = { size, times, wraps };
    if (best.size >= 24) break;
  }
  sizeOfFlow(flow, pictures, best.times, best.wraps, [best.size || 24]);
  note("flow", best.size, 24);
  if (!best.size) return scrollFlow(slide, flow);
  growPictures(flow, pictures, best.times);
  stretchPlayers(flow);
}

// Tables that are too wide at the smallest size scroll by themselves; tell whether there is one.
function scrollWide(slide, flow) {
  resize([flow], 20);
  flow.classList.add("wrapped");
  const boxes = every(".cell>.out,.words table", flow).filter((one) => isWide(one) || one.offsetWidth > flow.clientWidth + 1);
  if (boxes.length) slide.dataset.wide = (Math.max(...boxes.map((one) => Math.max(one.scrollWidth, one.offsetWidth))) / flow.clientWidth).toFixed(1);
  for (const one of boxes) {
    one.classList.add("scrolls");
    one.tabIndex = 0;
  }
  return boxes.length > 0;
}

function sizeOfFlow(flow, pictures, times, wraps, sizes = flow.querySelector("img, .player-room, table") ? FLOW : PLAIN) {
  flow.classList.toggle("wrapped", wraps);
  pictures.forEach((one) => { one.style.width = `${Math.round(widthOf(one) * times)}px`; });
  return largest(sizes, [flow], () => !isHigh(flow) && !isWide(flow));
}

const widthOf = (picture) => +picture.getAttribute("width") || picture.naturalWidth;

function scrollFlow(slide, flow) {
  const wide = Math.max(+slide.dataset.wide || 0, flow.scrollWidth / flow.clientWidth);
  slide.dataset.tall = (flow.scrollHeight / flow.clientHeight).toFixed(1);
  slide.dataset.wide = wide.toFixed(1);
  flow.classList.add("scrolls");
  flow.tabIndex = 0;
}

// Pictures among other cells grow into the room that is left.
function growPictures(flow, pictures, from) {
  const to = (times) => pictures.forEach((one) => { one.style.width = `${Math.round(widthOf(one) * times)}px`; });
  for (let times = 2.4; times > from; times -= 0.1) {
    to(times);
    if (!isHigh(flow) && !isWide(flow)) return;
  }
  to(from);
}

// The first player among other cells gets the height that is left.
function stretchPlayers(flow) {
  const player = flow.querySelector(".player");
  if (!player) return;
  const parts = [...flow.children];
  const top = Math.min(...parts.map((one) => one.offsetTop));
  const bottom = Math.max(...parts.map((one) => one.offsetTop + one.offsetHeight));
  fitPlayers(flow, player.offsetHeight + flow.clientHeight - (bottom - top) - 4);
}
