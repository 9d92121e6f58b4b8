"""A class: grading what students hand in, and a hub for a room."""
