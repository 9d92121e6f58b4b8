"""A stranger's notebook without a browser: its TeX, tables, slides, and what is missing."""

import base64
import json

import nbformat
import pytest
import strangers
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from strangers import code, shown, text

from course.publish import main, publish
from course.publishing import formulas, portions, terminal
from course.publishing.cell_colours import safe_style
from course.publishing.cell_renderer import CellRenderer
from course.publishing.deck import slides_of
from course.publishing.inert import clean
from course.publishing.notebook_file import Unpublishable, opened
from course.publishing.prepare import prepared
from course.publishing.remarks import remarks
from course.publishing.tex import Unread, plain_tex
from course.publishing.wording import safe_markdown

PIXEL = strangers.png(2, 2)


def mathml(tex, display="block"):
    return formulas.mathml(tex, display, {})


SEEN = {
    "$x$": 1,
    "$$x$$ and $y$": 2,
    r"\\(x\\) and \\[y\\]": 2,
    "\\begin{equation}\nx\n\\end{equation}": 1,
    "\\begin{align*}\nx &= y \\\\\nz &= 1\n\\end{align*}": 1,
    r"$$\text{if $x$ is $y$}$$": 1,
    "> $$\n> x\n> $$": 1,
    "costs $5 and $6": 0,
    "from $5-$6": 0,
    r"\$x\$ and `$x$` and \(x\)": 0,
    "```\n$x$\n\\begin{equation}\n```": 0,
    "$5 or `echo $x` and $y$": 1,
    "`` a ` $x `` and $x$ and `b$`": 1,
    "$a\n\nb$": 0,
}


def test_formulas_stand_where_jupyterlab_sees_them_and_money_is_none():
    assert {source: safe_markdown(source).count("<math") for source in SEEN} == SEEN


@pytest.fixture
def built(tmp_path, capsys):
    """A function that publishes cells; it returns the page, and what was said."""

    def build(to, *cells, more=()):
        path, out = tmp_path / "own.ipynb", tmp_path / "own.html"
        nbformat.write(new_notebook(cells=list(cells)), path)
        assert main([str(path), "--to", to, "-o", str(out), "--no-check", *more]) == 0
        return out.read_text(), capsys.readouterr().out

    return build


LOST = "The picture {} was not found beside the notebook."
PICTURES = {  # what is not in the file, and what is read in its place
    "![a plan](<größe 1.png>)": ("a plan", LOST.format("größe 1.png")),
    '<img alt="a &gt; b" src="//far.example/x.png">': ("a &gt; b", "A picture on another machine"),
}


@pytest.mark.parametrize("to", ["slides", "page"])
@pytest.mark.parametrize("source", PICTURES)
def test_a_picture_that_is_not_there_leaves_its_words_and_a_remark(built, source, to):
    html, said = built(to, text(f"## Here\n\n{source}"))
    alt, why = PICTURES[source]
    assert f"<em>{alt} ({why}" in html
    assert "cell 1, “## Here”: the picture " in said
    assert "so its description is shown instead." in said


def test_a_picture_with_a_space_in_its_name_is_found(tmp_path, built):
    (tmp_path / "größe 1.png").write_bytes(base64.b64decode(PIXEL))
    html, _ = built("slides", text("## Here\n\n![a plan](<größe 1.png>)"))
    assert f'src="data:image/png;base64,{PIXEL}" alt="a plan"' in html


READ = [
    *(rf"\begin{{{name}}} a &= b \\ c &= d \end{{{name}}}" for name in ("align", "pmatrix")),
    r"\begin{gather} a \\ b \end{gather}",
    r"\begin{eqnarray} a &=& b \\ c &=& d \end{eqnarray}",
    r"\begin{array}{l|r} a & b \\ \hline c & d \end{array}",
    r"\operatorname*{arg\,min}_x \operatorname{softmax}(x) \mathop{\mathrm{max}}_x",
    r"\left\{ \frac{a}{b} \right. \left. x \right|_{x=0} \lVert x \rVert",
    r"\sum_{\substack{i<j}} \underbrace{a}_{\text{b}} \binom{n}{k} \sqrt[3]{x} \boxed{x} \cancel{x}",
    r"\mathbb{R} \mathcal{L} \mathbf{W} \boldsymbol{\theta} \mathrm{d}x \hat{y} \vec{x}",
    r"x \tag{1} \label{eq:a}",
    r"a \\ b",
]


