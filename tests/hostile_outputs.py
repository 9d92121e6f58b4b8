"""A notebook whose kernel was hostile: every form of output tries to run, to fetch or to break out.

Every attempt sets window.hit, asks far.example for something, or opens a dialog.
"""

import base64
import json

from hostile import FAR, HIT, SVG, VIEW, WIDGETS
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

OUT = f'"><img src=x onerror={HIT}>'
PAGES = [
    f"<script>{HIT};alert(1)</script>",
    f"<img src=x onerror={HIT}><img srcset='{FAR} 2x' src=x>",
    f"<style>@import '{FAR}'; td {{background:url({FAR})}} #a {{color:red}}</style><table><td id=a>1</table>",
    f"<table><tr style='background:url({FAR});color:red'><td style=\"color:red;width:expression({HIT})\">1</table>",
    f"<style>#t {{color:red}}</style><table id=t><td id=t x='>' onclick='{HIT}' onmouseover={HIT}>1</table>",
    "<table style='position:fixed;inset:0;z-index:999;background-color:red'><td>over all</table>",
    f"<iframe srcdoc='<script>parent.{HIT}</script>'></iframe>",
    f"<object data='{FAR}'></object><embed src='{FAR}'>",
    f"<form action='{FAR}'><input autofocus onfocus={HIT}><button formaction='javascript:{HIT}'>b</button></form>",
    f"<meta http-equiv=refresh content='0;url={FAR}'>",
    f"<svg onload={HIT}><animate onbegin={HIT} attributeName=x dur=1s></svg>",
    f"<svg><a xlink:href='javascript:{HIT}'><text y=20>go</text></a><use href='{FAR}#x'/></svg>",
    f"<math><mi xlink:href='javascript:{HIT}'>x</mi><maction actiontype='statusline#{FAR}'>y</maction></math>",
    f"<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=x onerror={HIT}&gt;'>",
    f"<video autoplay><source src='{FAR}' onerror={HIT}></video><audio src='{FAR}' onerror={HIT}></audio>",
    f"<a href='data:text/html,<script>{HIT}</script>'>d</a><a href='vbscript:x'>v</a>",
    f"<noscript><p title='</noscript><img src=x onerror={HIT}>'></noscript>",
    "<img name=Reveal><form id=Reveal></form><a id=location>x</a><img id=currentScript>",
    f"<div class='player-slot'><script type='application/json'>{{}}</script></div><p class=reveal>{HIT}</p>",
    f"<section></section></div></section><section><script>{HIT}</script></main>",
    f"<link rel=stylesheet href='{FAR}'><link rel=preload as=image href='{FAR}'>",
    f"<table background='{FAR}'><td background='{FAR}'>1</table><input type=image src='{FAR}'>",
]
MARKDOWN = [
    f"<script>{HIT}</script> [go](javascript:{HIT}) ![far]({FAR}) <img src=x onerror={HIT}>",
    f"[a]: javascript:{HIT}\n\n[a] ![b][b]\n\n[b]: {FAR}\n\n<javascript:{HIT}>",
    f"$\\text{{<img src=x onerror={HIT}>}}$ `<script>` \n```html\n<script>{HIT}</script>\n```\n</pre><script>{HIT}</script>",
]
LATEX = [
    f"$\\href{{javascript:{HIT}}}{{x}}$",
    f"$$</math></script><script>{HIT}</script>$$",
    f"</script><img src=x onerror={HIT}>",
    f"$\\style{{background:url({FAR})}}{{x}} \\class{{reveal}}{{y}} \\color{{red;background:url({FAR})}}{{x}}$",
    f"\\begin{{tabular}}{{c}} <script>{HIT}</script> \\end{{tabular}}",
    "$\\def\\a{\\b\\b}\\def\\b{\\c\\c}\\def\\c{\\a\\a} \\a$",
]
STREAMS = [
    f"</pre><script>{HIT}</script>",
    f"\x1b[31m</span></pre><img src=x onerror={HIT}>\x1b[0m",
    f"\x1b]8;;javascript:{HIT}\x1b\\a link\x1b]8;;\x1b\\ \x1b]0;title\x07",
    "\x1b[38mone\x1b[38;5mtwo\x1b[48;2;1mthree\x1b[38;5;999mfour\x1b[;;;;mfive\x1b[9999999999999999999m",
    f'\x1b[38;2;1;2;3"onmouseover={HIT}msix\x1b[<{HIT}mseven\x1b[?25l\x1b[2J\x00\x08\x7f',
]


