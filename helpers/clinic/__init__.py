"""The clinic: `diagnose`, `find`, the symptom index and the glossary, all read from symptoms.toml and
terms.toml.
"""
