// Chooses where the parts of a slide stand, at the sizes of the design. Only where nothing fits at these sizes are words
// smaller; code never is, and its lines are broken by hand. What does not fit is noted in data-trouble, which the build reads.

const WORDS = [30, 20];
const CODE = [26, 20]; // of what is printed; code keeps the first
const TOGETHER = [[26, 30], [26, 20]]; // code and words on one slide
const CRAMPED = [[26, 30], [20, 30], [20, 20]]; // on phones, and with what is typed in a live deck
const LARGE = 36; // px of code that has its slide for itself
const FLOW = [30, 28, 26, 24, 22, 20]; // of other people's notebooks, which nobody wrote for slides
const LINE = 4 / 3; // of words
const CODE_LINE = 36 / 26;
const LEAST = 20; // px of words in pictures and players
const MOST = 2; // times: so large is a picture drawn at most
const ON_PHONES = 22.5; // px of words in pictures on a canvas of 720, for a screen of 390: what is too wide then scrolls

const every = (selector, root) => [...root.querySelectorAll(selector)];
const isWide = (one) => one.scrollWidth > one.clientWidth + 1;
const isHigh = (one) => one.scrollHeight > one.clientHeight + 1;
const isUpright = () => document.documentElement.classList.contains("upright");

function resize(elements, size, line) {
  for (const one of elements) {
    one.style.fontSize = `${size}px`;
    one.style.lineHeight = `${Math.round(size * line)}px`;
  }
}

// Try sizes from the largest; return the first at which all fits, 0 where none does (the smallest stays).
function largest(sizes, elements, line, fits) {
  for (const size of sizes) {
    resize(elements, size, line);
    if (fits()) return size;
  }
  return 0;
}

// Forget how a slide was fitted, so that it is fitted anew.
function forget(slide) {
  delete slide.dataset.fitted;
  delete slide.dataset.moves; // else options are measured as if they had moved
  for (const one of every(".stage, .out, .drawn", slide)) one.classList.remove("wrapped", "wrapped-out", "scrolls", "above", "alone");
}

function fit(slide) {
  if (slide.dataset.fitted) return;
  slide.dataset.fitted = "yes";
  const found = { least: Infinity, trouble: [] };
  const note = (what, size, smallest) => {
    if (!size) found.trouble.push(what);
    found.least = Math.min(found.least, size || smallest);
  };
  const heading = slide.querySelector("h2");
  if (heading) note("title", largest(FLOW, [heading], LINE, () => !isWide(heading.parentElement) && heading.offsetHeight <= 120), 20);
  fitBand(slide, note);
  if (slide.querySelector(".stage")) fitStage(slide, note);
  fitPictures(slide, note);
  fitCards(slide, note);
  fitTable(slide, note);
  fitFlow(slide, note);
  enlarge(slide);
  if (isHigh(slide) || isWide(slide)) found.trouble.push("slide");
  slide.dataset.least = found.least;
  slide.dataset.trouble = found.trouble.join(" ");
}

// Each sentence in the band has two lines of 30 px, or three of 20.
function fitBand(slide, note) {
  for (const one of every(".ask, .takeaway, .asked>*", slide)) {
    const name = one.matches(".asked>*") ? "asked" : one.className;
    note(name, largest(WORDS, [one], LINE, () => one.scrollHeight <= (isUpright() ? 240 : 81) && !isWide(one)), 20);
  }
}

// Options stand beside the code, or in a row below it; so does what came of it. A text that has no room stands in the corner
// of the code, or under the options, or covers the code. A picture covers all but a row of options, where its
// words stay large; options beside the code move into such a row.
const FORMS = [["beside", false], ["row", false], ["beside", "corner"], ["row", "corner"], ["beside", "under"], ["row", "rest"], ["beside", true], ["row", true]];
const SWAPPED = [["whole", true]]; // the result takes the place of its code
const CHARTED = [false, true].flatMap((covers) => ["aside", "below", "narrow", "low"].map((form) => [form, covers])); // beside or below the code
const LEAST_HIGH = { below: 165, low: 100 }; // px of a chart below the code
// Lines of an output hang, or it covers the code; those of code only where it is cramped: [code hangs, output hangs, covers].
const TURNS = [[false, false, false], [false, true, false], [false, false, true], [false, true, true]];
const HUNG = [...TURNS, [true, true, false], [true, true, true]];
const PLAIN = [["whole", false], ["split", false], ["whole", "corner"], ["whole", true]];