@pytest.mark.parametrize("tex", READ)
def test_tex_that_notebooks_use_is_read(tex):
    for display in ("block", "inline"):
        made = clean(mathml(tex, display))
        assert made.startswith("<math")
        assert "\\" not in made
        assert "&amp;" not in made


def test_macros_hold_for_the_rest_of_the_notebook():
    defines = r"$\newcommand{\norm}[1]{\left\lVert #1 \right\rVert} \def\R{\mathbb{R}}$"
    cells = [text(defines), text(r"$\norm{x} \in \R$")]
    first, second = prepared(new_notebook(cells=cells), notes=True).cells
    assert "math" not in first.source
    assert "ℝ" in second.source
    assert "code" not in second.source
    assert "<code>" in safe_markdown(r"$\R$"), "not for another notebook"


def test_macros_without_end_are_given_up():
    many = r"\newcommand{\z}[1]{#1#1#1#1#1#1#1#1}\z{\z{\z{\z{\z{\z{\z{x}}}}}}}"
    for tex in (r"\def\a{\a\a}\a", many):
        with pytest.raises(Unread, match="no end"):
            plain_tex(tex, {})


def test_what_cannot_be_read_is_shown_as_written_and_the_build_names_the_cell(built):
    cells = [text("# A"), text("Odd.\n\n" r"$\foobar{x}$ and \begin{nothing}x\end{nothing}.")]
    cells.append(code("x", shown(text_plain="t", text_latex=r"$\odd{x}$")))
    page, said = built("page", *cells)
    assert r"cell 2, “Odd.”: a formula is shown as it was written: \foobar{x} (" in said
    assert r"\begin{nothing} is not known" in said
    assert r"cell 3, “x”: a formula is shown as it was written: \odd{x} (" in said
    assert r"<code>\foobar{x}</code>" in page


STYLES = {
    "color:red;position:fixed": "color:red",
    "background:url(http://far.example/x) red": "",
    "background-color:#fff;color:rgb(1, 2, 3)": "background:#fff;color:rgb(1, 2, 3)",
    "color:expression(x);text-align:center": "text-align:center",
    'font-weight:bold"onload=x;font-style:italic': "",
    "color:transparent;color:nothing": "",
    "}</style><script>": "",
}


def test_styles_are_written_anew():
    assert {style: safe_style(style) for style in STYLES} == STYLES


PRINTED = {
    "10%\r50%\r100%\n": "100%\n",
    "a\r\nb\r\n": "a\nb\n",
    "12%\b\b\b15%": "15%",
    "\x1b]8;;http://far.example\x1b\\link\x1b]8;;\x07": "link",
    "\x1b[38mone\x1b[38;5mtwo\x1b[1;31mthree": "onetwo\x1b[1;31mthree",
    "\x1b[48;2;1;2mx\x1b[38;5;9my": "x\x1b[38;5;9my",
    "\x1b[2K\x1b[?25l\x00\x07x": "x",
}


def test_printed_text_is_what_a_terminal_shows_at_its_end():
    assert {words: terminal.settled(words) for words in PRINTED} == PRINTED


def of(output):
    return prepared(new_notebook(cells=[code("x", output)]), notes=True).cells[0].outputs[0].data


def test_what_needs_a_kernel_or_jupyterlab_says_so():
    said = of(strangers.widget("IntSlider(value=0)"))["text/plain"]
    assert said.startswith("(IntSlider: a widget. Only JupyterLab shows it")
    bar = of(strangers.widget("100%|####| 10/10"))["text/plain"]
    assert bar.startswith("100%|####| 10/10\n(What stood here: a widget")
    said = of(shown(**{"application_vnd.plotly.v1+json": {"data": []}}))["text/plain"]
    assert said.startswith("(An output of the kind application/vnd.plotly.v1+json, which only")
    assert of(shown(text_plain="45"))["text/plain"] == "45"


