"""How units are fitted: the knobs of the ladder, once."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LadderSettings:
    """How units are fitted.

    Parameters
    ----------
    networks, wide_networks : int
        Networks in a fold, from different starts, beside the two that see one combination of the context; 0 for none at
        all. Wide ones have twice the hidden units and four times the components,
        and see the context's radius: for shapes (clusters, rings) that two Gaussians cannot follow.
    hidden_units, components : int
        Width of a network's hidden layer, and Gaussian components of every rung.
    weight_decay : float
        Precision of the normal prior of a network's weights: a rung's penalty is half of it times their squares, in
        nats of the whole log-likelihood, so its pull fades as rows are added.
    iterations : int
        Most L-BFGS iterations of a network; held-out rows may ask for fewer.
    folds : int
    max_rows : int
        Rows that a unit learns from at most; the rest is only passed through.
    """

    networks: int = 2  # answer: starts, of which one may end in a poor place
    wide_networks: int = 0  # answer: the flow base asks for them; the maps given z do not need shapes
    hidden_units: int = 8  # answer: held-out rows tell 4, 8 and 16 hardly apart but for clusters and rings
    components: int = 2  # answer: enough for skewness and heavy tails; the mixture of rungs has more
    weight_decay: float = 0.67  # answer: as for slopes, a prior deviation of 1.2
    iterations: int = 150  # answer: most steps; held-out rows end most networks before
    folds: int = 3  # answer: two thirds of the rows to learn from, and three models to average
    max_rows: int = 30_000  # answer: for the time; more rows are still mapped and counted, but not learned from
