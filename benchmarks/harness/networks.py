"""Networks with known graphs: the examples that pgmpy ships, as they are and with bent mechanisms, and random graphs.

Files are read directly, so that pgmpy need not be importable: `pgmpy/utils/example_models` in any folder of the path.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
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
    """A table, and the arrows of the graph that it was drawn from, by names."""

    frame: pd.DataFrame
    arrows: frozenset[tuple[str, str]]
    covariance: Floats | None = None  # of the columns, where it is known

    @property
    def skeleton(self) -> frozenset[frozenset[str]]:
        """Pairs that are joined."""
        return frozenset(frozenset(arrow) for arrow in self.arrows)


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
