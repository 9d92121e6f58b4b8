"""A notebook that tries everything to run or fetch something when it is published.

Every attempt sets window.hit.
"""

import json
import math

from made_up_film import folded, lab
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from autograd_graphs.playing.player import as_json

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
    switches, backward = json.loads(as_json(lab())), json.loads(as_json(folded()))
    (whole, *views), (begin, *moments) = backward["scenes"], backward["moments"]
    (_, *mark), *marks = switches["marks"]
    of_lab = [{"version": 2}, {"states": []}, {"lines": [7]}, {"size": [9, math.nan]}, {"more": 1}]
    of_lab += [{"roles": [role, *switches["roles"][1:]]} for role in ("x reveal y", 'a" b', "A", 7)]
    of_lab += [{"marks": [[shape, *mark], *marks]} for shape in ("script", 99, True)]
    of_lab += [{"alt": "half of a surrogate: \ud800"}, {"size": [10**400, 9]}]
    curve = [["M0,0 url(x)", *whole["wires"][0][1:]]]
    of_backward = [{"moments": [begin | {"health": "reveal"}, *moments]}, {"steps": 10**9}]
    of_backward += [{"moments": [begin | {"rows": [[["reveal", "1", 0]]]}, *moments]}]
    of_backward += [
        {"scenes": [whole | one, *views]} for one in ({"wires": curve}, {"keys": ["x"]})
    ]
    return [switches | one for one in of_lab] + [backward | one for one in of_backward]


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
    good["alt"] = good["code"][0] = f"</script><script>{HIT}</script><!--<script>"
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
