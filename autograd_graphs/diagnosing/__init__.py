"""The clinic: `diagnose`, `find`, the index of symptoms and the glossary."""
