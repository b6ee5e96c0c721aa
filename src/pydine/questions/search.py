"""The test as a graph search asks it: many questions about the same columns.

Flows of a column given others are kept and found again, whoever asks for them, and an answer does not depend on the
order in which columns are named: what z is made of always goes into a flow in the same order, and so do x and y.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from pydine.bases.closed_form import SMALLEST_VARIANCE, gaussian_information, is_singular, wishart_bias
from pydine.inputs.columns import read_columns
from pydine.inputs.sample import SPARE_ROWS, check_nan_policy, check_range, finite_rows, order_of, warn_of_ties
from pydine.inputs.variables import read_variables
from pydine.latents.flows import Latents, fit_rank_flow
from pydine.questions.estimation import CacheLike, RandomState, Settings
from pydine.questions.independence import STATISTICS, analytic_pvalue
from pydine.types import FloatArray
from pydine.units.cache import UnitCache

# Columns by the signature of their ranks, sorted by it: strictly monotone functions of each other are the same column.
Block = dict[bytes, FloatArray]


class Answer(NamedTuple):
    """What a test found.

    Parameters
    ----------
    pvalue : float
        Never 0.
    information : float
        Nats, by the Gaussian closed form of the latents: about 0 where dependence has no correlation.
    """

    pvalue: float
    information: float


NOTHING_LEFT = Answer(1.0, 0.0)
THE_SAME = Answer(float(np.finfo(np.float64).tiny), np.inf)


class SearchTest:
    """`pydine.independence_test` by its analytic method, for questions that share columns.

    A column of x or y that z determines tells nothing once z is known: it is left out and, if nothing else is left,
    the p-value is 1, with a warning the first time. If x and y determine each other, the p-value is the smallest
    positive number. Where `pydine.independence_test` refuses such columns, a search has to go on.

    Parameters
    ----------
    cache : UnitCache or folder, optional
        Where fitted flows are kept; in memory unless given. With a folder, an interrupted search resumes.
    statistic : {"auto", "gaussian", "general"}, default="auto"
        As in `pydine.independence_test`.
    random_state : int, numpy.random.RandomState, numpy.random.Generator or None, default=0
        Drawn from once, so that a question asked twice has one answer.
    n_jobs : int or None, default=None
        Threads in which the flows of a question are fitted; answers do not depend on it.
    nan_policy : {"raise", "omit"}, default="raise"
        Refuse rows that hold NaN or infinity, or leave them out.

    Examples
    --------
    >>> import numpy as np
    >>> from pydine.questions.search import SearchTest
    >>> rng = np.random.default_rng(0)
    >>> z = rng.standard_normal(300)
    >>> x, y = z + rng.standard_normal((2, 300))
    >>> test = SearchTest()
    >>> test.ask(x, y).pvalue < 0.001 < test.ask(x, y, z).pvalue
    True
    >>> test.ask(y, x, z) == test.ask(x, y, z), test.cache.info().misses
    (True, 2)
    """

    def __init__(
        self,
        *,
        cache: CacheLike = None,
        statistic: str = "auto",
        random_state: RandomState = 0,
        n_jobs: int | None = None,
        nan_policy: str = "raise",
    ) -> None:
        if statistic not in STATISTICS:
            raise ValueError(f"statistic must be {' or '.join(map(repr, STATISTICS))}, but got {statistic!r}.")
        check_nan_policy(nan_policy)
        self.cache = UnitCache.of(cache) or UnitCache()
        self.statistic = statistic
        self.nan_policy = nan_policy
        self._settings = Settings(random_state=random_state, n_jobs=n_jobs).seeded()
        self._answers: dict[tuple[tuple[bytes, ...], ...], Answer] = {}
        self._warned = False

    def ask(self, x: Any, y: Any, z: Any = None) -> Answer:
        """Test whether x is independent of y, given z unless it is None or has no columns.

        Parameters
        ----------
        x, y, z : array-like of shape (n,) or (n, d)
        """
        blocks = [read_columns("x", x), read_columns("y", y)]
        if z is not None and (given := read_columns("z", z)).names:
            blocks.append(given)
        if len({len(block.values) for block in blocks}) > 1:
            rows = ", ".join(f"{len(block.values)} in {block.label}" for block in blocks)
            raise ValueError(f"x, y and z must have the same number of rows, but there are {rows}.")
        blocks, _ = finite_rows(blocks, omit=self.nan_policy == "omit")
        for block in blocks:
            check_range(block)
        orders = [[order_of(column) for column in block.values.T] for block in blocks]
        warn_of_ties(blocks, orders)
        sides = [
            _block(zip((order.signature for order in block_orders), block.values.T, strict=True))
            for block, block_orders in zip(blocks, orders, strict=True)
        ]
        return self._answer(sides[0], sides[1], sides[2] if len(sides) > 2 else {})

    def _answer(self, x: Block, y: Block, z: Block) -> Answer:
        x, y = ({key: column for key, column in side.items() if key not in z} for side in (x, y))
        if not (x and y):
            return self._nothing_left()
        if x.keys() & y.keys():
            return THE_SAME
        x, y = sorted((x, y), key=list)
        question = tuple(x), tuple(y), tuple(z)
        if question not in self._answers:
            self._answers[question] = self._test(_matrix(x), _matrix(y), _matrix(z, len(next(iter(x.values())))))
        return self._answers[question]

    def _test(self, x: FloatArray, y: FloatArray, z: FloatArray) -> Answer:
        n, width = len(x), x.shape[1] + y.shape[1] + z.shape[1]
        if n < width + SPARE_ROWS:
            raise ValueError(
                f"a test of {width} columns together must have at least {width + SPARE_ROWS} rows, but has {n}; pass "
                "more rows, or let the search condition on fewer columns."
            )
        settings = self._settings
        latents = _that_vary(fit_rank_flow(x, y, z, settings.ladder(), settings.n_jobs, cache=self.cache)[1])
        dx, dy, _ = latents.dimensions
        if dx == 0 or dy == 0:
            return self._nothing_left()
        if is_singular(latents.cross_product):
            return THE_SAME
        information = gaussian_information(latents.cross_product, dx) - wishart_bias(dx, dy, latents.dof)
        return Answer(analytic_pvalue(latents, self.statistic)[0], information)

    def _nothing_left(self) -> Answer:
        if not self._warned:
            self._warned = True
            warnings.warn(
                "A column was tested given columns that determine it: nothing of it is left to depend on anything, so "
                "the p-value is 1, here and in all such tests of this search. Leave out columns that are functions of "
                "others if that is not what you mean.",
                stacklevel=2,
            )
        return NOTHING_LEFT

    def __deepcopy__(self, _: dict[int, Any]) -> Self:
        """A search that copies its graph, and the test with it, goes on with the same cache."""
        return self

    def __getstate__(self) -> dict[str, Any]:
        """Leave what is in memory behind: a copy in another process shares the cache's folder, if there is one."""
        return {**self.__dict__, "cache": (self.cache.folder, self.cache.max_bytes)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, cache=UnitCache(*state["cache"]))


