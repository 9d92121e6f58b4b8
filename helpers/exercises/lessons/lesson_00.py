"""Exercises of lesson 00, start here: a gradient by hand, reading and drawing a picture, finding the line
at which a graph breaks off, a function that finds it, repairing a program that does not learn.
"""

from functools import partial
from random import Random

from autograd_graphs.looking.snapshot import snapshot
from helpers.exercises.exercise import Exercise
from helpers.exercises.faults import Faults
from helpers.exercises.functions import function, made_by
from helpers.exercises.lessons.operations import LEAF, SAVED, operations
from helpers.exercises.programs import names_of
from helpers.exercises.quantities import Data, Place, Quantities
from helpers.exercises.reading import numbers
from helpers.exercises.recognise import fails
from helpers.exercises.watched_inputs import afterwards, noted, readable
from helpers.moons import moons

_PROGRAM = """
u = torch.tensor({u}, requires_grad=True)
v = torch.tensor({v}, requires_grad=True)
f = {f}
f.backward()
answer = u.grad
"""


def _data(u: int, v: int, product: str, addend: str, is_first: bool = False) -> Data:
    """Return two leaves, and `f`: a product and what is added to it, or the other way round."""
    parts = {"product": product, "addend": addend}
    f = f"{addend} + {product}" if is_first else f"{product} + {addend}"
    return {"u": float(u), "v": float(v), "f": f} | parts


def _other_leaves(random: Random) -> Data:
    product = random.choice(("u * v", "v * u", "u * v * v"))
    addend = random.choice(("u", "u * 3", "u / 2"))
    return _data(*random.sample(range(3, 12), 2), product, addend, random.random() < 0.5)


BY_HAND = Exercise(
    id="00.1",
    right="Two arrows end at `u`, and what arrives along them is added.",
    asked="Go back from `f` with pen and paper. What is the gradient of `f` by `u`? Give a number.",
    principle="the gradient of `f` with respect to a leaf is the sum of all that arrives along its arrows.",
    quantities=Quantities(
        program=_PROGRAM.format_map,
        data=_data(5, 2, "u * v", "u"),
        draw=_other_leaves,
        places=(
            Place(
                "`u.grad`",
                "the sum of what arrives along every path from `f` back to `u`",
                {
                    "what arrives through the product `{product}` alone": "slope(product, 'u')",
                    "what arrives through the addition of `{addend}` alone": "slope(addend, 'u')",
                    "the value of `f`, and not how much it changes with `u`": "value(f)",
                    "the value of `{product}`, and a product hands back the other"
                    " factor": "value(product)",
                    "the gradient of `f` with respect to `v`": "slope(f, 'v')",
                },
            ),
        ),
    ),
    hints=(
        "Make u and v, compute f, and draw it with show(f). How many arrows end at u?",
        "Go back from `f` with a 1. The addition hands it to both sides, and the product multiplies"
        " it by the other factor. Add what arrives at `u`.",
    ),
)


_H = """x = torch.tensor(0.0, requires_grad=True)
y = torch.tensor(2.0, requires_grad=True)
z = torch.tensor(3.0, requires_grad=True)
h = {h}"""
_SAVES_RESULT = {"exp", "tanh", "sigmoid"}


def _operations(program: str, saves: bool = False) -> list[str]:
    """Return the operations of h, as its cards print them; or those that hold a saved tensor."""
    nodes = snapshot(names_of(program)["h"]).nodes
    named = [node for node in nodes if node.saved or not saves]
    return [node.operation.removesuffix("Backward0").lower() for node in named]


def _circles(h: str) -> dict[str, object]:
    program = _H.format(h=h)
    savers = _operations(program, saves=True)
    solution = f"answer = {savers}  # show(h): the cards with a full circle"
    known = _known_circles(frozenset(_operations(program)))
    truth = partial(_operations, program, saves=True)
    return {"shown": program, "solution": solution, "known": known, "truth": truth}


def _other_h(random: Random) -> dict[str, object]:
    inner, function = random.choice(("x * y", "x + y")), random.choice(_FUNCTIONS)
    outer = random.choice(("({}).{}() + z", "({}).{}() * z", "z + ({}).{}()", "z * ({}).{}()"))
    return _circles(outer.format(inner, function))


