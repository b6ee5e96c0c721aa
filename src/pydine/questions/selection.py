"""Feature selection in scikit-learn's terms: what a feature tells about y alone, and what it adds to the others.

`mutual_information_score` scores features one by one, for `SelectKBest` and its like. `ConditionalSelector` looks for
the Markov blanket of y, the features given which no other adds anything, by forward and backward selection (IAMB:
Tsamardinos, Aliferis and Statnikov, 2003) with the library's own test.
"""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_consistent_length, check_is_fitted, check_X_y, column_or_1d, validate_data

from pydine.answers.settings import CacheLike, RandomState, Settings, is_integer
from pydine.inputs.callers import level_of_caller
from pydine.inputs.checks import SPARE_ROWS, finite_rows
from pydine.inputs.columns import Columns, Source, is_missing, read_columns
from pydine.inputs.dependence import Dependence, warn_of_repeats
from pydine.inputs.kinds import Kind, Kinds, kind_of
from pydine.inputs.names import with_different_names
from pydine.questions.features.blankets import Judge, Query, Search, Step
from pydine.sampling import Rows
from pydine.types import FloatArray
from pydine.work.cache import UnitCache

__all__ = ["ConditionalSelector", "Step", "mutual_information_score"]

TARGETS = ("auto", "numbers", "classes")
MOST_CLASSES = 10  # answer: distinct integers that are taken for classes unless the caller says otherwise


