"""`explore` really runs what it shows, merges only what is equal in all that matters, and leaves
nothing behind.
"""

import gc
import warnings
import weakref

import pytest
import torch
from merging import check_merges, merges

from helpers.labs.engine.explore import explore
from helpers.labs.engine.state_key import sameness
from helpers.labs.engine.state_map import Outcome
from helpers.labs.engine.world import Action, World


class UpAndDown(World):
    """x goes up and down in place after y = x ** 2 saved it."""

    setup = ("x = torch.tensor([1., 2.], requires_grad=True)", "y = x ** 2")
    actions = (
        Action("up", "with torch.no_grad(): x += 1"),
        Action("down", "with torch.no_grad(): x -= 1"),
        Action("backward", "y.sum().backward()"),
    )

    def roots(self):
        return (self.y,)

    def say(self):
        return f"x is {self.x.tolist()}"


class Quiet(UpAndDown):
    """The same without anything shown, so that only what is compared can tell states apart."""

    def roots(self):
        return ()

    def say(self):
        return ""


def test_the_same_numbers_with_another_version_are_another_state():
    found = explore(UpAndDown, 3)
    start, back = found.states[0], found.states[found.walk(("up", "down")).to]
    assert start is not back
    assert (start.sentence, start.graph.leaves) == (back.sentence, back.graph.leaves)
    assert not found.walk(("backward",)).error
    assert "is at version 2; expected version 0" in found.walk(("up", "down", "backward")).error


@pytest.mark.parametrize("world", [UpAndDown, Quiet])
def test_merged_states_stay_equal_one_action_further(world):
    found = explore(world, 4)
    assert merges(found)
    check_merges(world, found)


def test_an_error_keeps_its_type_and_exact_message_and_leaves_what_torch_left():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x**2
    y.sum().backward()
    with pytest.raises(RuntimeError) as caught:
        y.sum().backward()
    found = explore(UpAndDown, 2)
    used, again = found.walk(("backward",)), found.walk(("backward", "backward"))
    assert again == Outcome(used.to, f"RuntimeError: {caught.value}")
    assert found.walk(("backward", "up")).to not in (None, used.to), "other actions stay alive"


def test_a_map_says_where_it_was_cut_and_ends_there_for_all_actions():
    deep = explore(UpAndDown, 2)
    assert deep.cut == "This map ends after 2 actions."
    assert max(len(state.path) for state in deep.states) == 2
    assert {deep.walk(("up", "up", one.name)) for one in UpAndDown.actions} == {Outcome(None)}
    with pytest.raises(KeyError, match="ends before 'down'"):
        deep.walk(("up", "up", "up", "down"))


class Switch(World):
    """A closed world: grad mode on and off."""

    setup = ("x = torch.rand(2)",)
    actions = (Action("toggle", "torch.set_grad_enabled(not torch.is_grad_enabled())"),)

    def say(self):
        return "on" if torch.is_grad_enabled() else "off"


def test_exploring_leaves_modes_random_numbers_and_warnings_as_they_were():
    torch.manual_seed(3)
    before, filters = torch.get_rng_state(), list(warnings.filters)
    torch.set_default_dtype(torch.float64)
    try:
        with warnings.catch_warnings(record=True) as caught, torch.no_grad():
            warnings.simplefilter("always")
            explore(Switch, 2)
            found = explore(UpAndDown, 3)
            assert not torch.is_grad_enabled()
        assert torch.get_default_dtype() == torch.float64
    finally:
        torch.set_default_dtype(torch.float32)
    assert caught == []
    assert filters == warnings.filters
    assert torch.equal(before, torch.get_rng_state())
    assert found == explore(UpAndDown, 3)
    with torch.inference_mode():
        assert found == explore(UpAndDown, 3)


def test_a_map_is_plain_data_and_no_tensor_lives_on():
    made = []

    class Watched(UpAndDown):
        def reset(self):
            super().reset()
            made.extend(map(weakref.ref, (self.x, self.y, self)))

    explore(Watched, 3)
    gc.collect()
    assert len(made) > 30
    assert not any(ref() is not None for ref in made)


BEGIN = """
x = torch.tensor([1.0, 2.0], requires_grad=True)
y, g, t = x**2, None, torch.tensor([1.0, 2.0])
double, triple = (lambda g: g * 2), (lambda g: g * 3)
"""
FREED = "y.sum().backward(); x.grad = None; "
DIFFERENT = {  # lines after which two worlds differ in one thing
    "a hook": ("y.register_hook(double)", "y.register_hook(triple)"),
    "a value": ("", "x.data.add_(1)"),
    "a version": ("", "x.detach().add_(1).sub_(1)"),
    "a flag": ("", "t.requires_grad_()"),
    "retains_grad": ("", "y.retain_grad()"),
    "a .grad": ("", "x.grad = torch.ones(2)"),
    "who is .grad": ("x.grad = torch.ones(2); g = x.grad.clone()", "g = x.grad = torch.ones(2)"),
    "saved or freed": ("y.sum().backward(retain_graph=True); x.grad = None", FREED),
    "freed or modified": (FREED + "x.detach().add_(1)", "x.detach().add_(1)"),
    "a storage": ("g = t.clone()", "g = t.data"),
    "a base": ("g = t.detach()", "g = t.view(2)"),
    "a version counter": ("g = t.data", "g = t.detach()"),
    "a view": ("g = t[:1]", "g = t[1:]"),
    "inference": ("", "with torch.inference_mode(): t = torch.tensor([1.0, 2.0])"),
    "a mode of a module": ("g = torch.nn.Dropout(0.5)", "g = torch.nn.Dropout(0.5).eval()"),
    "the engine's order": ("p = x * 2; q = x.exp()", "q = x.exp(); p = x * 2"),
    "a plain value": ("g = 1", "g = 1.0"),
}


def key(lines):
    """Return what tells a world apart after its beginning and some lines."""
    space = {"torch": torch}
    exec(f"{BEGIN}{lines}", space)
    del space["torch"], space["__builtins__"]
    tools = {name: space.pop(name) for name in ("double", "triple")}
    return sameness(space, (), tools)


@pytest.mark.parametrize("pair", DIFFERENT.values(), ids=DIFFERENT)
def test_worlds_that_differ_in_one_thing_are_not_the_same(pair):
    one, other = pair
    assert key(one) == key(one)
    assert key(other) == key(other)
    assert key(one) != key(other)


def hooked():
    x = torch.ones(2, requires_grad=True)
    x.register_hook(lambda grad: print(grad))
    return x


class Custom(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 3

    @staticmethod
    def backward(ctx, grad):
        return grad * 3


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: {1: 2}, "thing is a dict, and whether two of those are equal"),
        (hooked, "hooks cannot be compared"),
        (
            lambda: Custom.apply(torch.ones(2, requires_grad=True)),
            "What CustomBackward keeps cannot be compared",
        ),
    ],
)
def test_what_cannot_be_judged_is_refused(make, message):
    with pytest.raises(TypeError, match=message):
        sameness({"thing": make()})
