"""Causal discovery: PC of causal-learn with this library's test, beside Fisher's z and KCI, on non-linear graphs.

python benchmarks/causal_discovery.py [--graphs 20] [--kernel-graphs 2] [--jobs 2] [--fresh]
"""

import common

# isort: split

import hashlib
import json
from argparse import SUPPRESS
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd
from causallearn.search.ConstraintBased.PC import pc

from harness.provenance import TESTS
from pydine.experiments.measure import measured
from pydine.experiments.runner import Task
from pydine.integrations import causal_learn  # registers the test "dine"

N_ROWS, N_COLUMNS, DEGREE = 1000, 20, 2.0  # DEGREE: neighbours that a column has, on average
ALPHA, DEPTH = 0.05, 3
FIGURES = ("f1", "precision", "recall", "edges", "true_edges", "tests", "processor_seconds")
FLOWS = ("flows_found", "flows_fitted", "digest")

NOTES = f"""
PC of causal-learn (stable, alpha = {ALPHA}, conditioning sets of at most {DEPTH} columns, the same for all tests) on
random graphs of {N_COLUMNS} columns with {DEGREE:g} neighbours on average, n = {N_ROWS}. A column is a sum of
non-linear functions of its parents (square, absolute value, sine, cosine, tanh, bump, kink), of unit variance each, and
of noise, whose scale is constant for half of the columns and follows one of the parents for the others. Columns without
parents are normal. `dine`: `pydine.integrations.causal_learn`, with a fresh cache in memory for every graph; `fisherz`
and `kci`: causal-learn's, with their defaults. F1, precision and recall of the skeleton's edges are means over graphs,
with their standard errors. Processor seconds, one thread.
""".strip()


# --- the data ---


class Graph(NamedTuple):
    """A table, shape (n, p), and which columns are neighbours, a symmetric matrix of bool."""

    values: np.ndarray
    skeleton: np.ndarray

    def first(self, n: int) -> "Graph":
        return Graph(self.values[:n], self.skeleton)


FUNCTIONS: tuple[Callable[[np.ndarray], np.ndarray], ...] = (
    np.square,
    np.abs,
    lambda x: np.sin(2.0 * x),
    lambda x: np.cos(2.0 * x),
    lambda x: np.tanh(2.0 * x),
    lambda x: np.exp(-x * x),
    lambda x: np.maximum(x, 0.0) - 0.3 * x,
)


def draw(seed: int, n: int = N_ROWS, p: int = N_COLUMNS) -> Graph:
    """A random graph over columns in a random order, and a sample of it."""
    rng = np.random.default_rng([seed, 20])
    parents = np.tril(rng.random((p, p)) < DEGREE / (p - 1), -1)
    columns = np.empty((p, n))
    for j in range(p):
        columns[j] = _effect(columns[np.flatnonzero(parents[j])], rng, n)
    order = rng.permutation(p)
    skeleton = (parents | parents.T)[np.ix_(order, order)]
    return Graph(np.ascontiguousarray(columns[order].T), skeleton)


def _effect(parents: np.ndarray, rng: np.random.Generator, n: int) -> np.ndarray:
    noise = rng.standard_normal(n)
    if len(parents) == 0:
        return noise
    signal = sum(_standard(FUNCTIONS[rng.integers(len(FUNCTIONS))](parent)) for parent in parents)
    if rng.random() < 0.5:
        scale = 1.0 / (1.0 + np.exp(-2.0 * parents[rng.integers(len(parents))]))
        noise = noise * scale / np.sqrt(np.mean(scale**2))
    return _standard(signal + rng.uniform(0.4, 0.8) * noise)


def _standard(column: np.ndarray) -> np.ndarray:
    return (column - column.mean()) / column.std()


# --- one search ---


def search(method: str, data: Graph) -> dict[str, float | str]:
    with measured() as cost:
        found = pc(data.values, ALPHA, method, max_k=DEPTH, show_progress=False)
    edges, truth = np.triu(found.G.graph != 0), np.triu(data.skeleton)
    right, n_found, n_true = (int(matrix.sum()) for matrix in (edges & truth, edges, truth))
    pvalues = {key: p for key, p in found.test.pvalue_cache.items() if ";" in key}
    flows = found.test.cache.info() if method == causal_learn.NAME else None
    return {
        "f1": 2.0 * right / (n_found + n_true),
        "precision": right / max(n_found, 1),
        "recall": right / n_true,
        "edges": n_found,
        "true_edges": n_true,
        "tests": len(pvalues),
        "processor_seconds": cost.processor_seconds,
        "flows_found": flows.hits if flows else 0,
        "flows_fitted": flows.misses if flows else 0,
        "digest": _digest(found.G.graph, pvalues),
    }