def test_a_picture_for_a_fine_screen_is_as_wide_as_it_says():
    output = shown(text_plain="t", image_png=strangers.png(8, 4))
    output.metadata["image/png"] = {"width": 4, "height": 2}
    assert ' width="4" ' in of(output)["text/html"]
    for odd in ('4" onload="x', -1, True, 10**9, None, []):
        output.metadata["image/png"] = {"width": odd}
        assert " width" not in of(output)["text/html"]


def slides(*cells):
    return slides_of(
        prepared(new_notebook(cells=list(cells)), notes=True), CellRenderer(None), "Mine"
    )


def typed(source, kind):
    return new_markdown_cell(source, metadata={"slideshow": {"slide_type": kind}})


def test_a_heading_is_the_title_of_the_slide_that_it_begins_and_of_no_other():
    first, second = typed("# Talk", "slide"), typed("First sentence.", "slide")
    made = slides(first, second, text("## Second\n\ntext"), typed("more", "slide"))
    assert [slide.title for slide in made] == ["Talk", "Talk (2)", "Talk (3)"]
    assert [html for html, *_ in made[1].parts][1].count("Second") == 1


def test_notes_and_fragments_leave_headings_where_slides_begin():
    notes, fragment = typed("say this\n\n## loudly", "notes"), typed("later", "fragment")
    made = slides(text("## A"), notes, fragment, text("words\n\n## B"), text("## C"))
    assert [slide.title for slide in made] == ["A", "B", "C"]
    assert [slide.steps for slide in made] == [2, 1, 1]
    assert "loudly" in made[0].notes[0]


def test_a_title_is_a_slide_of_its_own_and_what_does_not_fit_goes_on_on_the_next():
    long = "\n\n".join(f"Paragraph {number}." for number in range(30))
    made = slides(text("# All\n\nBy me"), text(f"## A\n\n{long}\n\n## B\n\n- x\n- y"), code("1"))
    assert [slide.title for slide in made] == ["All", "A", "A (2)", "A (3)", "B"]
    assert [slide.kind for slide in made] == ["opening"] + ["flow"] * 4
    told = "".join(html for slide in made[1:] for html, *_ in slide.parts)
    assert [f"<p>Paragraph {number}.</p>" in told for number in range(30)] == [True] * 30
    assert len(made[-1].parts) == 2, "code stays below its text"
    assert made[0].goals == ("A", "B")


def test_a_picture_is_the_slide_at_a_step_of_its_own_before_a_fragment_comes():
    plots = [shown(text_plain="p", image_png=PIXEL)] * 2
    first, second = code("plot()", *plots), code("plot()", *plots)
    (made,) = slides(
        typed("## A", "slide"), first, text("words"), typed("later", "fragment"), second
    )
    assert (made.large, made.steps) == ((1, 2, 4, 5), 6)
    assert [step for _, step, _ in made.parts] == [0, 0, 3, 3]


def test_a_table_is_one_in_a_quotation_too():
    assert "<td>1</td>" in CellRenderer(None).text("> | a |\n> |---|\n> | 1 |")


def test_nothing_is_cut_within_a_fold_or_a_list():
    items = "\n".join(f"- item {number}" for number in range(60))
    fold = f"<details><summary>s</summary>\n\n{items}\n\nend\n\n</details>\n\nafter"
    assert [len(slide.parts) for slide in slides(text("## A"), text(fold), text(items))] == [1, 2]
    pieces = portions.cut(text(f"[a][b]\n\n{items}\n\nmore\n\n[b]: #x"))
    assert pieces[0].source.count("[b]: #x") == 1


