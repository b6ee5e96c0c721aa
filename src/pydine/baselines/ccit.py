"""The classifier test: Sen et al. (2017), "Model-powered conditional independence test"."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import accuracy_score
from sklearn.neighbors import NearestNeighbors

from pydine.baselines.arrays import standardised
from pydine.types import FloatArray

# The first that the authors' program tries, which searches through larger ones too: they changed little.
TREES: dict[str, Any] = {
    "max_depth": 6,
    "max_iter": 100,
    "learning_rate": 0.02,
    "min_samples_leaf": 5,
    "max_leaf_nodes": None,
    "early_stopping": False,
}


def ccit(x: ArrayLike, y: ArrayLike, z: ArrayLike | None = None, random_state: int = 0) -> float:
    """Test independence of X and Y given Z by a classifier on held-out rows.

    In half of the rows shown to it every y is replaced by that of the nearest neighbour in Z (without a Z, by that
    of any other row). Where X and Y are independent given Z, boosted trees that see X tell these rows from the others
    no better than trees that do not.

    Parameters
    ----------
    x, y
        Samples, shapes (n,) or (n, dx) and (n,) or (n, dy).
    z
        Samples of the conditioning variable, shape (n,) or (n, dz). Every column is standardised first.
    random_state
        Seed of the split and of the trees.

    Returns
    -------
    float
        p-value, one-sided.
    """
    rng = np.random.default_rng(random_state)
    x, y, given = (standardised(a) for a in (x, y, np.empty((len(np.asarray(x)), 0)) if z is None else z))
    order = rng.permutation(len(x))
    training, held_out = np.split(order, [2 * len(x) // 3])
    features, labels = _two_samples(x[training], y[training], given[training], rng)
    test_features, test_labels = _two_samples(x[held_out], y[held_out], given[held_out], rng)
    accuracies = []
    for first in (0, x.shape[1]):  # with X, and without
        model = HistGradientBoostingClassifier(**TREES, random_state=random_state).fit(features[:, first:], labels)
        accuracies.append(accuracy_score(test_labels, model.predict(test_features[:, first:])))
    # The authors' program: the gain in accuracy has a standard deviation of at most 1 / sqrt(n).
    return float(max(ndtr(-(accuracies[0] - accuracies[1]) * np.sqrt(len(x))), np.finfo(np.float64).tiny))


def _two_samples(
    x: FloatArray, y: FloatArray, z: FloatArray, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Rows as they are, labelled 1, and rows with y of a neighbour in z, labelled 0."""
    if z.shape[1]:
        neighbours = NearestNeighbors(n_neighbors=1).fit(z).kneighbors(return_distance=False)[:, 0]
        features = np.vstack([np.hstack([x, y, z]), np.hstack([x, y[neighbours], z])])
        return features, np.repeat([1.0, 0.0], len(x))
    # Other rows in each sample: with the same ones no single split of a tree would tell the samples apart.
    half = len(x) // 2
    shuffled = np.hstack([x[half:], rng.permutation(y[half:])])
    return np.vstack([np.hstack([x[:half], y[:half]]), shuffled]), np.repeat([1.0, 0.0], [half, len(x) - half])
