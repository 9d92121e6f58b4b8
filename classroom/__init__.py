"""A class: grading what students hand in, sticks that set laptops up, and a hub for a room."""
