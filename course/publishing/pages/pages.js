// What the theme leaves open: a box that scrolls can be reached by keyboard (a player sees to its own), and a search leads to the place.
addEventListener("DOMContentLoaded", () => {
  const reach = new ResizeObserver((seen) => {
    for (const { target } of seen) {
      if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
      else target.removeAttribute("tabindex");
    }
  });
  for (const box of document.querySelectorAll("article pre:not(.player pre), .table-wrapper, .output.text_html")) reach.observe(box);

  setTimeout(() => { // the theme marks the words that were searched for a moment after this
    const hits = [...document.querySelectorAll("article .highlighted")];
    const waits = (one) => one.closest("[data-after]:not([data-seen])"); // for a guess
    const hit = hits.find((one) => !waits(one));
    hit?.closest("details")?.setAttribute("open", "");
    (hit ?? (hits[0] && waits(hits[0]).previousElementSibling))?.scrollIntoView({ block: "center" });
  }, 20);
});
