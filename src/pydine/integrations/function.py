"""Any other library: the test as a plain function of the names of columns."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

from pydine.questions.search import TableTest
from pydine.work.cache import UnitCache


class DineTest:
    """The test as a function ``test(x, y, given)`` of columns by name, which returns a p-value.

    Parameters
    ----------
    data : frame, mapping of columns or array of shape (n, p)
        Columns of any kind; those of an array go by position.
    **options
        As in `pydine.questions.search.SearchTest`: `cache`, `statistic`, `n_jobs`, `nan_policy`, `kinds`.

    Examples
    --------
    >>> import numpy as np
    >>> from pydine.integrations.function import DineTest
    >>> rng = np.random.default_rng(0)
    >>> z = rng.standard_normal(300)
    >>> test = DineTest({"x": z + rng.standard_normal(300), "y": z + rng.standard_normal(300), "z": z})
    >>> test("x", "y") < 0.001 < test("x", "y", ["z"])
    True
    """

    def __init__(self, data: Any, **options: Any) -> None:
        self._test = TableTest(data, **options)

    @property
    def cache(self) -> UnitCache:
        """Where fitted flows are kept."""
        return self._test.cache

    def __call__(self, x: Hashable, y: Hashable, given: Iterable[Hashable] = ()) -> float:
        """The p-value of x independent of y given a set of columns."""
        first, second, *others = (self._test.position(name) for name in (x, y, *given))
        return self._test.ask_columns(first, second, others).pvalue
