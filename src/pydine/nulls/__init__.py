"""Latents to p-values: block statistics with their null distributions, and the screen for non-Gaussian pairs."""
