"""Many columns a side, many columns in Z, and strong dependence: error, coverage, level and time at the edges.

python benchmarks/edges.py                 all parts, a few datasets a row
python benchmarks/edges.py --part z        one of: sides, z, strong, time
python benchmarks/edges.py --datasets 10   more datasets a row

Beside each row is what knows the model: for sides, the closed form of all columns without its bias, and the ten first
principal components of each side, then pydine; for Z, the closed form with z projected out. With few datasets a row, an
error is known to about a third, and a coverage to about 0.2.
"""

import argparse
import functools
import json
import math
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

from common import RESULTS, markdown, provenance, report

# isort: split

import numpy as np

import pydine
from pydine.bases.closed_form import gaussian_information, wishart_bias
from pydine.experiments.measure import peak_memory

Data = tuple[np.ndarray, np.ndarray, np.ndarray | None, float]
BENT = 4.0  # deviation of a factor beside that of the noise along its direction


def halves(covariance: np.ndarray, dx: int) -> float:
    return gaussian_information(covariance, dx)


@functools.lru_cache
def bent_truth() -> float:
    """I(c u + e; c g(u) + e') of a normal u, with g(u) = (u^2 - 1) / sqrt 2, by quadrature."""
    u, s = np.linspace(-6.0, 6.0, 4001), np.linspace(-4.5 * BENT, 4.5 * BENT, 801)
    g, weights = (u * u - 1.0) / math.sqrt(2.0), np.exp(-0.5 * u * u)
    t, weights = np.linspace(BENT * g.min() - 5.0, BENT * 14.0 + 5.0, 1201), weights / weights.sum()
    of_s, of_t = (np.exp(-0.5 * (a[:, None] - BENT * b) ** 2) / math.sqrt(2 * math.pi) for a, b in ((s, u), (t, g)))
    joint, first, second = (of_s * weights) @ of_t.T, of_s @ weights, of_t @ weights
    with np.errstate(all="ignore"):
        terms = joint * np.log(joint / np.outer(first, second))
    return float(np.nansum(terms) * (s[1] - s[0]) * (t[1] - t[0]))


def sides(kind: str, n: int, d: int, k: int, seed: int) -> Data:
    """Two sides of d columns that share k factors, or that depend thinly all over, or not at all."""
    rng = np.random.default_rng([n, d, k, seed])
    x, y, u = rng.standard_normal((n, d)), rng.standard_normal((n, d)), rng.standard_normal((n, k))
    if kind == "thin":
        rho = math.sqrt(-math.expm1(-2.0 / d))
        turned = np.linalg.qr(rng.standard_normal((d, d)))[0]
        return x @ turned, rho * x + math.sqrt(1.0 - rho * rho) * y, None, 1.0
    if kind == "bent":
        a, b = (BENT * np.linalg.qr(rng.standard_normal((d, k)))[0].T for _ in range(2))
        return x + u @ a, y + (u * u - 1.0) / math.sqrt(2.0) @ b, None, k * bent_truth()
    a, b = 2.0 * rng.standard_normal((2, k, d)) / math.sqrt(d)
    if kind == "independent":
        return x + u @ a, y + rng.standard_normal((n, k)) @ b, None, 0.0
    whole = np.block([[a.T @ a + np.eye(d), a.T @ b], [b.T @ a, b.T @ b + np.eye(d)]])
    return x + u @ a, y + u @ b, None, halves(whole, d)


def given(kind: str, n: int, dz: int, seed: int, rho: float = 0.5) -> Data:
    """One column a side, whose noise has the correlation rho, and dz columns that act on both."""
    rng = np.random.default_rng([n, dz, seed])
    z, e, f = rng.standard_normal((n, dz)), *rng.standard_normal((2, n))
    a, b = rng.standard_normal((2, dz)) / math.sqrt(dz)
    acts = {
        "linear": (z @ a, z @ b),
        "sparse": (z[:, 0] - z[:, 1], z[:, 0] + z[:, 2]),
        "bent": (np.tanh(2.0 * z[:, 0]) + 0.5 * z @ a, np.sin(2.0 * z[:, 0]) + 0.5 * z @ b),
    }[kind]
    x, y = e + acts[0], rho * e + math.sqrt(1.0 - rho * rho) * f + acts[1]
    return x, y, z, -0.5 * math.log1p(-rho * rho)


def closed_form(x: np.ndarray, y: np.ndarray, z: np.ndarray | None) -> float:
    """The closed form of the columns themselves, z projected out, without its bias; NaN if rows are too few."""
    both = np.column_stack([x, y])
    dx, n = 1 if x.ndim == 1 else x.shape[1], len(both)
    basis = np.linalg.qr(np.column_stack([np.ones(n), *([] if z is None else [z])]))[0]
    dof = n - basis.shape[1]
    if dof <= both.shape[1] + 2:
        return math.nan
    left = both - basis @ (basis.T @ both)
    return gaussian_information(left.T @ left, dx) - wishart_bias(dx, both.shape[1] - dx, dof)


def components(x: np.ndarray, y: np.ndarray, k: int = 10) -> float:
    """Ten principal components of each side, then pydine."""
    parts = []
    for side in (x, y):
        centred = (side - side.mean(axis=0)) / side.std(axis=0)
        left, size, _ = np.linalg.svd(centred, full_matrices=False)
        parts.append((left * size)[:, :k])
    return pydine.mutual_information(*parts).value