_FUNCTIONS = (*sorted(_SAVES_RESULT), "sin", "cos")


def _known_circles(there: frozenset) -> dict[str, object]:
    return {
        "You counted the addition. Look at its card: is there a circle?": lambda read, _: (
            "add" in read
        ),
        "You counted a leaf. A blue pill receives a gradient, and saves nothing.": lambda read, _: (
            LEAF in read
        ),
        "You named what was saved. Name the operations that saved it: the bold words on their"
        " cards.": lambda read, _: SAVED in read,
        "You named something that is not an operation of `h`. Draw `h` itself, and read the cards"
        " of that picture.": lambda read, _: bool(read - there),
        "You found an operation that saved its inputs. An operation may also save its result.": (
            lambda read, right: read == {"mul"} and right - read <= _SAVES_RESULT and right > read
        ),
        "You found one card. Follow the arrows to the end: more than one card has a circle.": (
            lambda read, right: len(read) == 1 and read < right
        ),
        "You name no operation. Look at the cards of h again: a line with a full circle is a saved"
        " tensor.": set(),
    }


CIRCLES = Exercise(
    id="00.2",
    reader=operations(),
    right="An operation keeps the values that its slope is computed from. An addition needs none.",
    asked="Draw `h`. Which of its operations saved a tensor? Give the bold words of their cards.",
    vary=_other_h,
    hints=(
        "show(h) draws it. A saved tensor is a line with a full circle inside a card.",
        'Take the bold word of each card that has such a line, such as "pow" in the picture of e.',
    ),
    principle="an operation saves a value if its slope is computed from that value.",
    **_circles("(x * y).exp() + z"),
)

BROKEN = Faults("""
x = torch.tensor({a}.0, requires_grad=True)
p = x * {b}
q = p * p
f = q + x
f.backward()
look at: x.grad
3: q = p.item() ** 2
3: q = torch.tensor((p * p).tolist())
2: p = x.item() * {b}
1: x = torch.tensor({a}.0)
4: f = q.item() + x

w = torch.tensor([0.{a}, 0.{b}], requires_grad=True)
points = torch.tensor([[0.{c}, 0.{d}], [0.{b}, 0.{a}]])
guess = torch.sigmoid(points @ w)
loss = (guess**2).mean()
loss.backward()
look at: w.grad
1: w = torch.tensor([0.{a}, 0.{b}])
3: guess = torch.sigmoid(torch.tensor((points @ w).tolist()))
4: loss = torch.tensor((guess**2).mean().item())

x = torch.tensor({a}.0, requires_grad=True)
total = {b} * x
for step in range({c}):
    total = total * x + step
total.backward()
look at: x.grad
1: x = torch.tensor({a}.0)
2: total = {b} * x.item()
4: total = total.item() * x
4: total = total * x.item() + step
""")

LINE = Exercise(
    id="00.5",
    right="What you compute from a plain number, or from a leaf that does not ask, has no path back.",
    asked="In one line of this program, a path back to the leaf breaks off or is never begun. Which"
    " line would you change? Give its number.",
    principle="draw one result after another, and look for the first that lost a path.",
    hints=(
        "Run the lines one by one, and draw each result with `show`. Where is an arrow missing?",
        "`item()` and `tolist()` return plain Python numbers. And a leaf has to ask for its gradient.",
    ),
    **BROKEN.first(a=3, b=2, c=4, d=5),
)


_DRAWN = """x = torch.tensor(2.0, requires_grad=True)
y = torch.tensor(3.0, requires_grad=True)
p = {p}
q = {q}
f = {f}"""


def _counts(program: str) -> dict[str, int]:
    names = names_of(program)
    graph = snapshot(names["f"], names={"x": names["x"]})
    leaves = [at for at, node in enumerate(graph.nodes) if node.is_leaf]
    (x,) = [at for at in leaves if "x" in graph.nodes[at].outputs[0].names]
    return {
        "cards": len(graph.nodes) - len(leaves),
        "arrows": len(graph.edges),
        "at_x": [edge.target for edge in graph.edges].count(x),
        "leaves": len(leaves),
        "pairs": len({(edge.source, edge.target) for edge in graph.edges}),
        "at_leaves": len([edge for edge in graph.edges if edge.target in leaves]),
    }


