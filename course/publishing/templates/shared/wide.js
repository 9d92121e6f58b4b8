// What is wider than its column can be reached by keyboard, has a name, and says that it scrolls. A player sees to itself.
(() => {
  const BOXES = "pre, p:has(> img), .output.text_html, .output.html, .table-wrapper, .words table, .output table";
  const KINDS = [[":is(table, .table-wrapper)", "table"], [":has(img)", "picture"], [":is(.source, .cell_input) *", "code"]];
  const named = (box) => `Wide ${KINDS.find(([kind]) => box.matches(kind))?.[1] ?? "output"}`;
  const CLOSE = 0.85; // a picture that needs no less than this to fit is drawn so much smaller
  const WORTH = 8; // pixels beyond the column that are worth words
  const isTable = (box) => box.matches("table"); // with a role it would be none any more

  function hintOf(box) {
    if (box.matches("pre")) return null; // whoever reads code knows
    if (box.previousElementSibling?.matches(".wide-hint")) return box.previousElementSibling;
    const hint = Object.assign(document.createElement("span"), { className: "wide-hint", hidden: true });
    hint.setAttribute("aria-hidden", "true"); // its name says it
    box.before(hint);
    return hint;
  }

  function fade(box) {
    const left = box.scrollLeft > 1;
    const right = box.scrollLeft + box.clientWidth < box.scrollWidth - 1;
    box.dataset.more = left && right ? "both" : left ? "left" : right ? "right" : "";
  }

  function judge(box) {
    for (const picture of box.querySelectorAll("img")) picture.style.maxWidth = box.clientWidth < CLOSE * picture.naturalWidth ? "" : "100%";
    const wide = box.scrollWidth > box.clientWidth;
    const hint = hintOf(box);
    if (hint) hint.hidden = box.scrollWidth < box.clientWidth + WORTH;
    if (wide === "wide" in box.dataset) {
      if (wide) fade(box);
      return;
    }
    if (wide) {
      box.dataset.wide = "";
      box.tabIndex = 0;
      if (!isTable(box)) box.setAttribute("role", "group");
      if (!isTable(box)) box.setAttribute("aria-label", named(box));
      fade(box);
    } else {
      for (const name of ["data-wide", "data-more", "tabindex", "role", "aria-label"]) box.removeAttribute(name);
    }
  }

  function start() {
    const seen = new ResizeObserver((all) => all.forEach(({ target }) => judge(target)));
    for (const box of document.querySelectorAll(`:is(main, [role="main"]) :is(${BOXES})`)) {
      if (box.closest(".player-slot, .prediction-slot, .glossary-box, .scrolls") || box.querySelector(".player-slot, .prediction-slot, .glossary-box")) continue;
      seen.observe(box);
      box.addEventListener("scroll", () => {
        if (!("wide" in box.dataset)) return;
        fade(box);
        if (box.scrollLeft > 1) document.documentElement.dataset.swiped = "";
      }, { passive: true });
    }
  }

  if (document.readyState === "loading") addEventListener("DOMContentLoaded", start);
  else start();
})();
