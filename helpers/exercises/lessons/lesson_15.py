"""Exercises of lesson 15, memory and checkpointing: the case with a frozen table, a tool to keep, how often a
block runs, what is kept, the bytes of a transformer block, and a line to change.
"""

from collections.abc import Callable
from random import Random
from textwrap import indent

import torch
from torch import nn
from torch.autograd.graph import saved_tensors_hooks

from autograd_graphs.guard import Failed, guarded
from helpers.exercises.exercise import Exercise
from helpers.exercises.faults import Faults
from helpers.exercises.functions import function, made_by
from helpers.exercises.letters import Lines
from helpers.exercises.quantities import Data, Place, Quantities
from helpers.exercises.reading import same
from helpers.exercises.recognise import each_has, right_in, shows
from helpers.exercises.watched_inputs import afterwards, noted, readable

# Bound here: a student may have put others in their place.
_seed = torch.manual_seed

_BACK = "Does backward get to the block at all?"
_OFTEN = "How often does backward need what the block saved?"
_BEGIN = (
    "from torch.utils.checkpoint import checkpoint\n\ncalls = []\n\n\ndef block(t):\n"
    '    calls.append("call")\n    return t.{}()\n\n\nx = torch.tensor(2.0, requires_grad=True)'
)
TWICE = Lines(
    read="“Forget it, and compute it again”",
    begins=tuple(map(_BEGIN.format, ("exp", "sigmoid", "sqrt", "tanh"))),
    lines={
        "block(x).backward()": "Is there a checkpoint?",
        "checkpoint(block, x, use_reentrant=False).backward()": _OFTEN,
        "checkpoint(block, x, use_reentrant=False)": _BACK,
        "(checkpoint(block, x, use_reentrant=False) + x).backward()": _OFTEN,
        "(checkpoint(block, x, use_reentrant=False).detach() * x).backward()": _BACK,
        "checkpoint(block, x.detach(), use_reentrant=False)": _BACK,
        "checkpoint(block, x, use_reentrant=True).backward()": _OFTEN,
        "torch.autograd.grad(checkpoint(block, x, use_reentrant=False), x)": _OFTEN,
        "y = checkpoint(block, x, use_reentrant=False); y = x * 3; y.backward()": _BACK,
        "(block(x) *"
        " block(x)).backward()": "Is there a checkpoint, and how often is the block called?",
        "y = checkpoint(block, x, use_reentrant=False); y.backward(retain_graph=True);"
        " y.backward()": (_OFTEN),
    },
    trial="""
{begin}
exec(line)
if len(calls) == 2:
    answer.append(letter)
""",
)

CALLED = Exercise(
    id="15.1",
    right="In these lines the block was called twice: the line calls it both times itself, or backward came to a"
    " checkpoint and ran it again.",
    asked="`calls` is empty before each line. After which lines does it hold two entries? Give a list of letters.",
    **TWICE.first("abcdef"),
    hints=(
        "A checkpoint calls its block once. When does it call it again?",
        "It runs the block again when backward needs what the block would have saved. Does backward"
        " get there, and how often?",
    ),
)


def _counting(data: Data) -> str:
    return f"""
from torch.utils.checkpoint import checkpoint

x = torch.ones(5, requires_grad=True)
layers = [torch.nn.{data["kind"]}() for _ in range({data["count"]})]
plain = torch.nn.Sequential(*layers)(x)
h = x
for at in range(0, {data["count"]}, {data["size"]}):
    block = torch.nn.Sequential(*layers[at : at + {data["size"]}])
    h = checkpoint(block, h, use_reentrant=False)
h.sum().backward()
answer = []
for size in (0, {data["size"]}):
    saved, runs = [], []
    handles = [one.register_forward_pre_hook(lambda *given: runs.append(1)) for one in layers]
    pack = lambda tensor: saved.append(tensor) or tensor
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        h = x if size else torch.nn.Sequential(*layers)(x)
        for at in range(0, len(layers), size) if size else ():
            h = checkpoint(torch.nn.Sequential(*layers[at : at + size]), h, use_reentrant=False)
    h.sum().backward()
    answer.append(len(saved))
    for one in handles:
        one.remove()
answer.append(len(runs))
"""


