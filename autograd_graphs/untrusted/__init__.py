"""Read other people's values and run their code safely."""