def shown(data, **metadata):
    return new_output("display_data", data=data, metadata=metadata)


def outputs():
    """Return the outputs, each alone."""
    plain = {"text/plain": f"plain {OUT}"}
    evil = base64.b64encode(SVG.encode()).decode()
    view = {"model_id": OUT, "version_major": 2}
    kinds = [shown({"text/html": html} | plain) for html in PAGES]
    kinds += [shown({"text/markdown": words} | plain) for words in MARKDOWN]
    kinds += [shown({"text/latex": tex} | plain) for tex in LATEX]
    kinds += [
        new_output("stream", name=name, text=x) for x in STREAMS for name in ("stdout", "stderr")
    ]
    kinds += [
        shown({"image/svg+xml": SVG} | plain),
        shown({"image/svg+xml": f"<!DOCTYPE svg [<!ENTITY x SYSTEM '{FAR}'>]>{SVG}"}),
        shown({"image/png": f"AAAA{OUT}"} | plain),
        shown({"image/png": "AAAA"} | plain, alt=OUT, **{"image/png": {"width": f"1{OUT}"}}),
        shown({"image/svg+xml": f"<svg><title>{OUT}</title></svg>"}),
        shown({"image/jpeg": evil} | plain),
        shown({"application/javascript": HIT}),
        shown({"text/javascript": f"</script><script>{HIT}</script>"} | plain),
        shown({VIEW: view, "text/plain": f"IntSlider({OUT})"}),
        shown({VIEW: view}),
        shown({VIEW: [1], **plain}),
        shown({f"application/{OUT}+json": {"a": OUT}}),
        shown({"application/json": {"a": OUT}, "text/vnd.graphviz": "digraph {}"}),
        shown({"application/pdf": "JVBERi0="} | plain),
        new_output("error", ename=OUT, evalue=f"</span>{OUT}", traceback=[f"-> 1 {OUT}", OUT]),
        new_output("error", ename="E", evalue="\x1b[38m", traceback=["\x1b[38m\x1b]8;;x\x07"]),
        new_output("error", ename="", evalue="", traceback=[]),
    ]
    return kinds


def notebook():
    """Return the notebook: a slide for each output, and hostile names wherever names are given."""
    cells = [new_markdown_cell(f"# The first {OUT}")]
    for output in outputs():
        cells.append(new_code_cell("x", execution_count=1, outputs=[output]))
        cells[-1].metadata = {
            "slideshow": {"slide_type": "slide"},
            "tags": [OUT, 'remove-input" x'],
            "course": {"caption": OUT, "id": OUT},
            "collapsed": True,
        }
    pasted = {
        f"a.png{OUT}": {"image/svg+xml": SVG, f"text/html{OUT}": OUT},
        "b.png": {"image/png": OUT},
    }
    source = f"![{OUT}](attachment:b.png) ![a](attachment:a.png{OUT})"
    cells.append(new_markdown_cell(source, attachments=pasted))
    metadata = {
        "title": f"T {OUT}</title><script>{HIT}</script>",
        "authors": [{"name": OUT}],
        "kernelspec": {"name": OUT, "display_name": OUT, "language": OUT},
        "language_info": {"name": f"python{OUT}", "pygments_lexer": OUT, "codemirror_mode": OUT},
        "widgets": {WIDGETS: {"state": {OUT: {"state": {"_esm": HIT, "film": OUT}}}}},
    }
    return json.loads(json.dumps(new_notebook(cells=cells, metadata=metadata)))
