// Plays what Python recorded. A film holds numbers, words and roles (autograd_graphs/playing/encode_backward.py and
// encode_lab.py say how they are written); every shape is made here. Nothing is asked of the network or of a kernel.

const SVG = "http://www.w3.org/2000/svg";
const SHAPES = [["rect", "x", "y", "width", "height", "rx"], ["circle", "cx", "cy", "r"], ["path", "d"], ["polygon", "points"], ["text", "x", "y"]];
// em: the arithmetic gets the largest that fits
const SIZES = [2.5, 2.1, 1.75, 1.4, 1.19, 1, 0.885];
// ms between two steps while playing
const PACE = 1800;
// nodes: a picture of no more that is seen as a whole needs no buttons to look around
const FEW = 12;
// ms: of two steps within so short a time nothing moves
const HURRY = 380;
// what a button calls its key
const KEYS = { ArrowLeft: "←", ArrowRight: "→", o: "i" };
const TROUBLE = { NaN: "NaN", inf: "infinite", zero: "all 0", exploding: "exploding" };
const LEGEND = {
  operation: "backward function", folded: "folded part", leaf: "leaf", held: "saved", freed: "freed",
  next: "on its way", squares: "below 0, above 0; size: magnitude", bars: "how many values below 0, above 0",
};

function element(tag, name, parent, more) {
  const made = Object.assign(document.createElement(tag), { className: name && "player-" + name, ...more });
  parent?.append(made);
  return made;
}

function written(tag, name, parent, textContent) {
  return element(tag, name, parent, { textContent });
}

function shape(tag, parent, more = {}, text) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(more)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  parent?.append(made);
  return made;
}

// Put a text into a node, and what fits a pattern as `make` has it.
function spelled(node, text, pattern, make) {
  text.split(pattern).forEach((part, at) => (at % 2 ? make(part) : node.append(part)));
}

function focus(node) {
  node.focus({ preventScroll: true });
}

// Tab, Shift+Enter and keys with Ctrl are the page's; all others stay here: JupyterLab would cut cells, slides would move.
function isPages({ key, ctrlKey, metaKey, altKey, shiftKey }) {
  return ctrlKey || metaKey || altKey || key === "Tab" || (shiftKey && key === "Enter");
}

function chunks(flat, long) {
  const found = [];
  for (let at = 0; at < flat.length; at += long) found.push(flat.slice(at, at + long));
  return found;
}

const pairs = (flat) => chunks(flat, 2);

const named = (...fields) => (row) => Object.fromEntries(fields.map((field, at) => [field, row[at]]));
const names = (...all) => all.filter(Boolean).join(" ");
const between = (least, value, most) => Math.max(least, Math.min(value, most));
function ease(time) {
  const part = between(0, time, 1);
  return part < 0.5 ? 2 * part * part : 1 - 2 * (1 - part) * (1 - part);
}

const isStill = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

// A tensor as squares, whose side goes with the root of the magnitude, or as a histogram; filled above 0, hollow below.
function tile([kind, words, norm, health, columns, numbers], wide, high, parent) {
  const rows = kind === 1 ? Math.ceil(numbers.length / columns) : 0;
  const [width, height] = kind === 1 ? [10 * columns, 10 * rows] : [6 * columns, 30];
  const scale = Math.min(kind === 1 ? 1.6 : 9, wide / width, high / height);
  const made = shape("svg", parent, { class: "player-tile", width: width * scale, height: height * scale, viewBox: `0 0 ${width} ${height}` });
  const paths = { grid: "", below: "", above: "", zero: "", bad: "" };
  numbers.forEach((number, at) => {
    if (kind === 2) return number && (paths[at < 7 ? "below" : at > 7 ? "above" : "zero"] += `M${at * 6 + 0.8} 30v${-Math.max(number, 1)}h4.4v${Math.max(number, 1)}z`);
    const [x, y, size] = [(at % columns) * 10, Math.floor(at / columns) * 10, Math.abs(number)];
    paths.grid += `M${x} ${y}h10v10h-10z`;
    if (size > 90) return paths.bad += `M${x + 2} ${y + 2}l6 6m0-6l-6 6`;
    const side = number ? Math.max(2.6, size * 0.86) - (number < 0 ? 1.2 : 0) : 1.6;
    paths[number > 0 ? "above" : number < 0 ? "below" : "zero"] += `M${x + 5 - side / 2} ${y + 5 - side / 2}h${side}v${side}h${-side}z`;
  });
  if (kind === 2) paths.grid = `M0 30h${width}`;
  for (const [name, d] of Object.entries(paths)) if (d) shape("path", made, { class: `player-${name}`, d });
  return made;
}

// Give a class the methods of others: each of them is one job of it, in a file of its own.
function withJobs(Of, ...jobs) {
  for (const { prototype } of jobs) {
    const { constructor, ...methods } = Object.getOwnPropertyDescriptors(prototype);
    Object.defineProperties(Of.prototype, methods);
  }
}
