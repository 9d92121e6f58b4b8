"""Exercises of lesson 17, gradients as functions: the case at sea, the loudest points, passes, each point's own
gradient, products with the Hessian, a function with an if, and an engine with forward mode.
"""

from helpers.engine.checks import DUAL, cases
from helpers.engine.programs import on_torch
from helpers.engine.putting_together import yours
from helpers.exercises.exercise import Exercise
from helpers.exercises.functions import function
from helpers.exercises.recognise import at, fails

_REFUSED = "element 0 of tensors does not require grad and does not have a grad_fn"

PUSHES = Exercise(
    id="17.7",
    stage="17",
    reader=function(*cases("17"), promises=DUAL),
    truth=lambda: on_torch,
    solution=yours("17"),
    cases=lambda random: cases("17", random),
    right="Your engine goes forward now, and it didn't need a tape for that. And since your vjps compute with"
    " Values, their tangents go backward along with the gradients: that's the Hessian times a vector.",
    principle="a tangent is the slope so far. Each operation multiplies it by a slope of its own, and what"
    " comes from several inputs is added up.",
    known={
        "`mul` has to photograph both factors, as it did in lesson 04.": fails(
            "not enough values to unpack", cases=slice(0, 1)
        ),
        "`add` and `mul` have to return their result.": fails(
            "'NoneType' object has no attribute", cases=slice(0, 1)
        ),
        "Most values have no tangent. Theirs is None, and then there's nothing to push.": fails(
            "not NoneType", cases=slice(0, 3)
        ),
        "`make_dual` has to return the dual.": fails("'NoneType' and 'int'"),
        "A tangent is a Value, like a gradient, and no bare number or tensor. `as_value` makes one.": at(
            [1, 2, 11], [0, 1], "a float, no Value", "a Tensor, no Value"
        ),
        "The result of `u * 2` has no tangent. Does `make_dual` put one beside the value, and does `mul` push"
        " for both of its factors?": at([1], [0], None),
        "A tangent goes through a product times the *other* factor.": at([1], [0], 3.0),
        "The tangent went through `u * 2` as it was. A product multiplies it by a slope.": at(
            [1], [0], 1.0
        ),
        "Nothing came through the sum. In `add`, each input that has a tangent pushes it as it is.": at(
            [2], [0], None
        ),
        "In `y * u` it's the second factor that has the tangent. `mul` has to push for both factors.": at(
            [3, 4], [0], None
        ),
        "Nobody asked for the slope of `x * x`, and yet it has a tangent. `make_dual` leaves the value itself"
        " alone and returns a second name tag: `beside` makes one.": at([5], [0]),
        "Both inputs of the sum have a tangent, and each of them counts. `push` adds to what is there.": at(
            [6], [0], 10.0, 1.0
        ),
        "The tangent isn't always 1. `make_dual` puts beside the value what it was given.": at(
            [6], [0], 2.0
        ),
        "The tangent of `u * u` has a tangent of its own, so each product would compute more of them. Multiply"
        " by the other factor without its tangent: `beside(other, None)`.": at([7], [4]),
        "`push` wrote into the tangent of `u`, because `h` held the same Value. Make a new sum instead.": at(
            [9], [0], 18.0
        ),
        "`x` gets no gradient through the dual. A second name tag from `beside` shares the history, and a"
        " leaf's AccumulateGrad, too.": at([10], [2]),
        "`unpack_dual` returns two things: the value without its tangent, and then the tangent.": fails(
            "cannot unpack non-iterable", cases=slice(11, 12)
        ),
        "What `unpack_dual` returns first still has its tangent. `beside(value, None)` has none.": at(
            [11], [0], 7.0
        ),
        "`unpack_dual` took the tangent off `u` itself. It should look and leave the dual alone.": at(
            [11], [0], None
        ),
        "`unpack_dual` returns the value first, and then its tangent.": at([11], [1], 3.0),
        "What `unpack_dual` returns first has lost its history. Only the tangent goes.": at(
            [11], [2]
        ),
        "A value without a tangent has None there, and no zeros.": at([12], [1]),
        "Forward mode doesn't ask whether anything requires grad. A tangent goes along all the same.": at(
            [13], [0]
        ),
        "`no_grad()` switches the recording off, and a tangent isn't recorded. It goes along.": at(
            [14], [0]
        ),
        "Your tangent is right, but it has lost its history, so it can't be differentiated. Compute it from"
        " Values, and multiply by the other factor with its history: `beside(other, None)`.": at(
            [17], [2]
        ),
        "The gradient has no tangent, although the dual has one. Photograph the factors themselves, with their"
        " tangents.": at([18], [3]),
    },
    hints=(
        "`make_dual` and `unpack_dual` are a line each, and both call `beside`.",
        "In `add`, each input that has a tangent pushes it into the result as it is.",
        "In `mul`, each factor that has a tangent pushes it times the *other* factor. Take that one"
        " without its tangent, but with its history: `beside(other, None)`.",
    ),
)

EXERCISES = (PUSHES,)
