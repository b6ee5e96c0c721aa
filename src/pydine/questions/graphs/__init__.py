"""The search for a causal graph: what is known, which sets to try, the skeleton, its directions."""
