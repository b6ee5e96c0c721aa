"""Tuning by held-out likelihood: what `DINE(tune=True)` gains over the default, and what it costs.

python benchmarks/tuning.py [--seeds 3] [--rows 2000] [--jobs 2] [--fresh]
"""

import common

# isort: split

from functools import partial

import numpy as np
import pandas as pd
from sklearn.model_selection import GridSearchCV

import known_shapes as shapes
from pydine import DINE
from pydine.experiments.datasets import Dataset
from pydine.experiments.grids import Grid
from pydine.experiments.measure import measured

NAMES = ("checkerboard", "clusters", "ring", "sine", "parabola", "Gaussian 3 x 3")
NEW_ROWS, NEW_SEED = 5000, 1000
COST_ROWS, COST_SHAPE = 1000, "parabola"
FIGURES = ("truth", "estimate", "new_rows", "choice")

NOTES = """
"new rows": mean log-likelihood of 5000 rows that neither fit has seen (`DINE.score`), in nats; the higher, the better.
Means over the seeds, with the standard error of the gain over them. Both estimates in nats beside the truth.
""".strip()


def fit(data: Dataset, **options: object) -> dict[str, float | str]:
    """The estimate, the likelihood of rows that the fit has not seen, and what tuning chose."""
    new = shapes.sample(data.name, NEW_ROWS, NEW_SEED + data.seed)
    model = DINE(**options).fit(data.x, data.y)
    found: dict[str, float | str] = {"estimate": model.information_.value, "new_rows": model.score(new.x, new.y)}
    if "tune" in options:
        best = model.tuning_[0]
        chosen = (best["components"], best["hidden_units"], best["weight_decay"])
        found["choice"] = "{} components, {} units, decay {:g}".format(*chosen)
    return found


METHODS = {"dine": fit, "dine-tuned": partial(fit, tune=True)}


def gains(name: str, rows: pd.DataFrame) -> dict[str, object]:
    by_method = {method: rows[rows.method == method].sort_values("seed") for method in METHODS}
    default, tuned = by_method.values()
    gain = tuned.new_rows.to_numpy() - default.new_rows.to_numpy()
    return {
        "shape": name,
        "default, new rows": default.new_rows.mean(),
        "tuned, new rows": tuned.new_rows.mean(),
        "gain": float(gain.mean()),
        "its error": float(gain.std(ddof=1) / np.sqrt(len(gain))) if len(gain) > 1 else float("nan"),
        "truth": default.truth.iloc[0],
        "default": default.estimate.mean(),
        "tuned": tuned.estimate.mean(),
        "last choice": tuned.choice.iloc[-1],
    }


def cost() -> tuple[float, float]:
    """Seconds of the same grid of 27 with 3 folds: by `tune=True`, and by scikit-learn's search over separate fits."""
    data = shapes.sample(COST_SHAPE, COST_ROWS, 0)
    names = {"components": "n_components", "hidden_units": "hidden_units", "weight_decay": "weight_decay"}
    DINE(base="flow").fit(data.x, data.y)
    with measured() as tuned:
        model = DINE(base="flow", tune=True).fit(data.x, data.y)
    grid = {name: sorted({tried[key] for tried in model.tuning_}) for key, name in names.items()}
    with measured() as searched:
        GridSearchCV(DINE(base="flow"), grid, cv=3).fit(data.x, data.y)
    return tuned.seconds, searched.seconds


def main() -> None:
    parser = common.parser(__doc__, seeds=3)
    parser.add_argument("--rows", type=int, default=2000)
    chosen = parser.parse_args()
    tuned, searched = cost()
    grid = Grid("I(X;Y)", shapes.sample, {"name": NAMES, "n": (chosen.rows,)}, range(chosen.seeds))
    rows = common.run_from(chosen, grid.tasks(METHODS), "tuning", METHODS, figures=FIGURES)
    table = [gains(name, part) for name, part in rows.groupby("name", sort=False)]
    bars = [
        common.Bar("gain where the default underfits most", max(float(str(row["gain"])) for row in table), low=0.0),
        common.Bar("seconds of tune=True / of 81 separate fits", tuned / searched, high=1.0),
    ]
    cost_line = f"{tuned:.1f} s beside {searched:.1f} s of GridSearchCV, n = {COST_ROWS}, one thread, base='flow'."
    sections = ["# Tuning", f"n = {chosen.rows}, {chosen.seeds} seeds. {NOTES}", common.markdown(table)]
    common.report(
        chosen.output / "tuning.md",
        *sections,
        "## Cost of the grid",
        cost_line,
        "## Bars",
        common.bar_table(bars),
        "## Provenance",
        common.provenance(rows),
    )


if __name__ == "__main__":
    main()
