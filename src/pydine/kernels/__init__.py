"""Compiled code: likelihood, gradient and tails of a unit, the arithmetic below them and the optimiser above."""
