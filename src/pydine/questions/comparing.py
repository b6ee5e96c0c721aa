"""The questions "is A more informative than B?", and "does X tell more in one group than in another?"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from pydine.answers.asking import Answered
from pydine.answers.contrasts import answer_all, correlations_of
from pydine.answers.settings import CacheLike, RandomState, Settings
from pydine.answers.watching import shown_in_notebooks
from pydine.inputs.checks import SPARE_ROWS
from pydine.inputs.dependence import Dependence
from pydine.inputs.kinds import Kind, Kinds, as_said
from pydine.inputs.reading import read_question, read_sides
from pydine.inputs.table import Question, Table
from pydine.results.contrasts import Difference
from pydine.types import RowArray
from pydine.work.cache import UnitCache
from pydine.work.threads import one_thread

__all__ = ["compare", "compare_groups", "difference_of"]


@shown_in_notebooks("Comparing")
@one_thread()
def compare(
    a: Any,
    b: Any,
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
) -> Difference:
    """Estimate how much more A tells about Y than B does, given Z or not: I(A;Y|Z) - I(B;Y|Z).

    Both are estimated from the same rows, so that what these rows have in common cancels: the difference is often known
    better than either.

    Parameters
    ----------
    a, b, y, given : array-like of shape (n,) or (n, d), column, frame, or names of columns of `data`
        Observations of A, B, Y and, if any, Z.
    data : frame, optional
        Where named columns are found.
    base, random_state, n_jobs, cache, kinds, clusters, time, weights
        As in `mutual_information`.
    nan_policy : {"raise", "omit"}, default="raise"
        What happens to rows that hold NaN or infinity in any of the four: refused, or left out.

    Returns
    -------
    Difference
        ``value`` in nats, ``confidence_interval(0.95)``, ``pvalue``; ``first`` and ``second`` are what is compared.

    Examples
    --------
    >>> import numpy as np
    >>> import pydine
    >>> rng = np.random.default_rng(0)
    >>> y = rng.standard_normal(1000)
    >>> near, far = y + rng.standard_normal(1000), y + 2.0 * rng.standard_normal(1000)
    >>> pydine.compare(near, far, y).verdict()
    'a tells more'
    """
    settings = Settings(base=base, random_state=random_state, n_jobs=n_jobs, cache=UnitCache.of(cache)).seeded()
    table, places = read_sides(
        {"a": a, "b": b, "y": y, "given": given},
        data=data,
        nan_policy=nan_policy,
        kinds=kinds,
        dependence=Dependence(clusters, time, weights=weights),
    )
    questions = [Question(table, places[side], places["y"], places["given"]) for side in ("a", "b")]
    first, second = (", ".join(question.names[0]) for question in questions)
    return difference_of(answer_all(questions, settings), (first, second))


def difference_of(parts: Sequence[Answered], labels: tuple[str, str], is_paired: bool = True) -> Difference:
    """The difference of two answers, whichever rows they have in common."""
    first, second = (part.estimate for part in parts)
    is_paired = is_paired and bool(np.isin(parts[0].rows, parts[1].rows).any())
    return Difference(first, second, labels, float(correlations_of(parts)[0, 1]), is_paired)


@shown_in_notebooks("Comparing")
@one_thread()
def compare_groups(
    x: Any,
    y: Any,
    given: Any = None,
    *,
    data: Any,
    by: Any = None,
    groups: Sequence[Any] | None = None,
    base: str = "auto",
    random_state: RandomState = 0,
    n_jobs: int | None = None,
    nan_policy: str = "raise",
    cache: CacheLike = None,
    kinds: Kinds | None = None,
    clusters: Any = None,
    time: Any = None,
    weights: Any = None,
) -> Difference:
    """Estimate how much more X tells about Y in one group of rows, or in one table, than in another.

    Parameters
    ----------
    x, y, given : column name or list of names
    data : frame, mapping of columns or 2-D array; or two of them
        A table whose column `by` says which group a row is of; or, without `by`, a mapping of two names to tables, or a
        tuple of two tables. Kinds of columns are those of the whole table, or of the first of two.
    by : column name, optional
        The column of groups.
    groups : sequence of two labels, optional
        Which groups to compare, if there are more than two.
    base, random_state, n_jobs, nan_policy, cache, kinds
        As in `mutual_information`.
    clusters, time, weights : column name, or for time True, optional
        As in `mutual_information`. Clusters may have rows in both groups, as subjects before and after something have:
        what these have in common cancels then.

    Returns
    -------
    Difference
        As `compare` has it; the rows are others, so that errors do not cancel unless clusters have rows in both.

    Examples
    --------
    >>> import numpy as np
    >>> import pydine
    >>> rng = np.random.default_rng(0)
    >>> x, noise = rng.standard_normal((2, 2000))
    >>> group = np.repeat(["old", "new"], 1000)
    >>> data = {"x": x, "y": np.where(group == "new", 2.0, 0.5) * x + noise, "group": group}
    >>> pydine.compare_groups("x", "y", data=data, by="group", groups=["new", "old"]).verdict()
    'more information in new'
    """
    settings = Settings(base=base, random_state=random_state, n_jobs=n_jobs, cache=UnitCache.of(cache)).seeded()
    told = Dependence(clusters, time, weights=weights)
    if by is None:
        questions = _of_tables(x, y, given, _two_tables(data), nan_policy, kinds, told)
        first, second = (part.estimate for part in answer_all(list(questions.values()), settings))
        one, other = questions
        return Difference(first, second, (one, other), is_paired=False)
    said = {**(kinds or {}), by: "nominal"}
    sides = {"x": x, "y": y, "given": given, "by": by}
    table, places = read_sides(sides, data=data, nan_policy=nan_policy, kinds=said, dependence=told)
    (group,) = places["by"]
    codes = cast("Mapping[str, int]", table.codings[table.names[group]])  # labels, as was said
    chosen = _chosen(by, list(codes), groups)
    whole = Question(table, places["x"], places["y"], places["given"])
    rows = {label: np.flatnonzero(table.columns[group] == codes[label]) for label in chosen}
    parts = answer_all([_part(whole, label, some) for label, some in rows.items()], settings)
    one, other = chosen
    return difference_of(
        [_spread(*part, table) for part in zip(parts, rows.values(), strict=True)], (one, other), False
    )


def _spread(part: Answered, rows: RowArray, table: Table) -> Answered:
    """An answer from some rows of a table, as one from all of them to which the others add nothing."""
    if table.rows.exchangeable:
        return replace(part, rows=rows)
    values = np.zeros(table.n_samples)
    values[rows] = part.values - part.values.mean()
    return replace(part, values=values, rows=np.arange(table.n_samples), sampling=table.rows)


def _two_tables(data: Any) -> dict[str, Any]:
    """Two tables, by name."""
    if isinstance(data, tuple | list) and len(data) == 2:
        return dict(zip(("first", "second"), data, strict=True))
    if isinstance(data, Mapping) and len(data) == 2 and all(np.ndim(part) != 1 for part in data.values()):
        return {str(name): part for name, part in data.items()}
    raise ValueError("data must be two tables, as a tuple or a dict, or one table with by=, a column of groups.")


def _of_tables(
    x: Any,
    y: Any,
    given: Any,
    tables: Mapping[str, Any],
    nan_policy: str,
    kinds: Kinds | None,
    told: Dependence,
) -> dict[str, Question]:
    """The same question about each table, with the kinds of columns of the first."""
    questions: dict[str, Question] = {}
    for label, data in tables.items():
        found = read_question(x, y, given, data=data, nan_policy=nan_policy, kinds=kinds, dependence=told)
        kinds = as_said({name: found.table.kind(i) for i, name in enumerate(found.table.names)}, kinds)
        questions[label] = found
    return questions


def _chosen(by: Any, labels: Sequence[str], groups: Sequence[Any] | None) -> list[str]:
    """The two groups to compare, by their labels."""
    asked = labels if groups is None else [str(group) for group in groups]
    wrong = [label for label in asked if label not in labels]
    if wrong or len(set(asked)) != 2:
        shown = ", ".join(map(repr, labels[:10])) + (" ..." if len(labels) > 10 else "")
        raise ValueError(f"groups must be two labels of {by!r}, but got {groups!r}; its labels are {shown}.")
    return list(asked)


def _part(whole: Question, label: str, rows: RowArray) -> Question:
    """A question about some of the rows; what is given and does not vary there is left out."""
    table = whole.table
    given = tuple(i for i in whole.given if np.ptp(table.columns[i][rows]) > 0.0)
    used = (*whole.x, *whole.y, *given)
    if len(rows) < len(used) + SPARE_ROWS:
        raise ValueError(
            f"group {label!r} must have at least {len(used) + SPARE_ROWS} rows, {SPARE_ROWS} more than the columns, "
            f"but has {len(rows)}; compare larger groups."
        )
    for i in (*whole.x, *whole.y):
        if np.ptp(table.columns[i][rows]) == 0.0:
            raise ValueError(f"column {table.names[i]!r} must vary, but is constant in group {label!r}; leave it out.")
    kinds = tuple(table.kind(i) for i in used)
    is_plain = all(kind is Kind.CONTINUOUS for kind in kinds)
    columns = np.ascontiguousarray(table.columns[list(used)][:, rows])
    names = tuple(table.names[i] for i in used)
    part = Table(columns, names, None, () if is_plain else kinds, rows=table.rows.only(rows))
    places, dx, sides = tuple(range(len(used))), len(whole.x), len(whole.x) + len(whole.y)
    return Question(part, places[:dx], places[dx:sides], places[sides:])
