"""figs/tensor_and_node.svg is what its script draws today, in large enough letters.

Reads figs/ only.
"""

import re
import runpy
from pathlib import Path
from xml.etree import ElementTree

from autograd_graphs.drawing.palette import DARK, LIGHT

FIGS = Path(__file__).parent.parent / "figs"
SCRIPT, PICTURE = FIGS / "tensor_and_node.py", FIGS / "tensor_and_node.svg"


def drawn() -> str:
    return runpy.run_path(str(SCRIPT))["draw"]()


def test_it_names_every_link_between_tensor_and_node():
    texts = [
        "".join(one.itertext())
        for one in ElementTree.fromstring(drawn()).iter("{http://www.w3.org/2000/svg}text")
    ]
    for link in (".grad_fn", ".next_functions[0]", ".next_functions[1]", ".variable", ".grad"):
        assert link in texts


def test_it_can_be_read_on_any_ground():
    svg = drawn()
    wide, high = map(int, re.search(r'width="(\d+)" height="(\d+)" viewBox', svg).groups())
    first = re.search(r"<rect [^>]*>", svg)[0]
    assert f'width="{wide}" height="{high}"' in first
    name = re.search(r'class="(\w+)"', first)[1]
    light, dark = svg.split("@media(prefers-color-scheme:dark)")
    for sheet, ground in ((light, LIGHT["ground"]), (dark, DARK["ground"])):
        assert re.search(rf"\.{name}[,{{][^}}]*fill:{ground}", sheet), "a ground of its own"
    assert min(float(size) for size in re.findall(r"font-size:([\d.]+)px", svg)) >= 13
    assert re.search(r"<title>[^<]{40,}</title>", svg)