def test_what_was_not_run_is_published_and_said(tmp_path, built):
    html, said = built("page", text("# A"), new_code_cell("1 + 1"))
    assert "own.ipynb was never run, so there is no output" in said
    assert "<h1" in html
    _, said = built("page", code("1"), new_code_cell("2 + 2"))
    assert "1 of 2 code cells were not run; the first is '2 + 2'" in said
    path, out = tmp_path / "own.ipynb", tmp_path / "own.html"
    role = {"course": {"role": "run"}}
    nbformat.write(new_notebook(cells=[new_code_cell("1 + 1", metadata=role)]), path)
    with pytest.raises(Unpublishable, match="was never run"):
        publish(path, "page", out)


def test_an_error_in_the_middle_is_shown_and_said(tmp_path):
    path = tmp_path / "own.ipynb"
    nbformat.write(strangers.notebook(), path)
    said = remarks(opened(path), path)
    assert "cell 33, “frame = load()” ended in ValueError: its error is shown as it is." in said
    html = publish(path, "page", tmp_path / "own.html")
    assert "no such column" in html


@pytest.mark.slow
def test_a_format_of_long_ago_is_read(tmp_path):
    title = {"cell_type": "heading", "level": 1, "source": ["Old"], "metadata": {}}
    code = {"cell_type": "code", "input": ["1+1"], "language": "python", "metadata": {}}
    code |= {"outputs": [], "prompt_number": 1, "collapsed": False}
    notebook = {"nbformat": 3, "nbformat_minor": 0, "metadata": {"name": "old"}}
    notebook["worksheets"] = [{"cells": [title, code]}]
    (tmp_path / "old.ipynb").write_text(json.dumps(notebook))
    assert "Old" in publish(tmp_path / "old.ipynb", "slides", tmp_path / "old.html")


def colab(minor, **more):
    """Return what Colab and older Jupyters write: a heading and a run, no cell of which has an id."""
    run = {"cell_type": "code", "metadata": {}, "execution_count": 1, "source": ["1 + 1"]}
    data = {"text/plain": ["2"]}
    made = {"output_type": "execute_result", "execution_count": 1, "metadata": {}, "data": data}
    title = {"cell_type": "markdown", "metadata": {}, "source": ["# No ids\n", "text"]} | more
    cells = [title, run | {"outputs": [made]}]
    return {"nbformat": 4, "nbformat_minor": minor, "metadata": {}, "cells": cells}


@pytest.mark.parametrize("to", ["slides", "page"])
@pytest.mark.parametrize("minor", [0, 5])
def test_cells_without_ids_are_published_and_the_file_is_left_as_it_was(
    tmp_path, capsys, minor, to
):
    path, out = tmp_path / "own.ipynb", tmp_path / "own.html"
    path.write_text(json.dumps(colab(minor)))
    before = path.read_bytes()
    assert main([str(path), "--to", to, "-o", str(out), "--no-check"]) == 0
    html = out.read_text()
    assert "No ids" in html
    assert ">2</" in html.replace("\n", "")
    assert path.read_bytes() == before
    assert publish(path, to, out) == html, "ids differ from reading to reading"


@pytest.mark.parametrize(
    "more",
    [{"id": "title"}, {"id": "two words"}, {"id": None}, {"metadata": None}, {"attachments": None}],
    ids=str,
)
def test_ids_before_their_time_and_fields_that_are_null_are_read(tmp_path, more):
    path = tmp_path / "own.ipynb"
    path.write_text("\ufeff" + json.dumps(colab(4, **more)), encoding="utf-8")
    first, second = opened(path).cells
    assert first.id == ("title" if more == {"id": "title"} else "cell-1")
    assert second.id == "cell-2"
    assert "No ids" in publish(path, "slides", tmp_path / "own.html")


@pytest.mark.parametrize("minor", [4, 5])
def test_an_id_that_is_none_is_refused_or_not_printed(tmp_path, capsys, minor):
    name = '"><script>window.hit=1</script>'
    cell = new_markdown_cell("words") | {"id": name}
    notebook = {"nbformat": 4, "nbformat_minor": minor, "metadata": {}, "cells": [cell]}
    path, out = tmp_path / "own.ipynb", tmp_path / "own.html"
    path.write_text(json.dumps(notebook))
    for to in ("slides", "page"):
        failed = main([str(path), "--to", to, "-o", str(out), "--no-check"])
        assert failed == ("broken notebook" in capsys.readouterr().err)
        assert failed or f'data-cell="{name}"' not in out.read_text()


