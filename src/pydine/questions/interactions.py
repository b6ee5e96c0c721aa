"""The question "do X1 and X2 tell more about Y together than apart, or the same thing twice?"."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pydine.answers.contrasts import answer_all, correlations_of
from pydine.answers.settings import CacheLike, RandomState, Settings
from pydine.answers.watching import shown_in_notebooks
from pydine.inputs.dependence import Dependence
from pydine.inputs.kinds import Kinds
from pydine.inputs.reading import read_sides
from pydine.inputs.table import Question
from pydine.results.interactions import Interaction
from pydine.work.cache import UnitCache
from pydine.work.threads import one_thread

__all__ = ["interaction", "interaction_of"]


@shown_in_notebooks("Estimating")
@one_thread()
def interaction(
    x1: Any,
    x2: Any,
    y: Any,
    given: Any = None,
    *,
    data: Any = None,
    base: str = "auto",
    random_state: RandomState = 0,
    n_jobs: int | None = None,
    nan_policy: str = "raise",
    cache: CacheLike = None,
    kinds: Kinds | None = None,
    clusters: Any = None,
    time: Any = None,
    weights: Any = None,
) -> Interaction:
    """Estimate what X1 and X2 tell about Y together, each alone, and each beyond the other.

    Parameters
    ----------
    x1, x2, y, given : array-like of shape (n,) or (n, d), column, frame, or names of columns of `data`
        Observations of X1, X2, Y and, if any, Z, on which all is conditioned.
    data : frame, optional
        Where named columns are found.
    base, random_state, n_jobs, cache, kinds, clusters, time, weights
        As in `mutual_information`.
    nan_policy : {"raise", "omit"}, default="raise"
        What happens to rows that hold NaN or infinity in any of the four: refused, or left out.

    Returns
    -------
    Interaction
        ``value`` in nats (above zero: synergy, below: redundancy), ``confidence_interval(0.95)``, ``pvalue``,
        ``verdict()``, and the estimates ``together``, ``first``, ``second``, ``first_beyond``, ``second_beyond``.

    Examples
    --------
    >>> import numpy as np
    >>> import pydine
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.integers(0, 2, (2, 1000))
    >>> found = pydine.interaction(a, b, a ^ b)
    >>> round(found.value, 2), abs(found.first.value) < 0.01, found.confidence_interval().low > 0.6
    (0.69, True, True)
    """
    settings = Settings(base=base, random_state=random_state, n_jobs=n_jobs, cache=UnitCache.of(cache)).seeded()
    sides = {"x1": x1, "x2": x2, "y": y, "given": given}
    said = Dependence(clusters, time, weights=weights)
    table, places = read_sides(sides, data=data, nan_policy=nan_policy, kinds=kinds, dependence=said)
    one, other, target, z = places.values()
    return interaction_of(
        Question(table, one, target, z), other, replace(settings, cache=settings.cache or UnitCache())
    )


def interaction_of(question: Question, other: tuple[int, ...], settings: Settings) -> Interaction:
    """What x and other columns of a question's table tell about y together, each alone, and each beyond the other."""
    one, target, z = question.blocks
    asked = (((*one, *other), z), (one, z), (other, z), (one, (*other, *z)), (other, (*one, *z)))
    parts = answer_all([Question(question.table, x, target, held) for x, held in asked], settings)
    names = question.table.names
    labels = ", ".join(names[i] for i in one), ", ".join(names[i] for i in other)
    together, first, second, first_beyond, second_beyond = (part.estimate for part in parts)
    correlations = correlations_of(parts[:3])
    return Interaction(together, first, second, first_beyond, second_beyond, labels, correlations)
