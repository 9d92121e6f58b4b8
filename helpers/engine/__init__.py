"""Hold the engine that students build, lesson by lesson: its stages, what each is tried on, and the
file `my_engine.py` that keeps what is theirs.
"""
