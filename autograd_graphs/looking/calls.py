"""`module_calls`: take down which module calls a forward makes, by numbers and names alone.

Two global forward hooks read the sequence number that torch gives the next backward node of the
thread, so every call knows the nodes made in it. No tensor is kept, and no module after the block.
"""

from __future__ import annotations

import threading
import weakref
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook

from autograd_graphs.data import Call, Edge
from autograd_graphs.looking.torch_private import next_number
from autograd_graphs.looking.variable_names import caller, submodules, variables
from autograd_graphs.text import call_labels, visible

MOST_ROOTS = 3  # models that a sentence names
HOW = (
    "Write: with module_calls(model) as calls: loss = model(x).sum(), "
    "and then show(loss, names=calls)."
)
NOT_IN_ORDER = (
    "Module calls not used: sequence numbers of this graph are equal or out of order. "
    "Run its whole forward in one thread."
)
SEVERAL_THREADS = (
    "Module calls not used: they were made in several threads. Run the forward in one thread."
)


@dataclass(slots=True)
class Recorded:
    """Hold one module call: the nodes made in it have sequence numbers from `low` up to `high`.

    `module_id` is the id of its module.
    """

    name: str
    kind: str
    depth: int
    low: int
    module_id: int
    high: int


@dataclass(slots=True)
class ThreadCalls:
    """Hold the calls of one thread in the order in which they began, and those that still run."""

    calls: list[Recorded] = field(default_factory=list)
    running: list[Recorded] = field(default_factory=list)


def module_calls(*models: torch.nn.Module) -> ModuleCalls:
    """Return a context manager that takes down every module call made in its block.

    Run the forward in the block, then pass the context as `names=` to `show`, `step_through`,
    `record` or `snapshot`: boxes are then the calls, and parameters have the models' names. Calls
    of other modules are taken down too. Values, random numbers and hooks stay as they are.

    What a hook makes around a forward is told with the call around it. Sequence numbers are those
    of a thread, and no node tells its own: pass only graphs of the thread that made the calls. An
    interrupt that ends a forward leaves its call open up to the end of the block. Calling a module
    that `torch.compile` made warns of global hooks. Raises TypeError for anything but models.
    """
    for model in models:
        if not isinstance(model, torch.nn.Module):
            raise TypeError(f"Expected a model, got {type(model).__name__}. {HOW}")
    if not models:
        raise TypeError(f"No model was given. {HOW}")
    return ModuleCalls(models)


