"""Experiments as plain data, the paper's three among them: what is drawn, and over which values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from typing import Any

from pydine.experiments.datasets import (
    CIT_DIMENSIONS,
    CIT_INDEPENDENT,
    CIT_SAMPLE_SIZE,
    CORRELATIONS,
    DIMENSIONS,
    SAMPLE_SIZES,
    SEEDS,
    Dataset,
    paper_cit,
    paper_cmi,
    paper_mi,
)
from pydine.experiments.runner import Task


@dataclass(frozen=True)
class Grid:
    """An experiment, or a part of one: every combination of the axes' values, with every seed, is a dataset.

    Attributes
    ----------
    title
        What is estimated or tested.
    draw
        Draws a dataset, a named sample with its truth, from one value of every axis and the seed, as keywords.
    axes
        Values by name, all but the seed.
    seeds
        Seeds of one combination.
    labels
        Further columns that name its datasets, such as the part of an experiment; `draw` does not see them.
    """

    title: str
    draw: Callable[..., Any]
    axes: Mapping[str, Sequence[str | float]]
    seeds: Sequence[int]
    labels: Mapping[str, str | float] = field(default_factory=dict)

    def tasks(self, methods: Iterable[str]) -> list[Task]:
        """Every dataset with these methods, seed by seed, so that a run cut short has all cells and times add up."""
        names, chosen = list(self.axes), tuple(methods)
        found = []
        for seed, *values in product(self.seeds, *self.axes.values()):
            key = {**dict(zip(names, values, strict=True)), "seed": seed}
            found.append(Task({**self.labels, **key}, partial(self.draw, **key), chosen))
        return found


def _cit(n: int, dz: int, seed: int) -> Dataset:
    return paper_cit(seed, dz, n)


_ESTIMATION: dict[str, tuple[float, ...]] = {"n": SAMPLE_SIZES, "d": DIMENSIONS, "rho": CORRELATIONS}
_TESTING: dict[str, tuple[float, ...]] = {"n": (CIT_SAMPLE_SIZE,), "dz": CIT_DIMENSIONS}
# Independent and dependent datasets in turn, so that any number of trials has as many of both.
_CIT_SEEDS = tuple(seed for i in CIT_INDEPENDENT for seed in (i, i + len(CIT_INDEPENDENT)))

GRIDS = {
    "mi": Grid("I(X;Y)", paper_mi, _ESTIMATION, tuple(SEEDS)),
    "cmi": Grid("I(X;Y|Z), dz = d", paper_cmi, _ESTIMATION, tuple(SEEDS)),
    "cit": Grid("X independent of Y given Z", _cit, _TESTING, _CIT_SEEDS),
}

# Parts of the grids that take about a minute: their rows are rows of the whole.
QUICK_AXES: dict[str, dict[str, tuple[float, ...]]] = {
    "mi": {"rho": (-0.99, -0.5, 0.0, 0.5, 0.99)},
    "cmi": {"rho": (-0.99, -0.5, 0.0, 0.5, 0.99)},
    "cit": {"dz": (5, 11, 20)},
}
QUICK_TRIALS = {"mi": 3, "cmi": 2, "cit": 60}


def grid(kind: str, trials: int | None = None, *, quick: bool = False) -> Grid:
    """Return the grid of one of the paper's experiments, or a part of it.

    Parameters
    ----------
    kind : {"mi", "cmi", "cit"}
    trials : int, optional
        Seeds of each combination: 50 in the paper for ``"mi"`` and ``"cmi"``; 200 for ``"cit"``, where every other one
        is an independent dataset.
    quick : bool, default=False
        Whether to take fewer combinations and, unless told otherwise, fewer trials.
    """
    if kind not in GRIDS:
        raise ValueError(f"kind must be {' or '.join(map(repr, GRIDS))}, but got {kind!r}.")
    whole = GRIDS[kind]
    least = 2 if kind == "cit" else 1
    if trials is not None and not least <= trials <= len(whole.seeds):
        raise ValueError(f"trials must be an integer from {least} to {len(whole.seeds)} for {kind!r}, got {trials!r}.")
    if quick:
        whole = replace(whole, axes={**whole.axes, **QUICK_AXES[kind]})
        trials = trials or QUICK_TRIALS[kind]
    return replace(whole, seeds=whole.seeds[:trials])
