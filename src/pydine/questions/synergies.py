"""The question "which two columns tell about a target only together?", over all pairs of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pydine.answers.settings import CacheLike, RandomState, Settings, is_integer
from pydine.answers.watching import shown_in_notebooks
from pydine.inputs.angles import around
from pydine.inputs.columns import Source
from pydine.inputs.dependence import Dependence
from pydine.inputs.kinds import MOST_LEVELS, Kind, Kinds
from pydine.inputs.reading import read_sides
from pydine.inputs.table import Question, Table
from pydine.latents.scores import ScoreMap
from pydine.nulls.pvalues import adjusted
from pydine.nulls.triples import normal_synergy, product_scores
from pydine.questions.interactions import interaction_of
from pydine.results.interactions import Interaction
from pydine.results.synergies import Synergies
from pydine.types import FloatArray
from pydine.work.cache import UnitCache
from pydine.work.execution import run
from pydine.work.threads import one_thread

__all__ = ["synergies"]


@shown_in_notebooks("Estimating")
@one_thread()
def synergies(
    data: Any,
    target: Any,
    features: Sequence[Any] | None = None,
    *,
    most: int = 20,
    base: str = "auto",
    random_state: RandomState = 0,
    n_jobs: int | None = None,
    nan_policy: str = "raise",
    cache: CacheLike = None,
    kinds: Kinds | None = None,
    clusters: Any = None,
    time: Any = None,
    weights: Any = None,
) -> Synergies:
    """Find the pairs of columns that tell more about a target together than the sum of what they tell alone.

    All pairs are screened by products of three features, and by correlations; those that stand out are estimated as
    `interaction` does.

    Parameters
    ----------
    data : frame, mapping of columns or 2-D array
    target : column name
    features : sequence of column names, optional
        The columns to pair; every column but the target by default.
    most : int, default=20
        How many pairs are estimated.
    base, random_state, n_jobs, cache, kinds, clusters, time, weights
        As in `mutual_information`. Identifiers are left out, with a warning; columns that say how rows were sampled are
        not paired.
    nan_policy : {"raise", "omit"}, default="raise"
        What happens to rows that hold NaN or infinity in any of the columns: refused, or left out.

    Returns
    -------
    Synergies
        ``interactions``, the largest first, ``adjusted_pvalues`` for all pairs, ``found(alpha)``, ``plot()``.

    Examples
    --------
    >>> import numpy as np
    >>> import pydine
    >>> rng = np.random.default_rng(0)
    >>> columns = {f"c{i}": rng.integers(0, 2, 500) for i in range(8)}
    >>> columns["y"] = columns["c2"] ^ columns["c5"] ^ (rng.random(500) < 0.1)
    >>> pydine.synergies(columns, "y", most=5).found()
    [('c2', 'c5')]
    """
    if not is_integer(most) or most < 1:
        raise ValueError(f"most must be an integer of at least 1, but got {most!r}.")
    settings = Settings(base=base, random_state=random_state, n_jobs=n_jobs, cache=UnitCache.of(cache)).seeded()
    settings, said = replace(settings, cache=settings.cache or UnitCache()), Dependence(clusters, time, weights=weights)
    sides = {"features": features, "target": target}
    if features is None:
        source = Source.read(data)
        apart = {str(target), *said.names(source)}
        sides = {"data": [name for name in source.names if str(name) not in apart], "target": target}
    table, places = read_sides(sides, data=data, nan_policy=nan_policy, kinds=kinds, left_out={}, dependence=said)
    whole = Question(table, *places.values())
    if len(whole.x) < 2:
        raise ValueError(f"data must have at least two columns to pair besides {target!r}, but has {len(whole.x)}.")
    alone = replace(settings, n_jobs=1)

    def ask(pair: tuple[int, int]) -> Interaction:
        return interaction_of(Question(whole.table, (whole.x[pair[0]],), whole.y), (whole.x[pair[1]],), alone)

    found = run(ask, _promising(whole, int(most)), n_jobs)
    n_pairs = len(whole.x) * (len(whole.x) - 1) // 2
    every = np.ones(n_pairs)
    every[: len(found)] = [pair.pvalue for pair in found]
    pvalues = adjusted(every, "bh")[: len(found)].tolist()
    order = sorted(range(len(found)), key=lambda k: -found[k].value)
    return Synergies(
        whole.names[1][0],
        tuple(found[k] for k in order),
        tuple(pvalues[k] for k in order),
        n_pairs,
        whole.names[0],
    )


def _promising(whole: Question, most: int) -> list[tuple[int, int]]:
    """Pairs of x's columns, by their places there: those that stand out in one screen or the other, in turn."""
    features = [_features(whole.table, i) for i in whole.x]
    target = np.vstack([_features(whole.table, i) for i in whole.y])
    first, second = np.triu_indices(len(features), 1)
    screens = (
        product_scores(features, target)[first, second],
        normal_synergy(np.array([block[0] for block in features]), target[0])[first, second],
    )
    found: dict[tuple[int, int], None] = {}
    for places in zip(*(np.argsort(-screen, kind="stable") for screen in screens), strict=True):
        found |= {(int(first[k]), int(second[k])): None for k in places}
        if len(found) >= most:
            break
    return list(found)[:most]


def _features(table: Table, i: int) -> FloatArray:
    """Standardised functions of a column, shape (k, n): of numbers, scores and their squares; of labels, indicators.

    Of angles, cosine and sine.
    """
    column = table.columns[i]
    if table.kind(i) is Kind.NOMINAL:
        levels = min(int(column.max()), MOST_LEVELS)  # one less than there are: the others tell the last
        rows = np.array([column == level for level in range(max(levels, 1))], dtype=np.float64)
    elif table.kind(i).is_around:
        rows = around(column)
    else:
        scores = ScoreMap.fit(column)[1]
        rows = np.array([scores, scores**2])
    rows -= rows.mean(axis=1, keepdims=True)
    standard: FloatArray = rows / np.maximum(rows.std(axis=1, keepdims=True), 1e-12)
    return standard
