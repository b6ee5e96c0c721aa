"""The steps of an estimate that can be left out one at a time, to measure what each of them buys.

`Settings.without` names them, and `benchmarks/ablation.py` leaves out each alone, and those that hide each other
together. The page on the algorithm has the same names. What is not listed here (normal scores of ranks, the linear
rung, folds, the Gaussian base, weights by evidence) cannot be left out: it is what the other steps are steps from.
"""

from __future__ import annotations

# Rungs of the ladder; the settings of the ladder leave them out (`units.rungs.registry`).
RUNGS = ("additive", "index", "network", "waves", "codes", "wide")

STEPS = {
    "additive": "a rung: functions of one column of the context each",
    "index": "two rungs: functions of one linear combination of the context",
    "network": "rungs: networks of the whole context, from two starts, and larger ones where rows are many",
    "waves": "a rung: cosines of the ranks of each column of the context, and a network of their sum",
    "codes": "a rung: sums of codes modulo small numbers that a target follows",
    "wide": "rungs of the flow base: networks with more components, which follow shapes",
    "projection": "functions of z beyond its columns and their cubes are projected out of the latents",
    "softening": "shapes are learned from latents that lose only as much as they depend on z",
    "bias": "the biases of the closed form and of ranks are subtracted",
    "raw": "a Student-t vector on the scale of the data, for sharp lines between several columns",
    "student": "the Student-t base",
    "mixture": "mixtures of Gaussians and of classes",
    "classes": "mixtures of classes, which follow sharp edges",
    "sharpening": "what z does to the latents is learned from both sides at once, where a shape is known",
    "flow": "flows of one side's latents given the other's: the paper's density-based definition",
    "neighbours": "what models have missed of a shape is added, from nearest neighbours",
    "unlearned": "what flows may have missed about z is added, with its uncertainty",
    "masses": "point masses of a column are treated separately from its other rows",
    "tables": "where all columns are discrete, a contingency table",
    "residuals": "where densities predict no better than independence, the closed form of residuals",
    "by latents": "models of numbers' latents given z, besides models of the numbers themselves",
    "blind": "models of one side given the other that do not see z",
    "label by label": "separate models for each label of z",
    "part by part": "separate models on either side of the best cut through a column of z",
    "realigned": "labels renumbered by frequency within parts of z",
    "segments": "frequencies of codes within segments of a number, on the number given z",
    "cleared": "segments of a number from which a model that sees the other side has removed z",
    "one by one": "several columns of a side one after the other, by the chain rule",
}