class TableTest(SearchTest):
    """The test over the columns of one table, which is read and checked once; columns go by position.

    Parameters
    ----------
    data : frame, mapping of columns or array of shape (n, p)
    **options
        As in `SearchTest`. With ``nan_policy="omit"``, rows that hold NaN or infinity in any column are left out.

    Examples
    --------
    >>> import numpy as np
    >>> from pydine.questions.search import TableTest
    >>> rng = np.random.default_rng(0)
    >>> z = rng.standard_normal(300)
    >>> test = TableTest({"x": z + rng.standard_normal(300), "y": z + rng.standard_normal(300), "z": z})
    >>> test.names, test.ask_columns(0, 1).pvalue < 0.001 < test.ask_columns(0, 1, [2]).pvalue
    (('x', 'y', 'z'), True)
    """

    def __init__(self, data: Any, **options: Any) -> None:
        super().__init__(**options)
        variables = read_variables(data, nan_policy=self.nan_policy)
        self.names = variables.names
        self.values = variables.columns
        self._signatures = [order_of(column).signature for column in self.values.T]

    def ask_columns(self, i: int, j: int, given: Iterable[int] = ()) -> Answer:
        """Test whether column i is independent of column j given others."""
        return self._answer(self._columns([i]), self._columns([j]), self._columns(sorted(given)))

    def _columns(self, positions: Sequence[int]) -> Block:
        return _block((self._signatures[i], self.values[:, i]) for i in positions)


def _block(columns: Iterable[tuple[bytes, FloatArray]]) -> Block:
    first: Block = {}
    for signature, column in columns:
        first.setdefault(signature, column)
    return {signature: first[signature] for signature in sorted(first)}


def _matrix(block: Block, n: int = 0) -> FloatArray:
    """The columns side by side, shape (n, d); the number of rows is needed where there are none."""
    return np.column_stack(list(block.values())) if block else np.empty((n, 0))


def _that_vary(latents: Latents) -> Latents:
    """Only those latents of which z has left something, beyond rounding."""
    dx = latents.dimensions[0]
    varies = np.diag(latents.cross_product) / latents.dof > SMALLEST_VARIANCE
    if varies.all():
        return latents
    x, y = np.flatnonzero(varies[:dx]), dx + np.flatnonzero(varies[dx:])
    return latents.of_columns(x.tolist(), y.tolist())