def _other_counts(random: Random) -> Data:
    size, kind = random.randint(2, 5), random.choice(("Sigmoid", "Tanh", "ReLU"))
    return {"size": size, "count": size * random.randint(3, 6), "kind": kind}


COUNTS = Exercise(
    id="15.2",
    right="A checkpoint keeps the input of its block, and each layer runs once more.",
    principle="a checkpoint keeps what goes into its block, and computes the rest again.",
    quantities=Quantities(
        program=_counting,
        data={"count": 12, "size": 3, "kind": "Sigmoid"},
        draw=_other_counts,
        places=(
            Place(
                "`saved`",
                "a result for each layer",
                {
                    "one too many: the first layer saves its result, and not `x`": "count + 1",
                    "the number of blocks, and there are none without checkpoints": "count // size",
                },
            ),
            Place(
                "`kept`",
                "the input of each block",
                {
                    "the number of layers in a block": "size",
                    "what is saved without checkpoints": "count",
                    "nothing, but then no block could be computed again": 0,
                    "one too many: the result of the last block isn't the input of another": (
                        "count // size + 1"
                    ),
                },
            ),
            Place(
                "`runs`",
                "twice for each layer",
                {
                    "each layer once, as without checkpoints": "count",
                    "one block again, and the others once": "count + size",
                    "three times for each layer": "3 * count",
                },
            ),
        ),
    ),
    asked="Give three numbers: how many tensors are `saved` for `plain`, how many are `kept` for `h` between forward and"
    " backward, and how often a layer `runs` for `h`, in forward and backward together.",
    hints=(
        "Each of these layers saves its result. What goes into each block?",
        "Count layers for the first number, and blocks for the second one. In backward each block runs once more.",
    ),
)

PROGRAMS = Faults("""
from torch.utils.checkpoint import checkpoint
steps = [torch.sin, torch.sigmoid, torch.tanh]
x = torch.tensor({a}.0, requires_grad=True)
h = x / {b}
for each in steps:
    h = checkpoint(each, h, use_reentrant=False)
h.backward()
print(x.grad)
look at: x.grad.item()
6: h = checkpoint(lambda t: each(t), h, use_reentrant=False)

from torch.utils.checkpoint import checkpoint
factors = [torch.tensor({a}.0), torch.tensor({b}.0)]
def block(t):
    return (t * factors[0]).sin()
x = torch.tensor({c}.0, requires_grad=True)
y = checkpoint(block, x, use_reentrant=False)
last = factors[-1]
y.backward()
print(x.grad, last)
look at: x.grad.item()
7: last = factors.pop(0)
7: last = factors[0].add_({d})

x = torch.tensor({a}.5, requires_grad=True)
pack = lambda tensor: tensor.clone()
unpack = lambda tensor: tensor
with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
    y = x**2 * {b}
y.backward()
print(x.grad)
look at: x.grad.item()
2: pack = lambda tensor: tensor.round()
2: pack = lambda tensor: tensor * 2
3: unpack = lambda tensor: tensor.int().float()
""")

LINE = Exercise(
    id="15.8",
    right="Because of that line, backward works with different numbers from the ones the forward used.",
    asked="One line of this program makes the gradient wrong, without an error. Which line? Give its number.",
    principle="ask what the block reads when it runs again, and what a node gets back of what it saved.",
    hints=(
        "Is there a checkpoint? Then its block runs again in backward. What does it read, and is that still the same?",
        "Are there hooks on saved tensors? A node works with what the second one returns.",
    ),
    **PROGRAMS.first(a=2, b=3, c=5, d=7),
)


def _with_kept(answer: Callable) -> Callable:
    def run(*given: object) -> tuple:
        _seed(5)  # another than that of `guarded`: else a Dropout drops alike by itself
        kept = []
        with saved_tensors_hooks(
            lambda tensor: kept.append(tensor) or tensor, lambda tensor: tensor
        ):
            returned = answer(*given)
        return returned, kept

    return run


def _gradients(result: torch.Tensor, leaves: list[torch.Tensor]) -> object:
    """Return the gradient of each leaf, as backward leaves it, and put `.grad` back."""
    # Not that of the forward: a Dropout that runs again would meet the same numbers by luck.
    _seed(2)
    (result * result).sum().backward()
    gradients = []
    for leaf in leaves:
        gradients.append("none" if leaf.grad is None else readable(leaf.grad))
        leaf.grad = None
    return gradients


