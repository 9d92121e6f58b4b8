"""The exercises of lesson 17."""

EXERCISES = ()
