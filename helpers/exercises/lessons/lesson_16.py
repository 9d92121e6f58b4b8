"""The exercises of lesson 16."""

EXERCISES = ()
