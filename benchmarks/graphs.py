"""Causal graphs at real size: skeletons, time, strengths, false discoveries and stability, beside other tests.

python benchmarks/graphs.py [--seeds 4] [--only NETWORK ...] [--cells FILE] [--fresh]

Networks of pgmpy need its folder on the path (pgmpy 1.0 or newer, only its files are read), rings need manm-cs 0.1.6,
and cells the file sachs.2005.continuous.txt of cmu-phil/example-causal-datasets. What is not there is left out.
"""

import common

# isort: split

import tempfile
import warnings
from collections.abc import Set
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from causallearn.search.ConstraintBased.PC import pc

import pydine
from harness import networks, splines
from harness.networks import Sample
from harness.provenance import GRAPHS
from pydine.experiments.measure import measured
from pydine.experiments.runner import Task

N_ROWS, ALPHA = 1000, 0.01
GAUSSIAN = ("ecoli70", "magic-niab", "magic-irri", "arth150")
BENT = ("ecoli70", "magic-niab")
DISCRETE = ("sachs", "alarm")
RANDOM = (20, 50, 100)
MIXED = 20
# Of mCMIkNN's comparison of searches: columns, density, share of discrete columns, and the mean F1 that its authors
# publish for their test there at n = 1000. Every size meets every density, and every share comes up; the mean over
# these is that over all of their settings, 0.299.
RINGS = {
    "rings 30 0.05 0.75": 0.446,
    "rings 30 0.1 0.25": 0.536,
    "rings 30 0.15 1.0": 0.217,
    "rings 30 0.2 0.5": 0.211,
    "rings 40 0.05 1.0": 0.401,
    "rings 40 0.1 0.0": 0.473,
    "rings 40 0.15 0.5": 0.181,
    "rings 40 0.2 0.25": 0.191,
    "rings 50 0.05 0.5": 0.375,
    "rings 50 0.1 0.75": 0.167,
    "rings 50 0.15 0.25": 0.210,
    "rings 50 0.2 0.0": 0.181,
}
OTHERS = ("fisherz", "gsq", "gcm")
FIGURES = ("f1", "precision", "recall", "arrows_right", "arrows", "edges", "true_edges", "tests", "processor_seconds")
MORE = ("again_seconds", "covered", "intervals", "false_share", "stable_right", "stable", "unstable_right", "unstable")
GRAPHS_OF_CELLS = {
    "f1": "Ramsey and Andrews (2018), 20 arrows",
    "f1_learned": "learned by Sachs et al. (2005), as in bnlearn, 17 arrows",
    "f1_toolbox": "Causal Discovery Toolbox, 18 arrows",
}
RESAMPLED, FEW_ROWS, RATE = 20, 250, 0.05
# What has to be kept within, in processor seconds on one core, for the search.
SECONDS = {"magic-niab": 6.0, "magic-niab bent": 6.0, "ecoli70": 12.0, "cells": 5.0, "arth150": 60.0}

NOTES = f"""
Skeletons at alpha = {ALPHA}, n = {N_ROWS}, without a limit of depth. `dine`: `pydine.causal_graph`, without
strengths, in one thread with a fresh cache; `again`: the same with everything kept. `fisherz` and `gsq`: PC of
causal-learn with its defaults; `gcm`: the same with the generalised covariance measure on additive splines
(`harness/splines.py`). Networks are pgmpy's; "bent" and "spread" are their graphs with non-linear functions
of the parents (square, absolute value, sine, cosine, tanh, bump, kink), and with a noise whose spread follows a
parent too. `random 20` and so on: graphs with two neighbours a column and such mechanisms; `mixed {MIXED}`: the same
with numbers, counts and labels. `cells`: rows of the cells of Sachs et al. (2005). `rings`: the graphs of mCMIkNN's
comparison by their generator, with columns, density and share of discrete columns, at alpha = 0.05 as there. Means
over samples with their standard errors. Arrows: the share of directed edges that point the right way. Seconds are of
the processor; those of mixed, cells and rings were measured beside much other work, when Fisher's z took four to six
times as long as in the other rows.
""".strip()


