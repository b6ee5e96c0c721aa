"""Networks with known graphs: the examples that pgmpy ships, as they are and with bent mechanisms, and random graphs.

Files are read directly, so that pgmpy need not be importable: `pgmpy/utils/example_models` in any folder of the path.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from random import seed as seed_of_library
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
from numpy.typing import NDArray

Floats = NDArray[np.float64]
FUNCTIONS: tuple[Callable[[Floats], Floats], ...] = (
    np.square,
    np.abs,
    lambda x: np.sin(2.0 * x),
    lambda x: np.cos(2.0 * x),
    lambda x: np.tanh(2.0 * x),
    lambda x: np.exp(-x * x),
    lambda x: np.maximum(x, 0.0) - 0.3 * x,
)


@dataclass(frozen=True)
class Sample:
    """A table, and the arrows of the graph that it was drawn from, by names.

    `covariance` is that of the columns, and `alpha` the level of a published comparison, where there is one; `others`
    are further skeletons that are published.
    """

    frame: pd.DataFrame
    arrows: frozenset[tuple[str, str]]
    covariance: Floats | None = None
    alpha: float | None = None
    others: Mapping[str, frozenset[frozenset[str]]] = field(default_factory=dict)

    @property
    def skeleton(self) -> frozenset[frozenset[str]]:
        """Pairs that are joined."""
        return joined(self.arrows)


def joined(arrows: frozenset[tuple[str, str]]) -> frozenset[frozenset[str]]:
    """The skeleton of arrows."""
    return frozenset(frozenset(arrow) for arrow in arrows)


def folder() -> Path | None:
    """Where pgmpy's networks are, if it is there."""
    spec = find_spec("pgmpy")
    for place in spec.submodule_search_locations or [] if spec is not None else []:
        found = Path(place) / "utils" / "example_models"
        if (found / "ecoli70.json").is_file():
            return found
    return None


def gaussian(name: str, seed: int, n: int, mechanism: str = "linear") -> Sample:
    """A sample of a network of normal columns, or of its graph with other mechanisms: "bent" or "spread"."""
    place = folder()
    if place is None:
        raise ValueError("pgmpy 1.0 or newer must be on the path, for its networks.")
    network = json.loads((place / f"{name}.json").read_text())
    parents = {node: network["cpds"][node]["parents"] for node in network["nodes"]}
    rng, columns = np.random.default_rng([seed, 37]), dict[str, Floats]()
    for node in _in_order(parents):
        if mechanism == "linear":
            cpd = network["cpds"][node]
            noise = np.sqrt(_first(cpd["variance"])) * rng.standard_normal(n)
            effects = (_first(cpd["coefficients"][parent]) * columns[parent] for parent in parents[node])
            columns[node] = sum(effects, _first(cpd["coefficients"]["(Intercept)"]) + noise)
        else:
            columns[node] = effect(np.array([columns[parent] for parent in parents[node]]), rng, n, mechanism)
    arrows = frozenset((parent, node) for node, some in parents.items() for parent in some)
    frame = pd.DataFrame({node: columns[node] for node in network["nodes"]})
    return Sample(frame, arrows, _covariance(network) if mechanism == "linear" else None)


def _covariance(network: dict[str, Any]) -> Floats:
    """The covariance of normal columns, in the order of the nodes."""
    place = {node: i for i, node in enumerate(network["nodes"])}
    effects, variances = np.zeros((len(place), len(place))), np.zeros(len(place))
    for node, i in place.items():
        cpd = network["cpds"][node]
        variances[i] = _first(cpd["variance"])
        for parent in cpd["parents"]:
            effects[i, place[parent]] = _first(cpd["coefficients"][parent])
    whole = np.linalg.inv(np.eye(len(place)) - effects)
    covariance: Floats = whole * variances @ whole.T
    return covariance


