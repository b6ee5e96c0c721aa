"""pgmpy: the test as a function of the names of columns, for its PC."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

from pydine.questions.search import TableTest
from pydine.work.cache import UnitCache


class DineTest:
    """The test as pgmpy calls it: ``PC(ci_test=DineTest(frame)).fit(frame)``.

    Parameters
    ----------
    data : frame, mapping of columns or array of shape (n, p)
        The data that the search is given too.
    **options
        As in `pydine.questions.search.SearchTest`: `cache`, `statistic`, `random_state`, `n_jobs`, `nan_policy`,
        `kinds`.

    Attributes
    ----------
    p_value_, effect_size_ : float
        Of the last question: the p-value, and the information in nats.

    Examples
    --------
    >>> import numpy as np
    >>> from pydine.integrations.pgmpy import DineTest
    >>> rng = np.random.default_rng(0)
    >>> z = rng.standard_normal(300)
    >>> test = DineTest({"x": z + rng.standard_normal(300), "y": z + rng.standard_normal(300), "z": z})
    >>> test("x", "y"), test("x", "y", ["z"])
    (False, True)
    """

    def __init__(self, data: Any, **options: Any) -> None:
        self._test = TableTest(data, **options)

    @property
    def cache(self) -> UnitCache:
        """Where fitted flows are kept."""
        return self._test.cache

    def __call__(
        self, X: Hashable, Y: Hashable, Z: Iterable[Hashable] = (), significance_level: float = 0.05, **_: Any
    ) -> bool:
        """Whether X may be independent of Y given Z at the level; what else older versions pass is not needed."""
        x, y, *z = (self._test.position(name) for name in (X, Y, *Z))
        answer = self._test.ask_columns(x, y, z)
        self.p_value_, self.effect_size_ = answer  # not to be read back here: pgmpy asks from several threads
        return answer.pvalue >= significance_level
