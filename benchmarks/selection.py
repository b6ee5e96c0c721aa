"""Feature selection: how often the Markov blanket of y is found, and what a model makes of the features on real data.

python benchmarks/selection.py [--seeds 50] [--repeats 5] [--jobs 2] [--fresh]
"""

import common
from pydine.types import FloatArray

# isort: split

import time
from argparse import ArgumentParser
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.feature_selection import SelectKBest, mutual_info_classif, mutual_info_regression
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import RepeatedKFold, RepeatedStratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pydine.questions.selection import ConditionalSelector, mutual_information_score

Choice = NDArray[np.intp]

SIZES = (500, 1000)
NULL_SIZES, NULL_FEATURES, NULL_TIMES = (200, 1000), 20, 4
COLUMNS = (
    "part",
    "data",
    "seed",
    "method",
    "model",
    "score",
    "features",
    "missed",
    "superfluous",
    "test_share",
    "seconds",
    "code",
)
SELECTOR, RIVALS = "ConditionalSelector", ("SelectKBest", "mRMR, difference", "mRMR, quotient")

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


def draw(n: int, seed: int) -> tuple[FloatArray, FloatArray, set[int]]:
    """Features (n, 20) in random order, y (n,), and the columns of the Markov blanket."""
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
    return columns[:, order], y, set(np.flatnonzero(order < 5).tolist())


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


def synthetic_rows(n: int, seed: int) -> list[dict[str, object]]:
    X, y, blanket = draw(n, seed)
    rows = []
    for method, choose in SYNTHETIC.items():
        start = time.perf_counter()
        chosen = set(choose(X, y).tolist())
        rows.append(
            {
                "part": "blanket",
                "data": f"n = {n}",
                "seed": seed,
                "method": method,
                "score": float(chosen == blanket),
                "missed": len(blanket - chosen),
                "superfluous": len(chosen - blanket),
                "seconds": round(time.perf_counter() - start, 3),
            }
        )
    return rows


def null_rows(n: int, seed: int) -> list[dict[str, object]]:
    rng = np.random.default_rng([n, seed, 1])
    X, y = rng.standard_normal((n, NULL_FEATURES)), rng.standard_normal(n)
    found = len(conditional(X, y))
    key = {"part": "nothing", "data": f"n = {n}", "seed": seed, "method": SELECTOR}
    return [key | {"score": float(found > 0), "superfluous": found}]


# --- real data ---


def models(is_classes: bool) -> dict[str, object]:
    linear = LogisticRegression(max_iter=1000) if is_classes else Ridge()
    forest = RandomForestClassifier if is_classes else RandomForestRegressor
    return {"linear": make_pipeline(StandardScaler(), linear), "forest": forest(n_estimators=200, random_state=0)}


REAL = {"diabetes": (load_diabetes, False), "breast cancer": (load_breast_cancer, True)}


def folds(name: str, repeats: int) -> list[tuple[Choice, Choice]]:
    load, is_classes = REAL[name]
    split = RepeatedStratifiedKFold if is_classes else RepeatedKFold
    return list(split(n_splits=5, n_repeats=repeats, random_state=0).split(*load(return_X_y=True)))


def real_rows(name: str, fold: int, train: Choice, test: Choice) -> list[dict[str, object]]:
    load, is_classes = REAL[name]
    X, y = load(return_X_y=True)
    chosen = conditional(X[train], y[train])
    peer = mutual_info_classif if is_classes else mutual_info_regression
    choices = {
        SELECTOR: chosen,
        peer.__name__: k_best(neighbours(peer), X[train], y[train], k=len(chosen)),
        "all features": np.arange(X.shape[1]),
    }
    return [
        {
            "part": "real",
            "data": name,
            "seed": fold,
            "method": method,
            "model": model_name,
            "score": round(model.fit(X[train][:, columns], y[train]).score(X[test][:, columns], y[test]), 6),
            "features": len(columns),
            "test_share": round(len(test) / len(train), 6),
        }
        for method, columns in choices.items()
        for model_name, model in models(is_classes).items()
    ]


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
        {"data": data, "datasets": len(part), "something selected": share(part.score)}
        for data, part in rows.groupby("data", sort=False)
    ]


def real_table(rows: pd.DataFrame) -> list[dict[str, object]]:
    lines = []
    for (data, model), part in rows.groupby(["data", "model"], sort=False):
        scores = part.pivot(index="seed", columns="method", values="score")
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


def tasks(seeds: int, repeats: int) -> dict[tuple[str, str, int], Callable[[], list[dict[str, object]]]]:
    """What makes the rows of each part, dataset and seed (or fold)."""
    blanket = {("blanket", f"n = {n}", i): partial(synthetic_rows, n, i) for n, i in product(SIZES, range(seeds))}
    null_seeds = range(NULL_TIMES * seeds)
    nothing = {("nothing", f"n = {n}", i): partial(null_rows, n, i) for n, i in product(NULL_SIZES, null_seeds)}
    real = {
        ("real", name, i): partial(real_rows, name, i, *fold)
        for name in REAL
        for i, fold in enumerate(folds(name, repeats))
    }
    return real | nothing | blanket


def run(path: Path, seeds: int, repeats: int, jobs: int, fresh: bool) -> pd.DataFrame:
    """Make the rows that the CSV does not have yet, adding them as they are finished; the rows asked for, in order."""
    wanted = tasks(seeds, repeats)
    path.parent.mkdir(parents=True, exist_ok=True)
    if fresh or not path.exists():
        pd.DataFrame(columns=COLUMNS).to_csv(path, index=False)
    key = list(COLUMNS[:3])
    done = set(pd.read_csv(path)[key].itertuples(index=False, name=None))
    code = common.code_version()  # what these processes have loaded, whatever changes meanwhile
    todo = [task for name, task in wanted.items() if name not in done]
    for rows in Parallel(n_jobs=jobs, return_as="generator_unordered", verbose=5)(delayed(task)() for task in todo):
        made = pd.DataFrame(rows, columns=COLUMNS).assign(code=code)
        made.to_csv(path, mode="a", header=False, index=False)
    frame = pd.read_csv(path).sort_values(key, kind="stable")
    frame.to_csv(path, index=False)
    place = {name: i for i, name in enumerate(wanted)}
    places = pd.Series([place.get(name, -1) for name in frame[key].itertuples(index=False, name=None)], frame.index)
    return frame.loc[places[places >= 0].sort_values(kind="stable").index]


def main() -> None:
    options = ArgumentParser(description=__doc__)
    options.add_argument("--seeds", type=int, default=50, help="synthetic datasets of each size (default: %(default)s)")
    options.add_argument("--repeats", type=int, default=5, help="of 5-fold cross-validation (default: %(default)s)")
    options.add_argument("--jobs", type=int, default=1, help="processes (default: %(default)s)")
    options.add_argument("--fresh", action="store_true", help="forget the rows of earlier runs")
    options.add_argument("--output", type=Path, default=common.RESULTS, help="folder (default: %(default)s)")
    given = options.parse_args()
    rows = run(given.output / "selection.csv", given.seeds, given.repeats, given.jobs, given.fresh)
    parts = dict(tuple(rows.groupby("part")))
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
        common.provenance(rows.assign(error="")),
    )


if __name__ == "__main__":
    main()