_ERROR = "an error"


def _ran(returned: tuple, layers: nn.Sequential, x: torch.Tensor, size: int) -> list[object]:
    result, kept = returned
    if not isinstance(result, torch.Tensor):
        return ["no tensor", "none", len(kept), "none"]
    gradients = guarded(_gradients, result, [*layers.parameters(), x])
    *weights, data = [_ERROR, _ERROR] if isinstance(gradients, Failed) else gradients
    return [readable(result), weights, len(kept), data]


def _layers(text: str, size: int, flag: bool = False) -> Callable:
    made = {"L": "nn.Linear(3, 3)", "T": "nn.Tanh()", "D": "nn.Dropout(0.5)", "S": "nn.Sigmoid()"}
    code = f"""torch.manual_seed(1)
layers = nn.Sequential({", ".join(made[letter] for letter in text)})
x = torch.randn(2, 3{", requires_grad=True" if flag else ""})
size = {size}"""
    return made_by(code, "layers", "x", "size")


def _other_layers(random: Random) -> tuple:
    texts = [random.choice(("LTLT", "LSLTLS", "LTLTLT")), "LDLT", random.choice(("LTLSL", "LTLTL"))]
    return tuple(_layers(text, random.choice((2, 3)), text != "LDLT") for text in texts)


_NO_BACKWARD = (
    "A backward from what you return raises an error. Does your function call `backward()` itself,"
    " or cut its result off from the graph?"
)

BLOCKS = Exercise(
    id="15.4",
    reader=function(
        _layers("LTLT", 2, flag=True),
        _layers("LTLTL", 2),
        _layers("LDLTLS", 3),
        observe=_ran,
        around=_with_kept,
        promises=(
            "the result",
            "the gradients of the layers",
            "tensors that are kept in between",
            "the gradient of `x`",
        ),
    ),
    right="Blocks under checkpoints, of any size. Try it on a model of your own, and draw it with `plot_steps`.",
    principle="each block is a call of `checkpoint`, and its result is the input of the next one.",
    known={
        "Your function doesn't return a tensor.": shows("no tensor"),
        _NO_BACKWARD: each_has(3, _ERROR),
        "The result and the gradients are right, but what's kept isn't one tensor for each block of `size`"
        " layers. Does every block have `size` layers, and is every one under a checkpoint, the last one,"
        " too?": right_in(0, 1, 3),
    },
    hints=(
        "`layers[at : at + size]` is an `nn.Sequential` as well. Which `at` are there?",
        "`for at in range(0, len(layers), size): x = checkpoint(layers[at : at + size], x, use_reentrant=False)`.",
    ),
    reference="""
from torch.utils.checkpoint import checkpoint


def answer(layers, x, size):
~   return layers(x)  # Without a checkpoint every node keeps what it saves.
~   size = len(layers)  # You put one checkpoint around all the layers, so during backward the results of all of
~       # them are in memory at the same time.
~   size = 1  # Each layer has a checkpoint of its own, whatever `size` is.
~   from torch.utils.checkpoint import checkpoint_sequential
~   return checkpoint_sequential(layers, -(-len(layers) // size), x, use_reentrant=False)  # The last layers that
~       # `checkpoint_sequential` runs have no checkpoint, so everything they save is kept.
~   x.requires_grad_()  # You let `x` require grad, but it may be plain data, which gets no gradient from
~       # `layers(x)`. Leave `x` as it is.
~   x = x.detach().requires_grad_()  # You go on with a copy of `x`, so an `x` that requires grad gets no
~       # gradient. Leave `x` as it is.
    for at in range(0, len(layers), size):  # every layer belongs to some block
~   for at in range(0, len(layers) - size + 1, size):  # The last layers are missing whenever `size` doesn't divide
~       # their number. Let the last block be shorter.
~   for at in range(len(layers)):  # Your blocks overlap: each begins one layer after the one before. The step of the
~       # loop is `size`.
        block = layers[at : at + size]  # a block holds `size` layers, and the last block whatever is left
~       block = layers[at : at + size - 1]  # A layer is missing in each block. `layers[a:b]` already leaves out `b`.
~       block = layers[at : at + size + 1]  # Each block has one layer too many, so that one runs twice. `layers[a:b]`
~           # has b - a layers.
        x = checkpoint(block, x, use_reentrant=False)  # each block takes what the one before it returned
~       x = checkpoint(block(x), use_reentrant=False)  # `checkpoint` wants the block first, without a call, and then its
~           # input. It calls the block itself, twice.
~       x = checkpoint(block, x, use_reentrant=True)  # With `use_reentrant=True` a block whose input is
~           # plain data gives its weights no gradient.
~       x = checkpoint(block, x, use_reentrant=False, preserve_rng_state=False)  # With `preserve_rng_state=False` a
~           # Dropout drops different numbers when its block runs again.
~       x = checkpoint(lambda t: layers[at : at + size](t), x, use_reentrant=False)  # Your block looks up
~           # where it begins when it runs, and it runs again in backward. By then the loop has ended, so
~           # each block is the last one.
~       checkpoint(block, x, use_reentrant=False)  # You throw away what a block returns, but the next block needs
~           # it.
    return x
""",
    cases=_other_layers,
)


