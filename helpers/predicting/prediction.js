// One row under a question: its letters, or a field for numbers, and what is said of the guess. The options
// themselves stand in the text above, and are said once. What is right is not here before the answer comes.

const NUMBER = /[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?/gi;
const GROWS = 2000; // ms that an output may take to be drawn
const LEAST = 1e-9; // what two numbers may differ by, beside the tolerance

function element(tag, name, parent, more = {}) {
  const made = Object.assign(document.createElement(tag), more);
  if (name) made.className = `prediction-${name}`;
  parent?.append(made);
  return made;
}

function numbersIn(text) {
  return (text.replaceAll("\u2212", "-").match(NUMBER) ?? []).map(Number);
}

function isRight(choice, answer) {
  if (typeof answer.right === "string") return choice === answer.right;
  return areClose(numbersIn(choice), answer.right, answer.tolerance);
}

function areClose(some, others, tolerance) {
  return some.length === others.length && some.every((one, i) => Math.abs(one - others[i]) <= tolerance * Math.abs(others[i]) + LEAST);
}

// What tempts in a wrong guess, "" where nothing is known of it.
function whyOf(choice, answer) {
  for (const [wrong, why] of answer.why) {
    const isMeant = typeof answer.right === "string" ? wrong === choice : areClose(numbersIn(choice), numbersIn(wrong), answer.tolerance);
    if (isMeant) return why;
  }
  return "";
}

function named(guess) {
  if (Array.isArray(guess)) return guess.map((one) => String(Number.isInteger(one) ? one : Number(one.toPrecision(4)))).join(", ");
  return /^[a-f]$/.test(guess) ? `(${guess})` : guess;
}

// The words of an answer; the same in Python: answers.py
export function reply(choice, answer) {
  if (isRight(choice, answer)) return `You said ${named(choice)}, and so it is. ${answer.takeaway}`;
  return `You said ${named(choice)}; it is ${named(answer.right)}. ${whyOf(choice, answer) || answer.takeaway}`;
}

// Keys that mean something here do not reach the notebook; Shift+Enter and its like do.
function isPages({ shiftKey, ctrlKey, metaKey, altKey }) {
  return shiftKey || ctrlKey || metaKey || altKey;
}

// Notebook 7 looks for its shortcuts before a key comes here, and passes over what is marked like this.
function keepKeys(box) {
  const mark = (event) => {
    if (box.contains(event.target)) event.target.toggleAttribute("data-lm-suppress-shortcuts", !isPages(event));
  };
  addEventListener("keydown", mark, true);
  return () => removeEventListener("keydown", mark, true);
}

class Row {
  constructor(host, state, commit) {
    this.state = state;
    this.commit = commit;
    this.box = element("fieldset", "", host, { className: "prediction" });
    const number = state.settled && state.id.split(".")[1]; // of the quiz: several rows may stand together
    const above = number ? `Your guess for question ${number} of the quiz` : "Your guess for the question above";
    element("legend", "unseen", this.box, { textContent: above });
    this.row = element("div", "row", this.box);
    if (number) element("span", "number", this.row, { textContent: `${number}.`, ariaHidden: "true" });
    this.labels = new Map();
    if (state.letters) this.drawLetters();
    else this.drawField();
    this.button = element("button", "lock", this.row, { type: "button" });
    this.button.addEventListener("click", () => this.lock());
    this.drawSure();
    this.said = element("p", "said", this.box, { tabIndex: -1 });
    this.said.setAttribute("role", "status");
    this.box.addEventListener("keydown", (event) => this.pressed(event));
    this.show();
  }

  drawLetters() {
    const group = `prediction-${Math.random().toString(36).slice(2)}`;
    for (const letter of this.state.letters) {
      const label = element("label", "letter", this.row);
      const input = element("input", "", label, { type: "radio", name: group, value: letter, ariaLabel: `option ${letter}` });
      const mark = element("b", "", label, { textContent: letter, ariaHidden: "true" });
      input.addEventListener("change", () => this.show());
      this.labels.set(letter, { label, input, mark });
    }
  }

  drawField() {
    const { count } = this.state;
    const label = element("label", "field", this.row, { textContent: count === 1 ? "A number: " : `${count} numbers, with commas between: ` });
    this.field = element("input", "", label, { type: "text", inputMode: "text", autocomplete: "off", spellcheck: false });
    this.field.addEventListener("input", () => this.show());
  }

  drawSure() {
    const label = element("label", "sure", this.row);
    this.sure = element("input", "", label, { type: "checkbox" });
    label.append(" I am sure");
    this.sureLabel = label;
  }

  pressed(event) {
    if (isPages(event)) return;
    event.stopPropagation();
    if (event.key !== "Enter" || event.target === this.button) return;
    event.preventDefault();
    this.lock();
  }

  picked() {
    if (!this.field) return this.row.querySelector("input[type=radio]:checked")?.value ?? "";
    const numbers = numbersIn(this.field.value);
    return numbers.length === this.state.count ? numbers.join(", ") : "";
  }

  lock() {
    const picked = this.picked();
    if (!picked || this.state.choice) return;
    this.update({ choice: picked, sure: this.sure.checked });
    this.commit(picked, this.sure.checked);
    this.goOn();
  }

  // In a notebook the next cell becomes the active one, so that Shift+Enter runs it and not this one again;
  // where several rows stand together, the next one that is open.
  goOn() {
    const cell = this.box.closest(".jp-Cell");
    const open = cell?.querySelector('.prediction[data-state="open"] input');
    if (open) return open.focus();
    const next = cell?.nextElementSibling;
    const editor = next?.querySelector(".cm-content");
    const place = editor?.checkVisibility() ? editor : next;
    if (place === next && next?.tabIndex === -1) next.tabIndex = -1; // so that it can be focused
    place?.focus({ preventScroll: true });
    if (!place?.contains(document.activeElement)) this.said.focus({ preventScroll: true });
  }

  update(state) {
    const hasRun = state.ran && !this.state.ran;
    Object.assign(this.state, state);
    this.show();
    if (hasRun) this.bringUp();
  }

  // What the cell below has made may begin under the edge of the window. It is brought up as it grows, as far as
  // this row stays in view; whoever does something else meanwhile is left alone.
  bringUp() {
    const panel = this.box.closest(".jp-WindowedPanel-outer");
    const next = this.box.closest(".jp-Cell")?.nextElementSibling;
    if (!panel || !next) return;
    const grown = new ResizeObserver(() => {
      const [seen, made, row] = [panel, next, this.box].map((one) => one.getBoundingClientRect());
      const by = Math.min(made.bottom - seen.bottom, row.top - seen.top);
      if (by > 0) panel.scrollTop += by;
    });
    const stop = () => grown.disconnect();
    grown.observe(next);
    setTimeout(stop, GROWS);
    for (const kind of ["wheel", "keydown", "pointerdown"]) panel.addEventListener(kind, stop, { once: true, passive: true });
  }

  show() {
    const { choice, answer, sure } = this.state;
    const picked = this.picked();
    this.box.dataset.state = !choice ? "open" : answer ? "answered" : "locked";
    this.button.hidden = Boolean(choice);
    this.button.disabled = !picked;
    this.button.textContent = picked ? `My guess is ${named(picked)}` : "My guess";
    this.sureLabel.hidden = Boolean(choice) && !sure;
    this.sure.disabled = Boolean(choice);
    if (choice) this.sure.checked = sure;
    if (this.field && choice) Object.assign(this.field, { value: choice, disabled: true });
    for (const [letter, parts] of this.labels) this.showLetter(letter, parts);
    this.say(this.words());
  }

  showLetter(letter, { label, input, mark }) {
    const { choice, answer } = this.state;
    if (choice) Object.assign(input, { checked: letter === choice, disabled: true });
    const isMine = letter === choice;
    label.dataset.mark = answer?.right === letter ? "right" : isMine && answer ? "wrong" : isMine ? "mine" : "";
    label.title = answer?.right === letter ? "right" : isMine ? "your guess" : "";
    mark.textContent = label.dataset.mark === "right" ? `${letter} \u2713` : letter;
  }

  words() {
    const { choice, answer, ran, settled, problem } = this.state;
    if (!choice) return ran ? "The cell has run. Guess all the same, before you look at what it printed." : "";
    const kept = problem ? ` ${problem}` : "";
    if (answer) return reply(choice, answer) + kept;
    if (settled) return `You said ${named(choice)}. Lesson ${settled} settles it.${kept}`;
    return `You said ${named(choice)}. Now run the next cell.${kept}`;
  }

  // Words between backticks are code.
  say(text) {
    if (this.told === text) return;
    this.told = text;
    const parts = text.split("`").map((part, i) => (i % 2 ? element("code", "", null, { textContent: part }) : part));
    this.said.replaceChildren(...parts);
  }
}

const SYNCED = ["choice", "sure", "ran", "answer", "problem"];

function render({ model, el }) {
  const seen = () => Object.fromEntries(SYNCED.map((name) => [name, model.get(name)]));
  const row = new Row(el, { ...model.get("question"), ...seen() }, (choice, sure) => {
    model.set("choice", choice);
    model.set("sure", sure);
    model.save_changes();
  });
  const follow = () => row.update(seen());
  for (const name of SYNCED) model.on(`change:${name}`, follow);
  const leaveKeys = keepKeys(row.box);
  return () => {
    SYNCED.forEach((name) => model.off(`change:${name}`, follow));
    leaveKeys();
  };
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

// What was kept may be an answer to what the question once was.
function isMeant(choice, { letters, count }) {
  return letters ? choice.length === 1 && letters.includes(choice) : numbersIn(choice).length === count;
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
    const choice = isMeant(kept(question.id), question) ? kept(question.id) : "";
    const row = new Row(slot, { ...question, choice, sure: false, ran: false, problem: "", answer: tell(choice) }, (picked) => {
      kept(question.id, picked);
      row.update({ answer: tell(picked) });
    });
  }
}

export default { render };
