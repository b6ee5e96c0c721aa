"""For the benchmark of feature selection: tables with a known Markov blanket, folds of real ones, and the selectors.

A module of its own, so that worker processes import it and keep what they have selected.
"""

import one_thread  # noqa: F401

# isort: split

from collections.abc import Callable
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.feature_selection import SelectKBest, mutual_info_classif, mutual_info_regression
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import RepeatedKFold, RepeatedStratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pydine import ConditionalSelector, mutual_information_score

FloatArray = NDArray[np.float64]
Choice = NDArray[np.intp]

NULL_FEATURES = 20
SELECTOR, RIVALS = "ConditionalSelector", ("SelectKBest", "mRMR, difference", "mRMR, quotient")
FOREIGN = frozenset({*RIVALS, "all features"})  # the others are ours, or are told how many features ours chose


# --- synthetic data ---


class Features(NamedTuple):
    """Features, shape (n, p), y of shape (n,), and the columns of the Markov blanket of y."""

    X: FloatArray
    y: FloatArray
    blanket: set[int]

    def first(self, n: int) -> "Features":
        return Features(self.X[:n], self.y[:n], self.blanket)


def draw_blanket(n: int, seed: int) -> Features:
    """20 features in random order."""
    rng = np.random.default_rng([n, seed])
    normal = rng.standard_normal
    common_cause = normal(n)
    a, b, c = (0.5 * common_cause + np.sqrt(0.75) * normal(n) for _ in range(3))
    d, e = normal((2, n))
    y = a + np.tanh(2 * b) + np.sin(2 * c) + d * e + 0.5 * normal(n)
    redundant = [
        a + b + 0.5 * normal(n),
        a + 0.5 * normal(n),
        b - c + normal(n),
        np.exp(b + 0.3 * normal(n)),
        d + e + normal(n),
    ]
    shared = normal(n)
    irrelevant = [*normal((5, n)), *(shared + normal(n) for _ in range(5))]
    columns = np.column_stack([a, b, c, d, e, *redundant, *irrelevant])
    order = rng.permutation(columns.shape[1])
    return Features(columns[:, order], y, set(np.flatnonzero(order < 5).tolist()))


def draw_nothing(n: int, seed: int) -> Features:
    rng = np.random.default_rng([n, seed, 1])
    return Features(rng.standard_normal((n, NULL_FEATURES)), rng.standard_normal(n), set())


# --- methods: data and how many features in, columns out ---


def conditional(X: FloatArray, y: NDArray[np.generic]) -> Choice:
    """The base affects what is reported, not what is selected."""
    return ConditionalSelector(base="gaussian").fit(X, y).get_support(indices=True)


def k_best(score: Callable[..., object], X: FloatArray, y: NDArray[np.generic], k: int) -> Choice:
    return SelectKBest(score, k=k).fit(X, y).get_support(indices=True)


def mrmr(X: FloatArray, y: NDArray[np.generic], k: int, quotient: bool) -> Choice:
    """Minimum redundancy, maximum relevance: forward, by information about y and mean information about the chosen."""
    relevance = mutual_info_regression(X, y, random_state=0)
    chosen, redundancy = [int(relevance.argmax())], np.zeros(X.shape[1])
    while len(chosen) < k:
        redundancy += mutual_info_regression(X, X[:, chosen[-1]], random_state=0)
        mean = redundancy / len(chosen)
        value = relevance / np.maximum(mean, 1e-3) if quotient else relevance - mean
        value[chosen] = -np.inf
        chosen.append(int(value.argmax()))
    return np.sort(chosen)


def neighbours(score: Callable[..., object]) -> Callable[..., object]:
    return partial(score, random_state=0)


SYNTHETIC: dict[str, Callable[[FloatArray, FloatArray], Choice]] = {
    SELECTOR: conditional,
    "SelectKBest": partial(k_best, neighbours(mutual_info_regression), k=5),
    "SelectKBest, pydine": partial(k_best, mutual_information_score, k=5),
    "mRMR, difference": partial(mrmr, k=5, quotient=False),
    "mRMR, quotient": partial(mrmr, k=5, quotient=True),
}


def compare(choose: Callable[[FloatArray, FloatArray], Choice], data: Features) -> dict[str, float | str]:
    """Whether the choice is the Markov blanket, and by how many features it differs."""
    chosen = set(choose(data.X, data.y).tolist())
    missed, superfluous = len(data.blanket - chosen), len(chosen - data.blanket)
    return {"score": float(missed + superfluous == 0), "missed": missed, "superfluous": superfluous}


# --- real data ---


def models(is_classes: bool) -> dict[str, object]:
    linear = LogisticRegression(max_iter=1000) if is_classes else Ridge()
    forest = RandomForestClassifier if is_classes else RandomForestRegressor
    return {"linear": make_pipeline(StandardScaler(), linear), "forest": forest(n_estimators=200, random_state=0)}


FOLDS = 5
REAL = {"diabetes": (load_diabetes, False), "breast cancer": (load_breast_cancer, True)}


class Fold(NamedTuple):
    """Which rows of a table train, and which test."""

    name: str
    number: int
    train: Choice
    test: Choice


def draw_fold(name: str, seed: int) -> Fold:
    """The seed is the number of the fold: the first five are those of the first repeat."""
    load, is_classes = REAL[name]
    split = RepeatedStratifiedKFold if is_classes else RepeatedKFold
    folds = split(n_splits=FOLDS, n_repeats=seed // FOLDS + 1, random_state=0).split(*load(return_X_y=True))
    return Fold(name, seed, *list(folds)[seed])


@lru_cache
def selected(name: str, number: int) -> Choice:
    """The selector's choice, kept because the others are told how many it chose."""
    X, y = REAL[name][0](return_X_y=True)
    train = draw_fold(name, number).train
    return conditional(X[train], y[train])


def k_as_selected(score: Callable[..., object], fold: Fold) -> Choice:
    X, y = REAL[fold.name][0](return_X_y=True)
    return k_best(neighbours(score), X[fold.train], y[fold.train], k=len(selected(fold.name, fold.number)))


def as_selected(fold: Fold) -> Choice:
    return selected(fold.name, fold.number)


def all_features(fold: Fold) -> Choice:
    return np.arange(REAL[fold.name][0]().data.shape[1])


def score_models(choose: Callable[[Fold], Choice], fold: Fold) -> dict[str, float | str]:
    """Scores of both models on the rows left out, with the features chosen on the others."""
    load, is_classes = REAL[fold.name]
    X, y = load(return_X_y=True)
    columns, train, test = choose(fold), fold.train, fold.test
    scores = {
        name: model.fit(X[train][:, columns], y[train]).score(X[test][:, columns], y[test])
        for name, model in models(is_classes).items()
    }
    return {**scores, "features": len(columns), "test_share": len(test) / len(train)}


CHOICES: dict[str, Callable[[Fold], Choice]] = {
    SELECTOR: as_selected,
    "mutual_info_regression": partial(k_as_selected, mutual_info_regression),
    "mutual_info_classif": partial(k_as_selected, mutual_info_classif),
    "all features": all_features,
}
PEERS = {"diabetes": "mutual_info_regression", "breast cancer": "mutual_info_classif"}

CHOOSERS = {name: partial(compare, choose) for name, choose in SYNTHETIC.items()}
SCORERS = {name: partial(score_models, choose) for name, choose in CHOICES.items()}
