// The core of what is asked under a question: open, locked, answered. It keeps the first answer, and says nothing of
// it before the cell that settles it has run; what is right is not in the browser before that. KINDS holds what can be
// asked. A kind has a legend, what an empty button says, picked(), put(choice), named(choice), kept(choice),
// settle(choice, answer), words(choice, answer), and a static isMeant(choice, state); for what is not sent yet draft() and
// resume(draft), which passes over what it cannot read. `render` uses notebook.js of the player, which a page does not carry.

const KINDS = {};
const PAUSE = 300; // ms without a change, after which a draft is kept
const GONE = "The kernel has restarted and no longer knows this question. Run this cell again. Your answer will still be here.";
const STEP = 6; // px that a press may move and still be a click
const BY = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

function element(tag, name, parent, more = {}) {
  const made = Object.assign(document.createElement(tag), more);
  if (name) made.className = `prediction-${name}`;
  parent?.append(made);
  return made;
}

// Words between backticks are code.
function write(parent, text) {
  parent.append(...text.split("`").map((part, i) => (i % 2 ? element("code", "", null, { textContent: part }) : part)));
}

// Keys that mean something here do not reach the notebook; Shift+Enter and its like do.
function isPages({ key, ctrlKey, metaKey, altKey, shiftKey }) {
  return ctrlKey || metaKey || altKey || key === "Tab" || (shiftKey && key === "Enter");
}

// A press that moves is a drag, and no click.
function draggable(target, may, move, end) {
  let start = null;
  let isMoved = false;
  const on = (kind, told) => target.addEventListener(kind, told, true);
  on("pointerdown", (event) => {
    if (event.button || !may(event)) return;
    start = event;
    target.setPointerCapture(event.pointerId);
  });
  on("pointermove", (event) => {
    if (!start || (!isMoved && Math.hypot(event.clientX - start.clientX, event.clientY - start.clientY) < STEP)) return;
    isMoved = true;
    move(event);
  });
  on("lostpointercapture", (event) => {
    start = null;
    if (isMoved) end(event);
    setTimeout(() => (isMoved = false)); // after the click that follows
  });
  on("click", (event) => isMoved && event.stopImmediatePropagation());
}

class Prediction {
  constructor(host, state, commit, drafted = () => {}) {
    Object.assign(this, { state, commit, drafted });
    this.box = element("fieldset", "", host, { className: "prediction" });
    this.box.dataset.kind = state.kind;
    this.legend = element("legend", "unseen", this.box);
    this.body = element("div", "body", this.box);
    this.row = element("div", "row", this.box);
    this.kind = new KINDS[state.kind](this, state);
    this.legend.textContent = this.kind.legend;
    this.button = element("button", "lock", this.row, { type: "button", onclick: () => this.lock() });
    this.sureLabel = element("label", "sure", this.row);
    this.sure = element("input", "", this.sureLabel, { type: "checkbox", onchange: () => this.show() });
    this.sureLabel.append(" I am sure");
    this.said = element("div", "said", this.box, { tabIndex: -1, role: "status" });
    this.box.addEventListener("keydown", (event) => this.pressed(event));
    if (this.isOpen) this.resume(state.draft);
    this.show();
    this.isMade = true;
  }

  // What was not sent when the cell ran last, or when the page was left.
  resume({ given, sure } = {}) {
    if (typeof given === "string" && given) this.kind.resume(given);
    this.sure.checked = sure === true;
  }

  get isOpen() {
    return !this.state.choice;
  }

  pressed(event) {
    if (isPages(event)) return;
    event.stopPropagation();
    if (this.isOpen) this.kind.pressed?.(event);
    if (event.key !== "Enter" || !this.kind.isOneField || event.target === this.button) return;
    event.preventDefault();
    this.lock();
  }

  lock() {
    if (this.send()) this.goOn();
  }

  // Hands in what is chosen; returns whether it was.
  send() {
    const choice = this.kind.picked();
    if (!choice || !this.isOpen) return false;
    const isTold = this.commit(choice, this.sure.checked) !== false;
    if (isTold) this.update({ choice, sure: this.sure.checked });
    else this.say({ head: GONE });
    return isTold;
  }

  // In a notebook the way leads on to the cell that settles it, the next one, unless that has run already; where several rows
  // stand together, to the next row that is open.
  goOn() {
    const cell = this.box.closest(".jp-Cell");
    const open = cell?.querySelector('.prediction[data-state="open"] input');
    if (open) return open.focus();
    if (!cell || !(this.state.ran ? goOn(this.box) : place(cell.nextElementSibling))) this.said.focus({ preventScroll: true });
  }

  update(news) {
    const hasRun = news.ran && !this.state.ran;
    Object.assign(this.state, news);
    this.show();
    const next = hasRun && this.box.closest(".jp-Cell")?.nextElementSibling;
    if (next) keepInView(next, this.box);
  }

  show() {
    const { choice, answer, sure } = this.state;
    this.box.dataset.state = !choice ? "open" : answer ? "answered" : "locked";
    if (choice && this.wasPut !== choice) this.kind.put((this.wasPut = choice));
    if (choice && answer && !this.isSettled) {
      this.isSettled = true;
      this.kind.settle(choice, answer);
    }
    const picked = this.kind.picked();
    this.button.hidden = Boolean(choice);
    this.button.disabled = !picked;
    this.button.textContent = picked ? this.kind.named(picked) : this.kind.empty;
    this.sureLabel.hidden = Boolean(choice) && !sure;
    this.sure.disabled = Boolean(choice);
    if (choice) this.sure.checked = sure;
    if (!choice) this.drafted({ given: this.kind.draft(), sure: this.sure.checked });
    this.say(this.words());
  }

