"""Grade what students hand in: their code runs in a sandbox without the truths, and answers are compared outside."""
