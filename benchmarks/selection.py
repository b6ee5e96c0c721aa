"""Feature selection: how often the Markov blanket of y is found, and what a model makes of the features on real data.

python benchmarks/selection.py [--seeds 50] [--repeats 5] [--jobs 2] [--fresh]
"""

import common

# isort: split

from argparse import Namespace
from functools import partial
from itertools import product

import numpy as np
import pandas as pd

from features import (
    CHOOSERS,
    FOLDS,
    FOREIGN,
    NULL_FEATURES,
    PEERS,
    RIVALS,
    SCORERS,
    SELECTOR,
    draw_blanket,
    draw_fold,
    draw_nothing,
)
from pydine.experiments.runner import Task

SIZES = (500, 1000)
NULL_SIZES, NULL_TIMES = (200, 1000), 4
FIGURES = ("score", "missed", "superfluous", "linear", "forest", "features", "test_share")
MODELS = ("linear", "forest")

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
        "blanket": [(f"n = {n}", partial(draw_blanket, n), options.seeds, tuple(CHOOSERS)) for n in SIZES],
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
    kept = partial(common.run_from, options, name="selection", figures=FIGURES, others=FOREIGN)
    return {
        part: kept(tasks=planned(part, options), methods=SCORERS if part == "real" else CHOOSERS)
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