function fitStage(slide, note) {
  const parts = {
    slide,
    body: slide.querySelector(".body"),
    stage: slide.querySelector(".stage"),
    source: slide.querySelector(".stage pre.src"),
    out: slide.querySelector(".stage .out"),
    texts: every(".stage .out>pre, .stage .out>.err", slide),
    votes: slide.querySelector(".votes"),
    lead: slide.querySelector(".lead"),
  };
  const best = bestForm(slide, parts);
  arrange(slide, parts, best);
  note(best.size ? "code" : culprit(parts), best.isCramped && !isUpright() ? 0 : best.size, 20);
  greyOn(slide);
  fillAlone(slide, parts, best);
  fillSwapped(slide, parts, best);
  if (parts.stage.dataset.kind === "text" && parts.texts.length) fitText(parts, best);
  delete slide.dataset.moves;
  if (best.covers === true && parts.stage.dataset.kind !== "player" && parts.votes) moveOptions(slide, parts, best);
  if (parts.votes && best.form === "row") for (const one of every(".drawn:has(svg.graph)", slide)) leaveOptions(one);
  if (parts.stage.dataset.kind === "player" && parts.out) fitPlayers(parts.out, parts.out.clientHeight);
}

// What was printed in a few words is the point of its slide; what covers its code may be as large as it likes.
function fitText(parts, best) {
  const { out, texts } = parts, covers = [true, "rest"].includes(best.covers);
  const isShort = texts.length === 1 && texts[0].matches(".o") && /^[^\n]{1,36}$/.test(texts[0].textContent.trim());
  const large = parts.slide.matches("[data-swaps]") ? [best.swapped || CODE[0], ...CODE] : parts.slide.matches(":has(.failed)") ? CODE : [LARGE, ...CODE]; // its code stands beside it
  const sizes = covers ? large : [parseFloat(texts[0].style.fontSize)];
  const fits = () => !isHigh(out) && !isWide(out) && !texts.some(isWide) && (covers || stageFits(parts, best));
  largest(isShort ? [60, ...sizes] : sizes, texts, CODE_LINE, fits);
}

function formsOf(slide, { source, votes, stage }) {
  if (!source) return [["list", false]];
  if (stage.querySelector(".chart")) return [...CHARTED, ...PLAIN];
  if ("swaps" in slide.dataset) return SWAPPED;
  return votes ? FORMS : PLAIN;
}

// The form that is the first to fit at the largest sizes.
function bestForm(slide, parts) {
  const isDrawn = parts.stage.dataset.kind !== "text";
  const forms = formsOf(slide, parts).filter(([, covers]) => !isDrawn || covers === true || (covers === "rest" && parts.stage.dataset.kind === "picture"));
  const cramped = { form: forms.at(-1)[0], covers: true, wraps: true, hangs: true, words: 20, size: 0 };
  return firstForm(parts, forms, TOGETHER, TURNS) || { ...(firstForm(parts, forms, CRAMPED, HUNG) || cramped), isCramped: true };
}

function firstForm(parts, forms, sizes, turns) {
  for (const [size, words] of sizes) {
    for (const [wraps, hangs, hides] of turns) {
      for (const [form, covers] of forms.filter(([, covers]) => hides === (covers === true))) {
        const tried = { form, covers, wraps, hangs, isTidy: !hides, size, words };
        arrange(parts.slide, parts, tried);
        if (stageFits(parts, tried)) return tried;
      }
    }
  }
  return null;
}

// Once the code ran, options stand in a row under the picture, if its words stay large.
function moveOptions(slide, parts, best) {
  slide.dataset.moves = best.form;
  arrange(slide, parts, { ...best, form: "row", covers: "rest" });
  const isLarge = !every("li", parts.votes).some(isWide) && [...(parts.stage.dataset.kind === "text" ? [LARGE] : []), ...CODE].some((size) => {
    resize(parts.texts, size, CODE_LINE);
    return parts.texts.every((one) => !isWide(one)) && !isHigh(parts.out) && isRoomy(parts.out);
  });
  if (isLarge) return placeOptions(slide);
  delete slide.dataset.moves;
  arrange(slide, parts, best);
}

function placeOptions(slide) {
  const { moves, step } = slide.dataset;
  if (moves) slide.dataset.form = step === "0" || slide.matches(".peek") ? moves : "row";
}