def measured(make: Callable[[int], Data], datasets: int, label: dict[str, object], peers: dict[str, Callable]) -> dict:
    """One row of a table: errors of the default and of peers, coverage, rejections at 0.05, seconds."""
    found: dict[str, list[float]] = {name: [] for name in ("error", "inside", "low", "seconds", "truth", *peers)}
    for seed in range(datasets):
        x, y, z, truth = make(seed)
        start = time.process_time()
        answer = pydine.mutual_information(x, y, z)
        found["seconds"].append(time.process_time() - start)
        ends = answer.confidence_interval(0.95)
        found["error"].append(answer.value - truth)
        found["inside"].append(float(ends[0] <= truth <= ends[1]))
        found["truth"].append(truth)
        if truth == 0.0:
            found["low"].append(float(pydine.independence_test(x, y, z, method="analytic").pvalue < 0.05))
        for name, peer in peers.items():
            found[name].append(peer(x, y, z) - truth)
    mean = {name: float(np.mean(values)) if values else math.nan for name, values in found.items()}
    row = {**label, "truth": mean["truth"], "bias": mean["error"], "error": float(np.mean(np.abs(found["error"])))}
    row |= {name: float(np.mean(np.abs(found[name]))) for name in peers}
    return row | {"cover": mean["inside"], "rejected": mean["low"], "CPU s": mean["seconds"]}


def of_sides(datasets: int) -> Iterator[dict]:
    cells = [(1000, 10), (500, 30), (1000, 60), (2000, 100), (1000, 300), (2000, 1000)]
    peers = {"closed form": closed_form, "PCA": lambda x, y, _: components(x, y)}
    for kind, k in (("linear", 3), ("bent", 1), ("bent", 2), ("thin", 1), ("independent", 3)):
        for n, d in cells:
            label = {"kind": f"{kind} {k}", "n": n, "columns": d}
            make = functools.partial(sides, kind, n, d, k)
            yield measured(make, datasets if d < 1000 else 2, label, peers)


def of_z(datasets: int) -> Iterator[dict]:
    for kind in ("linear", "sparse", "bent"):
        for n, dz in ((200, 10), (200, 30), (500, 30), (500, 100), (2000, 100), (2000, 300), (2000, 1000)):
            make = functools.partial(given, kind, n, dz)
            label = {"kind": kind, "n": n, "columns of z": dz}
            yield measured(make, datasets if dz < 1000 else 1, label, {"closed form": closed_form})
    for n, dz in ((500, 30), (500, 100), (2000, 100)):
        make = functools.partial(given, "linear", n, dz, rho=0.0)
        yield measured(make, 4 * datasets, {"kind": "null", "n": n, "columns of z": dz}, {"closed form": closed_form})


def strong(nats: float, d: int, n: int, seed: int) -> Data:
    """Normal sides of d columns, turned within each side, that share this much."""
    rng = np.random.default_rng([int(nats), d, n, seed])
    rho = math.sqrt(-math.expm1(-2.0 * nats / d))
    x, e = rng.standard_normal((2, n, d))
    turns = [np.linalg.qr(rng.standard_normal((d, d)))[0] for _ in range(2)]
    return x @ turns[0], (rho * x + math.sqrt(1.0 - rho * rho) * e) @ turns[1], None, nats


def of_strong(datasets: int) -> Iterator[dict]:
    for d in (1, 2, 3):
        for nats in (2.0, 6.0, 10.0):
            make = functools.partial(strong, nats, d, 10_000)
            label = {"kind": "normal", "n": 10_000, "columns": d}
            yield measured(make, min(datasets, 3), label, {"closed form": closed_form})


def of_time(_: int) -> Iterator[dict]:
    for n, d in ((2000, 100), (2000, 500), (5000, 1000)):
        row = measured(functools.partial(sides, "linear", n, d, 2), 1, {"n": n, "columns": d}, {})
        yield {**row, "GiB at most so far": peak_memory()}


PARTS = {"sides": of_sides, "z": of_z, "strong": of_strong, "time": of_time}
TITLES = {
    "sides": "Many columns a side",
    "z": "Many columns in Z",
    "strong": "Strong dependence",
    "time": "Time and memory",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=tuple(PARTS), action="append", help="which tables to make anew; all if none")
    parser.add_argument("--datasets", type=int, default=5, help="datasets a row")
    parser.add_argument("--output", type=Path, default=RESULTS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    kept = options.output / "edges.json"
    tables = json.loads(kept.read_text()) if kept.exists() else {}
    for part in options.part or PARTS:
        rows = []
        for row in PARTS[part](options.datasets):
            print(row, flush=True)
            rows.append(row)
        tables[part] = {"rows": rows, "datasets": options.datasets, "from": provenance()}
    kept.write_text(json.dumps(tables, indent=0))
    sections = [
        f"## {TITLES[part]}\n\n{markdown(tables[part]['rows'])}\n\n{tables[part]['datasets']} datasets a row, fewer where "
        f"columns are 1000. {tables[part]['from']}"
        for part in PARTS
        if part in tables
    ]
    report(
        options.output / "edges.md",
        "# The edges: many columns, strong dependence\n\n`python benchmarks/edges.py`. Errors are mean absolute errors in "
        "nats, *cover* is how often a 95% interval holds the truth, *rejected* how often the test at 0.05 rejects.",
        *sections,
    )


if __name__ == "__main__":
    main()