TRUSTED = {  # what a cell puts out, and what of it a reader sees
    "a figure": ({"image/png": PIXEL, "text/plain": "<Figure size 640x480>"}, "data:image/png"),
    "LaTeX": ({"text/latex": r"$\frac{a}{b}$", "text/plain": "<Latex>"}, "<mfrac>"),
    "Math": ({"text/latex": r"$\displaystyle x^2$", "text/plain": "<Math object>"}, "<msup>"),
    "Markdown": ({"text/markdown": "**bold**", "text/plain": "<Markdown>"}, "<strong>bold"),
    "a drawing": ({"image/svg+xml": "<svg><title>t</title></svg>", "text/plain": "<SVG>"}, "<svg>"),
    "a script": ({"application/javascript": "run()", "text/plain": "<Javascript>"}, ">run()<"),
    "plotly": (
        {"application/vnd.plotly.v1+json": {"data": []}},
        "application/vnd.plotly.v1+json, which only JupyterLab",
    ),
}


@pytest.mark.parametrize("to", ["slides", "page"])
def test_trust_shows_what_is_shown_without_it_and_scripts_too(built, to):
    outputs = [new_output("display_data", data=data) for data, _ in TRUSTED.values()]
    cells = [code("x", output) for output in outputs]
    html, _ = built(to, text("# A"), *cells, more=["--trust"])
    assert [kind for kind, (_, seen) in TRUSTED.items() if seen not in html] == []
    assert ">&lt;Figure" not in html
    assert ">&lt;Math" not in html


@pytest.mark.parametrize("to", ["slides", "page"])
def test_trust_sets_formulas_and_holds_the_pictures_beside_the_notebook(tmp_path, built, to):
    (tmp_path / "my plot.png").write_bytes(base64.b64decode(PIXEL))
    source = "# A\n\n$x^2$ <b class='mine'>bold</b>\n\n![plot](my%20plot.png)\n\n![gone](gone.png)"
    html, _ = built(to, text(source), more=["--trust"])
    assert "<msup>" in html
    assert "<b class='mine'>bold</b>" in html
    assert html.count(f"data:image/png;base64,{PIXEL}") == 1
    assert "(The picture gone.png was not found beside the notebook.)" in html


IN_THE_CLASSIC_NOTEBOOK = '<div></div><script>require(["plotly"], draw)</script>'
REQUIRED = "<script>require(['https://cdn.jsdelivr.net/npm/vega@5'], draw)</script>"


@pytest.mark.parametrize(
    ("html", "machine"),
    [
        (REQUIRED, "something from cdn.jsdelivr.net"),
        (IN_THE_CLASSIC_NOTEBOOK, "plotly with require.js"),
        ('<video src="https://example.com/v.mp4"></video>', "something from example.com"),
    ],
)
def test_what_asks_another_machine_says_so_in_its_place_and_in_the_build(built, html, machine):
    cell = code("fig.show()", shown(text_html=html, text_plain="f"))
    page, said = built("slides", text("# A"), cell, more=["--trust"])
    told = f"This cell loads {machine}, and this file asks no other machine"
    assert f"cell 2, “fig.show()”: {told}" in said
    assert told in page


@pytest.mark.parametrize("to", ["slides", "page"])
@pytest.mark.parametrize("trust", [True, False])
def test_a_pasted_picture_is_found_by_its_written_name_and_a_lost_one_stops_nothing(
    built, to, trust
):
    pictures = "![pasted](attachment:my%20plot.png)\n\n![lost](attachment:lost.png)"
    cell = text(f"# A\n\nwords\n\n{pictures}")
    cell.attachments = {"my plot.png": {"image/png": PIXEL}}
    html, _ = built(to, cell, more=["--trust"] if trust else [])
    assert html.count(f"data:image/png;base64,{PIXEL}") == 1
    assert "(The picture lost.png was not found beside the notebook.)" in html