_PLACES = (
    Place(
        "`cards`",
        "one for each operation",
        loose={
            "the number of cards and leaves together": "cards + leaves",
            "the number of lines that compute something": 3,
        },
    ),
    Place(
        "`arrows`",
        "one for each time that an operation uses a tensor",
        loose={
            "the number of cards, and a sum or a product has two arrows": "cards",
            "what you get if you draw one arrow where a tensor is used twice": "pairs",
            "the number of arrows that end at a leaf": "at_leaves",
        },
    ),
    Place(
        "`at_x`",
        "one for each time that `x` is used",
        loose={
            "what you get if you draw one arrow, however often `x` is used": 1,
            "the number of arrows at both leaves": "at_leaves",
            "the number of all arrows": "arrows",
        },
    ),
)


def _on_paper(p: str, q: str, f: str) -> dict[str, object]:
    program = _DRAWN.format(p=p, q=q, f=f)
    n = _counts(program)
    solution = f"answer = {list(n.values())[:3]}  # show(f) draws them"
    quantities = Quantities(lambda data: solution, n, _PLACES)
    return {
        "shown": program,
        "truth": lambda: list(_counts(program).values())[:3],
        "solution": solution,
        "quantities": quantities,
    }


def _other_drawing(random: Random) -> dict[str, object]:
    return _on_paper(
        random.choice(("x * y", "x + y", "x * x", "y * x")),
        random.choice(("p * x", "p + y", "p * p", "p.exp()", "p + p")),
        random.choice(("q + p", "q * x", "p * q + x", "(q + y) * p", "q + q * y")),
    )


DRAWING = Exercise(
    id="00.6",
    reader=numbers("cards", "arrows", "at_x"),
    right="Each recorded use of a tensor is an arrow, and `x` counts as often as it is used.",
    asked="Draw the picture of `f` on paper. How many cards of operations has it, how many arrows,"
    " and how many of these end at `x`? Give a list `[cards, arrows, at_x]`.",
    principle="a line may hold several operations, and each of them has an arrow for each recorded use of a tensor.",
    vary=_other_drawing,
    hints=(
        "Take the lines one by one. Each sign, such as `*`, makes a card here, with one arrow for each side.",
        "Make `x`, `y`, `p`, `q` and `f`, and let `show(f)` draw the picture. Count there.",
    ),
    **_on_paper("x * y", "p * p", "p * q + x"),
)


_MODEL = "model = nn.Sequential(nn.Linear(2, {n}), nn.Tanh(), nn.Linear({n}, 1)){half}\nh = model[0](torch.ones(4, 2){half})"
_TRACES = (
    "w = torch.tensor({n}.0, requires_grad=True)\np = w * 2\nresults = dict(w=w, p=p, loss=p**2)",
    "w = torch.tensor([{n}.0, 0.5], requires_grad=True)\nh = w.sum()\np = h.item()\nresults ="
    " dict(w=w, h=h, p=p, loss=p**2)",
    "x = torch.tensor({n}.0)\nresults = dict(x=x, y=x * 2, loss=x * 6)",
    "u, v = torch.ones(2, {n}, requires_grad=True)\np = u.sum().tolist()\nresults = dict(p=p, loss=v.sum() * p)",
    "w = torch.ones({n}, requires_grad=True)\nresults = dict(w=w, best=w.argmax(), rest=None)",
    _MODEL.format(n="{n}", half="") + "\nresults = dict(h=h, out=model[1:](h), guesses=[0, 1])",
    _MODEL.format(n="{n}", half=".half()") + "\nresults = dict(h=h, out=model[1:](h))",
    "results = {{}}",
)


def _traces(n: int) -> tuple:
    return tuple(made_by(code.format(n=n), "results", then=noted) for code in _TRACES)


