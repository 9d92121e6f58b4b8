"""Exercises of lesson 00, start here: a program in which the wrong tensor asks, slopes by nudging, a gradient
by hand, reading and drawing a picture, finding the line that cuts a graph.
"""

from collections.abc import Callable
from functools import partial
from random import Random

from autograd_graphs.looking.snapshot import snapshot
from helpers.exercises.exercise import Exercise
from helpers.exercises.faults import Faults
from helpers.exercises.functions import Case, function, made_by
from helpers.exercises.lessons.operations import LEAF, SAVED, operations
from helpers.exercises.programs import names_of
from helpers.exercises.quantities import Data, Place, Quantities
from helpers.exercises.reading import numbers
from helpers.exercises.recognise import fails
from helpers.exercises.watched_inputs import readable

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
    right="Two arrows end at `u`, and what arrives along them is added up.",
    asked="Be `backward()` on paper. What is the gradient of `f` with respect to `u`? Give a number.",
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
                    "the value of `f`, not how far it moves with `u`": "value(f)",
                    "the value of `{product}`, and a product hands back the other"
                    " factor": "value(product)",
                    "the gradient of `f` with respect to `v`": "slope(f, 'v')",
                },
            ),
        ),
    ),
    hints=(
        "Make u and v, compute f, and draw it with show(f). How many arrows end at u?",
        "Enter at `f` with a 1. The addition hands it to both sides, and the product multiplies"
        " it by the other factor. Add up what arrives at `u`.",
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
        "You counted a leaf. A blue pill receives a gradient and photographs nothing.": lambda read, _: (
            LEAF in read
        ),
        "You named what is on the photograph. Name the operation that took it: the name in bold on"
        " its card.": lambda read, _: SAVED in read,
        "You named something that is not an operation of `h`. Draw `h` itself, and read the cards"
        " of that picture.": lambda read, _: bool(read - there),
        "You found an operation that photographed its inputs. Some photograph their result.": (
            lambda read, right: read == {"mul"} and right - read <= _SAVES_RESULT and right > read
        ),
        "You found one card. Follow the arrows to the end: more than one card has a circle.": (
            lambda read, right: len(read) == 1 and read < right
        ),
        "You named no operation. Look at the cards of h again: a line with a full circle is a"
        " photograph.": set(),
    }


CIRCLES = Exercise(
    id="00.2",
    reader=operations(),
    right="An operation photographs what it needs on the way back: `exp` its own result, a product its factors, an addition nothing.",
    asked="Draw `h`. Which of its operations took a photograph? Give the names in bold on their cards.",
    vary=_other_h,
    hints=(
        "show(h) draws it. A photograph is a line with a full circle on a card.",
        'Take the name in bold from each card that has such a line, such as "pow" in the picture of e.',
    ),
    principle="an operation photographs a value if its slope is computed from that value.",
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
    right="What you compute from plain numbers alone, or from leaves that don't ask, has no path back.",
    asked="One line of this program is wrong: either it cuts a path back to the leaf, or it keeps one"
    " from being recorded in the first place. Which line would you change? Give its number.",
    principle="draw one result after another, and look for the first that has lost a path.",
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
    asked="Draw the picture of `f` on paper. How many cards are there, leaves not counted, how many"
    " arrows, and how many of these end at `x`? Give a list `[cards, arrows, at_x]`.",
    principle="a line may hold several operations, and each of them has an arrow for each recorded use of a tensor.",
    vary=_other_drawing,
    hints=(
        "Take the lines one by one. Here each sign, such as `*`, makes a card, with one arrow for each side.",
        "Run the program, let `show(f)` draw the picture, and count there.",
    ),
    **_on_paper("x * y", "p * p", "p * q + x"),
)


_TRIPS = "km = torch.tensor({km})\nfare = torch.tensor({fare})"


def _trips(km: list[float], fare: list[float]) -> Case:
    return made_by(_TRIPS.format(km=km, fare=fare), "km", "fare")


def _other_trips(random: Random) -> tuple[Case, ...]:
    km = [float(one) for one in random.sample(range(1, 7), 4)]
    per_km = random.choice((1.5, 2.25, 3.0))
    return tuple(_trips(km, [per_km * one + extra for one in km]) for extra in (0.0, 1.0))


