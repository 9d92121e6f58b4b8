"""All real models as pictures on one page, light and dark side by side: for people to look at.

Run `python -m benchmarks.contact_sheet [MODEL ...]`; it writes build/bench/contact_sheet.html.
"""

from __future__ import annotations

import base64
import sys
import warnings
from collections.abc import Sequence
from html import escape

from benchmarks.measure import PACKAGES
from benchmarks.models import make
from benchmarks.real_models import MODELS, are_installed

PATH = PACKAGES.parent / "contact_sheet.html"
STYLE = """body { font: 15px/1.4 sans-serif; margin: 24px }
section { break-inside: avoid; border-top: 1px solid #888; padding: 12px 0 }
div { display: flex; gap: 12px; align-items: flex-start }
img { max-width: 50% } .dark { color-scheme: dark; background: #111 } .light { color-scheme: light }"""


def picture(name: str) -> str:
    """Draw one model with its module calls; return a section of the page."""
    from helpers import module_calls, show

    case = make(name)
    with module_calls(case.model) as calls:
        loss = case.loss()
    drawn = show(loss, names=calls)
    source = f"data:image/svg+xml;base64,{base64.b64encode(drawn.svg.encode()).decode()}"
    looks = [f'<img class="{theme}" alt="" src="{source}">' for theme in ("light", "dark")]
    text = f"<details><summary>As text</summary><pre>{escape(drawn.text)}</pre></details>"
    return f"<section><h2>{escape(name)}</h2><div>{''.join(looks)}</div>{text}</section>"


def main(names: Sequence[str]) -> None:
    if not are_installed():
        sys.exit("The real models are not installed. `make bench` installs them first.")
    warnings.simplefilter("ignore")
    sections = [picture(name) for name in names or MODELS]
    PATH.write_text(f"<!doctype html><style>{STYLE}</style>{''.join(sections)}", encoding="utf-8")
    print(PATH)


if __name__ == "__main__":
    main(sys.argv[1:])