function leaveOptions(drawn) {
  drawn.classList.add("above");
  drawn.classList.toggle("above", leastIn(drawn) >= LEAST);
}

// Where code stands alone, the graph that comes is there in grey, without a word; what is blank is no answer.
function greyOn(slide) {
  const slot = slide.querySelector("[data-grey] .slot"), graph = slot && graphIn(slide);
  if (!graph || slot.querySelector(".grey")) return;
  const drawn = graph.cloneNode(true), { x, y, width, height } = graph.getBBox();
  for (const one of every("text,circle,.player-tick,.player-alarm,.player-capsule,.player-moving", drawn)) one.remove();
  drawn.setAttribute("viewBox", `${x - 4} ${y - 4} ${width + 8} ${height + 8}`);
  for (const name of ["style", "width", "height", "role", "aria-label"]) drawn.removeAttribute(name);
  drawn.style.cssText = `max-width:${MOST * width}px;max-height:${MOST * height}px`;
  slot.append(Object.assign(document.createElement("div"), { className: "grey", ariaHidden: "true" }));
  slot.lastChild.append(drawn);
}

const graphIn = (slide) => slide.querySelector(".drawn svg.graph:not(.chart,.lanes), .out svg.graph, .out .player-pane>svg");

// Code with nothing beside or below it stands in the middle, and is larger where that leaves half its room empty. It reaches
// beyond the half of the slide, so that what is still to come under it leaves none.
function fillAlone(slide, parts, best) {
  const { body, stage, source, out, votes } = parts, isText = stage.dataset.kind === "text";
  const isAlone = source && !votes && !("swaps" in slide.dataset) && !stage.querySelector(".grey") && ["whole", "split"].includes(best.form) && (!best.covers || !isText || (best.covers === true && !source.querySelector(".failed")));
  stage.classList.toggle("alone", isAlone);
  stage.style.paddingTop = "";
  if (!isAlone) return;
  const code = source.parentElement, highOf = () => code.offsetHeight + (isText && out && !best.covers ? out.offsetHeight + 24 : 0);
  const high = highOf();
  const large = { ...best, size: LARGE }, sizes = parts.texts.map((one) => one.style.cssText);
  arrange(slide, parts, large);
  if (best.size !== CODE[0] || 2 * high > stage.clientHeight || !stageFits(parts, large)) arrange(slide, parts, best);
  if (best.covers) parts.texts.forEach((one, nr) => { one.style.cssText = sizes[nr]; }); // as large as its own room lets it be
  const lower = body.clientHeight / 2 + 4 - code.offsetTop - code.offsetHeight;
  stage.style.paddingTop = `${Math.max(0, Math.min(2 * lower, stage.clientHeight - highOf()))}px`;
}

// A program whose place the mended one takes is as large as both have room for, so that little of the slide is empty.
function fillSwapped(slide, parts, best) {
  const { source, out, texts } = parts;
  if (!("swaps" in slide.dataset) || !out || !source || best.size !== CODE[0]) return;
  const sizes = texts.map((one) => one.style.cssText);
  for (const size of [LARGE, 32]) {
    const large = { ...best, size };
    arrange(slide, parts, large);
    if (stageFits(parts, large) && !isHigh(out) && !isWide(out)) {
      best.swapped = size;
      return;
    }
  }
  arrange(slide, parts, best);
  texts.forEach((one, nr) => { one.style.cssText = sizes[nr]; });
}

// What is too large where nothing fits at the smallest sizes.
function culprit({ body, votes, lead }) {
  if (lead && lead.offsetHeight > body.clientHeight / 3) return "setup";
  return votes && votes.offsetHeight > body.clientHeight / 2 ? "votes" : "code";
}

function arrange(slide, { stage, source, texts, votes, lead }, { form, covers, wraps, hangs, isTidy, size, words }) {
  slide.dataset.form = form;
  if (covers) slide.dataset.covers = covers === true ? stage.dataset.kind : covers;
  else delete slide.dataset.covers;
  stage.classList.toggle("wrapped", wraps);
  stage.classList.toggle("tidy", Boolean(isTidy)); // no name is broken
  stage.classList.toggle("wrapped-out", hangs);
  resize([source, ...texts].filter(Boolean), size || 20, CODE_LINE);
  resize([votes, lead].filter(Boolean), words, LINE);
  slide.style.setProperty("--votes", `${votes?.offsetHeight || 0}px`);
  const tops = { under: () => votes.offsetTop + votes.offsetHeight + 16, corner: () => source.parentElement.offsetHeight - 8 };
  slide.style.setProperty("--top", `${tops[covers]?.()}px`);
}

