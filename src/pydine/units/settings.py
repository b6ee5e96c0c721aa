"""Settings of the ladder: how units are fitted."""

from __future__ import annotations

from dataclasses import dataclass

# answer: prior precision of slopes, constants and a network's weights, a deviation of 1.2: slopes between normal scores
# are seldom steeper, and the prior weighs less than one row.
LINEAR_PRECISION = 0.67


@dataclass(frozen=True)
class LadderSettings:
    """How units are fitted.

    Parameters
    ----------
    networks, wide_networks : int
        Networks in each fold, from different starts, beside two index networks, which see one linear combination of the
        context; without `networks` there are no index networks either. Wide networks have
        four times the components, and see the context's radius: for shapes (clusters, rings) that two Gaussians cannot
        follow.
    hidden_units, components : int
        Width of a network's hidden layer, and Gaussian components of every rung.
    weight_decay : float
        Precision of the normal prior of a network's weights: the penalty on the log-likelihood of all rows, in nats, is
        half of it times the sum of their squares, so it matters less as rows are added.
    iterations : int
        Most L-BFGS iterations of a network; early stopping on held-out rows may end it sooner.
    folds : int
        Folds of the cross-validation.
    max_rows : int
        Rows that a unit learns from at most, by `growing` samples; the others are only mapped to latents.
    without : tuple of str
        Steps that are left out, by the last word of their rungs' names, or "projection": to measure what they buy.
    """

    networks: int = 2  # answer: different starts, of which one may end in a poor local optimum
    wide_networks: int = 0  # fact: the flow base asks for them; the maps given z do not need shapes
    hidden_units: int = 8  # answer: held-out likelihoods of 4, 8 and 16 hardly differ except for clusters and rings
    components: int = 2  # answer: enough for skewness and heavy tails; the mixture of rungs has more
    weight_decay: float = LINEAR_PRECISION
    iterations: int = 500  # precision: most steps; early stopping ends most networks sooner
    folds: int = 3  # answer: two thirds of the rows to learn from, and three models to average
    max_rows: int = 30_000  # answer: a cap on time; further rows are mapped and counted, but not learned from
    without: tuple[str, ...] = ()  # fact: nothing is left out but in measurements
