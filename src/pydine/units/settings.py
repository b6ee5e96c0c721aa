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

    networks: int = 2
    wide_networks: int = 0
    hidden_units: int = 8
    components: int = 2
    weight_decay: float = 0.67
    iterations: int = 150
    folds: int = 3
    max_rows: int = 30_000
