"""dowhy: the test as a function of arrays, for `dowhy.gcm`."""

from __future__ import annotations

from typing import Any

from pydine.questions.search import SearchTest


class DineTest(SearchTest):
    """The test as `dowhy.gcm` calls it: ``falsify_graph(graph, frame, conditional_independence_test=DineTest())``.

    Pass it as `independence_test` too. dowhy runs tests in several processes; they share fitted flows if `cache` is a
    folder. Its parameters are those of `pydine.questions.search.SearchTest`.

    Examples
    --------
    >>> import numpy as np
    >>> from pydine.integrations.dowhy import DineTest
    >>> rng = np.random.default_rng(0)
    >>> z = rng.standard_normal(300)
    >>> x, y = z + rng.standard_normal((2, 300))
    >>> test = DineTest()
    >>> test(x, y) < 0.001 < test(x, y, z)
    True
    """

    def __call__(self, X: Any, Y: Any, Z: Any = None) -> float:
        """The p-value of X independent of Y, given Z; arrays of shape (n,) or (n, d)."""
        return self.ask(X, Y, Z).pvalue
