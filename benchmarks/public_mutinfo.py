"""Strong dependence: mutinfo's families of 2 to 10 nats, n = 10,000, one to three columns a side.

python benchmarks/public_mutinfo.py                   all families
python benchmarks/public_mutinfo.py --part normal     one of them, a few minutes
python benchmarks/public_mutinfo.py --datasets 3      more datasets a cell

The families are those of https://github.com/VanessB/mutinfo (`distributions/base`), written anew from their
description: the information is divided among the columns at random, uniformly over the simplex, and sides of normal
columns are turned at random. Its table of mean absolute errors at n = 10,000
(`evaluate/tables/lowdim/continuous/distribution_estimator-MAE-10000.tex`) is an average over one to three columns, for
Student over 1 and 2 degrees of freedom, and the best of each estimator's settings; it stands beside ours.
"""

import argparse
import json
import math
import time
import warnings
from collections.abc import Callable
from pathlib import Path

from common import RESULTS, markdown, provenance, report

# isort: split

import numpy as np
from scipy.optimize import brentq
from scipy.special import digamma, gammaln, lambertw, ndtr

import pydine

ROWS, NATS, COLUMNS = 10_000, (2, 4, 6, 8, 10), (1, 2, 3)
PUBLISHED = {  # mean absolute errors in nats at NATS
    "normal": {"KSG": (0.05, 0.45, 1.27, 2.34, 3.79), "WKL": (0.02, 0.29, 0.65, 1.59, 3.01),
               "MINE": (0.02, 0.13, 0.66, 2.12, 3.88), "InfoNCE": (0.03, 0.14, 0.63, 1.98, 3.89)},
    "student": {"KSG": (0.08, 0.42, 1.21, 2.27, 3.72), "WKL": (0.03, 0.26, 0.66, 1.77, 3.19),
                "MINE": (0.16, 0.34, 1.11, 2.68, 4.52), "InfoNCE": (0.12, 0.24, 0.75, 2.04, 3.90)},
    "uniform": {"KSG": (0.11, 0.60, 1.45, 2.53, 3.99), "WKL": (0.07, 0.44, 1.22, 2.19, 3.51),
                "MINE": (0.12, 0.46, 1.42, 3.04, 4.92), "InfoNCE": (0.14, 0.35, 0.99, 2.43, 4.30)},
    "log-gamma": {"KSG": (0.02, 0.06, 0.20, 0.66, 1.80), "WKL": (0.02, 0.04, 0.13, 0.42, 1.07),
                  "MINE": (0.07, 0.24, 0.92, 2.54, 4.35), "InfoNCE": (0.05, 0.18, 0.70, 2.04, 3.94)},
    "smoothed": {"KSG": (0.18, 0.60, 1.41, 2.44, 3.85), "WKL": (0.13, 0.44, 1.21, 2.18, 3.45),
                 "MINE": (0.08, 0.19, 0.68, 2.07, 3.89), "InfoNCE": (0.07, 0.14, 0.56, 1.97, 3.92)},
}  # fmt: skip
TITLES = {
    "normal": "Correlated normal",
    "student": "Correlated Student, 1 and 2 degrees of freedom",
    "uniform": "Correlated uniform",
    "log-gamma": "Log-gamma-exponential",
    "smoothed": "Smoothed uniform",
}
Sides = tuple[np.ndarray, np.ndarray]


def shares(nats: float, d: int, rng: np.random.Generator) -> np.ndarray:
    """The information of each column, shape (d,): uniform over the simplex."""
    parts = rng.exponential(size=d)
    return nats * parts / parts.sum()


def normal(nats: float, d: int, rng: np.random.Generator) -> Sides:
    """Normal columns, turned within each side."""
    rho = np.sqrt(-np.expm1(-2.0 * shares(nats, d, rng)))
    x, e = rng.standard_normal((2, ROWS, d))
    turns = [np.linalg.qr(rng.standard_normal((d, d)))[0] for _ in range(2)]
    return x @ turns[0], (rho * x + np.sqrt(1.0 - rho * rho) * e) @ turns[1]


def of_tails(dof: int, d: int) -> float:
    """The information of a Student distribution of two times d columns whose normal part has none."""

    def term(columns: int) -> float:
        half = 0.5 * columns
        return float(gammaln(half) - half * digamma(half))

    return term(dof) + term(dof + 2 * d) - 2.0 * term(dof + d)


def student(nats: float, d: int, rng: np.random.Generator, dof: int) -> Sides:
    x, y = normal(nats - of_tails(dof, d), d, rng)
    size = np.sqrt(rng.chisquare(dof, ROWS) / dof)[:, None]
    return x / size, y / size


