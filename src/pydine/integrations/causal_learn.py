"""causal-learn: the test under the name ``"dine"``, and PC over a frame.

Importing this module registers the test: ``causallearn.search.ConstraintBased.PC.pc(data, 0.05, "dine")`` runs with it
from then on, and so does every other search there that takes the name of a test (``fci``, ``cdnod``).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pydine.answers.settings import CacheLike, RandomState, is_integer
from pydine.inputs.columns import Source
from pydine.inputs.kinds import Kinds
from pydine.questions.search import TableTest
from pydine.work.cache import UnitCache

try:
    from causallearn.search.ConstraintBased.PC import pc as causal_learn_pc
    from causallearn.utils.cit import NO_SPECIFIED_PARAMETERS_MSG, CIT_Base, register_ci_test
except ImportError as error:
    raise ImportError(
        "pydine.integrations.causal_learn needs causal-learn 0.1.4.8 or newer; install it with: "
        "pip install causal-learn networkx"
    ) from error

NAME = "dine"


class DineTest(CIT_Base):
    """The test as causal-learn's searches call it: columns by position, a p-value back.

    Parameters
    ----------
    data : ndarray, shape (n, p)
    test : TableTest, optional
        An existing test over these data, used with its own options.
    **options
        As in `pydine.questions.search.SearchTest`: `cache`, `statistic`, `random_state`, `n_jobs`, `kinds`.

    Attributes
    ----------
    cache : UnitCache
        Of fitted flows; ``cache.info().hit_rate`` is the share that was found and not fitted.
    pvalue_cache : dict
        causal-learn's: the p-value of every question asked.
    """

    def __init__(self, data: Any, test: TableTest | None = None, **options: Any) -> None:
        super().__init__(data)  # without causal-learn's file of p-values: it tells data apart by their first rows only
        self.check_cache_method_consistent(NAME, NO_SPECIFIED_PARAMETERS_MSG)
        self._test = test or TableTest(data, **options)

    @property
    def cache(self) -> UnitCache:
        """Where fitted flows are kept."""
        return self._test.cache

    def __call__(self, X: Any, Y: Any, condition_set: Iterable[int] | None = None) -> float:
        """The p-value of column X independent of column Y given a set of columns."""
        (x,), (y,), given, key = self.get_formatted_XYZ_and_cachekey(X, Y, condition_set)
        if key not in self.pvalue_cache:
            self.pvalue_cache[key] = self._test.ask_columns(x, y, given).pvalue
        return float(self.pvalue_cache[key])


register_ci_test(NAME, DineTest)


def pc(
    data: Any,
    alpha: float = 0.05,
    *,
    depth: int | None = None,
    cache: CacheLike = None,
    statistic: str = "auto",
    random_state: RandomState = 0,
    n_jobs: int | None = None,
    nan_policy: str = "raise",
    kinds: Kinds | None = None,
    show_progress: bool = False,
    **options: Any,
) -> Any:
    """Search for the causal graph of the columns of a table with causal-learn's PC.

    Parameters
    ----------
    data : frame, mapping of columns or array of shape (n, p)
        The columns of an array are called X1, X2 and so on, as causal-learn does.
    alpha : float, default=0.05
        Level of the tests: an edge is removed where a p-value is larger.
    depth : int or None, default=None
        The most columns that are conditioned on; None is as many as the search finds neighbours.
    cache, statistic, random_state, n_jobs, nan_policy, kinds
        As in `pydine.questions.search.TableTest`: with a folder as `cache`, an interrupted search resumes.
    show_progress : bool, default=False
        Whether causal-learn shows its bar.
    **options
        Passed on to causal-learn's ``pc``: ``background_knowledge``, ``uc_rule``, ``stable`` and others.

    Returns
    -------
    causallearn.graph.GraphClass.CausalGraph
        ``graph.G`` is the graph, ``graph.test`` the `DineTest` with its cache and the p-values.

    Examples
    --------
    >>> import numpy as np
    >>> from pydine.integrations.causal_learn import pc
    >>> rng = np.random.default_rng(0)
    >>> cause, other = rng.standard_normal((2, 500))
    >>> effect = np.abs(cause) + other + 0.3 * rng.standard_normal(500)
    >>> graph = pc({"cause": cause, "other": other, "effect": effect})
    >>> [str(edge) for edge in graph.G.get_graph_edges()]
    ['cause --> effect', 'other --> effect']
    """
    level: Any = alpha
    if isinstance(level, bool) or not isinstance(level, int | float) or not 0.0 < level < 1.0:
        raise ValueError(f"alpha must be a number strictly between 0 and 1, but got {alpha!r}.")
    if depth is not None and (not is_integer(depth) or depth < 0):
        raise ValueError(f"depth must be None or an integer of at least 0, but got {depth!r}.")
    if options.get("mvpc"):
        raise ValueError(
            "mvpc=True would use Fisher's z whatever the test; pass nan_policy='omit' to pydine.causal_graph, "
            "where each test uses the rows that have its columns."
        )
    test = TableTest(
        data,
        cache=cache,
        statistic=statistic,
        random_state=random_state,
        n_jobs=n_jobs,
        nan_policy=nan_policy,
        kinds=kinds,
    )
    names = Source.read(data).names
    return causal_learn_pc(
        test.values,
        alpha,
        NAME,
        max_k=depth,
        show_progress=show_progress,
        node_names=None if names == tuple(range(len(names))) else list(test.names),
        test=test,
        **options,
    )
