"""Features of a target: which columns stand for the rest (for `ranking`), and the Markov blanket (for `selection`)."""
