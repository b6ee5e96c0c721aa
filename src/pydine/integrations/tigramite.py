"""tigramite: the test as a `CondIndTest`, for PCMCI and its relatives on time series."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pydine.answers.settings import CacheLike, RandomState
from pydine.questions.search import SearchTest
from pydine.results import default_names
from pydine.work.cache import UnitCache

try:
    from tigramite.independence_tests.independence_tests_base import CondIndTest
except ImportError as error:
    raise ImportError(
        "pydine.integrations.tigramite needs tigramite; install it with: pip install tigramite"
    ) from error


class DineTest(CondIndTest):
    """The test as tigramite calls it: ``PCMCI(dataframe, cond_ind_test=DineTest())``.

    The value that tigramite shows beside a p-value is -ln p, how surprising the rows are under independence: it orders
    links as the test does, also where they have no correlation. `pc_alpha` has to be given, since there is no
    criterion to choose it by. Rows are in the order of time, and p-values allow for serial correlation.

    Parameters
    ----------
    cache, statistic, random_state, n_jobs
        As in `pydine.questions.search.SearchTest`.
    time : bool, default=True
        Whether rows may depend on those before them, beyond what is conditioned on; otherwise they are independent.
    **options
        Of `CondIndTest`: `mask_type`, `verbosity`.
    """

    def __init__(
        self,
        *,
        cache: CacheLike = None,
        statistic: str = "auto",
        random_state: RandomState = 0,
        n_jobs: int | None = None,
        time: bool = True,
        **options: Any,
    ) -> None:
        settings: dict[str, Any] = {"cache": cache, "statistic": statistic, "time": time or None}
        self._test = SearchTest(random_state=random_state, n_jobs=n_jobs, **settings)
        self.two_sided = False
        super().__init__(**options)

    @property
    def measure(self) -> str:
        """What tigramite calls the test."""
        return "dine"

    @property
    def cache(self) -> UnitCache:
        """Where fitted flows are kept."""
        return self._test.cache

    def get_dependence_measure(self, array: NDArray[np.float64], xyz: NDArray[np.int_], data_type: Any = None) -> float:
        """-ln p of rows of `array`, shape (dimensions, n), of which `xyz` says where they belong: 0, 1 or 2.

        Where `data_type` marks values as discrete, they are labels; otherwise the values say what they are.
        """
        sides = [np.flatnonzero(np.asarray(xyz) == side) for side in range(3)]
        x, y, z = (array[rows].T for rows in sides)
        kinds = None
        if data_type is not None and np.any(data_type):
            names = [name for label, rows in zip("xyz", sides, strict=True) for name in default_names(label, len(rows))]
            marked = [bool(np.any(np.asarray(data_type)[row])) for rows in sides for row in rows]
            kinds = {name: "nominal" for name, is_label in zip(names, marked, strict=True) if is_label}
        return float(-np.log(self._test.ask(x, y, z, kinds).pvalue))

    def get_analytic_significance(self, value: float, **_: Any) -> float:
        """The p-value back from its -ln."""
        return float(np.exp(-value))
