"""The glossary of the course: its pages and its filter box."""
