// What the theme leaves open: a search leads to the place.
addEventListener("DOMContentLoaded", () => {
  setTimeout(() => { // the theme marks the words that were searched for a moment after this
    const hits = [...document.querySelectorAll("article .highlighted")];
    const waits = (one) => one.closest("[data-after]:not([data-seen])"); // for a guess
    const hit = hits.find((one) => !waits(one));
    hit?.closest("details")?.setAttribute("open", "");
    (hit ?? (hits[0] && waits(hits[0]).previousElementSibling))?.scrollIntoView({ block: "center" });
  }, 20);
});
