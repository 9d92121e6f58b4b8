// One row: the letters of a question, or a field for its numbers. The options themselves stand in the text above, and
// are said once.

const NUMBER = /[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?/gi;
const THOUSANDS = /(?<=\d),(?=\d{3}(?!\d))/g; // 4,000
const LEAST = 1e-9; // what two numbers may differ by, beside the tolerance

function numbersIn(text) {
  return (text.replaceAll("\u2212", "-").match(NUMBER) ?? []).map(Number);
}

// Where there are more than are asked for, a comma may stand within a number.
function readNumbers(text, count) {
  const all = numbersIn(text);
  return all.length > count ? numbersIn(text.replaceAll(THOUSANDS, "")) : all;
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
  if (isRight(choice, answer)) return `You said ${named(choice)}, and that's right. ${answer.takeaway}`;
  return `It's ${named(answer.right)}, but you said ${named(choice)}. ${whyOf(choice, answer) || answer.takeaway}`;
}

class Choose {
  isOneField = true;
  labels = new Map();

  constructor(owner, { id, settled, letters, count }) {
    const { row } = owner;
    this.owner = owner;
    const number = settled && id.split(".")[1]; // of the quiz: several rows may stand together
    this.legend = number ? `Your guess for question ${number} of the quiz` : "Your guess for the question above";
    if (number) element("span", "number", row, { textContent: `${number}.`, ariaHidden: "true" });
    this.count = count;
    if (letters) this.drawLetters(letters, row);
    else this.drawField(row);
  }

  drawLetters(letters, row) {
    const group = `prediction-${Math.random().toString(36).slice(2)}`;
    for (const letter of letters) {
      const label = element("label", "letter", row);
      const input = element("input", "", label, { type: "radio", name: group, value: letter, ariaLabel: `option ${letter}`, ariaKeyShortcuts: letter });
      const mark = element("b", "", label, { textContent: letter, ariaHidden: "true" });
      input.addEventListener("change", () => this.owner.show());
      this.labels.set(letter, { label, input, mark });
    }
  }

  drawField(row) {
    const label = element("label", "field", row, { textContent: this.count === 1 ? "A number: " : `${this.count} numbers, with commas between: ` });
    this.field = element("input", "", label, { type: "text", size: 10 + 4 * this.count, inputMode: "text", autocomplete: "off", spellcheck: false });
    this.field.addEventListener("input", () => this.owner.show());
  }

  get empty() {
    const found = this.field ? readNumbers(this.field.value, this.count).length : 0;
    if (!found) return "My guess";
    return this.count === 1 ? "One number, please" : `${found} of ${this.count} numbers`;
  }

  // The key of a letter chooses it.
  pressed({ key }) {
    const input = this.labels.get(key)?.input;
    if (!input) return;
    Object.assign(input, { checked: true }).focus();
    this.owner.show();
  }

  draft = () => this.field?.value ?? this.picked();

  resume(draft) {
    if (this.field) this.field.value = draft;
    else if (this.labels.has(draft)) this.labels.get(draft).input.checked = true;
  }

  picked() {
    if (!this.field) return [...this.labels].find(([, { input }]) => input.checked)?.[0] ?? "";
    const numbers = readNumbers(this.field.value, this.count);
    return numbers.length === this.count ? numbers.join(", ") : "";
  }

  named = (choice) => `My guess is ${named(choice)}`;
  kept = (choice) => `You said ${named(choice)}.`;
  words = (choice, answer) => ({ head: reply(choice, answer) });

  put(choice) {
    if (this.field) Object.assign(this.field, { value: choice, disabled: true });
    for (const [letter, { label, input }] of this.labels) {
      Object.assign(input, { checked: letter === choice, disabled: true });
      label.dataset.mark = letter === choice ? "mine" : "";
      label.title = letter === choice ? "your guess" : "";
    }
  }

  settle(choice, { right }) {
    for (const [letter, { label, mark }] of this.labels) {
      label.dataset.mark = letter === right ? "right" : letter === choice ? "wrong" : "";
      if (letter === right) label.title = "right";
      if (letter === right) mark.textContent = `${letter} \u2713`;
    }
  }

  static isMeant(choice, { letters, count }) {
    return letters ? choice.length === 1 && letters.includes(choice) : numbersIn(choice).length === count;
  }
}

Object.assign(KINDS, { choose: Choose, number: Choose });