def _block(data: Data) -> str:
    """Return the block as the lesson shows it, and then what runs it again and counts its bytes."""
    forward = f"""q, k, v = project(x).chunk(3, dim=-1)
pairs = (q @ k.mT / d**0.5).softmax(-1)
h = x + out(pairs @ v)
wide = up(h).{data["act"]}()
y = h + down(wide)
"""
    return f"""T, d = {data["words"]}, {data["width"]}
x = torch.randn(T, d)
project, out = torch.nn.Linear(d, 3 * d), torch.nn.Linear(d, d)
up, down = torch.nn.Linear(d, {data["times"]} * d), torch.nn.Linear({data["times"]} * d, d)
{forward}
answer, held = [], {{}}


def pack(tensor):
    storage = tensor.untyped_storage()
    held[storage.data_ptr()] = storage.nbytes()
    return tensor


with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
{indent(forward, "    ")}
answer = [held[tensor.untyped_storage().data_ptr()] for tensor in (pairs, q, wide)]
"""


_NUMBERS = "how many numbers it has, but each takes four bytes"
BLOCK = Exercise(
    id="15.6",
    right="The pairs grow with the square of the number of words, and everything else only with the number itself."
    " So long texts fill the memory with pairs, and short ones with `wide`.",
    principle="which results do nodes save, and how many numbers has each of them for one word?",
    quantities=Quantities(
        program=_block,
        data={"words": 100, "width": 8, "times": 4, "act": "relu"},
        draw=lambda random: {
            "words": random.choice((10, 20, 50, 100, 200)),
            "width": random.choice((8, 16)),
            "times": random.choice((4, 8)),
            "act": random.choice(("relu", "sigmoid", "tanh")),
        },
        places=(
            Place(
                "`pairs`",
                "four bytes for each pair of {words} words",
                {
                    _NUMBERS: "words ** 2",
                    "twice as much: the softmax saves its result, but nothing saves what goes into"
                    " it": ("8 * words ** 2"),
                    "{width} numbers for each word, and `pairs` has {words}": "4 * words * width",
                },
            ),
            Place(
                "`qkv`",
                "the bytes of three times {width} numbers for each of {words} words",
                {
                    "one of the three": "4 * words * width",
                    _NUMBERS: "3 * words * width",
                    "three times as much: `q`, `k` and `v` are views of one"
                    " storage": "36 * words * width",
                },
            ),
            Place(
                "`wide`",
                "the bytes of {times} times {width} numbers for each of {words} words",
                {
                    _NUMBERS: "times * words * width",
                    "twice as much: `{act}` saves its result, but nothing saves what goes into"
                    " it": ("8 * times * words * width"),
                },
            ),
        ),
    ),
    asked="How many bytes does the graph of `y` hold for `pairs`? How many for `q`, `k` and `v`"
    " together, and how many for `wide`? Give three numbers, in this order.",
    hints=(
        "The softmax and the function after `up` save their results. `q`, `k` and `v` are views of one result, that of `project`.",
        "For each word, `pairs` has T numbers, `q`, `k` and `v` have 3 · d, and `wide` as many as `up` makes. A number takes four bytes.",
    ),
)