TAXI = Exercise(
    id="00.8",
    reader=function(
        _trips([1.0, 2.0, 3.0, 5.0], [3.0, 5.5, 8.0, 13.0]),
        _trips([2.0, 4.0], [3.0, 6.0]),
        observe=lambda returned, *_: readable(returned),
    ),
    cases=_other_trips,
    right="What you want to learn is what has to ask, before anything is computed from it. The data needn't.",
    known={
        "Nothing asks for a gradient any more, so once again there's no graph. Which number should the"
        " program learn? That's the one that has to ask.": fails("does not require grad"),
        "`per_km.grad` is None. If `per_km` never asked for a gradient, none reaches it, and it doesn't"
        " help that `km` asks, or the loss. If it did ask, the name `per_km` has moved on to a new tensor,"
        " as it does after `per_km = per_km - …`. Write into the one that asked.": fails(
            "NoneType"
        ),
        "`per_km` asks for a gradient now, so PyTorch protects it: without `torch.no_grad()` it"
        " won't let you change a leaf in place. That line was"
        " right.": fails("leaf Variable that requires grad"),
    },
    hints=(
        "Draw `loss` after the first step. Which leaf is at the end of the arrows, and which one should be there?",
        "Take the flag away from `km`, and make `per_km` with `requires_grad=True`.",
    ),
    reference="""
def answer(km, fare):
    per_km = torch.tensor(1.0, requires_grad=True)  # what you want to learn has to ask for a gradient
    for step in range(100):
        loss = ((per_km * km - fare) ** 2).mean()
        loss.backward()
        with torch.no_grad():
            per_km -= 0.01 * per_km.grad
~           per_km += 0.01 * per_km.grad  # You add the gradient, which makes the loss larger. Subtract it, as the program did.
        per_km.grad = None
~       pass  # Nothing empties `per_km.grad` now, so each step uses the gradients of all the steps so far (lesson 06).
~           # Leave that line in.
~       break  # You stop after the first step. Move the `return` out of the loop.
    return per_km
~   return loss  # You return the loss of the last step. What we want is the price.
""",
    principle="the number you want to learn is a leaf, and it asks for a gradient before anything is computed from it.",
)


def _slopes(returned: object, f: Callable, values: list[float]) -> list:
    """Return the slopes to one decimal, since nudges may differ in size, and the values."""
    read = readable(returned)
    if isinstance(read, tuple):
        read = tuple(round(one, 1) if isinstance(one, float) else one for one in read)
    return [read, readable(values)]


_NUDGED = (
    "f = lambda a, b, c: (a * b + c) ** 2\nvalues = [{x}.0, 3.0, 4.0]",
    "f = lambda a, b: a * b - b\nvalues = [5.0, {x}.0]",
    "f = lambda a: a * a + {x} * a\nvalues = [-1.0]",
    "f = lambda a, b: {x} * a\nvalues = [0.0, 2.0]",
)


def _nudged(x: int) -> tuple[Case, ...]:
    return tuple(made_by(code.format(x=x), "f", "values") for code in _NUDGED)


NUDGE = Exercise(
    id="00.9",
    reader=function(*_nudged(2), observe=_slopes, promises=("the slopes", "`values` afterwards")),
    cases=lambda random: _nudged(random.randint(3, 9)),
    right="Keep it. It needs a pass for each number, but you can trust it where you don't trust a gradient.",
    known={
        "What came back isn't a list of numbers. Collect one slope for each of `values`, and return"
        " the list.": lambda seen, _: any(
            isinstance(case, tuple) and not isinstance(case[0], tuple) for case in seen
        ),
    },
    hints=(
        "Compute `start = f(*values)` once. Then make a copy of the list for each place, nudge that"
        " place by 0.001, and call `f` with the copy.",
        "A slope is `(f(*moved) - start) / 0.001`: how far `f` moved, measured in nudges.",
    ),
    reference="""
def nudge(f, values):
    start = f(*values)
    slopes = []
    for i in range(len(values)):
        moved = list(values)  # each nudge begins at the numbers that came in
~       moved = values  # You nudge `values` itself, so the caller's list changes, and the earlier nudges stay in.
~           # Make a copy in each round.
        moved[i] += 0.001
~       moved[i] += 1  # Your nudge is 1, and on the way the slope changes a lot. Take a thousandth.
~       moved[i] *= 1.001  # You make each number a thousandth larger than it was. Then the nudges differ in size,
~           # and 0 isn't nudged at all. Add the same 0.001 to each.
        slopes.append((f(*moved) - start) / 0.001)  # how far `f` moves is measured in nudges
~       slopes.append(f(*moved) / 0.001)  # You divide the value of `f`. Take how far it moved: its value minus that of the start.
    return slopes


answer = nudge
""",
    principle="change one number by a thousandth, leave the others, and divide how far `f` moved by that thousandth.",
)


EXERCISES = (BY_HAND, CIRCLES, LINE, DRAWING, TAXI, NUDGE)
