"""The test as a graph search asks it: many questions about the same columns.

Flows of a column given others are cached, and shared by all questions that need them. An answer does not depend on the
order in which columns are named: z's columns always enter a flow in the same order, and so do x and y.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, NamedTuple, Self

from pydine.answers.answer import Verdict
from pydine.answers.mixed import tested
from pydine.answers.policy import warn_if_determined
from pydine.answers.settings import CacheLike, RandomState, Settings
from pydine.inputs.checks import SPARE_ROWS, check_nan_policy
from pydine.inputs.columns import Source
from pydine.inputs.dependence import Dependence
from pydine.inputs.kinds import Kinds
from pydine.inputs.reading import read_question, read_variables
from pydine.inputs.table import Question
from pydine.latents.workshop import Workshop
from pydine.nulls.analytic import STATISTICS
from pydine.types import FloatArray
from pydine.work.cache import UnitCache


class SearchAnswer(NamedTuple):
    """What a test found.

    Parameters
    ----------
    pvalue : float
        Never 0.
    information : float
        Nats, by the Gaussian closed form of the latents: about 0 where dependence has no correlation. Of labels, by
        their table.
    """

    pvalue: float
    information: float


class SearchTest:
    """`pydine.independence_test` by its analytic method, for questions that share columns.

    A column of x or y that z determines tells nothing once z is known: it is left out and, if nothing else is left,
    the p-value is 1, with a warning the first time. If x and y determine each other, the p-value is the smallest
    positive number.

    Parameters
    ----------
    cache : UnitCache or folder, optional
        Where fitted flows are kept; in memory unless given. With a folder, an interrupted search resumes.
    statistic : {"auto", "gaussian", "general"}, default="auto"
        As in `pydine.independence_test`.
    random_state : int, numpy.random.RandomState, numpy.random.Generator or None, default=0
        Has no effect: only `DINE.paper()` draws random numbers.
    n_jobs : int or None, default=None
        Threads in which the flows of a question are fitted; answers do not depend on it.
    nan_policy : {"raise", "omit"}, default="raise"
        Refuse rows that hold NaN or infinity, or leave them out.
    kinds : mapping of column name to {"continuous", "ordinal", "nominal", "angle:PERIOD"}, optional
        Kinds of columns, where types and values suggest another; arrays without names are called x, y and z.
    clusters, time
        How rows depend on each other, as in `pydine.mutual_information`.

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
        kinds: Kinds | None = None,
        clusters: Any = None,
        time: Any = None,
    ) -> None:
        if statistic not in STATISTICS:
            raise ValueError(f"statistic must be {' or '.join(map(repr, STATISTICS))}, but got {statistic!r}.")
        check_nan_policy(nan_policy)
        self.cache = UnitCache.of(cache) or UnitCache()
        self.statistic = statistic
        self.nan_policy = nan_policy
        self.kinds = kinds
        self._dependence = Dependence(clusters, time)
        self._settings = Settings(base="gaussian", random_state=random_state, n_jobs=n_jobs, cache=self.cache).seeded()
        self._answers: dict[tuple[tuple[bytes, ...], ...], SearchAnswer] = {}
        self._warned = False

    def ask(self, x: Any, y: Any, z: Any = None, kinds: Kinds | None = None) -> SearchAnswer:
        """Test whether x is independent of y, given z unless it is None or has no columns.

        Parameters
        ----------
        x, y, z : array-like of shape (n,) or (n, d)
        kinds : mapping of column name to kind, optional
            For this question alone; those of the test otherwise.
        """
        kinds = self.kinds if kinds is None else kinds
        question = read_question(x, y, z, nan_policy=self.nan_policy, kinds=kinds, dependence=self._dependence)
        return self._answer(question, self._settings.workshop(question.table))

    def _answer(self, question: Question, workshop: Workshop) -> SearchAnswer:
        """Answer a question, unless it was answered before; columns are told apart by their signatures."""
        signatures = question.table.signatures
        x, y, given = (tuple(sorted({signatures[i] for i in block})) for block in question.blocks)
        key = *sorted((x, y)), given
        if key not in self._answers:
            self._answers[key] = self._ask(question, workshop)
        return self._answers[key]

    def _ask(self, question: Question, workshop: Workshop) -> SearchAnswer:
        found = tested(question, workshop)
        if found.verdict is Verdict.NOTHING_LEFT and not self._warned:
            self._warned = True
            warn_if_determined(found.verdict, question)
        return SearchAnswer(found.analytic(self.statistic).pvalue, found.information)

    def __deepcopy__(self, _: dict[int, Any]) -> Self:
        """A search that copies its graph, and the test with it, goes on with the same cache."""
        return self


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
        said = self._dependence
        self.table = read_variables(
            data, nan_policy=self.nan_policy, kinds=self.kinds, dependence=said, lenient=False
        ).table
        source, places = Source.read(data), {name: i for i, name in enumerate(self.table.names)}
        called = zip(source.names, source.select("data", list(source.names)).names, strict=True)
        # By what the data call columns, which are positions in an array; identifiers are left out.
        self._places = {key: places[name] for key, name in called if name in places}
        self._workshop = self._settings.workshop(self.table)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return self.table.names

    @property
    def values(self) -> FloatArray:
        """The columns, shape (n, p)."""
        return self.table.columns.T

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_workshop"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._workshop = self._settings.workshop(self.table)

    def position(self, name: Hashable) -> int:
        """Where the column is that the data call so."""
        if name not in self._places:
            raise ValueError(
                f"the search asks for the column {name!r}, which the data of the test do not have; pass both the same "
                "data."
            )
        return self._places[name]

    def ask_columns(self, i: int, j: int, given: Iterable[int] = ()) -> SearchAnswer:
        """Test whether column i is independent of column j given others."""
        question = Question(self.table, (i,), (j,), tuple(given))
        width = 2 + len(question.given)
        if self.table.n_samples < width + SPARE_ROWS:
            raise ValueError(
                f"a test of {width} columns together must have at least {width + SPARE_ROWS} rows, but has "
                f"{self.table.n_samples}; pass more rows, or let the search condition on fewer columns."
            )
        return self._answer(question, self._workshop)
