"""A notebook that tries everything to run or fetch something when it is published.

Every attempt sets window.hit.
"""

import json
import math

from made_up_film import explorer, folded, lab, sums
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
    return films_of_labs() + films_of_steps()


def films_of_labs():
    return switches() + sums_and_clicks()


def switches():
    """Return films of a lab of two switches, each foreign in one thing."""
    good = json.loads(as_json(lab()))
    (kind, *first), *marks = good["marks"]
    (words, *action), other = good["actions"]
    *states, last = good["states"]
    begin = states[0]
    look = [first[0], first[1], 0]  # of mark 0, which stands at place 0
    same = [*good["marks"][good["scenes"][0][-1]][1:3], 0]  # of the last place
    bad = [
        {"version": 1},
        {"version": 2},
        {"version": 3.5},
        {"version": None},
        *({"marks": [[name, *first], *marks]} for name in ("script", 99, -1, 4.0)),
        *({"marks": [[kind, role, *first[1:]], *marks]} for role in (99, "onload")),
        *({"roles": [name, *good["roles"][1:]]} for name in ("x reveal y", "A", "a-b", 'a" b', 7)),
        {"roles": ["a reveal"] * len(good["roles"])},
        {"code": [7]},
        {"code": None},
        {"actions": [[words]]},
        {"actions": [[words, *action]]},
        {"actions": [[words, *action], other, other]},
        *(
            {"actions": [changed([words, *action], place, value), other]}
            for place, value in [
                (0, 7),
                (1, {}),
                (2, "2"),
                (2, ""),
                (2, HIT),
                (3, [1]),
                (3, False),
                (4, None),
                (5, 2),
                (5, True),
            ]
        ),
        *({"start": start} for start in (99, [99], [True], [-1], [1.0], {}, None, [0, 1, 1])),
        {"size": [0, 9]},
        {"size": [9, -5]},
        {"size": [9, 1e12]},
        {"size": [9]},
        {"size": [math.nan, 9]},
        {"states": []},
        {"states": None},
        {"states": [*states, {}]},
        {"states": [*states, last[:-1]]},
        {"states": [*states, [*last, 0]]},
        {"states": states},
        *(
            {"states": [*states, changed(last, place, value)]}
            for place, value in [
                (0, 99),
                (0, True),
                (1, -1),
                (1, "words"),
                (2, 99),
                (2, -1),
                (3, [0]),
                (3, [99, 0]),
                (3, [0, 99]),
                (3, [0, -1]),
                (4, 99),
                (4, -1),
                (4, None),
                (4, True),
                (4, 1.0),
                (3, ""),
                (3, {}),
                (8, ""),
                (8, {}),
                (9, ""),
                (9, {}),
                (5, []),
                (5, 0),
                (5, [99]),
                (6, []),
                (6, [-1]),
                (6, [-1, -1, -1]),
                (6, [-3, -1]),
                (6, [99, -1]),
                (6, [True, -1]),
                (6, [-1.0, -1]),
                (6, [[99, 0], -1]),
                (6, [[-1, 1], -1]),
                (6, [[3, 99], -1]),
                (6, [[3, -1], -1]),
                (6, [[3, 0], -1]),
                (6, [[3], -1]),
                (6, [{}, -1]),
                (7, 0),
                (7, [3, 0]),
                (7, [99, 0]),
                (7, [1, 0]),
                (7, [0, 0]),
                (7, [1, True]),
                (7, [1, 99]),
                (7, [2, -2]),
                (7, [1, -1]),
                (7, [1]),
                (8, [99]),
                (8, [-1]),
                (8, 0),
                (9, [0]),
                (9, 0),
            ]
        ),
        {"states": [changed(begin, 7, [0, 0]), *states[1:], last]},
        {"scenes": [{}, *good["scenes"][1:]]},
        {"scenes": ["", *good["scenes"][1:]]},
        {"scenes": [[99_999], *good["scenes"][1:]]},
        {"scenes": []},
        *({"looks": [one]} for one in ([*look, 0], look[:2], [99, 0, 0], [0, 0, [HIT]], {})),
        {"looks": [look, look], "states": [changed(begin, 3, [0, 0, 0, 1]), *states[1:], last]},
        {
            "looks": [[len(good["roles"]) - 1, 0, 0]],
            "states": [changed(begin, 3, [0, 0]), *states[1:], last],
        },
        {
            "looks": [[good["marks"][no_text(good)][1], 0, [HIT, 0]]],
            "states": [changed(begin, 3, [no_text(good), 0]), *states[1:], last],
        },
        *(
            {"looks": [look, same], "states": [changed(begin, 3, patch), *states[1:], last]}
            for patch in ([-1, 1], [0, -2], [0], [0, 0, 0], [False, 0], [0, False], [0, 0.0], [[]])
        ),
        {"stacks": [["x.grad", 1, 1, 1, 1, 1]]},
        {"owned": []},
        {"owned": [*good["owned"], 0]},
        {"owned": [10**6, *good["owned"][1:]]},
        {"owned": ["0", *good["owned"][1:]]},
        {"legend": [[0, 0]]},
        {"legend": [[99, 0, "words"]]},
        {"legend": [[0, 0, 7]]},
        {"legend": {}},
        {"lines": [HIT]},
        {"alt": "half of a surrogate: \ud800"},
        {"more": 1},
    ]
    return [good | one for one in bad]


def no_text(film):
    """Return the place in the first scene of a mark that is no text."""
    return [film["marks"][mark][0] == 4 for mark in film["scenes"][0]].index(False)


def sums_and_clicks():
    """Return films of labs with blocks, and with nodes that are clicked, each foreign in one thing."""
    good, clicked = (json.loads(as_json(made)) for made in (sums(), explorer()))
    (name, *place), (action, *actions) = good["stacks"][0], good["actions"]
    *states, last = good["states"]
    bad = [
        {"stacks": []},
        {
            "actions": [changed(action, 3, []), *[changed(one, 3, 0) for one in actions]],
            "states": [changed(one, 9, [0]) for one in [*states, last]],
        },
        {"stacks": [[7, *place]]},
        {"stacks": [[name, *place, 1]]},
        {"stacks": [[name, *place[1:]]]},
        *({"stacks": [[name, *changed(place, at, 0)]]} for at in (2, 3, 4)),
        *({"stacks": [[name, *changed(place, 0, x)]]} for x in (math.inf, 1e9, "1", True, None)),
        *(
            {"actions": [changed(action, 3, adds), *actions]}
            for adds in ([], [1], [1, 2, 3], [1, "2"], [1, math.nan], [1, 1e9], [1, True], 7)
        ),
        *(
            {"states": [*states, changed(last, 9, totals)]}
            for totals in (
                [],
                [0, 0],
                [[1]],
                [[1, 2, 3]],
                [[1, math.inf]],
                [[1, 1e9]],
                [7],
                [False],
                ["12"],
                [{"0": 1}],
            )
        ),
    ]
    begin, one, *others = clicked["states"]
    return [
        *[good | one for one in bad],
        clicked | {"states": [begin, changed(one, 4, 0), *others]},
        clicked | {"owned": [0] * len(clicked["owned"])},
    ]


def changed(row, place, value):
    """Return a list with another value at one place."""
    return [*row[:place], value, *row[place + 1 :]]


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