LOST_AT = Exercise(
    id="00.7",
    reader=function(
        *_traces(3),
        observe=lambda returned, results: [readable(returned), afterwards()],
        promises=("the name that came back", "the tensors afterwards"),
    ),
    cases=lambda random: _traces(random.randint(4, 30)),
    right="Keep it: it finds in a second the line that you would look for with `show`.",
    known={
        "Not every result is a tensor. A number or a list has no attribute `requires_grad`, so ask"
        " first whether it is a tensor.": fails("has no attribute"),
    },
    hints=(
        "`torch.is_tensor(one) and one.requires_grad` is True for all results here that have a graph or begin one.",
        "Go through all results from the front, and keep one name: that of the first without a"
        " graph. When you meet one with a graph, forget that name.",
    ),
    reference="""
def lost_at(results):
    lost = None
    for name, result in results.items():
        has_graph = torch.is_tensor(result) and result.requires_grad
~       has_graph = torch.is_tensor(result) and result.grad_fn is not None  # You mistake a leaf that requires grad
~           # for a lost result. Its `grad_fn` is None, yet a graph begins there: `requires_grad` is True.
        if has_graph:
            lost = None
~           pass  # You return the first name that has no graph. But a later result may have one again, so start at
~               # the last result and work back.
        elif lost is None:
~       else:  # You return the last name that has no graph. But the graph is lost at the first of those in a row,
~           # so keep that name instead.
            lost = name
    return lost
~   return next((name for name in reversed(results) if getattr(results[name], "requires_grad", False)), None)
~       # You return the last name that has a graph. The graph is lost at the name after it.
~   return next((name for name in reversed(results) if not getattr(results[name], "requires_grad", False)), None)
~       # You return the last name that has no graph. If a later result has one again, nothing is lost. And if
~       # several in a row have none, the graph is lost at the first of them.


answer = lost_at
""",
    principle="begin at the last result. As long as what you see has no graph, go back.",
)


CASE = Exercise(
    id="00.4",
    reader=function(moons, partial(moons, 30), observe=lambda returned, *_: readable(returned)),
    right="`w` asks for a gradient before the first operation runs, so there is a graph to go back through.",
    principle="`backward()` goes back through what was written down. If no leaf asks for a"
    " gradient, nothing is.",
    known={
        "In some step the loss still has no graph. Which tensor should ask for a gradient? And does"
        " it still ask in the second step?": fails("does not require grad"),
        "`w.grad` is None: no gradient reached `w`. A flag on the loss comes too late, for the"
        " operations before it have run, and nothing was written down.": fails("NoneType"),
        "`w` asks for a gradient now, so PyTorch protects it: without `torch.no_grad()` it does not"
        " let you change a leaf in place. That line was"
        " right.": fails("leaf Variable that requires grad"),
        "You return a single number. Return `w` itself, which has two.": lambda seen, _: all(
            isinstance(number, float) for number in seen
        ),
    },
    hints=(
        "Draw `loss`: which leaf should be at its end, and is it there?",
        "`torch.zeros` takes `requires_grad=True`.",
    ),
    reference="""
def answer(points, moon):
~   return torch.zeros(2, 1)  # Your `w` is still where it started. Each step has to move it against its gradient.
    w = torch.zeros(2, 1, requires_grad=True)  # this tensor has to require grad before anything is computed from it
    for step in range(100):
        guess = torch.sigmoid(points @ w)
        loss = ((guess - moon) ** 2).mean()
        loss.backward()
        with torch.no_grad():
            w -= w.grad
~           w += w.grad  # You add the gradient, which makes the loss larger. Subtract it, as the program did.
        w.grad = None
~       pass  # Nothing empties `w.grad` now, so each step uses the gradients of all the steps so far (lesson 06).
~           # Leave that line in.
~       break  # You return after the first step. Move the `return` out of the loop.
    return w
""",
    cases=lambda random: tuple(partial(moons, random.randint(10, 50) * 2) for _ in range(2)),
)


EXERCISES = (BY_HAND, CIRCLES, LINE, DRAWING, LOST_AT, CASE)
