"""What tests read from a page with players: where everything stands, what is cut off, what is said."""

# What a person would call broken in the player as it stands, in words; `least` is the smallest text, px.
FAULTS = """(least) => {
    const root = document.querySelector(".player"), panel = root.querySelector(".player-panel");
    const box = (one) => one.getBoundingClientRect();
    const isSeen = (one) => one.checkVisibility({ visibilityProperty: true, opacityProperty: true });
    const name = (one) => `${one.getAttribute("class") || one.tagName} “${one.textContent.trim().slice(0, 30)}”`;
    const found = [];
    const inside = (one, outer, slack = 1) => {
        const [a, b] = [box(one), box(outer)];
        return a.left >= b.left - slack && a.right <= b.right + slack && a.top >= b.top - slack && a.bottom <= b.bottom + slack; };
    for (const one of root.querySelectorAll("*")) {
        const look = getComputedStyle(one), bars = /auto|scroll/.test(look.overflowX + look.overflowY);
        if (bars && !(one.matches(".player-pane") && !root.classList.contains("player-wide")) && (one.scrollHeight > one.clientHeight + 1 || one.scrollWidth > one.clientWidth + 1)) found.push(`scrolls: ${name(one)}`);
    }
    const wide = root.classList.contains("player-wide");
    const pieces = [...panel.querySelectorAll("button,input,h3,p,small,b,summary,.player-cell,.player-legend span,.player-away,.player-here,.player-count,.player-bars,svg.player-tile,.player-more,.player-bytes")]
        .filter((one) => isSeen(one) && box(one).width && !one.closest(".player-formula>div") && !one.closest(".player-sizer"));
    for (const one of pieces) if (!inside(one, wide ? panel : root)) found.push(`cut off: ${name(one)}`);
    for (const one of [panel.querySelector(".player-eq"), panel, root]) {
        if (wide && (one.scrollHeight > one.clientHeight + 1 || one.scrollWidth > one.clientWidth + 1)) found.push(`too full: ${name(one)}`);
    }
    for (const one of panel.querySelectorAll("button,.player-cell b,small")) if (isSeen(one) && one.scrollWidth > one.clientWidth + 1 && one.clientWidth) found.push(`wider than its box: ${name(one)}`);
    const parts = [...panel.children].flatMap((one) => one.matches(".player-foot,.player-bar,.player-eq,.player-ask,.player-acts") ? [...one.children] : [one]).filter((one) => isSeen(one) && box(one).height && box(one).width);
    const cells = [...panel.querySelectorAll(".player-cell > *")].filter((one) => isSeen(one) && box(one).width);
    const overlap = (all) => all.forEach((one, at) => all.slice(at + 1).forEach((other) => {
        const [a, b] = [box(one), box(other)];
        if (a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1) found.push(`over one another: ${name(one)}, ${name(other)}`); }));
    overlap(wide ? parts : parts.filter((one) => !one.closest(".player-bar"))); // the bar sticks to the bottom, over the rest
    overlap(cells);
    const words = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    while (words.nextNode()) {
        const one = words.currentNode.parentElement;
        if (!words.currentNode.textContent.trim() || !isSeen(one) || one.closest(".player-live,.player-sizer,[aria-hidden=true]")) continue;
        const svg = one.closest("svg"), scale = svg?.getScreenCTM?.().a ?? 1;
        const size = parseFloat(getComputedStyle(one).fontSize) * scale;
        if (size < least) found.push(`${size.toFixed(1)} px: ${name(one)}`);
    }
    if (wide && box(root).bottom > innerHeight) found.push("higher than what is seen");
    const bar = root.querySelector(".player-bar");
    if (bar?.firstChild && (box(bar).bottom > innerHeight + 1 || box(bar).top < 0)) found.push("the controls are out of sight");
    for (const one of document.querySelectorAll("button, input, summary")) {
        const { width, height } = box(one);
        if (isSeen(one) && (width < 24 || height < 24)) found.push(`too small to hit, ${width} × ${height}: ${name(one)}`);
    }
    if (document.documentElement.scrollWidth > innerWidth) found.push("wider than the page");
    const scroll = document.documentElement; if (wide && scroll.scrollHeight > innerHeight + 60) found.push(`the page scrolls by ${scroll.scrollHeight - innerHeight}`);
    const now = root.querySelector(".player-node.is-now");
    const pane = root.querySelector(".player-pane");
    if (now && !inside(now, pane) && box(now).width < box(pane).width - 24) found.push("what has its turn is out of sight");
    return [...new Set(found)]; }"""