def drawn(network: str, seed: int, place: Path | None = None) -> Sample:
    """A sample of a network by its name: "alarm", "ecoli70 bent", "random 20"."""
    name, _, more = network.partition(" ")
    if name == "random":
        return networks.random(seed, N_ROWS, int(more))
    if name == "mixed":
        return networks.mixed(seed, N_ROWS, int(more))
    if name == "rings":
        return networks.rings(seed, N_ROWS, *map(float, more.split()))
    if name == "cells" and place is not None:
        return networks.cells(place, seed, N_ROWS)
    if name in DISCRETE:
        return networks.discrete(name, seed, N_ROWS)
    return networks.gaussian(name, seed, N_ROWS, more or "linear")


def scored(found: set[frozenset[str]], arrows: list[tuple[str, str]], data: Sample) -> dict[str, float]:
    """How well a skeleton and its arrows fit the graph, as far as the sample has its columns."""
    names = set(data.frame)
    truth = {pair for pair in data.skeleton if pair <= names}
    right = len(found & truth)
    return {
        "f1": _f1(found, truth),
        "precision": right / max(len(found), 1),
        "recall": right / max(len(truth), 1),
        "arrows_right": sum(arrow in data.arrows for arrow in arrows),
        "arrows": len(arrows),
        "edges": len(found),
        "true_edges": len(truth),
        **{f"f1_{name}": _f1(found, pairs) for name, pairs in data.others.items()},
    }


def _f1(found: set[frozenset[str]], truth: Set[frozenset[str]]) -> float:
    return 2.0 * len(found & truth) / max(len(found) + len(truth), 1)


def with_dine(data: Sample) -> dict[str, Any]:
    """Our search, and the same again with everything kept."""
    alpha = data.alpha or ALPHA
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with measured() as cost:
            graph = pydine.causal_graph(data.frame, alpha, strengths=False, n_jobs=1, cache=folder)
        with measured() as again:
            second = pydine.causal_graph(data.frame, alpha, strengths=False, n_jobs=1, cache=folder)
    if graph.to_json() != second.to_json():
        raise ValueError("another graph when it is searched again")
    arrows = [(edge.source, edge.target) for edge in graph.edges if edge.kind == "directed"]
    found = {frozenset((edge.source, edge.target)) for edge in graph.edges}
    seconds = {"processor_seconds": cost.processor_seconds, "again_seconds": again.processor_seconds}
    return {**scored(found, arrows, data), "tests": graph.n_tests, **seconds}


def with_causal_learn(test: str, data: Sample) -> dict[str, Any]:
    """PC of causal-learn."""
    frame = data.frame
    is_coded = {name: test == "gsq" or not pd.api.types.is_numeric_dtype(frame[name]) for name in frame}
    values = frame.apply(lambda column: pd.factorize(column, sort=True)[0] if is_coded[column.name] else column)
    with measured() as cost, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        graph = pc(values.to_numpy(), data.alpha or ALPHA, test, show_progress=False, node_names=list(frame))
    marks, names = graph.G.graph, list(frame)
    found = {frozenset((names[i], names[j])) for i, j in np.argwhere(np.triu(marks != 0))}
    arrows = [(names[i], names[j]) for i, j in np.argwhere((marks == -1) & (marks.T == 1))]
    tests = sum(";" in key for key in graph.test.pvalue_cache)
    return {**scored(found, arrows, data), "tests": tests, "processor_seconds": cost.processor_seconds}


def strengths(data: Sample) -> dict[str, Any]:
    """How many intervals of edges hold the truth, which a network of normal columns has."""
    graph = pydine.causal_graph(data.frame, ALPHA, n_jobs=1)
    covariance = pd.DataFrame(data.covariance, list(data.frame), list(data.frame))
    held = [edge.low <= _truth(covariance, edge) <= edge.high for edge in graph.edges]
    return {"covered": float(np.sum(held)), "intervals": float(len(held))}


def _truth(covariance: pd.DataFrame, edge: Any) -> float:
    names = [edge.source, edge.target, *edge.given]
    precision = np.linalg.inv(covariance.loc[names, names].to_numpy())
    squared = precision[0, 1] ** 2 / (precision[0, 0] * precision[1, 1])
    return float(-0.5 * np.log1p(-squared))


