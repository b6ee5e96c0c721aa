"""Feature selection: how often the Markov blanket of y is found, and what a model makes of the features on real data.

python benchmarks/selection.py [--seeds 50] [--repeats 5] [--jobs 2] [--fresh]
"""

import common

# isort: split

from argparse import Namespace
from collections.abc import Callable
from functools import lru_cache, partial
from itertools import product
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.feature_selection import SelectKBest, mutual_info_classif, mutual_info_regression
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import RepeatedKFold, RepeatedStratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pydine import ConditionalSelector, mutual_information_score
from pydine.experiments.runner import Task

FloatArray = NDArray[np.float64]
Choice = NDArray[np.intp]

SIZES = (500, 1000)
NULL_SIZES, NULL_FEATURES, NULL_TIMES = (200, 1000), 20, 4
FIGURES = ("score", "missed", "superfluous", "linear", "forest", "features", "test_share")
MODELS = ("linear", "forest")
SELECTOR, RIVALS = "ConditionalSelector", ("SelectKBest", "mRMR, difference", "mRMR, quotient")
FOREIGN = frozenset({*RIVALS, "all features"})  # the others are told what the selector chose, or are ours

NOTES = """
y = a + tanh(2b) + sin(2c) + d e + noise. Five features are the Markov blanket of y: a, b and c, correlated with each
other, and the pair d, e that tells about the mean of y only together. Five are redundant: noisy sums and copies of
those, of which some tell more about y than any single one of the five does. Ten tell nothing; half of them are
correlated with each other. The selector is not told how many there are; the others are told the true number, 5.
SelectKBest and mRMR (Peng, Long and Ding, 2005: relevance less, or over, the mean redundancy) take scikit-learn's
`mutual_info_regression`; "SelectKBest, pydine" takes `mutual_information_score`. "Found" is the share of datasets in
which the choice is the Markov blanket, with its standard error; "missed" and "superfluous" are mean numbers of
features. Read the latter two as well: by construction some redundant features tell more about y alone than d or e do,
so no ranking of single features can find the whole set, and a share of 0 there says little about how far off it is.
""".strip()

NULL_NOTES = f"""
No feature tells anything: the share of datasets in which the selector, at alpha = 0.05, selects something of
{NULL_FEATURES} independent normal features.
""".strip()

REAL_NOTES = """
In every training fold the selector chooses, the others choose as many, and a fixed model is fitted on the features
chosen and scored on the fold left out: R² for diabetes (442 rows, 10 features), accuracy for breast cancer (569 rows,
30 features). "Difference" is the selector's mean score less the other's, over the same folds; its standard error allows
for folds that share rows (Nadeau and Bengio, 2003). "All features" is the same model without selection.
""".strip()


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
    """The base changes what is reported and not what is chosen."""
    return ConditionalSelector(base="gaussian").fit(X, y).get_support(indices=True)


def k_best(score: Callable[..., object], X: FloatArray, y: NDArray[np.generic], k: int) -> Choice:
    return SelectKBest(score, k=k).fit(X, y).get_support(indices=True)


def mrmr(X: FloatArray, y: NDArray[np.generic], k: int, quotient: bool) -> Choice:
    """Minimum redundancy, maximum relevance: forward, by information with y and mean information with those chosen."""
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
    SELECTOR: lambda fold: selected(fold.name, fold.number),
    "mutual_info_regression": partial(k_as_selected, mutual_info_regression),
    "mutual_info_classif": partial(k_as_selected, mutual_info_classif),
    "all features": lambda fold: np.arange(REAL[fold.name][0]().data.shape[1]),
}
PEERS = {"diabetes": "mutual_info_regression", "breast cancer": "mutual_info_classif"}


# --- tables ---


def share(values: pd.Series) -> str:
    """A share with its standard error, by Agresti and Coull, who do not take 0 of 50 for certainty."""
    p = (values.sum() + 2) / (len(values) + 4)
    return f"{values.mean():.2f} ± {np.sqrt(p * (1 - p) / (len(values) + 4)):.2f}"


def blanket_table(rows: pd.DataFrame) -> list[dict[str, object]]:
    return [
        {
            "data": data,
            "method": method,
            "found": share(part.score),
            "missed": part.missed.mean(),
            "superfluous": part.superfluous.mean(),
            "median seconds": part.seconds.median(),
        }
        for (data, method), part in rows.groupby(["data", "method"], sort=False)
    ]