def _tuned(width: int, count: int, words: int, seed: int = 0) -> Callable:
    block = f"nn.Sequential(nn.Linear({width}, {width}), nn.Tanh(), nn.Linear({width}, {width}))"
    code = f"""torch.manual_seed({seed})
table = nn.Embedding(6, {width}).requires_grad_(False)
blocks = nn.ModuleList({block} for _ in range({count}))
head = nn.Linear({width}, 1)
ids = torch.randint(6, ({words},))"""
    return made_by(code, "table", "blocks", "head", "ids", then=noted)


def _values(tensor: torch.Tensor) -> tuple:
    """Return the numbers of a tensor, whichever way it lies."""
    return tuple(sorted(tensor.detach().flatten().tolist()))


def _keeps_inside(kept: list[torch.Tensor], blocks: nn.ModuleList, h: torch.Tensor) -> bool:
    """Tell whether a result of some layer within a block is among what nodes keep."""
    inside = []
    for block in blocks:
        for layer in block:
            h = layer(h)
            inside.append(_values(h))
        inside.pop()  # what a block returns is the input of the next one
    return any(same(_values(one), other) for one in kept for other in inside)


def _scores(
    returned: tuple, table: nn.Module, blocks: nn.ModuleList, head: nn.Module, ids: torch.Tensor
) -> list[object]:
    result, kept = returned
    given = afterwards()
    if not isinstance(result, torch.Tensor):
        return ["no tensor", "none", "nothing kept", given]
    leaves = [*blocks.parameters(), *head.parameters(), table.weight]
    gradients = guarded(_gradients, result, leaves)
    inside = "the blocks are computed again"
    if _keeps_inside(kept, blocks, table(ids)):
        inside = "results within the blocks are kept"
    if isinstance(gradients, Failed):
        gradients = _ERROR
    return [readable(result), gradients, inside, given]


FROZEN = Exercise(
    id="15.7",
    reader=function(
        _tuned(3, 2, 4),
        _tuned(2, 3, 5, seed=1),
        observe=_scores,
        around=_with_kept,
        promises=("what it returns", "the gradients", "in between", "what it was given"),
    ),
    right="The blocks learn again, while the table stays frozen. Now you know why adapters and the older kind of checkpoint don't get on.",
    principle="the older kind of checkpoint asks its inputs whether to take part, and the newer kind records the block.",
    known={
        "Your function doesn't return a tensor.": shows("no tensor"),
        "Some of the results inside the blocks are kept. Is every block under a checkpoint?": shows(
            "results within the blocks are kept"
        ),
        _NO_BACKWARD: each_has(1, _ERROR),
    },
    hints=(
        "What are the inputs of the first checkpoint, and does one of them require grad since the table was frozen?",
        "`checkpoint(block, h, use_reentrant=False)` doesn't care whether `h` requires grad.",
    ),
    reference="""
from torch.utils.checkpoint import checkpoint


def answer(table, blocks, head, ids):
~   table.requires_grad_()  # You let the table learn again, but it should stay frozen. Which kind of checkpoint
~       # doesn't need an input that requires grad?
    h = table(ids)  # the first block takes the rows of the words
    for block in blocks:  # every block has its turn
        h = checkpoint(block, h, use_reentrant=False)  # each block takes what the one before it returned
~       h = checkpoint(block, h, use_reentrant=True)  # The blocks still get no gradient. Is this the older kind of
~           # checkpoint? It looks at `h` alone, and the rows of a frozen table require no grad.
~       h = checkpoint(lambda t: block(t), h, use_reentrant=False)  # Your block is looked up by its name, once more in
~           # backward. By then the loop has ended, and the name means the last block. Hand over the block itself.
~       h = checkpoint(block(h), use_reentrant=False)  # `checkpoint` wants the block first, without a call, and then
~           # its input. It calls the block itself, twice.
    return head(h)  # the head makes one number for each word
""",
    cases=lambda random: (
        _tuned(random.randint(2, 4), 2, random.randint(3, 6), random.randint(2, 99)),
        _tuned(random.randint(2, 4), 3, random.randint(3, 6), random.randint(2, 99)),
    ),
)

EXERCISES = (FROZEN, BLOCKS, CALLED, COUNTS, BLOCK, LINE)