def random(seed: int, n: int, p: int, mechanism: str = "mixed", degree: float = 2.0) -> Sample:
    """A random graph over p columns in a random order, with bent mechanisms, half of them with spreads that follow."""
    rng = np.random.default_rng([seed, p])
    parents = np.tril(rng.random((p, p)) < degree / (p - 1), -1)
    columns = np.empty((p, n))
    for j in range(p):
        bend = ("bent", "spread")[int(rng.integers(2))] if mechanism == "mixed" else mechanism
        columns[j] = effect(columns[np.flatnonzero(parents[j])], rng, n, bend)
    order = rng.permutation(p)
    names = [f"c{place}" for place in range(p)]
    place = {int(column): names[k] for k, column in enumerate(order)}
    arrows = frozenset((place[int(i)], place[int(j)]) for j, i in np.argwhere(parents))
    return Sample(pd.DataFrame(columns[order].T, columns=names), arrows)


def effect(parents: Floats, rng: np.random.Generator, n: int, mechanism: str) -> Floats:
    """A column of unit variance that follows its parents (d, n): "linear", "bent", or bent with their "spread"."""
    noise = rng.standard_normal(n)
    if len(parents) == 0:
        return noise
    if mechanism == "linear":
        signal = sum(float(rng.choice([-1.0, 1.0])) * parent for parent in parents)
        return _standard(signal + noise)
    signal = sum(_standard(FUNCTIONS[int(rng.integers(len(FUNCTIONS)))](parent)) for parent in parents)
    if mechanism == "spread":
        scale = 1.0 / (1.0 + np.exp(-2.0 * parents[int(rng.integers(len(parents)))]))
        noise = noise * scale / np.sqrt(np.mean(scale**2))
    return _standard(signal + rng.uniform(0.4, 0.8) * noise)


def discrete(name: str, seed: int, n: int) -> Sample:
    """A sample of a network of labels."""
    place = folder()
    if place is None:
        raise ValueError("pgmpy 1.0 or newer must be on the path, for its networks.")
    text = gzip.decompress((place / f"{name}.bif.gz").read_bytes()).decode()
    found = re.findall(r"variable\s+(\S+)\s*\{\s*type discrete\s*\[\s*\d+\s*\]\s*\{([^}]*)\}", text)
    labels = {node: [label.strip() for label in some.split(",")] for node, some in found}
    parents, tables = dict[str, list[str]](), dict[str, dict[tuple[str, ...], Floats]]()
    for head, body in re.findall(r"probability\s*\(([^)]*)\)\s*\{([^}]*)\}", text):
        node, _, given = (part.strip() for part in head.partition("|"))
        parents[node] = [name.strip() for name in given.split(",") if name.strip()]
        tables[node] = {}
        for line in body.split(";"):
            row = re.match(r"\s*(?:\(([^)]*)\)|table)\s*(.*)", line.strip(), re.S)
            if row is not None:
                key = tuple(label.strip() for label in (row[1] or "").split(",") if label.strip())
                tables[node][key] = np.array([float(number) for number in row[2].split(",")])
    rng, columns = np.random.default_rng([seed, 73]), dict[str, NDArray[np.str_]]()
    for node in _in_order(parents):
        keys = list(zip(*(columns[parent] for parent in parents[node]), strict=True)) or [()] * n
        sums = np.cumsum([tables[node][tuple(map(str, key))] for key in keys], axis=1)
        drawn = (rng.random(n)[:, None] > sums / sums[:, -1:]).sum(axis=1)
        columns[node] = np.array(labels[node])[drawn]
    arrows = frozenset((parent, node) for node, some in parents.items() for parent in some)
    frame = pd.DataFrame({node: columns[node] for node in labels})
    return Sample(frame[[node for node in frame if frame[node].nunique() > 1]], arrows)


def mixed(seed: int, n: int, p: int, degree: float = 2.0) -> Sample:
    """A random graph over numbers, counts and labels, a third each, whose parents act by bent functions of them."""
    rng = np.random.default_rng([seed, p, 3])
    parents = np.tril(rng.random((p, p)) < degree / (p - 1), -1)
    kinds = rng.permutation(np.arange(p) % 3)
    felt, columns = np.empty((p, n)), list[NDArray[Any]]()  # what children feel of a column, and what is seen of it
    for j in range(p):
        column = effect(felt[np.flatnonzero(parents[j])], rng, n, "bent")
        if kinds[j] == 1:
            seen: NDArray[Any] = rng.poisson(np.exp(0.7 * column + 0.5))
        elif kinds[j] == 2:
            seen = np.searchsorted(np.sort(rng.normal(scale=0.7, size=3)), column)
        else:
            seen = column
        # Labels act by numbers of their own, so that their order means nothing.
        felt[j] = _standard(rng.permutation(4)[seen] if kinds[j] == 2 else np.sqrt(seen) if kinds[j] == 1 else seen)
        columns.append(np.array(["a", "b", "c", "d"])[seen] if kinds[j] == 2 else seen)
    names = [f"c{k}" for k in range(p)]
    arrows = frozenset((names[int(i)], names[int(j)]) for j, i in np.argwhere(parents))
    return Sample(pd.DataFrame(dict(zip(names, columns, strict=True))), arrows)