# What may not move from one stop to another; stacked, the bar sticks to the bottom, and what is long gets longer.
PLACES = """() => {
    const root = document.querySelector(".player"), { x: left, y: top } = root.getBoundingClientRect();
    const isWide = root.classList.contains("player-wide");
    const places = [["", ".player, .player-panel, .player-bar, .player-bar > *"], ["wh", ".player-code, .player-pane, .player-range, .player-keys, .player-action, .player-saying"], ["", ".player-count, .player-title, .player-panel > .player-say, .player-eq"]];
    return places.flatMap(([what, where]) => [...document.querySelectorAll(where)].map((one) => {
        const { x, y, width, height } = one.getBoundingClientRect(), sticks = !isWide && one.closest(".player-bar");
        const found = [x - left, sticks ? 0 : y - top, ...(what || isWide && !one.matches(".player-count") ? [width] : []), ...(what ? [height] : [])];
        return [one.className.split(" ")[0], ...found.map((size) => size.toFixed(1))].join(" "); })); }"""
# Show a film as anywidget does, where there is a kernel and where there is none.
START = """async ([script, film, frame, comm, done = []]) => {
  class Model {
    constructor(state, live) { Object.assign(this, { state, live, heard: [], sent: [] }); }
    get comm_live() { return this.live; }
    set comm_live(live) { this.live = live; this.tell("comm_live_update"); }
    tell(name) { for (const [wanted, handler] of [...this.heard]) if (wanted === name) handler(this); }
    get(name) { return this.state[name]; }
    set(name, value) { if (this.state[name] !== value) { this.state[name] = value; this.tell("change:" + name); } }
    on(name, handler) { this.heard.push([name, handler]); }
    off(name, handler) { this.heard = this.heard.filter((one) => one[0] !== name || one[1] !== handler); }
    send(what) { if (comm === "none") throw "Syncing error: no comm channel"; this.sent.push(what); }
    save_changes() { if (comm === "none") throw "Syncing error: no comm channel"; window.saved = { ...this.state }; }
  }
  const live = comm !== "none" && comm !== "restored";
  window.layout = new Model({}, live);
  window.model = new Model({ film, frame, guessing: false, done, layout: window.layout }, live);
  window.model.widget_manager = { kernel: comm === "dead" ? null : {} };
  const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  const widget = (await import(url)).default;
  window.stop = widget.render({ model: window.model, el: document.getElementById("here") });
}"""
SETTLED = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))"
IS_ASKED = "document.querySelector('.player-next').textContent === 'Show'"
IS_LAST = "document.querySelector('.player-next').ariaDisabled === 'true'"


def go_through(shown, most=14):
    """Go through the stops of a view, then once more guessing; yield what one is at."""
    shown.focus(".player")
    for number in range(most):
        yield f"stop {number}"
        if shown.evaluate(IS_LAST):
            break
        shown.keyboard.press("ArrowRight")
    shown.keyboard.press("Home")
    shown.keyboard.press("g")
    for number in range(most):
        if shown.evaluate(IS_ASKED):
            yield f"stop {number} asks"
            shown.keyboard.press("Enter")
        yield f"stop {number} while guessing"
        if shown.evaluate(IS_LAST):
            break
        shown.keyboard.press("ArrowRight")