def mutual_information_score(
    X: Any,
    y: Any,
    *,
    target: str = "auto",
    base: str = "auto",
    random_state: RandomState = 0,
    n_jobs: int | None = None,
    cache: CacheLike = None,
    kinds: Kinds | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Score every feature by its mutual information with y: a score function for `SelectKBest` and its like.

    Parameters
    ----------
    X : array-like or frame of shape (n, n_features)
        Numbers; a frame may hold text, categories and booleans too.
    y : array-like of shape (n,)
        Numbers or class labels.
    target : {"auto", "numbers", "classes"}, default="auto"
        How y is read, as in `ConditionalSelector`.
    base : {"auto", "gaussian", "student", "mixture", "flow"}, default="auto"
        Base distribution of the estimates, as in `mutual_information`.
    random_state : int, numpy.random.RandomState, numpy.random.Generator or None, default=0
        Has no effect: only `DINE.paper()` draws random numbers.
    n_jobs : int or None, default=None
        Threads; the result does not depend on it.
    cache : UnitCache or folder, optional
        Where fitted flows are looked for first, and kept.
    kinds : mapping of column name or position to {"continuous", "ordinal", "nominal", "angle:PERIOD"}, optional
        Kinds of features, where types and values suggest another. Text and categories are nominal.

    Returns
    -------
    scores : ndarray, shape (n_features,)
        I(feature; y) in nats, not cut off at zero; infinite for a strictly monotone function of y, 0 for a constant.
    pvalues : ndarray, shape (n_features,)
        Of the analytic independence test, uncorrected for the number of features; 1 for a constant.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.feature_selection import SelectKBest
    >>> from pydine import mutual_information_score
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((300, 5))
    >>> y = X[:, 1] ** 2 + X[:, 3] + 0.5 * rng.standard_normal(300)
    >>> SelectKBest(mutual_information_score, k=2).fit(X, y).get_support(indices=True)
    array([1, 3])
    """
    settings = _settings(base, random_state, n_jobs, cache)
    X = with_different_names("X", X)
    features = _labelled(X)
    if features is None:
        X, y = check_X_y(X, y, dtype=np.float64)
        features = _unnamed(X)
    else:
        y = _checked_target(features, y)
    column, kind = read_target(y, target)
    judge = Judge.of(features, column, kind, settings, kinds)
    least, n = 2 + SPARE_ROWS, len(features.values)
    if n < least:
        raise ValueError(f"X and y must have at least {least} rows to be scored, but have {n}; pass more rows.")
    alone = [Query(feature, ()) for feature in range(len(features.names))]
    return judge.information(alone), np.array([answer.pvalue for answer in judge.ask(alone)])


class ConditionalSelector(SelectorMixin, BaseEstimator):
    """Select the features that tell something about y which the other selected ones do not: its Markov blanket.

    Forward, the feature with the strongest evidence of dependence on y given those already selected is added, as long
    as that is significant at level `alpha` after Bonferroni's correction for the candidates left. Backward, features
    that are not significant given the other selected ones are removed, at level `alpha` and for good. Both are repeated
    until nothing is removed. The p-values are those of ``independence_test(feature, y, selected, method="analytic")``.

    Parameters
    ----------
    alpha : float, default=0.05
        Level of every decision. Once the selected features are a Markov blanket, `alpha` bounds the probability that a
        further one is added.
    max_features : int or None, default=None
        Features that are selected at most.
    backward : bool, default=True
        Whether superfluous features are taken out again.
    target : {"auto", "numbers", "classes"}, default="auto"
        How y is read. Classes have no order. ``"auto"`` takes for classes what is not a number, what has two values,
        and integers (by their type) of at most 10 different values.
    base : {"auto", "gaussian", "student", "mixture", "flow"}, default="auto"
        Base distribution of `information_`, as in `mutual_information`; it does not change what is selected.
    random_state : int, numpy.random.RandomState, numpy.random.Generator or None, default=0
        Has no effect: only `DINE.paper()` draws random numbers.
    n_jobs : int or None, default=None
        Threads; the result does not depend on it.
    cache : folder, optional
        Where fitted flows are kept between calls. The result does not depend on it.
    kinds : mapping of column name or position to {"continuous", "ordinal", "nominal", "angle:PERIOD"}, optional
        Kinds of features, where types and values suggest another. Text and categories are nominal.

    Attributes
    ----------
    support_ : ndarray of bool, shape (n_features,)
    selected_ : ndarray of int, shape (n_selected,)
        Selected features, in the order in which they were added.
    pvalues_ : ndarray, shape (n_features,)
        P-value of every feature given the selected ones other than itself, uncorrected for the number of features.
        Those of selected features are the smallest of many, and so too small to be reported (selection bias).
    information_ : ndarray, shape (n_features,)
        I(feature; y | the selected ones other than itself) in nats, not cut off at zero; infinite if a feature and
        those determine y, 0 if they determine the feature or y without it.
    steps_ : tuple of Step
        What was added and taken out, in order.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X has names.

    Examples
    --------
    >>> import numpy as np
    >>> from pydine import ConditionalSelector
    >>> rng = np.random.default_rng(0)
    >>> a, b, noise, other = rng.standard_normal((4, 500))
    >>> X = np.column_stack([a + b + 0.5 * noise, a, b, other])  # the first repeats what a and b say
    >>> y = a + b + 0.5 * rng.standard_normal(500)
    >>> ConditionalSelector().fit(X, y).get_support(indices=True)
    array([1, 2])
    """

    def __init__(
        self,
        *,
        alpha: float = 0.05,
        max_features: int | None = None,
        backward: bool = True,
        target: str = "auto",
        base: str = "auto",
        random_state: RandomState = 0,
        n_jobs: int | None = None,
        cache: CacheLike = None,
        kinds: Kinds | None = None,
    ) -> None:
        self.alpha = alpha
        self.max_features = max_features
        self.backward = backward
        self.target = target
        self.base = base
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.cache = cache
        self.kinds = kinds

    def fit(self, X: Any, y: Any, *, clusters: Any = None, time: Any = None) -> Self:
        """Select features.

        Parameters
        ----------
        X : array-like or frame of shape (n, n_features)
            Finite numbers; a frame may hold text, categories and booleans too. A constant column is never selected, nor
            is an identifier.
        y : array-like of shape (n,)
            Numbers or class labels.
        clusters, time
            How rows depend on each other, as in `mutual_information`: arrays, ``time=True``, or names of columns of X,
            which are never selected. ``set_fit_request(clusters=True)`` has scikit-learn pass them on.

        Returns
        -------
        ConditionalSelector
            The selector itself. With fewer than 13 rows too little can be tested: nothing is selected, and a warning
            says so.
        """
        self._check()
        settings = _settings(self.base, self.random_state, self.n_jobs, self.cache)
        X = with_different_names("X", X)
        features, told = _labelled(X), X
        if features is None:
            X, y = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=2)
            features = _unnamed(X)
        else:
            validate_data(self, X, skip_check_array=True)
            y = _checked_target(features, y)
        column, kind = read_target(y, self.target)
        n, n_features = features.values.shape
        rows, apart = _dependence(Dependence(clusters, time), told, n)
        # Rows that a test needs, beside one for every feature that it is given.
        capacity = n - (2 + SPARE_ROWS)
        selected: list[int] = []
        steps: list[Step] = []
        self.pvalues_, self.information_ = np.ones(n_features), np.zeros(n_features)
        if capacity < 1:
            warnings.warn(
                f"nothing is selected, because {n} rows are too few to test anything; "
                f"pass at least {n - capacity + 1}.",
                UserWarning,
                stacklevel=level_of_caller(),
            )
        else:
            limit = min(capacity, n_features if self.max_features is None else self.max_features)
            judge = Judge.of(features, column, kind, settings, self.kinds, rows, apart)
            search = Search(judge, float(self.alpha), limit, self.backward)
            selected, steps = search.run()
            queries = [Query.beside(feature, selected) for feature in range(n_features)]
            self.pvalues_ = np.array([answer.pvalue for answer in judge.ask(queries)])
            self.information_ = judge.information(queries)
        self.selected_, self.steps_ = np.array(selected, dtype=np.intp), tuple(steps)
        self.support_ = np.isin(np.arange(n_features), self.selected_)
        return self

    def transform(self, X: Any) -> Any:
        """Keep the selected features of X, shape (n, n_features), as an array or frame of shape (n, n_selected)."""
        return super().transform(with_different_names("X", X))

    def _check(self) -> None:
        """Refuse parameters that cannot be meant."""
        level: Any = self.alpha
        if not isinstance(level, Real) or not 0.0 < float(level) < 1.0:
            raise ValueError(f"alpha must be a number strictly between 0 and 1, but got {self.alpha!r}.")
        most = self.max_features
        if most is not None and (not is_integer(most) or most < 1):
            raise ValueError(f"max_features must be None or an integer of at least 1, but got {most!r}.")
        if not isinstance(self.backward, bool | np.bool_):
            raise ValueError(f"backward must be True or False, but got {self.backward!r}.")

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def _labelled(X: Any) -> Columns | None:
    """The columns of a frame that holds text, categories or booleans; None for what scikit-learn reads as numbers."""
    if not (hasattr(X, "columns") or hasattr(X, "column_names")):
        return None
    columns = read_columns("X", X)
    return columns if any(kind is not None for kind in columns.kinds) else None


def _unnamed(X: FloatArray) -> Columns:
    return Columns("X", tuple(f"column {i}" for i in range(X.shape[1])), X)


def _dependence(said: Dependence, X: Any, n: int) -> tuple[Rows, set[int]]:
    """How n rows of X depend on each other, and the columns of X that say so."""
    source = Source.read(X) if said.is_said or hasattr(X, "columns") else None
    if source is not None and not said.is_said:
        warn_of_repeats(source)
    apart = set() if source is None else said.names(source)
    return said.read(source, n, None), {
        i for i, name in enumerate(source.names if source else ()) if str(name) in apart
    }


def _checked_target(features: Columns, y: Any) -> NDArray[Any]:
    """Y as an array with as many rows as the features, none of which is missing anything."""
    finite_rows([features], omit=False)
    found: NDArray[Any] = column_or_1d(y)
    check_consistent_length(features.values, found)
    return found


def read_target(y: NDArray[Any], target: str) -> tuple[FloatArray, Kind]:
    """Read a target as a column of numbers.

    Parameters
    ----------
    y : ndarray, shape (n,)
    target : {"auto", "numbers", "classes"}

    Returns
    -------
    column : ndarray, shape (n,)
        Numbers as they are; classes numbered from 0 on, in their sorted order.
    kind : Kind
        Nominal for classes.
    """
    if target not in TARGETS:
        raise ValueError(f"target must be {' or '.join(map(repr, TARGETS))}, but got {target!r}.")
    if not len(y):
        raise ValueError("y must have rows, but has none; pass the same rows of X and y.")
    numbers = _as_numbers(y)
    _check_present(y, numbers)
    try:
        values, codes = np.unique(y if numbers is None else numbers, return_inverse=True)
    except TypeError:
        raise ValueError(
            "y must hold numbers, or labels of one type, but holds objects that have no order; convert them to text."
        ) from None
    if len(values) < 2:
        raise ValueError(f"y must vary, but is {values[0]} in all {len(y)} rows; pass another y.")
    if target == "numbers" and numbers is None:
        raise ValueError("y must hold numbers for target='numbers', but holds labels; pass target='classes'.")
    few_integers = y.dtype.kind in "iu" and len(values) <= MOST_CLASSES
    if numbers is not None and not (
        target == "classes" or (target == "auto" and (y.dtype.kind == "b" or len(values) == 2 or few_integers))
    ):
        return numbers, kind_of(numbers)
    if len(values) > len(y) / 2:
        raise ValueError(
            f"y must repeat its classes, but has {len(values)} different labels in {len(y)} rows; "
            "pass numbers with target='numbers', or fewer classes."
        )
    return codes.astype(np.float64), Kind.NOMINAL


def _check_present(y: NDArray[Any], numbers: FloatArray | None) -> None:
    """Refuse a target with missing or infinite values."""
    if numbers is not None:
        gone = ~np.isfinite(numbers)
    else:
        gone = np.array([is_missing(item) for item in y.tolist()], dtype=np.bool_)
    if gone.any():
        row = int(np.argmax(gone))
        raise ValueError(
            f"y must have a value in every row, but {gone.sum()} of its {len(y)} rows hold none, or infinity, the "
            f"first in row {row}; leave those rows out of X and y."
        )


def _as_numbers(y: NDArray[Any]) -> FloatArray | None:
    """Y as numbers, or None if it holds labels. Strings are labels, even those that spell numbers."""
    if y.dtype.kind in "biuf":
        return y.astype(np.float64)
    if y.dtype.kind == "O" and all(isinstance(item, Real) for item in y):
        return y.astype(np.float64)
    return None


def _settings(base: str, random_state: RandomState, n_jobs: int | None, cache: CacheLike) -> Settings:
    kept = UnitCache.of(cache)
    return Settings(
        base=base, random_state=random_state, n_jobs=n_jobs, cache=UnitCache() if kept is None else kept
    ).seeded()