function stageFits({ body, stage, source, out, texts, votes, lead }, { form, covers }) {
  if (form in LEAST_HIGH && stage.querySelector(".chart").offsetHeight < LEAST_HIGH[form]) return false;
  const has = [source?.parentElement, votes, lead, ...every("li", votes || lead || stage)].filter(Boolean);
  if (has.some(isWide) || isHigh(stage)) return false;
  if ([lead, votes].some((one) => one && one.offsetTop + one.offsetHeight > body.clientHeight + 1)) return false;
  if (source && stage.offsetTop + source.parentElement.offsetHeight > body.clientHeight + 1) return false;
  if (votes && source && body.closest("[data-form=row]") && votes.offsetTop < stage.offsetTop + source.parentElement.offsetHeight + 12) return false;
  if (!out) return true;
  const half = body.clientHeight / 2;
  if (form === "whole" && !covers && out.offsetHeight + 24 > half && stage.offsetTop + source.parentElement.offsetHeight < half) return false; // before it, half is empty
  if (covers === true && stage.dataset.kind !== "text") return texts.every((one) => !isWide(one));
  if (covers === "under") return out.offsetTop + out.scrollHeight <= body.clientHeight && texts.every((one) => !isWide(one));
  if (covers === "rest") return texts.every((one) => !isWide(one)) && !isHigh(out) && isRoomy(out);
  if (covers === "corner" && !isFree(source, out)) return false;
  return !isWide(out) && !isHigh(out) && texts.every((one) => !isWide(one));
}

// Whether no line of code stands where an output does.
function isFree(source, out) {
  const box = out.getBoundingClientRect(), line = document.createRange();
  return every(".ln", source).every((one) => {
    line.selectNodeContents(one);
    const { right, bottom } = line.getBoundingClientRect();
    return bottom <= box.top || right + 12 <= box.left;
  });
}

// Tell players how high they may be.
function fitPlayers(out, high) {
  for (const room of every(".player-room", out)) {
    room.style.setProperty("--player-high", `${Math.max(320, high)}px`);
    room.dispatchEvent(new Event("player-fit"));
  }
}

// A lab with a long list says what happened under its picture, any other under its list. Its program has four lines, or
// as few as let the words of the picture be read.
const READ = 1.2, MOST_OF_LAB = 1.6, LONG = 7, EDGES = 6, ROW = 50; // ROW: px, above the boxes with blocks
function shareOut(lab) {
  const { room, root, pane, title, words, actions, acts } = lab, isLong = actions.length > LONG, { clientWidth, clientHeight } = root;
  room.classList.toggle("is-long", isLong);
  acts.style.setProperty("--acts", actions.length);
  acts.style.setProperty("--high", isLong ? "440px" : "290px");
  const rest = clientHeight - 16 - (isLong ? title.offsetHeight + words.offsetHeight : 0);
  const larger = (lines) => Math.max(...[false, true].map((lies) => times(lab, lies, pane.clientWidth, rest - 32 * lines)));
  const lines = isUpright() || !clientWidth ? 0 : [4, 3, 2, 1, 0].find((some) => larger(some) >= Math.min(READ, larger(0)));
  room.style.setProperty("--player-lines", lines);
  room.classList.toggle("is-bare", !lines);
}

// What is seen of a picture: all of it, or its boxes, its boxes with blocks, or its graph, as the slide has it.
const partOf = ({ room }) => (isUpright() ? "" : room.closest("section").dataset.part);
function rangeOf(lab) {
  const up = lab.film.aside?.[1];
  return { boxes: [0, up], blocks: [ROW, Infinity], graph: [up, Infinity] }[partOf(lab)] ?? [0, Infinity];
}

// How many times larger a picture may be, as it is or with its graph beside the boxes.
function times(lab, lies, across, down) {
  const { size: [wide, high], aside: [right, up] = [0, 0] } = lab.film, [top, bottom] = rangeOf(lab);
  const [x, y] = lies && !partOf(lab) ? [right + wide, Math.max(up, high - up)] : [wide, Math.min(bottom, high) - top];
  return Math.min(across / (x - EDGES), down / (y - EDGES));
}

