// Explain in your own words; afterwards a good answer stands beside yours, and points that you tick yourself.

const FEW = 16; // letters: fewer explain nothing
const MANY = 1000;

class Explain {
  legend = "Explain in a sentence or two";

  constructor(owner) {
    this.owner = owner;
    const label = element("label", "own", owner.body, { textContent: "In your own words:" });
    this.field = element("textarea", "", label, { rows: 3, maxLength: MANY, spellcheck: false });
    this.field.addEventListener("input", () => owner.show());
  }

  get empty() {
    return this.field.value.trim() ? "A few more words" : "My explanation";
  }

  picked() {
    const text = this.field.value.trim();
    return text.length < FEW ? "" : text;
  }

  draft = () => this.field.value;
  resume = (draft) => (this.field.value = draft);
  named = () => "This is my explanation";
  kept = () => "Your words are kept.";
  words = () => ({});

  put(choice) {
    Object.assign(this.field, { value: choice, readOnly: true });
  }

  // Nobody grades it: the ticks are for oneself.
  settle(choice, { good, points }) {
    element("p", "tick", this.owner.body, { textContent: "One good answer:" });
    write(element("blockquote", "good", this.owner.body), good);
    element("p", "tick", this.owner.body, { textContent: "Which of these points did you make? Only you see the ticks." });
    const list = element("ul", "points", this.owner.body);
    for (const point of points) {
      const label = element("label", "", element("li", "", list));
      element("input", "", label, { type: "checkbox" });
      write(element("span", "", label), point);
    }
  }

  static isMeant = (choice) => choice.length >= FEW;
}

KINDS.explain = Explain;