def null_table(rows: pd.DataFrame) -> list[dict[str, object]]:
    return [
        {"data": data, "datasets": len(part), "something selected": share(1.0 - part.score)}
        for data, part in rows.groupby("data", sort=False)
    ]


def real_table(rows: pd.DataFrame) -> list[dict[str, object]]:
    lines = []
    for (data, part), model in product(rows.groupby("data", sort=False), MODELS):
        scores = part.pivot(index="seed", columns="method", values=model)
        share_of_test = part.test_share.mean()
        for other in scores.columns.drop(SELECTOR):
            difference = scores[SELECTOR] - scores[other]
            error = np.sqrt(difference.var() * (1 / len(difference) + share_of_test))
            lines.append(
                {
                    "data": data,
                    "model": model,
                    "features": part[part.method == SELECTOR].features.mean(),
                    "selector": scores[SELECTOR].mean(),
                    "other": other,
                    "its score": scores[other].mean(),
                    "difference": f"{difference.mean():+.4f}",
                    "standard error": f"{error:.4f}",
                }
            )
    return lines


def bars(parts: dict[str, pd.DataFrame]) -> list[common.Bar]:
    """The selector's margin over the best rival, and over as many features by scikit-learn's information."""
    margins = []
    for data, part in parts["blanket"].groupby("data", sort=False):
        found = part.groupby("method").score.mean()
        margin = found[SELECTOR] - found[list(RIVALS)].max()
        margins.append(
            common.Bar(f"Markov blanket found, {data}: more often than the best of k-best and mRMR", margin, 0.0)
        )
    for line in real_table(parts["real"]):
        if line["other"] != "all features":
            name = f"{line['data']}, {line['model']}: mean score above that of {line['other']}"
            margins.append(common.Bar(name, float(str(line["difference"])), 0.0))
    return margins


# --- the command ---


def planned(part: str, options: Namespace) -> list[Task]:
    """Every dataset or fold of a part, and the methods to run on it."""
    plans = {
        "blanket": [(f"n = {n}", partial(draw_blanket, n), options.seeds, tuple(SYNTHETIC)) for n in SIZES],
        "nothing": [
            (f"n = {n}", partial(draw_nothing, n), NULL_TIMES * options.seeds, (SELECTOR,)) for n in NULL_SIZES
        ],
        "real": [
            (name, partial(draw_fold, name), FOLDS * options.repeats, (SELECTOR, peer, "all features"))
            for name, peer in PEERS.items()
        ],
    }
    return [
        Task({"part": part, "data": data, "seed": seed}, partial(draw, seed), methods)
        for data, draw, seeds, methods in plans[part]
        for seed in range(seeds)
    ]


def run(options: Namespace) -> dict[str, pd.DataFrame]:
    """The rows of the three parts, which share a table."""
    choosers = {name: partial(compare, choose) for name, choose in SYNTHETIC.items()}
    scorers = {name: partial(score_models, choose) for name, choose in CHOICES.items()}
    kept = partial(common.run_from, options, name="selection", figures=FIGURES, others=FOREIGN)
    return {
        part: kept(tasks=planned(part, options), methods=scorers if part == "real" else choosers)
        for part in ("real", "nothing", "blanket")
    }


def main() -> None:
    parser = common.parser(__doc__, seeds=50)
    parser.add_argument("--repeats", type=int, default=5, help="of 5-fold cross-validation (default: %(default)s)")
    given = parser.parse_args()
    parts = run(given)
    common.report(
        given.output / "selection.md",
        f"# Feature selection\n\n`python benchmarks/selection.py --seeds {given.seeds} --repeats {given.repeats}`",
        common.bar_table(bars(parts)),
        f"## The Markov blanket, {given.seeds} datasets of each size\n\n{NOTES}",
        common.markdown(blanket_table(parts["blanket"])),
        f"## Nothing to find\n\n{NULL_NOTES}",
        common.markdown(null_table(parts["nothing"])),
        f"## Real data, {given.repeats} times 5-fold cross-validation\n\n{REAL_NOTES}",
        common.markdown(real_table(parts["real"])),
        common.provenance(pd.concat(parts.values())),
    )


if __name__ == "__main__":
    main()
