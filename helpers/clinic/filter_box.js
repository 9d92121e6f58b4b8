// The filter box of the glossary: a text field over the list of all entries, which stands in the page. No kernel, no network.
function startFilterBox(root) {
  const add = (parent, name, looks) => parent.appendChild(Object.assign(document.createElement(name), looks));
  const ask = add(root, "label", { className: "glossary-ask", textContent: "Find in the glossary" });
  const field = add(ask, "input", { type: "search", autocomplete: "off", spellcheck: false });
  const told = add(root, "p", { className: "glossary-told" });
  told.setAttribute("role", "status");
  const fold = root.querySelector("details");
  const list = fold.querySelector("ul");
  const BEST = 8; // entries that are shown at once
  const plain = (text) => text.toLowerCase().replaceAll("`", "").replace(/[\s-]+/g, " ").trim();
  const entries = [...list.children].map((node) => ({
    node,
    names: [node.firstElementChild.textContent, ...(node.dataset.also || "").split(";")].map(plain).filter(Boolean),
    text: plain(node.textContent),
  }));

  // How well an entry answers: by its name, by its words, or because its message stands in what was pasted. 0 is not at all.
  function points({ node, names, text }, asked, words) {
    if (names.some((name) => [asked, asked + "()"].includes(name))) return 5;
    if (node.dataset.message && names.some((name) => asked.includes(name))) return 4;
    if (names.some((name) => name.startsWith(asked))) return 3;
    if (names.some((name) => name.includes(asked))) return 2;
    if (text.includes(asked)) return 1;
    const share = weight(words.filter((word) => text.includes(word))) / weight(words);
    return share > 0.6 ? share / 2 : 0;
  }

  // How much words tell: one that few entries have tells much.
  function weight(words) {
    const counts = words.map((word) => entries.filter(({ text }) => text.includes(word)).length);
    return counts.reduce((sum, count) => sum + Math.log(1 + entries.length / (count || 1)), 0);
  }

  function say(found, asked) {
    const shown = Math.min(found, BEST);
    if (!asked) return `${entries.length} entries: type a word, or paste a message.`;
    if (!found) return "No entry has enough of this. Try fewer words, or find(\"…\") in a cell: it forgives slips of spelling.";
    const some = found > shown ? ` You see the ${shown} that fit best.` : "";
    return `${found} of ${entries.length} entries.${some}`;
  }

  function filter() {
    const asked = plain(field.value);
    const words = asked.split(" ");
    const found = asked ? entries.map((entry) => [points(entry, asked, words), entry.node]).filter(([score]) => score) : [];
    found.sort(([one], [other]) => other - one); // equal ones keep the order of the glossary
    const best = found.slice(0, BEST).map(([, node]) => node);
    for (const { node } of entries) node.hidden = Boolean(asked) && !best.includes(node);
    list.append(...best, ...entries.map(({ node }) => node).filter((node) => !best.includes(node)));
    fold.open = best.length > 0;
    fold.firstElementChild.hidden = Boolean(asked);
    told.textContent = say(found.length, asked);
  }

  field.addEventListener("input", filter);
  field.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && field.value) {
      field.value = "";
      filter();
      event.preventDefault();
    }
    const first = list.querySelector("li:not([hidden]) a");
    if (event.key === "Enter" && field.value && first) {
      event.preventDefault();
      first.click();
    }
  });
  // JupyterLab leaves keys alone that are pressed in here: Enter follows a link, and edits no cell.
  root.dataset.lmSuppressShortcuts = "true";
  root.prepend(ask, told);
  filter();
  if (!document.body.dataset.glossaryLands) document.addEventListener("click", landOnHeading);
  document.body.dataset.glossaryLands = "true"; // one box of a window sees to all
}

// JupyterLab guesses how high the cells are that were not seen yet, so that its jumps miss: land on the heading all the same.
function landOnHeading(event) {
  const link = event.target.closest?.("a[href^='#']");
  const notebook = link?.closest(".jp-Notebook");
  if (!notebook?.querySelector(".glossary-box")) return;
  const name = decodeURI(link.hash.slice(1));
  const ours = new AbortController(); // who scrolls or clicks on wants to be elsewhere
  const from = performance.now();
  let corrected = from; // when the heading last stood elsewhere
  const look = () => {
    if (ours.signal.aborted) return; // to scroll now would take the page away from under the mouse
    const heading = notebook.querySelector(`[data-jupyter-id="${CSS.escape(name)}"]`);
    const away = heading ? heading.getBoundingClientRect().top - notebook.getBoundingClientRect().top : 0;
    const now = performance.now();
    if (!heading || away < -8 || away > 120) corrected = now;
    if (away < -8 || away > 120) heading.scrollIntoView();
    if (now - corrected < 700 && now - from < 5000) requestAnimationFrame(look);
    else ours.abort();
  };
  requestAnimationFrame(() => { // the key that led here has been let through by now
    for (const kind of ["wheel", "keydown", "pointerdown"]) document.addEventListener(kind, () => ours.abort(), { signal: ours.signal });
    look();
  });
}
