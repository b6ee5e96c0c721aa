"""Summaries of an experiment's rows: errors of estimates, curves of their means, error rates of a test.

A group with a failed row has no figure (NaN), rather than one over the rows that are left.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2
from scipy.stats import t as student
from sklearn.metrics import f1_score, roc_auc_score

from pydine.experiments.table import Row

LEVEL = 0.05  # of a test


def error_summary(rows: Iterable[Row]) -> list[Row]:
    """Summarise the errors of estimates, one line for each (n, d, method).

    Parameters
    ----------
    rows
        Of the experiments ``"mi"`` and ``"cmi"``.

    Returns
    -------
    list of dict
        ``datasets`` and ``failed`` (counts), ``mean_abs_error`` and ``bias`` in nats, ``coverage`` of nominal 95%
        intervals (NaN where a method has none), ``seconds`` (median) and ``peak_mib`` (largest).
    """
    lines = []
    for key, group in grouped(rows, ("n", "d", "method")):
        error = _column(group, "estimate") - _column(group, "truth")
        truth, low, high = (_column(group, name) for name in ("truth", "low", "high"))
        covered = ((low <= truth) & (truth <= high)).mean() if np.isfinite(low).any() else math.nan
        figures = {"mean_abs_error": np.abs(error).mean(), "bias": error.mean(), "coverage": covered}
        lines.append({**key, **_counts(group), **_floats(figures), **_cost(group)})
    return lines


def curves(rows: Iterable[Row], level: float = 0.95) -> list[Row]:
    """Average estimates over the seeds, one line for each (n, d, rho, method), in nats.

    Parameters
    ----------
    rows
        Of the experiments ``"mi"`` and ``"cmi"``.
    level
        Confidence level of the band of the mean, by Student's distribution.

    Returns
    -------
    list of dict
        ``datasets``, ``failed``, ``truth``, ``mean``, ``low`` and ``high``; the last two are NaN for a single seed.
    """
    lines = []
    for key, group in grouped(rows, ("n", "d", "rho", "method")):
        estimates, count = _column(group, "estimate"), len(group)
        margin = math.nan
        if count > 1:
            margin = float(student.ppf((1 + level) / 2, count - 1) * estimates.std(ddof=1) / math.sqrt(count))
        mean = float(estimates.mean())
        figures = {"truth": group[0]["truth"], "mean": mean, "low": mean - margin, "high": mean + margin}
        lines.append({**key, **_counts(group), **figures})
    return lines


def decision_summary(rows: Iterable[Row], level: float = LEVEL) -> list[Row]:
    """Summarise a test's decisions, one line for each (n, dz, method).

    Parameters
    ----------
    rows
        Of the experiment ``"cit"``.
    level
        A p-value of at most this rejects independence.

    Returns
    -------
    list of dict
        ``datasets``, ``failed``, ``type_1`` and ``type_2`` (error rates), ``f1``, ``auc``, ``seconds`` and
        ``peak_mib``. F1 and AUC take dependence as the positive class; AUC ranks by the score where a method has
        one, by the p-value otherwise.
    """
    lines = []
    for key, group in grouped(rows, ("n", "dz", "method")):
        figures = rates(_column(group, "truth") > 0.0, _column(group, "estimate"), _column(group, "score"), level)
        lines.append({**key, **_counts(group), **figures, **_cost(group)})
    return lines


def convergence_summary(rows: Iterable[Row], level: float = 0.95) -> list[Row]:
    """Measure the spread and the error of estimates, one line for each (n, d, rho, method).

    Parameters
    ----------
    rows
        Of `pydine.experiments.convergence.run_convergence`, at least two seeds of each combination.
    level
        Confidence level of the intervals: of the variance by the chi-squared distribution, as for normal estimates;
        of the mean absolute error by Student's.

    Returns
    -------
    list of dict
        ``datasets``, ``failed``, ``variance`` in squared nats with ``variance_low`` and ``variance_high``,
        ``mean_abs_error`` in nats with ``mean_abs_error_low`` and ``mean_abs_error_high``.
    """
    lines = []
    for key, group in grouped(rows, ("n", "d", "rho", "method")):
        estimates, freedom = _column(group, "estimate"), len(group) - 1
        variance, tail = estimates.var(ddof=1), (1 - level) / 2
        errors = np.abs(estimates - _column(group, "truth"))
        margin = student.ppf(1 - tail, freedom) * errors.std(ddof=1) / math.sqrt(len(group))
        figures = {
            "variance": variance,
            "variance_low": freedom * variance / chi2.ppf(1 - tail, freedom),
            "variance_high": freedom * variance / chi2.ppf(tail, freedom),
            "mean_abs_error": errors.mean(),
            "mean_abs_error_low": errors.mean() - margin,
            "mean_abs_error_high": errors.mean() + margin,
        }
        lines.append({**key, **_counts(group), **_floats(figures)})
    return lines


def rates(
    dependent: NDArray[np.bool_],
    pvalues: NDArray[np.float64],
    scores: NDArray[np.float64] | None = None,
    level: float = LEVEL,
) -> dict[str, float]:
    """Error rates, F1 and AUC of p-values, all arrays of shape (datasets,); NaN if a p-value is."""
    if np.isnan(pvalues).any():
        return dict.fromkeys(("type_1", "type_2", "f1", "auc"), math.nan)
    rejected = pvalues <= level
    ranking = pvalues if scores is None or np.isnan(scores).any() else scores
    both = 0 < dependent.sum() < len(dependent)
    return _floats(
        {
            "type_1": rejected[~dependent].mean() if not dependent.all() else math.nan,
            "type_2": (~rejected[dependent]).mean() if dependent.any() else math.nan,
            "f1": f1_score(dependent, rejected, zero_division=0.0) if both else math.nan,
            "auc": roc_auc_score(dependent, -ranking) if both else math.nan,
        }
    )


def grouped(rows: Iterable[Row], names: Sequence[str]) -> Iterator[tuple[Row, list[Row]]]:
    """Rows by the values of these columns, in the order in which those first appear, sorted by all but the last."""
    groups: dict[tuple[object, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in names), []).append(row)
    for values in sorted(groups, key=lambda values: values[:-1]):
        yield dict(zip(names, values, strict=True)), groups[values]


def _column(rows: Sequence[Row], name: str) -> NDArray[np.float64]:
    return np.array([row[name] for row in rows], dtype=np.float64)


def _counts(rows: Sequence[Row]) -> dict[str, int]:
    return {"datasets": len(rows), "failed": sum(bool(row["error"]) for row in rows)}


def _cost(rows: Sequence[Row]) -> dict[str, float]:
    return _floats({"seconds": np.median(_column(rows, "seconds")), "peak_mib": _column(rows, "peak_mib").max()})


def _floats(figures: dict[str, float]) -> dict[str, float]:
    return {name: float(value) for name, value in figures.items()}
