"""The two moons of the cases: their points, a small classifier of them, and pictures of what a
model says of them.
"""

from helpers.moons.pictures import moons_pair, moons_picture, moons_strip
from helpers.moons.points import moons
from helpers.moons.training import classifier, learn, pretrained

__all__ = [
    "classifier",
    "learn",
    "moons",
    "moons_pair",
    "moons_picture",
    "moons_strip",
    "pretrained",
]