class ModuleCalls:
    """Take down module calls while the block runs, and keep their names and numbers after it."""

    def __init__(self, models: Sequence[torch.nn.Module]) -> None:
        self.state = "not entered"
        self.roots: dict[str, weakref.ref] = {}
        self._given: dict[str, weakref.ref] = {}
        self._models = tuple(models)  # let go when the block ends
        self._threads: list[ThreadCalls] = []
        self._local = threading.local()
        self._paths: dict[int, tuple[weakref.ref, list[str]]] = {}
        self._variables: dict[int, tuple[weakref.ref, str]] = {}
        self._met: Counter[str] = Counter()  # roots by the name that they would have alone
        self._handles: list[Any] = []

    def __enter__(self) -> ModuleCalls:
        if self.state != "not entered":
            raise RuntimeError(
                f"This module_calls() was used before. Make a new one for every block. {HOW}"
            )
        self.state = "open"
        for name, thing in variables(caller()):
            if isinstance(thing, torch.nn.Module):
                self._variables.setdefault(id(thing), (weakref.ref(thing), visible(name)))
        for model in self._models:
            if id(model) not in self._paths:
                self._learn(model)
        self._given = dict(self.roots)
        self._handles = [
            register_module_forward_pre_hook(self._begin),
            register_module_forward_hook(self._end, always_call=True),
        ]
        return self

    def __exit__(self, *_: object) -> None:
        for handle in self._handles:
            handle.remove()
        here = self._thread()
        for thread in self._threads:
            newest = max([call.high for call in thread.calls], default=0)
            for call in thread.running:
                call.high = next_number() if thread is here else newest
            thread.running.clear()
        self._models, self._handles = (), []
        self._paths.clear()
        self._variables.clear()
        self.state = "closed"

    def _begin(self, module: torch.nn.Module, _: object) -> None:
        """Open a call: torch's hook before a forward."""
        if torch.compiler.is_compiling() or self.state != "open":
            return  # another thread may still ask as our block ends
        thread = self._thread()
        number, depth = next_number(), len(thread.running)
        name = self._name(module, thread.running)
        kind = visible(type(module).__name__)
        call = Recorded(name, kind, depth, number, id(module), number)
        thread.calls.append(call)
        thread.running.append(call)

    def _end(self, module: torch.nn.Module, *_: object) -> None:
        """Close a call, and calls in it that an exception ended: torch's hook after a forward."""
        if torch.compiler.is_compiling():
            return
        running = self._thread().running
        if all(call.module_id != id(module) for call in running):
            return  # it began before our block
        while running:
            call = running.pop()
            call.high = next_number()
            if call.module_id == id(module):
                return

    def _thread(self) -> ThreadCalls:
        """Return what was taken down of the thread that runs now."""
        if not hasattr(self._local, "thread"):
            self._local.thread = ThreadCalls()
            self._threads.append(self._local.thread)
        return self._local.thread

    def _name(self, module: torch.nn.Module, running: Sequence[Recorded]) -> str:
        """Return the path of a module: of several the one that goes on from its caller's."""
        paths = self._known(module, bool(running))
        if len(paths) > 1:
            for outer in reversed(running):
                for path in paths:
                    if path.startswith(f"{outer.name}."):
                        return path
        return paths[0]

    def _known(self, module: torch.nn.Module, is_inside: bool) -> list[str]:
        """Return all paths of a module; one that no model holds is a root of its own.

        `is_inside` says that another module calls it, which may have been given it just now.
        """
        if not self._is_known(module):
            self._paths.pop(id(module), None)
            if is_inside:
                for root, ref in self._given.items():  # parts may be new since the block began
                    if (model := ref()) is not None:
                        self._give_paths(root, model)
        if not self._is_known(module):
            self._learn(module)
        return self._paths[id(module)][1]

    def _is_known(self, module: torch.nn.Module) -> bool:
        """Say whether a module has paths; an id is used again after the end of another one."""
        known = self._paths.get(id(module))
        return known is not None and known[0]() is module

    def _learn(self, model: torch.nn.Module) -> None:
        """Give a model a name of its own, and its submodules paths that begin with it."""
        root = self._root_name(model)
        self.roots[root] = weakref.ref(model)
        self._give_paths(root, model)

    def _give_paths(self, root: str, model: torch.nn.Module) -> None:
        """Give a model and its submodules the paths that they do not have yet."""
        for path, module in submodules(model):
            name = visible(f"{root}.{path}".removesuffix("."))
            if not self._is_known(module):
                self._paths[id(module)] = (weakref.ref(module), [])
            if name not in self._paths[id(module)][1]:
                self._paths[id(module)][1].append(name)

    def _root_name(self, model: torch.nn.Module) -> str:
        """Call a model by the variable that holds it, else by its class, and by no name twice."""
        variable = self._variables.get(id(model))
        name = visible(type(model).__name__)
        if variable is not None and variable[0]() is model:
            name = variable[1]
        unique = name
        while unique in self.roots:
            self._met[name] += 1
            unique = f"{name} {self._met[name] + 1}"
        return unique

    def models(self) -> dict[str, torch.nn.Module]:
        """Return the models by name that are alive. Raises ValueError before a block has ended."""
        if self.state == "not entered":
            raise ValueError(f"names is a module_calls() whose block was never entered. {HOW}")
        if self.state == "open":
            raise ValueError(f"names is a module_calls() whose block is still open. {HOW}")
        alive = {}
        for name, ref in self.roots.items():
            model = ref()
            if model is not None:
                alive[name] = model
        return alive

    def calls_in(
        self, numbers: Mapping[int, int], edges: Sequence[Edge]
    ) -> tuple[tuple[Call, ...], str]:
        """Return the calls that made the operations of a graph, or why there are none.

        `numbers` has the sequence number of every operation.
        """
        if not are_in_order(numbers, edges):
            return (), NOT_IN_ORDER
        ordered = sorted(numbers.values())
        by_thread = [tuple(placed(thread.calls, ordered)) for thread in self._threads]
        matches = list(filter(None, by_thread))
        if len(matches) > 1:
            return (), SEVERAL_THREADS
        if not matches:
            return (), self._no_match(any(edge.cut for edge in edges))
        return matches[0], ""

    def _no_match(self, is_cut: bool) -> str:
        """Say that no operation of a graph was made in a call."""
        recorded = sum(len(thread.calls) for thread in self._threads)
        roots = ", ".join(list(self.roots)[:MOST_ROOTS])
        if len(self.roots) > MOST_ROOTS:
            roots += f" and {len(self.roots) - MOST_ROOTS:,} more"
        what = "that was looked at" if is_cut else "of this graph"
        return (
            f"Module calls not used: none of {recorded:,} ({roots}) made a node {what}. "
            "Run the forward of this tensor in the block."
        )


def are_in_order(numbers: Mapping[int, int], edges: Sequence[Edge]) -> bool:
    """Say whether no two operations have one number, and each has a higher one than its inputs."""
    if len(set(numbers.values())) < len(numbers):
        return False
    for edge in edges:
        if edge.target in numbers and numbers[edge.target] > numbers[edge.source]:
            return False
    return True


def placed(calls: Sequence[Recorded], ordered: Sequence[int]) -> Iterator[Call]:
    """Yield calls by the places of their operations among all that were met, in order. Those that
    made no operation, or one that was not met, are counted all the same.
    """
    labels = call_labels((call.name, call.depth) for call in calls)
    for call, label in zip(calls, labels, strict=True):
        start, stop = bisect_left(ordered, call.low), bisect_left(ordered, call.high)
        if start < stop:
            yield Call(call.name, call.kind, call.depth, start, stop, *label)
