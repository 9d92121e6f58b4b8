"""A notebook that tries everything to run or fetch something when it is published.

Every attempt sets window.hit.
"""

import json
import math

from made_up_film import folded, lab
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
    return films_of_labs() + films_of_steps()


def films_of_labs():
    good = json.loads(as_json(lab()))
    (kind, *first), *marks = good["marks"]
    (_, *frame), *frames = good["frames"]
    bad = [
        {"version": 1},
        {"version": None},
        *({"marks": [[name, *first], *marks]} for name in ("script", 99, -1, 4.0)),
        *({"marks": [[kind, role, *first[1:]], *marks]} for role in (99, "onload")),
        *({"roles": [name, *good["roles"][1:]]} for name in ("x reveal y", "A", "a-b", 'a" b', 7)),
        {"roles": ["a reveal"] * len(good["roles"])},
        {"actions": [["Go"]]},
        {"actions": good["actions"][:1]},
        {"start": 99},
        {"start": True},
        {"frames": [*frames, ["x"]]},
        {"frames": [[99, *frame], *frames]},
        {"frames": [{}, *frames]},
        {"frames": []},
        {"frames": None},
        {"scenes": [{}, *good["scenes"][1:]]},
        {"scenes": ["", *good["scenes"][1:]]},
        {"looks": [[0, 0, [HIT], 0]]},
        {"parts": [[0, 0, -5, 1e12]]},
        {"parts": [[0, 0, math.nan, 9]]},
        {"owned": []},
        {"lines": [HIT]},
        {"alt": "half of a surrogate: \ud800"},
        {"more": 1},
    ]
    return [good | one for one in bad]


def films_of_steps():
    """Return the same for films of a backward."""
    good = json.loads(as_json(folded()))
    (begin, *moments), (whole, *views) = good["moments"], good["scenes"]
    first = whole["marks"][1][0]
    curve, *wire = whole["wires"][0]
    cell = ["arrives", "1", 0]
    bad = [
        {"scenes": []},
        {"scenes": [whole]},
        {"moments": [0, *moments]},
        {"moments": []},
        {"moments": moments[:3]},
        {"steps": good["steps"] + 1},
        {"steps": 10**9},
        {"start": 1},
        {"trouble": good["steps"]},
        {"trouble": -1},
        {"program": [7]},
        {"remarks": None},
        {"version": 1},
        {"tensors": [[1, "3", "", "", 0, [1]]]},
        {"tensors": [[1, "3", "", "reveal", 1, [1]]]},
        *(
            {"moments": [begin | one, *moments]}
            for one in (
                {"title": -1},
                {"say": 10**6},
                {"rows": [{}]},
                {"rows": [[["reveal", "1", 0]]]},
                {"rows": [[["arrives", 99, 0]]]},
                {"rows": [[[*cell, 2]]]},
                {"rows": [["abc"]]},
                {"choices": [1]},
                {"formulas": [{"a": 1, "b": 2}]},
                {"bars": [["a", math.inf]]},
                {"bars": [["a", True]]},
                {"mark": [9, 0, 1, 2, 3]},
                {"health": "reveal"},
                {"error": "yes"},
                {"more": 1},
            )
        ),
        *(
            {"scenes": [whole | one, *views]}
            for one in (
                {"marks": whole["marks"][:-1]},
                {"marks": [{}, *whole["marks"][1:]]},
                {"marks": [[first[:-1]], *whole["marks"][1:]]},
                {"wires": [["M0,0 url(x)", *wire]]},
                {"wires": [[curve, *wire[:-2], [1], ""]]},
                {"wires": [[curve, *wire[:-1]]]},
                {"starts": [[*whole["starts"][0][:-1], 99]]},
                {"slots": [[99, *whole["slots"][0][1:]]]},
                {"slots": [[0, 0, 0, 1e9, 1, None, None]]},
                {"corners": [[99, 0, 0]]},
                {"turns": [[[0], -1, 1], *whole["turns"][1:]]},
                {"turns": [[[0, 0], -1, 1, [-1, 99]], *whole["turns"][1:]]},
                {"turns": [{}, *whole["turns"][1:]]},
                {"names": [7, *whole["names"][1:]]},
                {"names": whole["names"][:-1]},
                {"keys": ["leaf reveal"]},
                {"keys": ["constructor"]},
                {"keys": [[99, "a device"]]},
                {"parent": len(views) + 1},
                {"parent": -1},
                {"text": 10**6},
                {"stops": [-1, -1]},
                {"stops": []},
                {"stops": [-1, -1, 10**6]},
                {"size": [1e9, 1]},
                {"stopped": None},
                {"more": 1},
            )
        ),
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
