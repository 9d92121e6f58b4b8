// Find the line: choose one, then say why if you like; afterwards every line tells what stands behind it.

class FindLine {
  legend = "Find the line";
  empty = "Choose a line";
  group = `line-${Math.random().toString(36).slice(2)}`;

  constructor(owner, { lines, raises, symptom, reasons }) {
    this.owner = owner;
    const list = element("div", "lines", owner.body, { role: "radiogroup", ariaLabel: "The program. Arrow keys go from line to line." });
    this.rows = lines.map((text, i) => {
      const label = element("label", "line", list);
      const input = element("input", "", label, { type: "radio", name: this.group, value: i + 1, disabled: !text, onchange: () => this.chosen() });
      element("span", "number", label, { textContent: i + 1 });
      element("code", "", label, { textContent: text || " " });
      const note = element("small", "note", label, { textContent: i + 1 === raises ? "\u26a1 fails here" : "" });
      return { label, input, note };
    });
    element("pre", "symptom", owner.body, { textContent: symptom });
    this.because = element("fieldset", "because", owner.body, { hidden: true });
    element("legend", "", this.because, { textContent: "Why? (Only if you like.)" });
    for (const [letter, text] of Object.entries(reasons)) {
      const label = element("label", "reason", this.because);
      element("input", "", label, { type: "radio", name: `${this.group}-why`, value: letter, onchange: () => owner.show() });
      write(element("span", "", label), text);
    }
  }

  get line() {
    return this.rows.findIndex(({ input }) => input.checked) + 1;
  }

  chosen() {
    const { isOpen, state } = this.owner;
    this.because.hidden = !isOpen;
    if (state.answer) this.owner.say(this.words(state.choice, state.answer, this.line));
    else this.owner.show();
  }

  picked = () => (this.line ? `${this.line}${this.because.querySelector(":checked")?.value ?? ""}` : "");
  draft = () => this.picked();
  named = (choice) => `My answer is line ${parseInt(choice)}`;
  kept = (choice) => `You said line ${parseInt(choice)}.`;

  put(choice) {
    const row = this.rows[parseInt(choice) - 1];
    if (row) row.input.checked = true;
  }

  resume(draft) {
    this.put(draft);
    this.because.hidden = !this.line;
    const why = [...this.because.querySelectorAll("input")].find(({ value }) => value === draft.replace(/\d+/, ""));
    if (why) why.checked = true;
  }

  // Every line tells what stands behind it; the lines can be asked on.
  settle(choice, { cause, notes }) {
    this.because.hidden = true;
    this.rows.forEach(({ label, input, note }, i) => {
      const [isCause, isMine] = [i + 1 === cause, i + 1 === parseInt(choice)];
      const tag = [isCause && "the cause", isMine && "your line"].filter(Boolean).join(", ");
      label.dataset.mark = isCause ? "cause" : isMine ? "mine" : "";
      note.textContent = ` ${notes[i]} ${note.textContent}`;
      if (tag) note.prepend(element("b", "", null, { textContent: tag }));
      input.setAttribute("aria-description", `${tag} ${notes[i]}`);
    });
  }

  words(choice, { cause, reason, tells, reasonTells, takeaway }, asked = 0) {
    const [line, letter] = [parseInt(choice), choice.replace(/\d+/, "")];
    const tell = (one) => [one === cause ? "right" : "extra", `Line ${one}: ${tells[one - 1]}`];
    if (asked && asked !== line) return { head: `About line ${asked}:`, items: [tell(asked)], foot: takeaway };
    const items = line === cause ? [tell(line)] : [tell(line), tell(cause)];
    if (letter) items.push([letter === reason ? "right" : "extra", `Your reason: ${letter === reason ? "that's right" : reasonTells[letter]}.`]);
    const head = line === cause ? `You said line ${line}, and that's right.` : `You said line ${line}, but it's line ${cause}.`;
    return { head, items, foot: `${takeaway} Click another line to read about that one.` };
  }

  static isMeant(choice, { lines, reasons }) {
    const [, line, letter] = choice.match(/^(\d{1,2})([a-f]?)$/) ?? [];
    return Boolean(lines[line - 1]) && (!letter || letter in reasons);
  }
}

KINDS.find_line = FindLine;
