"""A notebook that tries everything to run or fetch something when it is published.

Every attempt sets window.hit.
"""

import json

from made_up_film import lab, unfolding
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from helpers.playing.player import as_json

HIT = "window.hit=1"
FAR = "http://far.example/x"
WIDGETS = "application/vnd.jupyter.widget-state+json"
VIEW = "application/vnd.jupyter.widget-view+json"
SVG = f'<svg xmlns="http://www.w3.org/2000/svg" onload="{HIT}"><script>{HIT}</script><image href="{FAR}"/></svg>'
PAGES = [
    f"<script>{HIT}</script>",
    f'<img src="x" onerror="{HIT}">',
    f'<a href="javascript:{HIT}">go</a>',
    f'<a href=" java\tscript:{HIT}">go</a>',
    f'<iframe src="{FAR}"></iframe><object data="{FAR}"></object><link rel="stylesheet" href="{FAR}">',
    f'<img src="{FAR}"><div style="background:url({FAR})">b</div>',
    f'<svg><foreignObject><body onload="{HIT}"></body></foreignObject></svg>',
    f"<math><mtext><table><mglyph><style><img src=x onerror={HIT}></style></mglyph></table></mtext></math>",
    f'<div class="player-slot"><script type="application/json">{{}}</script></div><template><p>{HIT}</p></template>',
    f'<form action="{FAR}"><button autofocus onfocus="{HIT}">b</button></form><base href="{FAR}">',
    f'<meta http-equiv="refresh" content="0;url={FAR}"><p>refresh',
    f'<img src="x" onerror="{HIT}"',
    f"<!--><script>{HIT}</script>-->",
]
TEXTS = [
    *PAGES,
    f"[go](javascript:{HIT}) ![far]({FAR}) ![secret](/etc/passwd) [x]: <javascript:{HIT}>",
    f"$\\text{{<img src=x onerror={HIT}>}}$ and $$\\href{{javascript:{HIT}}}{{x}}$$",
    f"``` \n<script>{HIT}</script>\n```\n`<script>` <script>{HIT}</script> ```` ```",
    f"```{{raw}} html\n<script>{HIT}</script>\n```\n",
    f'# <img src=x onerror={HIT}> "><script>{HIT}</script>',
    f"<details><summary>fold</summary><script>{HIT}</script></details>",
]


def films():
    """Return saved films, each foreign in one thing."""
    good = json.loads(as_json(lab()))
    first = good["shapes"][0]
    bad = [
        *(
            {"shapes": [[name, *first[1:]], *good["shapes"][1:]]}
            for name in ("script", "foreignObject", "a")
        ),
        {"shapes": [["rect", "onload", *first[2:]], *good["shapes"][1:]]},
        {"classes": ["reveal", *good["classes"][1:]]},
        {"rows": [[["next onclick", "Go", "g"]]]},
        {"keys": {"Escape": "next"}},
        {"start": 99},
        {"frames": [*good["frames"][:-1], ["x"]]},
        {"parts": [[0, 0, -5, 1e12]]},
        {"more": 1},
    ]
    return [good | one for one in bad] + films_of_views()


def films_of_views():
    """Return the same for films of several views of the same steps."""
    good = json.loads(as_json(unfolding()))
    (first, box, text, opens), *views = good["views"]
    frames = good["frames"]
    bad = [
        {"views": [[*one], *views]}
        for one in ((99, box, text, opens), (first, [0, 0, "9", 9], text, opens))
    ]
    bad += [
        {"views": [[first, box, *one], *views]}
        for one in ((text, {"0": [0, 99]}), (99, opens), (text, {"99": []}))
    ]
    bad += [{"views": views}, {"views": []}, {"views": None}, {"frames": frames[:-1]}]
    bad += [
        {"views": [], "frames": frames[:4]},
        {"scenes": good["scenes"][:1], "frames": frames[:4]},
    ]
    bad += [
        {"frames": [*frames[:at], one, *frames[at + 1 :]]}
        for at, one in ((4, 0), (5, frames[1]), (5, 1))
    ]
    return [good | one for one in bad]


def notebook():
    """Return the notebook with all of it, as if it had been run."""
    texts = [new_markdown_cell(text, metadata=show("slide")) for text in TEXTS]
    outputs = [shown({"text/html": page, "text/plain": "plain"}) for page in PAGES]
    outputs += [
        shown({"application/javascript": HIT, "text/plain": "script"}),
        shown({"image/svg+xml": SVG, "text/plain": "drawing"}),
        shown({"image/png": f'" onerror="{HIT}', "text/plain": "no picture"}),
        shown({"text/markdown": f"<script>{HIT}</script>", "text/plain": "words"}),
        shown({"text/latex": f"$\\text{{<script>{HIT}</script>}}$", "text/plain": "formula"}),
        shown({"text/plain": f"<script>{HIT}</script>"}),
        new_output("stream", text=f"\x1b[31m<script>{HIT}</script>\x1b[0m\x1b]8;;{FAR}\x07"),
        new_output(
            "error",
            ename=f"<b>{HIT}",
            evalue="<script>",
            traceback=[f"\x1b[31m<script>{HIT}</script>"],
        ),
    ]
    state = {}
    for number, film in enumerate([*films(), None]):
        data = json.dumps(film) if film else f'</script><script>{HIT}</script>"'
        state[f"m{number}"] = model(data)
        outputs.append(shown({VIEW: {"model_id": f"m{number}"}, "text/plain": f"film {number}"}))
    good = json.loads(as_json(lab()))
    good["alt"] = good["sizers"][0] = f"</script><script>{HIT}</script><!--<script>"
    state["good"] = model(json.dumps(good))
    outputs.append(shown({VIEW: {"model_id": "good"}, "text/plain": "a film that plays"}))
    outputs.append(
        shown({VIEW: {"model_id": "nowhere"}, "text/plain": "a film that was not saved"})
    )
    code = [
        new_code_cell(
            f"'</script><script>{HIT}</script>'",
            execution_count=1,
            outputs=[one],
            metadata=show("subslide"),
        )
        for one in outputs
    ]
    notes = new_markdown_cell(
        f"note <script>{HIT}</script><img src=x onerror={HIT}>", metadata=show("notes")
    )
    metadata = {"title": f"</title><script>{HIT}</script>", "widgets": {WIDGETS: {"state": state}}}
    return new_notebook(cells=[texts[0], notes, *texts[1:], *code], metadata=metadata)


def show(kind):
    data = {"background-iframe": FAR, f'x onload="{HIT}"': "1"}
    return {"slideshow": {"slide_type": kind, "data": data}, "tags": [f'"><script>{HIT}</script>']}


def shown(data):
    return new_output("display_data", data=data)


def model(film):
    state = {"_anywidget_id": "helpers.player.Player", "_esm": HIT, "film": film}
    return {"model_module": "anywidget", "model_name": "AnyModel", "state": state}
