"""The generalised covariance measure (Shah and Peters 2020) with additive splines, as a test of causal-learn."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np
from causallearn.utils.cit import CIT_Base, register_ci_test
from numpy.typing import NDArray
from scipy.special import ndtr
from sklearn.linear_model import RidgeCV
from sklearn.preprocessing import SplineTransformer

NAME, KNOTS = "gcm", 8
PENALTIES = (0.01, 0.1, 1.0, 10.0, 100.0)  # of the coefficients, chosen by the error of rows left out


class SplineGCM(CIT_Base):
    """Whether residuals of two columns, each regressed on splines of those that are given, are uncorrelated."""

    def __init__(self, data: Any, **_: Any) -> None:
        super().__init__(data)
        self.check_cache_method_consistent(NAME, "no parameters")
        self._bases = [SplineTransformer(KNOTS, knots="quantile").fit_transform(column[:, None]) for column in data.T]
        self._residuals = cache(self._without)

    def __call__(self, X: Any, Y: Any, condition_set: Iterable[int] | None = None) -> float:
        """The p-value of a studentised mean product of residuals."""
        (x,), (y,), given, key = self.get_formatted_XYZ_and_cachekey(X, Y, condition_set)
        if key not in self.pvalue_cache:
            products = self._residuals(x, tuple(given)) * self._residuals(y, tuple(given))
            statistic = np.sqrt(len(products)) * abs(products.mean()) / products.std()
            self.pvalue_cache[key] = float(max(2.0 * ndtr(-statistic), np.finfo(np.float64).tiny))
        return float(self.pvalue_cache[key])

    def _without(self, target: int, given: tuple[int, ...]) -> NDArray[np.float64]:
        column: NDArray[np.float64] = self.data[:, target].astype(np.float64)
        column = (column - column.mean()) / column.std()
        if not given:
            return column
        context = np.hstack([self._bases[i] for i in given])
        residuals: NDArray[np.float64] = column - RidgeCV(PENALTIES).fit(context, column).predict(context)
        return residuals


register_ci_test(NAME, SplineGCM)
