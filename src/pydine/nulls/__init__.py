"""Latents to p-values: block statistics with their permutations, and the screen for what is not Gaussian."""
