"""Tuning by held-out likelihood: what `DINE(tune=True)` gains over the default, and what it costs.

python benchmarks/tuning.py [--seeds 3] [--rows 2000]
"""

import common

# isort: split

import time
from argparse import ArgumentParser
from dataclasses import asdict

import numpy as np
from sklearn.model_selection import GridSearchCV

import shapes
from pydine import DINE
from pydine.units.tuning import Grid

NAMES = ("checkerboard", "clusters", "ring", "sine", "parabola", "Gaussian 3 x 3")
NEW_ROWS, NEW_SEED = 5000, 1000
COST_ROWS, COST_SHAPE = 1000, "parabola"

NOTES = """
"new rows": mean log-likelihood of 5000 rows that neither fit has seen (`DINE.score`), in nats; the higher, the better.
Means over the seeds, with the standard error of the gain over them. Both estimates in nats beside the truth.
""".strip()


def gains(name: str, rows: int, seeds: int) -> dict[str, object]:
    found = []
    for seed in range(seeds):
        data, new = shapes.sample(name, rows, seed), shapes.sample(name, NEW_ROWS, NEW_SEED + seed)
        default, tuned = DINE().fit(data.x, data.y), DINE(tune=True).fit(data.x, data.y)
        scores = [model.score(new.x, new.y) for model in (default, tuned)]
        found.append([*scores, default.information_.value, tuned.information_.value])
    mean = np.mean(found, axis=0)
    gain = np.array(found)[:, 1] - np.array(found)[:, 0]
    best = tuned.tuning_[0]
    return {
        "shape": name,
        "default, new rows": mean[0],
        "tuned, new rows": mean[1],
        "gain": float(gain.mean()),
        "its error": float(gain.std(ddof=1) / np.sqrt(seeds)) if seeds > 1 else float("nan"),
        "truth": data.truth,
        "default": mean[2],
        "tuned": mean[3],
        "last choice": f"{best['components']} components, {best['hidden_units']} units, decay {best['weight_decay']:g}",
    }


def cost() -> tuple[float, float]:
    """Seconds of the same grid of 27 with 3 folds: by `tune=True`, and by scikit-learn's search over separate fits."""
    data, grid = shapes.sample(COST_SHAPE, COST_ROWS, 0), asdict(Grid())
    names = {"components": "n_components", "hidden_units": "hidden_units", "weight_decay": "weight_decay"}
    DINE(base="flow").fit(data.x, data.y)
    start = time.perf_counter()
    DINE(base="flow", tune=True).fit(data.x, data.y)
    tuned = time.perf_counter() - start
    start = time.perf_counter()
    search = GridSearchCV(DINE(base="flow"), {names[key]: list(values) for key, values in grid.items()}, cv=3)
    search.fit(data.x, data.y)
    return tuned, time.perf_counter() - start


def main() -> None:
    options = ArgumentParser(description=__doc__)
    options.add_argument("--seeds", type=int, default=3)
    options.add_argument("--rows", type=int, default=2000)
    options.add_argument("--output", type=common.Path, default=common.RESULTS)
    chosen = options.parse_args()
    tuned, searched = cost()
    table = [gains(name, chosen.rows, chosen.seeds) for name in NAMES]
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
        common.provenance(),
    )


if __name__ == "__main__":
    main()