def uniform(nats: float, d: int, rng: np.random.Generator) -> Sides:
    x, y = normal(nats, d, rng)
    return ndtr(x), ndtr(y)


def log_gamma(nats: float, d: int, rng: np.random.Generator) -> Sides:
    """Logarithms of a gamma variable of shape 1 / k, and of an exponential one with that rate, column by column."""

    def information(log_k: float) -> float:
        k = math.exp(log_k)
        return float(digamma(1.0 / k)) + k + log_k

    logs = [brentq(lambda s, told=told: information(s) - told, -12.0, 16.0) for told in shares(nats, d, rng)]
    x = np.column_stack([log_gamma_variable(math.exp(-s), rng) for s in logs])
    return x, np.log(rng.exponential(size=(ROWS, d))) - x


def log_gamma_variable(shape: float, rng: np.random.Generator) -> np.ndarray:
    """ln G less its mean, of small shapes without underflow: G(a) = G(a + 1) U^(1/a)."""
    return np.log(rng.gamma(shape + 1.0, size=ROWS)) + np.log(rng.uniform(size=ROWS)) / shape - digamma(shape)


def smoothed(nats: float, d: int, rng: np.random.Generator) -> Sides:
    """A uniform variable, and its sum with uniform noise, column by column."""
    told = shares(nats, d, rng)
    scale = np.where(told < 0.5, 2.0 * told, -0.5 / np.real(lambertw(-0.5 * np.exp(-np.maximum(told, 0.5)))))
    x, e = rng.uniform(size=(2, ROWS, d))
    return x, x * np.minimum(1.0, scale) + e / np.maximum(1.0, scale)


FAMILIES: dict[str, list[Callable[[float, int, np.random.Generator], Sides]]] = {
    "normal": [normal],
    "student": [lambda *args, dof=dof: student(*args, dof) for dof in (1, 2)],
    "uniform": [uniform],
    "log-gamma": [log_gamma],
    "smoothed": [smoothed],
}


def cell(family: str, nats: int, datasets: int) -> list[dict[str, float]]:
    """Answers about every dataset of a cell: error, whether the interval holds the truth and is open, CPU seconds."""
    found = []
    for d in COLUMNS:
        for kind, make in enumerate(FAMILIES[family]):
            for seed in range(datasets):
                rng = np.random.default_rng([nats, d, kind, seed])
                x, y = make(float(nats), d, rng)
                start = time.process_time()
                answer = pydine.mutual_information(x, y)
                low, high = answer.confidence_interval(0.95)
                row = {"columns": d, "error": answer.value - nats, "inside": low <= nats <= high}
                found.append(row | {"open": math.isinf(high), "seconds": time.process_time() - start})
                print(family, nats, found[-1], flush=True)
    return found


def of_family(family: str, datasets: int) -> list[dict[str, object]]:
    rows = []
    for place, nats in enumerate(NATS):
        found = cell(family, nats, datasets)
        errors = np.array([f["error"] for f in found])
        row: dict[str, object] = {"nats": nats, "bias": float(errors.mean()), "error": float(np.abs(errors).mean())}
        for d in COLUMNS:
            row[f"{d} a side"] = float(np.mean([abs(f["error"]) for f in found if f["columns"] == d]))
        row |= {name: figures[place] for name, figures in PUBLISHED[family].items()}
        for name, key in (("cover", "inside"), ("open above", "open"), ("CPU s", "seconds")):
            row[name] = float(np.mean([f[key] for f in found]))
        rows.append(row)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=tuple(FAMILIES), action="append", help="which families; all if none")
    parser.add_argument("--datasets", type=int, default=1, help="datasets a cell, for each number of columns")
    parser.add_argument("--output", type=Path, default=RESULTS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    kept = options.output / "public_mutinfo.json"
    tables = json.loads(kept.read_text()) if kept.exists() else {}
    for part in options.part or FAMILIES:
        tables[part] = {"rows": of_family(part, options.datasets), "datasets": options.datasets, "from": provenance()}
    kept.write_text(json.dumps(tables, indent=0))
    sections = [
        f"## {TITLES[part]}\n\n{markdown(tables[part]['rows'])}\n\n{tables[part]['datasets']} datasets for each number "
        f"of columns. {tables[part]['from']}"
        for part in FAMILIES
        if part in tables
    ]
    report(
        options.output / "public_mutinfo.md",
        "# Strong dependence: mutinfo's families\n\n`python benchmarks/public_mutinfo.py`. Mean absolute errors in "
        "nats at n = 10,000: ours in all, and by columns a side; KSG, WKL, MINE and InfoNCE as published. *Cover* is "
        "how often a 95% interval holds the truth, *open above* how often it has no upper end.",
        *sections,
    )


if __name__ == "__main__":
    main()
