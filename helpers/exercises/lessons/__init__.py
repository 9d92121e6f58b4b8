"""The exercises of each lesson."""