def discoveries(data: Sample) -> dict[str, Any]:
    """The share of false edges where a rate was asked for."""
    graph = pydine.causal_graph(data.frame, 0.05, fdr=RATE, strengths=False, n_jobs=1)
    found = {frozenset((edge.source, edge.target)) for edge in graph.edges}
    return {**scored(found, [], data), "false_share": len(found - data.skeleton) / max(len(found), 1)}


def stability(data: Sample) -> dict[str, Any]:
    """How often pairs that are joined in nearly all resampled tables are right, and those in about 60% of them."""
    graph = pydine.causal_graph(data.frame[:FEW_ROWS], ALPHA, bootstrap=RESAMPLED, strengths=False, n_jobs=1)
    pairs = [(e.stability, frozenset((e.source, e.target)) in data.skeleton) for e in (*graph.edges, *graph.absent)]
    stable, unstable = (
        [right for share, right in pairs if low <= share <= high] for low, high in ((0.9, 1), (0.4, 0.75))
    )
    counts = {"stable": len(stable), "unstable": len(unstable)}
    return {"stable_right": float(sum(stable)), "unstable_right": float(sum(unstable)), **counts}


METHODS = {
    "dine": with_dine,
    "fisherz": partial(with_causal_learn, "fisherz"),
    "gsq": partial(with_causal_learn, "gsq"),
    "gcm": partial(with_causal_learn, splines.NAME),
    "strengths": strengths,
    "fdr": discoveries,
    "stability": stability,
}


def tasks(seeds: int, only: list[str], cells: Path | None = None) -> list[Task]:
    """Every network with its tests, by seed."""
    planned: list[tuple[str, tuple[str, ...]]] = [(f"random {p}", ("dine", "fisherz", "gcm")) for p in RANDOM]
    planned += [("random 20", ("fdr", "stability")), (f"mixed {MIXED}", ("dine", "fisherz", "gcm"))]
    if cells is not None:
        planned.append(("cells", ("dine", "fisherz", "gcm")))
    if find_spec("manm_cs") is not None:
        planned += [(name, ("dine", "fisherz")) for name in RINGS]
    if networks.folder() is not None:
        planned += [(name, ("dine", "gsq")) for name in DISCRETE]
        planned += [(name, ("dine", "fisherz")) for name in GAUSSIAN]
        planned += [(f"{name} {bend}", ("dine", "fisherz", "gcm")) for name in BENT for bend in ("bent", "spread")]
        planned += [(name, ("strengths",)) for name in ("ecoli70", "magic-niab")]
    return [
        Task({"network": network, "seed": seed}, partial(drawn, network, seed, cells), methods)
        for network, methods in planned
        if not only or network in only
        for seed in range(_samples(network, methods, seeds))
    ]


