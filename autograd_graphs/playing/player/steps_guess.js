// Guessing: fields in the place of numbers, and what was typed beside what came.
class StepsGuess {
  // Guessing: a field stands where the number will be; of a tensor one gives the shape.
  field(parent, truth) {
    const made = element("input", "field", parent, { type: "text", inputMode: "decimal", placeholder: "?", ariaLabel: "Your guess", autocomplete: "off", truth });
    made.addEventListener("input", () => this.typed());
    made.addEventListener("focus", () => { this.inField = made; });
    made.addEventListener("keydown", (event) => {
      if (isPages(event)) return;
      if (event.key === "Enter") {
        event.preventDefault();
        const empty = this.fields.find((field) => !field.value);
        made.value && empty ? focus(empty) : this.reveal();
      }
      if (event.key === "Escape") { event.preventDefault(); focus(this.root); }
      event.stopPropagation();
    });
    this.fields.push(made);
  }

  choices(all) {
    if (!all.length) return;
    written("span", "", this.ask, "Type, or choose:");
    for (const choice of all) {
      const made = element("button", "choice", this.ask, { type: "button", textContent: choice });
      made.addEventListener("click", () => {
        const field = this.inField?.isConnected && !this.inField.value ? this.inField : this.fields.find((one) => !one.value) ?? this.fields.at(-1);
        field.value = choice;
        this.typed();
        focus(this.root);
      });
    }
  }

  typed() {
    this.buttons.get("next").textContent = this.fields.some((field) => field.value) ? "Check" : "Show";
  }

  reveal() {
    const hasFocus = this.root.contains(document.activeElement);
    const guesses = this.fields.filter(({ value }) => value.trim()).map(({ value, truth }) => [value.trim(), truth, agrees(value, truth)]);
    this.verdict.replaceChildren();
    for (const [guess, truth, isRight] of guesses) {
      written("b", isRight ? "right" : "wrong", this.verdict, isRight ? `✓ ${truth}` : `✗ not ${guess}, but ${truth}`);
      this.verdict.append(" ");
    }
    if (guesses.length) this.root.dispatchEvent(new CustomEvent("player-guess", { bubbles: true, detail: { frame: this.frame, guesses } }));
    this.isRevealed = this.keepsVerdict = true;
    this.paint();
    this.keepsVerdict = false;
    this.fitWords();
    if (hasFocus) focus(this.root);
    if (!isStill()) this.move(true, true);
  }
}
