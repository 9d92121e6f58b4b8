// The speaker's window (key S): notes, clock, what comes next. It holds no script of its own and loads nothing, so it
// works from disk too, where a window that shows the deck once more in frames does not.

const LOOK = `body{margin:0;padding:24px;background:#14181d;color:#e6e9ed;font:22px/1.5 system-ui,"DejaVu Sans",sans-serif}
h1{font-size:26px}h2{font-size:18px;color:#a9b4c0}p{margin:0 0 .6em}code{font-family:"DejaVu Sans Mono",monospace}
.time{font-size:34px;font-variant-numeric:tabular-nums}button{font:inherit;font-size:18px;padding:2px 12px}`;
let view = null;
let began = 0;

function part(name, tag, text = "") {
  const made = view.document.createElement(tag);
  Object.assign(made, { id: name, textContent: text });
  view.document.body.append(made);
  return made;
}

function openView() {
  if (view && !view.closed) return view.focus();
  view = window.open("", "speaker", "width=900,height=700");
  if (!view) return;
  const page = view.document;
  page.title = `Notes: ${document.title}`;
  page.documentElement.lang = "en";
  page.head.replaceChildren(Object.assign(page.createElement("style"), { textContent: LOOK }));
  page.body.replaceChildren();
  for (const [name, tag] of [["time", "p"], ["reset", "button"], ["slide", "h1"], ["notes", "div"], ["next", "h2"]]) part(name, tag);
  page.getElementById("time").className = "time";
  Object.assign(page.getElementById("reset"), { textContent: "Start the time again", onclick: () => { began = Date.now(); tick(); } });
  page.addEventListener("keydown", (event) => {
    if (event.target.closest("button") && [" ", "Enter"].includes(event.key)) return;
    if (Reveal.getConfig().keyboard) Reveal.triggerKey(event.keyCode);
    if (event.key.startsWith("Arrow") || event.key === " ") event.preventDefault();
  });
  began = Date.now();
  tick();
  tellView();
}

function tick() {
  if (!view || view.closed) return;
  const seconds = Math.floor((Date.now() - began) / 1000);
  const pair = (number) => String(number).padStart(2, "0");
  const gone = `${pair(Math.floor(seconds / 3600))}:${pair(Math.floor(seconds / 60) % 60)}:${pair(seconds % 60)}`;
  view.document.getElementById("time").textContent = `${gone} · ${new Date().toLocaleTimeString("en-GB")}`;
}

function tellView() {
  if (!view || view.closed) return;
  const slides = Reveal.getSlides();
  const at = slides.indexOf(Reveal.getCurrentSlide());
  const say = (name, text) => { view.document.getElementById(name).textContent = text; };
  const copies = [...slides[at].querySelectorAll("aside.notes")].map((one) => view.document.importNode(one, true));
  say("slide", `${at + 1} / ${slides.length} · ${slides[at].ariaLabel}`);
  view.document.getElementById("notes").replaceChildren(...(copies.length ? copies : ["No notes on this slide."]));
  const more = Reveal.availableFragments().next ? "more on this slide" : slides[at + 1]?.ariaLabel || "the end";
  say("next", `Next: ${more}`);
}

Reveal.addKeyBinding({ keyCode: 83, key: "S", description: "Notes and time for the speaker" }, openView);
for (const event of ["slidechanged", "fragmentshown", "fragmenthidden"]) Reveal.on(event, tellView);
setInterval(tick, 1000);
