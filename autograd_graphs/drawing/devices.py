"""Say on which device the tensor of each node lives, where a graph has more than one.

Plain data in and out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from autograd_graphs.data import Graph, Node, TensorInfo

# devices that look different; all further ones look like the last, and their words tell them apart
MOST = 4


@dataclass(frozen=True, slots=True)
class Device:
    """Hold the name of a device, and how many bars a card wears that stands on it."""

    name: str
    bars: int

    @property
    def words(self) -> str:
        return f"on {self.name}"

    @property
    def look(self) -> str:
        return f"on{self.bars}"

    @property
    def room(self) -> int:
        """Return the px that the bars take at the left edge of a card."""
        return 6 * self.bars + 2


def devices(graph: Graph) -> dict[str, Device]:
    """Return the devices of a graph by name, in one order; none where it has only one."""
    names = sorted(set(map(home, graph.nodes)) - {""})
    if len(names) < 2:
        return {}
    return {name: Device(name, min(nr, MOST)) for nr, name in enumerate(names, start=1)}


def home(node: Node) -> str:
    """Name the device of the tensor that a node's operation made: there its gradient arrives."""
    return node.outputs[0].device if node.outputs else ""


def kind(tensor: TensorInfo, device: Device | None) -> str:
    """Say shape and dtype in a few words, and the device where there are several."""
    if device is None:
        return tensor.kind
    return f"{replace(tensor, device='cpu').kind} {device.words}".strip()