// The picture of a lab is as large as what is seen of it allows, its words at least 20 px. A graph too low under its boxes
// stands beside them.
function comeNear(lab) {
  const { svg, film, pane } = lab, { clientWidth, clientHeight } = pane, [top, bottom] = rangeOf(lab), margin = 4;
  const isAside = [true, false].map((lies) => times(lab, lies, clientWidth, clientHeight)), [right, up] = isAside[0] > isAside[1] ? film.aside : [0, Infinity];
  for (const mark of svg.children) {
    mark.style.display = "";
    const box = mark.getBBox(), end = box.y + box.height;
    if (end <= top || end > bottom) mark.style.display = "none";
    if (end > up) mark.setAttribute("transform", `translate(${right} ${-up})`);
    else mark.removeAttribute("transform");
  }
  const { x, y, width, height } = svg.getBBox(), [wide, high] = [width + 2 * margin, height + 2 * margin];
  if (!width) return;
  svg.setAttribute("viewBox", `${x - margin} ${y - margin} ${wide} ${high}`);
  svg.style.cssText = `--wide:${wide};--high:${high};--words:${Math.max(15, 20 / Math.min(MOST_OF_LAB, clientWidth / wide, clientHeight / high))}px`;
  swipes(pane, isUpright() && isWide(pane));
}
addEventListener("player-fits", ({ detail }) => {
  shareOut(detail);
  detail.paintCode();
  comeNear(detail);
  numberPresses(detail);
});

// Beside each action of a lab: which press it was, from its start.
function numberPresses({ actions, trail, start }) {
  const pressed = trail.slice(start.length).map(([, action]) => action);
  actions.forEach((button, at) => {
    button.dataset.nr = pressed.flatMap((action, nr) => (action === at ? [nr + 1] : [])).join(" ");
  });
}

// Pictures fill the room that what was printed leaves; then their words must be large enough.
function fitPictures(slide, note) {
  for (const out of every(".stage .out, .opening .out, .drawn", slide)) {
    const words = leastIn(out);
    if (words === Infinity) continue;
    if (printedIn(out) > out.clientHeight / 2) note("output", 0, 20);
    note("picture", words >= LEAST ? words : 0, words);
  }
}

const isRoomy = (out) => leastIn(out) === Infinity || (leastIn(out) >= LEAST && printedIn(out) <= out.clientHeight / 2); // no picture, or one with half of the room
const printedIn = (out) => every(":scope>pre, :scope>.err", out).reduce((sum, one) => sum + one.offsetHeight + 12, 0);

// Let the pictures of an output fill its room; return the smallest size of their words, in px; Infinity without a picture.
function leastIn(out) {
  const pictures = every("img, svg.graph", out).filter((one) => !one.closest(".player"));
  const room = out.clientHeight - markOn(out) - printedIn(out);
  return Math.min(...pictures.map((one) => zoom(one, out.clientWidth, room / pictures.length - 12)));
}

// The height of the mark over an output that other code made, in a live deck.
const markOn = (out) => (out.classList.contains("foreign") ? parseFloat(getComputedStyle(out, "::before").height) + 18 : 0);

// What is too wide for a phone is swiped, and its edge says so.
function swipes(box, isCut) {
  box.classList.toggle("swiped", isCut);
  box.toggleAttribute("data-prevent-swipe", isCut);
}

// Let a picture fill its room; return how large its smallest words come out, in px.
function zoom(picture, wide, high) {
  const size = picture.viewBox?.baseVal || { width: picture.naturalWidth, height: picture.naturalHeight };
  const words = picture.viewBox && !picture.dataset.words ? 13 : wordsIn(picture);
  const least = isUpright() ? Math.min(ON_PHONES / words, high / size.height) : 0.2;
  const times = Math.max(least, Math.min(picture.viewBox ? MOST : 2.4, wide / size.width, high / size.height));
  picture.style.width = `${Math.floor(size.width * times)}px`;
  picture.style.height = `${Math.floor(size.height * times)}px`;
  swipes(picture.parentElement, size.width * times > wide + 1);
  return Math.round(words * times * 10) / 10;
}