  words() {
    const { choice, answer, ran, settled, problem } = this.state;
    if (!choice) return { head: ran ? "The cell has already run. Answer anyway, before you look at what it printed." : "" };
    const said = answer ? this.kind.words(choice, answer) : { head: this.kind.kept(choice) };
    if (!answer) said.head += settled ? ` Lesson ${settled} settles it.` : " Now run the next cell.";
    return problem ? { ...said, foot: [said.foot, problem].filter(Boolean).join(" ") } : said;
  }

  // A headline, what is said of parts, and what to take along.
  say({ head = "", items = [], foot = "" }) {
    const told = JSON.stringify([head, items, foot]);
    if (told === this.told) return;
    this.told = told;
    this.said.replaceChildren();
    if (head) write(element("p", "", this.said), head);
    const list = items.length && element("ul", "items", this.said);
    for (const [mark, text] of items) write(element("li", mark, list), text);
    if (foot) write(element("p", "", this.said), foot);
  }
}

const SYNCED = ["choice", "sure", "ran", "answer", "problem"];

function render({ model, el }) {
  const tie = new Tie(model, "sure");
  const tell = teller(model, tie);
  const seen = () => Object.fromEntries(SYNCED.map((name) => [name, model.get(name)]));
  const question = model.get("question");
  const draft = new Draft(model, tell, question.id);
  const commit = (choice, sure) => {
    draft.hold();
    return tell({ sure }) && tell({ choice });
  };
  const made = new Prediction(el, { ...question, ...seen(), draft: draft.found }, commit, (news) => draft.change(news));
  const follow = () => made.update(seen());
  for (const name of SYNCED) model.on(`change:${name}`, follow);
  made.box.addEventListener("focusout", () => draft.send());
  const leaveKeys = keepKeys(made.box, () => made.send());
  bringUp(made.box);
  return () => {
    SYNCED.forEach((name) => model.off(`change:${name}`, follow));
    draft.end();
    tie.loosen();
    leaveKeys();
  };
}

// What is not sent yet goes to the kernel, which keeps it in the progress file, and says so. Until then it waits in the tab:
// the kernel may be busy, or gone, when the cell runs again or the page is loaded again.
class Draft {
  constructor(model, tell, id) {
    Object.assign(this, { model, tell, place: `draft ${id}`, timer: 0 });
    const waiting = this.waiting();
    this.found = waiting ? JSON.parse(waiting) : model.get("draft");
    this.text = JSON.stringify(this.found);
    if (waiting) this.later();
    this.heard = ({ kept }) => (kept === null || JSON.stringify(kept) === this.text) && this.waiting("");
    model.on("msg:custom", this.heard);
  }

  change(draft) {
    const text = JSON.stringify(draft);
    if (text === this.text) return;
    this.text = text;
    this.waiting(text);
    this.later();
  }

  later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.send(), PAUSE);
  }

  send() {
    if (this.timer) this.tell({ draft: JSON.parse(this.text) });
    this.stop();
  }

  stop() {
    clearTimeout(this.timer);
    this.timer = 0;
  }

  // It becomes the answer, and waits until that is kept.
  hold() {
    this.stop();
    this.waiting(this.text);
  }

  end() {
    this.send();
    this.model.off("msg:custom", this.heard);
  }

  // What waits in the tab, "" where nothing does, or where nothing may be kept; `text` takes its place.
  waiting(text) {
    try {
      if (text === "") sessionStorage.removeItem(this.place);
      else if (text) sessionStorage.setItem(this.place, text);
      return sessionStorage.getItem(this.place) ?? "";
    } catch {
      return "";
    }
  }
}

// In a page no kernel runs: the choice stays in the browser, and brings the output and the reason, unfolded.
function kept(id, choice) {
  try {
    if (choice) localStorage.setItem(`prediction ${id}`, choice);
    return localStorage.getItem(`prediction ${id}`) ?? "";
  } catch {
    return choice ?? "";
  }
}

export function predictAll(page) {
  for (const slot of page.querySelectorAll(".prediction-slot")) {
    const { answer, ...question } = JSON.parse(slot.querySelector("script").textContent);
    const after = [...page.querySelectorAll("[data-after]")].filter((one) => one.dataset.after === question.id);
    const tell = (choice) => {
      for (const one of after) {
        one.toggleAttribute("data-seen", Boolean(choice));
        one.querySelector(":scope > details")?.toggleAttribute("open", Boolean(choice));
      }
      return choice ? answer : null;
    };
    // What was kept may be an answer to what the question once was.
    const choice = KINDS[question.kind].isMeant(kept(question.id), question) ? kept(question.id) : "";
    const state = { ...question, choice, sure: false, ran: false, problem: "", answer: tell(choice) };
    const made = new Prediction(slot, state, (picked) => {
      kept(question.id, picked);
      made.update({ answer: tell(picked) });
    });
  }
}

export default { render };