def _samples(network: str, methods: tuple[str, ...], seeds: int) -> int:
    """Half as many of what takes long, a quarter of what takes longer, and one of each kind of rings."""
    if network in RINGS:
        return 1
    if network == "random 100":
        return max(seeds // 4, 1)
    is_long = " bent" in network or " spread" in network or network == "arth150" or methods == ("strengths",)
    return max(seeds // 2, 1) if is_long else seeds


def table(rows: pd.DataFrame) -> str:
    lines = []
    for (network, method), part in rows.groupby(["network", "method"], sort=False):
        if method not in ("dine", *OTHERS):
            continue
        lines.append(
            {
                "network": network,
                "test": method,
                "samples": len(part),
                **{name: _with_noise(part[name]) for name in ("f1", "precision", "recall")},
                "arrows": f"{part.arrows_right.sum() / max(part.arrows.sum(), 1):.2f} of {part.arrows.mean():.0f}",
                "tests": round(part.tests.mean()) if part.tests.notna().any() else "failed",
                "seconds": float(part.processor_seconds.mean()),
                "again": float(part.again_seconds.mean()) if method == "dine" else float("nan"),
            }
        )
    return common.markdown(lines)


def consensus(rows: pd.DataFrame) -> str:
    """F1 beside each of the graphs that are published for the cells."""
    methods = rows[rows.network == "cells"].groupby("method", sort=False)
    return common.markdown(
        [
            {"published graph": name, **{method: _with_noise(part[figure]) for method, part in methods}}
            for figure, name in GRAPHS_OF_CELLS.items()
        ]
        if len(methods)
        else []
    )


def _with_noise(values: pd.Series) -> str:
    noise = f" ± {values.std() / np.sqrt(len(values)):.3f}" if len(values) > 1 else ""
    return f"{values.mean():.3f}{noise}"


def bars(rows: pd.DataFrame) -> list[common.Bar]:
    searched = rows[rows.method == "dine"].groupby("network")
    seconds, again = searched.processor_seconds.mean(), searched.again_seconds.mean()
    found = [
        common.Bar(f"processor seconds, {name}", float(seconds.get(name, np.nan)), high=most)
        for name, most in SECONDS.items()
    ]
    found.append(
        common.Bar(
            "time of a search again over the first, largest", float((again / seconds)[seconds > 1.0].max()), high=0.1
        )
    )
    f1 = rows[rows.method.isin(["dine", *OTHERS])].pivot_table(index=["network", "seed"], columns="method", values="f1")
    rings = f1.dine[f1.index.get_level_values("network").isin(list(RINGS))]
    published = float(np.mean([RINGS[name] for name, _ in rings.index])) if len(rings) else float("nan")
    found.append(common.Bar(f"F1 of {len(rings)} rings", float(rings.mean()), low=published))
    for name, part in f1.drop(rings.index).groupby(level="network"):
        gain = part.dine - part.drop(columns="dine").max(axis=1)
        noise = float(gain.std() / np.sqrt(len(gain))) if len(gain) > 1 else 0.0
        least = -0.02 if name in GAUSSIAN else -2.0 * noise
        found.append(common.Bar(f"F1 over the other test, {name} (noise {noise:.3f})", float(gain.mean()), low=least))
    if "alarm" in seconds:
        of_g = rows[(rows.method == "gsq") & (rows.network == "alarm")].processor_seconds.mean()
        found.append(common.Bar("time over that of G, alarm", float(seconds["alarm"] / of_g), high=10.0))
    sums = rows[["covered", "intervals", "stable_right", "stable", "unstable_right", "unstable"]].sum()
    false = rows[rows.method == "fdr"].false_share
    noise = float(false.std() / np.sqrt(max(len(false), 1)))
    right = [
        float(sums[f"{kind}_right"] / sums[kind]) if sums[kind] else float("nan") for kind in ("stable", "unstable")
    ]
    return [
        *found,
        common.Bar(
            f"coverage of edges' intervals ({sums.intervals:.0f})",
            float(sums.covered / sums.intervals) if sums.intervals else float("nan"),
            low=0.88,
        ),
        common.Bar(
            f"share of false edges where {RATE:g} was asked for (noise {noise:.3f})",
            float(false.mean()),
            high=RATE + 2.0 * noise,
        ),
        common.Bar(
            f"right: stable in 90% ({sums.stable:.0f} pairs) less those in 40 to 75% ({sums.unstable:.0f})",
            right[0] - right[1],
            low=0.0,
        ),
        common.Bar("right: stable in 90%", right[0], low=0.9),
    ]


def main() -> None:
    parser = common.parser(__doc__, seeds=4)
    parser.add_argument("--only", nargs="+", default=[], metavar="NETWORK", help="these networks only")
    parser.add_argument("--cells", type=Path, metavar="FILE", help="sachs.2005.continuous.txt")
    options = parser.parse_args()
    others = frozenset(OTHERS)
    figures = (*FIGURES, *MORE, *list(GRAPHS_OF_CELLS)[1:])
    planned = tasks(options.seeds, options.only, options.cells)
    rows = common.run_from(options, planned, "graphs", METHODS, figures=figures, scope=GRAPHS, others=others)
    common.report(
        options.output / "graphs.md",
        "# Causal graphs",
        NOTES,
        table(rows),
        "## Cells, beside every graph that is published for them: F1 of skeletons",
        consensus(rows),
        "## Bars",
        common.bar_table(bars(rows)),
        "## Provenance",
        common.provenance(rows),
    )


if __name__ == "__main__":
    main()