def rings(seed: int, n: int, p: float, density: float, share: float) -> Sample:
    """A sample as in mCMIkNN's comparison of searches; `share` of the columns are discrete.

    From manm-cs 0.1.6, which draws from NumPy's and from the standard library's global generators.
    """
    from manm_cs.graph import GraphBuilder  # type: ignore[import-not-found]

    np.random.seed(seed)  # noqa: NPY002
    seed_of_library(seed)
    graph = (
        GraphBuilder()
        .with_num_nodes(int(p))
        .with_edge_density(density)
        .with_discrete_node_ratio(share)
        .with_discrete_signal_to_noise_ratio(0.85)
        .with_min_discrete_value_classes(2)
        .with_max_discrete_value_classes(4)
        .with_continuous_noise_std(1.0)
        .with_functions([(0.34, float), (0.33, lambda value: value**2), (0.33, np.cos)])
        .with_conditional_gaussian(False)
        .with_betas(1.0, 1.0)
        .with_scaled_parent_influence(True)
        .build()
    )
    columns = pd.DataFrame()
    for variable in graph.variables:
        columns[variable.idx] = variable.sample(df=columns, num_observations=n)
    arrows = frozenset((str(parent.idx), str(child.idx)) for child in graph.variables for parent in child.parents)
    return Sample(columns.set_axis([str(name) for name in columns], axis=1), arrows, alpha=0.05)


def cells(place: Path, seed: int, n: int) -> Sample:
    """Some rows of the cells of Sachs et al. (2005), with the graphs that are published for them."""
    frame = pd.read_csv(place, sep="\t").sample(n=n, random_state=seed).reset_index(drop=True)
    learned, toolbox, known = CONSENSUS
    return Sample(frame, known, others={"learned": joined(learned), "toolbox": joined(toolbox)})


def _arrows(text: str) -> frozenset[tuple[str, str]]:
    """Arrows of a text like "a: b c, d: e"."""
    parts = (part.split(":") for part in text.split(","))
    return frozenset((cause.strip(), effect) for cause, effects in parts for effect in effects.split())


# Graphs that are published for these cells: the one that Sachs et al. learned (17 arrows, as in bnlearn), that of the
# Causal Discovery Toolbox (18), and that of Ramsey and Andrews (2018; 20, beside the data in example-causal-datasets).
CONSENSUS = tuple(
    map(
        _arrows,
        (
            "erk: akt, mek: erk, pip3: pip2, pka: akt erk jnk mek p38 raf, pkc: jnk mek p38 pka raf, plc: pip2 pip3, "
            "raf: mek",
            "pip2: pkc pip3, plc: pip2 pkc, pip3: plc akt, pkc: jnk p38 raf mek, pka: p38 raf akt mek erk jnk, "
            "raf: mek, mek: erk",
            "erk: akt, mek: erk, pip2: pkc, pip3: akt pip2 plc, pka: akt erk jnk mek p38 raf, "
            "pkc: jnk mek p38 pka raf, plc: pip2 pkc, raf: mek",
        ),
    )
)


def _in_order(parents: dict[str, list[str]]) -> list[str]:
    """Causes before their effects."""
    done: dict[str, None] = {}
    while len(done) < len(parents):
        done |= {node: None for node, some in parents.items() if node not in done and done.keys() >= set(some)}
    return list(done)


def _first(value: Any) -> float:
    return float(value[0] if isinstance(value, list) else value)


def _standard(column: Any) -> Floats:
    standard: Floats = (column - column.mean()) / column.std()
    return standard
