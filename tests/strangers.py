"""Notebooks of strangers, made by hand: what pandas, widgets and plots leave in one."""

import base64
import struct
import zlib

from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

VIEW = "application/vnd.jupyter.widget-view+json"
FORMULAS = r"""## Formulas

Inline $\hat y = W x + b$, $\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}$ and \\(e^{i\pi}\\); it costs $5 and $6.

\begin{align}
\nabla_x L &= \frac{\partial L}{\partial y} \cdot W^\top \\
y_1 + y_2 &= W x + b \\
z &= 0 \tag{7}
\end{align}

$$
f(x) = \begin{cases} x & \text{if $x > 0$} \\ \frac{1}{2} & \text{if } x = 0 \\ 0 & \text{otherwise} \end{cases}
$$
"""
LIMITS = r"""## Limits

$$\newcommand{\R}{\mathbb{R}} \hat\theta = \operatorname*{arg\,min}_{\theta \in \R^n} \sum_{i=1}^{n} \log p_\theta(x_i)$$

\begin{equation}
\underbrace{a + b + c}_{\text{three}} = \left( \frac{a}{b} \right. \quad \mathbf{W} \in \R^{m \times n}
\end{equation}

\\[ \left\{ \begin{array}{l|r} a & b \\ \hline c & d \end{array} \right. \\]

Not known: $\foobar{x}$.
"""
LISTS = """## Lists

- one
    - two
        - three
            - four
                - five, and a line that is long enough to be broken somewhere on the way to its end, as lines are
- [x] done
- [ ] not done

| name | loss | epochs |
|:--|--:|:-:|
| small | 0.12 | 3 |
| large | 0.034 | 12 |
"""


def frame(rows, columns):
    """Return a table as pandas shows a DataFrame."""
    head = "".join(f"<th>feature_{number}</th>" for number in range(columns))
    body = ""
    for row in range(rows):
        numbers = [(row * columns + column) / 7 for column in range(columns)]
        cells = "".join(f"<td>{number:.6f}</td>" for number in numbers)
        body += f"<tr><th>{row}</th>{cells}</tr>"
    style = "<style scoped>\n    .dataframe tbody tr th {\n        vertical-align: top;\n    }\n</style>"
    return (
        f'<div>\n{style}\n<table border="1" class="dataframe">\n<thead><tr style="text-align: right;">'
        f"<th></th>{head}</tr></thead><tbody>{body}</tbody></table>\n<p>{rows} rows × {columns} columns</p></div>"
    )


STYLER = """<style type="text/css">
#T_ab1 th { text-align: left; }
#T_ab1_row0_col0 { background-color: #ffff00; }
#T_ab1_row0_col1, #T_ab1_row1_col0 { background-color: #440154; color: #f1f1f1; }
#T_ab1_row1_col1 { color: red; font-weight: bold; background-image: url(http://far.example/x); }
</style>
<table id="T_ab1"><caption>Scores</caption>
<thead><tr><th class="blank level0">&nbsp;</th><th id="T_ab1_level0_col0" class="col_heading">a</th><th>b</th></tr></thead>
<tbody><tr><th>0</th><td id="T_ab1_row0_col0" class="data row0 col0">1.00</td><td id="T_ab1_row0_col1" class="data">2.00</td></tr>
<tr><th>1</th><td id="T_ab1_row1_col0" class="data">3.00</td><td id="T_ab1_row1_col1" class="data">-4.00</td></tr></tbody></table>"""


def png(width, height):
    """Return a picture with stripes, in base64."""
    row = b"\0" + b"".join(bytes((x * 255 // width, 120, 200)) for x in range(width))
    data = zlib.compress(row * height)
    chunks = [(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)), (b"IDAT", data)]
    chunks.append((b"IEND", b""))
    made = b"\x89PNG\r\n\x1a\n"
    for name, held in chunks:
        made += struct.pack(">I", len(held)) + name + held
        made += struct.pack(">I", zlib.crc32(name + held))
    return base64.b64encode(made).decode()


def text(source, kind=""):
    return new_markdown_cell(source, metadata={"slideshow": {"slide_type": kind}} if kind else {})


def code(source, *outputs):
    return new_code_cell(source, execution_count=1, outputs=list(outputs))


def shown(**forms):
    """Return an output; a "_" in the name of a form is a "/"."""
    return new_output("display_data", data={kind.replace("_", "/"): x for kind, x in forms.items()})


def printed(words, name="stdout"):
    return new_output("stream", name=name, text=words)


def widget(words):
    return new_output("display_data", data={VIEW: {"model_id": "lost"}, "text/plain": words})


def cells():
    """Return cells of every kind that a stranger has, each after a heading of its own."""
    loop = "\n".join(f"value_{number} = compute({number}, depth={number})" for number in range(80))
    raised = new_output("error", ename="ValueError", evalue="no such column")
    raised.traceback = [
        "\x1b[31mValueError\x1b[0m",
        "-> 2 frame['x']",
        "ValueError: no such column",
    ]
    return [
        text("# Notes on a small model\n\nWhat a stranger wrote, with everything in it."),
        text(FORMULAS),
        text(LIMITS),
        text("## A wide table"),
        code("frame", shown(text_plain="[6 rows x 40 columns]", text_html=frame(6, 40))),
        text("## A small table"),
        code("frame.head()", shown(text_plain="a table", text_html=frame(4, 4))),
        text("## Colours"),
        code("frame.style.highlight_max()", shown(text_plain="<Styler>", text_html=STYLER)),
        text("## Long code"),
        code(loop, printed("done\n")),
        text("## Much output"),
        code(
            "for n in range(100):\n    print(n)",
            printed("".join(f"line {n}\n" for n in range(100))),
        ),
        text("## Short code and its output"),
        code("sum(range(10))", shown(text_plain="45")),
        text("## A middling cell"),
        code(
            "for epoch in range(6):\n    loss = train(model)\n    print(epoch, loss)",
            printed("".join(f"{n} {1 / (n + 1):.4f}\n" for n in range(6))),
            printed("UserWarning: slow\n", "stderr"),
        ),
        text("## A widget"),
        code("IntSlider()", widget("IntSlider(value=0, description='Depth')")),
        code("fig", shown(**{"application_vnd.plotly.v1+json": {"data": []}})),
        text("## A wide picture"),
        code("plot()", shown(text_plain="<Figure>", image_png=png(900, 200))),
        text("## A tall picture"),
        code("plot()", shown(text_plain="<Figure>", image_png=png(200, 900))),
        text("## A plot"),
        code(
            "plt.plot(xs, ys)\nplt.show()",
            printed("plotting\n"),
            shown(text_plain="<Figure>", image_png=png(640, 480)),
        ),
        text("## What sympy says"),
        code("expression", shown(text_plain="x**2", text_latex=r"$\displaystyle \frac{x^{2}}{2}$")),
        text("## A long line"),
        code("print(key)", printed("x" * 400 + "\n")),
        text(LISTS),
        text("## It stops here"),
        code("frame = load()\nframe['x']", raised),
        text("Just a few words.\n\nAnd a second line of them."),
    ]


def notebook():
    language = {"name": "python", "pygments_lexer": "ipython3"}
    return new_notebook(cells=cells(), metadata={"language_info": language})