// The smallest size of words in a drawing, in px, as it says itself; 14 where it does not (pixels).
function wordsIn(picture) {
  if (picture.dataset.words) return +picture.dataset.words;
  const found = /^data:image\/svg\+xml;base64,(.*)/.exec(picture.src), svg = found ? atob(found[1]) : "";
  const sizes = [...svg.matchAll(/font-size[=:]\s*"?([\d.]+)/g)].map((one) => +one[1]);
  const px = picture.naturalWidth / (+/viewBox="0 0 ([\d.]+)/.exec(svg)?.[1] || picture.naturalWidth);
  picture.dataset.words = sizes.length ? px * Math.min(...sizes) : 14;
  return +picture.dataset.words;
}

function fitCards(slide, note) {
  const cards = slide.querySelector(".cards");
  if (!cards) return;
  const body = slide.querySelector(".body"), lead = slide.querySelector(".lead");
  const fits = () => cards.offsetTop + cards.offsetHeight <= body.clientHeight + 1 && !isWide(cards);
  note("cards", largest(WORDS, [...every("li", cards), lead].filter(Boolean), LINE, fits), 20);
  const out = slide.querySelector(".body>.out");
  if (!out) return;
  fitPlayers(out, out.clientHeight);
  const texts = every(":scope>*>pre,:scope>*>.err", out);
  if (texts.length) note("output", largest(CODE, texts, CODE_LINE, () => !isHigh(out) && !isWide(out)), 20);
}

function fitTable(slide, note) {
  const table = slide.querySelector(".tablebox table");
  if (!table) return;
  const box = table.parentElement;
  note("table", largest([WORDS[0], ...CODE], [table], LINE, () => table.offsetHeight <= box.clientHeight && !isWide(box)), 20);
}

// Cells below each other: long lines hang, then pictures become smaller, before words do.
function fitFlow(slide, note) {
  const flow = slide.querySelector(".flow");
  if (!flow) return;
  const pictures = every(".pic img,.words img", flow);
  for (const one of every(".large", flow)) one.classList.remove("large");
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
  resize([flow], 20, LINE);
  flow.classList.add("wrapped");
  const boxes = every(".cell>.out,.words table", flow).filter((one) => isWide(one) || one.offsetWidth > flow.clientWidth + 1);
  if (boxes.length) slide.dataset.wide = (Math.max(...boxes.map((one) => Math.max(one.scrollWidth, one.offsetWidth))) / flow.clientWidth).toFixed(1);
  for (const one of boxes) {
    one.classList.add("scrolls");
    one.tabIndex = 0;
  }
  return boxes.length > 0;
}

function sizeOfFlow(flow, pictures, times, wraps, sizes = FLOW) {
  flow.classList.toggle("wrapped", wraps);
  pictures.forEach((one) => { one.style.width = `${Math.round(widthOf(one, flow) * times)}px`; });
  return largest(sizes, [flow], LINE, () => !isHigh(flow) && !isWide(flow));
}

// How wide a picture wants to be: one of pixels, a photograph or a plot, no larger than its slide.
function widthOf(picture, flow) {
  const wide = +picture.getAttribute("width") || picture.naturalWidth;
  if (/^data:image\/svg/.test(picture.src)) return wide;
  return Math.min(wide, flow.clientWidth, flow.clientHeight * picture.naturalWidth / picture.naturalHeight);
}

// The picture that has this step to itself is as large as the slide.
function enlarge(slide) {
  const flow = slide.querySelector(".flow"), steps = slide.dataset.large?.split(" ") || [];
  every(".pic:has(>img,>svg)", slide).forEach((pic, at) => {
    const [picture] = pic.children, isLarge = steps[at] === slide.dataset.step;
    pic.classList.toggle("large", isLarge);
    if (!isLarge) return;
    const wide = picture.viewBox?.baseVal.width || picture.naturalWidth, high = picture.viewBox?.baseVal.height || picture.naturalHeight;
    picture.style.setProperty("--wide", `${Math.round(wide * Math.min(2.4, flow.clientWidth / wide, flow.clientHeight / high))}px`);
  });
}

function scrollFlow(slide, flow) {
  const wide = Math.max(+slide.dataset.wide || 0, flow.scrollWidth / flow.clientWidth);
  slide.dataset.tall = (flow.scrollHeight / flow.clientHeight).toFixed(1);
  slide.dataset.wide = wide.toFixed(1);
  flow.classList.add("scrolls");
  flow.tabIndex = 0;
}

// Pictures among other cells grow into the room that is left.
function growPictures(flow, pictures, from) {
  const to = (times) => pictures.forEach((one) => { one.style.width = `${Math.round(widthOf(one, flow) * times)}px`; });
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