METHODS = {name: partial(search, name) for name in ("dine", "fisherz", "kci")}


def _digest(graph: np.ndarray, pvalues: dict[str, float]) -> str:
    """A hash of all that a search found: marks of edges, and p-values to the last bit."""
    content = json.dumps([graph.tolist(), pvalues], sort_keys=True, default=float)
    return "#" + hashlib.blake2b(content.encode(), digest_size=6).hexdigest()


def tasks(graphs: int, kernel_graphs: int) -> list[Task]:
    """Every graph with the quick tests; the first ones also with KCI, and with ours again, which must repeat itself."""
    planned = [(graph, 0, ("dine", "fisherz")) for graph in range(graphs)]
    for graph in range(kernel_graphs):
        planned += [(graph, 1, ("dine",)), (graph, 0, ("kci",))]
    return [Task({"graph": graph, "run": run}, partial(draw, graph), methods) for graph, run, methods in planned]


# --- the tables ---


def table(rows: pd.DataFrame) -> str:
    lines = []
    for method, part in rows[rows.run == 0].groupby("method"):
        lines.append(
            {
                "test": method,
                "graphs": len(part),
                **{name: _with_noise(part[name]) for name in ("f1", "precision", "recall")},
                "tests a graph": round(part.tests.mean()),
                "seconds a graph": float(part.processor_seconds.mean()),
                "seconds a test": float(part.processor_seconds.sum() / part.tests.sum()),
                "flows found in the cache": _hit_rate(part) if method == "dine" else float("nan"),
            }
        )
    return common.markdown(lines)


def _with_noise(values: pd.Series) -> str:
    noise = f" ± {values.std() / np.sqrt(len(values)):.3f}" if len(values) > 1 else ""
    return f"{values.mean():.3f}{noise}"


def _hit_rate(rows: pd.DataFrame) -> float:
    return float(rows.flows_found.sum() / (rows.flows_found.sum() + rows.flows_fitted.sum()))


def bars(rows: pd.DataFrame) -> list[common.Bar]:
    figures = ["f1", "processor_seconds", "tests"]
    first = rows[rows.run == 0].pivot_table(index="graph", columns="method", values=figures)
    f1, seconds = first["f1"], first["processor_seconds"]
    gain = f1.dine - f1.fisherz
    noise = gain.std() / np.sqrt(len(gain))
    found = [common.Bar(f"F1 over fisherz, mean (noise {noise:.3f})", float(gain.mean()), low=2.0 * noise)]
    if "kci" in f1:
        per_test = seconds / first["tests"]
        found += [
            common.Bar("F1 over kci, mean of the same graphs", float((f1.dine - f1.kci).mean()), low=0.0),
            common.Bar("time of kci over dine, whole searches", float((seconds.kci / seconds.dine).min()), low=10.0),
            common.Bar("time of kci over dine, a test", float((per_test.kci / per_test.dine).min()), low=10.0),
        ]
    twice = rows[rows.method == "dine"].groupby("graph").digest.agg(["nunique", "count"])
    again = twice[twice["count"] > 1]
    same = float((again["nunique"] == 1).mean()) if len(again) else float("nan")
    return [*found, common.Bar(f"same graph and p-values when run again (graphs: {len(again)})", same, low=1.0)]


def main() -> None:
    parser = common.parser(__doc__, seeds=20)
    parser.add_argument(
        "--graphs", type=int, dest="seeds", default=SUPPRESS, help="with dine and fisherz; another name of --seeds"
    )
    parser.add_argument("--kernel-graphs", type=int, default=2, help="of them, with kci too (default: %(default)s)")
    options = parser.parse_args()
    planned, figures = tasks(options.seeds, options.kernel_graphs), (*FIGURES, *FLOWS)
    rows = common.run_from(options, planned, "causal_discovery", METHODS, figures=figures, scope=TESTS)
    common.report(
        options.output / "causal_discovery.md",
        "# Causal discovery",
        NOTES,
        table(rows),
        "## The graphs that KCI ran on",
        table(rows[rows.graph.isin(rows[rows.method == "kci"].graph)]),
        "## Bars",
        common.bar_table(bars(rows)),
        "## Provenance",
        common.provenance(rows),
    )


if __name__ == "__main__":
    main()
