"""Answers of every entry point as plain figures: parts by name, each a few numbers and words by name."""

import io
import json
import sys
from contextlib import redirect_stderr, redirect_stdout

import numpy as np

from pydine.cli import app
from systems import kept_handlers

Figures = dict[str, dict[str, float | str]]

PAIRS = 15  # of a table, at most


def of_estimate(estimate, part="estimate") -> Figures:
    """Value, errors and interval in nats, the weights of bases, and what the error consists of."""
    low, high = estimate.confidence_interval(0.95)
    below, above = estimate.errors or (estimate.standard_error,) * 2
    numbers = {"value": estimate.value, "error": estimate.standard_error, "below": below, "above": above}
    found = {part: {**numbers, "low": low, "high": high, "base": estimate.base, "n": estimate.n_samples}}
    for name in ("weights", "uncertainty"):
        told = estimate.details.get(name)
        if told:
            found[f"{part} {name}"] = {key: float(value) for key, value in told.items()}
    return found


def of_test(result) -> Figures:
    null = {} if result.null_distribution is None else {"null": of_rows(np.sort(result.null_distribution))}
    blocks = {name: float(p) for name, p in result.block_pvalues.items()}
    return {
        "test": {"statistic": float(result.statistic), "p": float(result.pvalue)},
        **of_estimate(result.estimate),
        **({"block p": blocks} if blocks else {}),
        **null,
    }


def of_rows(values) -> dict[str, float]:
    """A vector (n,) or matrix in a few numbers: the first rows, mean, spread, and a wave along all of it."""
    values = np.asarray(values, dtype=float).ravel()
    wave = np.cos(np.arange(len(values)))
    first = {f"row {i}": float(value) for i, value in enumerate(values[:3])}
    return {
        **first,
        "mean": float(values.mean()),
        "spread": float(values.std()),
        "wave": float(values @ wave / len(values)),
    }


def of_pointwise(pointwise) -> Figures:
    latents = {f"latents {name}": of_rows(side) for name, side in zip("xy", pointwise.latents, strict=True)}
    return {**of_estimate(pointwise.estimate), "rows": of_rows(pointwise.values), **latents}


def of_pairs(columns) -> Figures:
    """A table of pairs, as columns by name."""
    names = {"information": "value", "standard_error": "error", "pvalue": "p", "adjusted_pvalue": "adjusted p"}
    kept = [name for name in columns if name in {*names, "low", "high", "base", "n"}]
    rows = sorted(zip(columns["x"], columns["y"], *(columns[name] for name in kept), strict=True))
    return {
        f"{x}; {y}": {names.get(name, name): value for name, value in zip(kept, figures, strict=True)}
        for x, y, *figures in rows[:PAIRS]
    }


def of_ranking(ranking) -> Figures:
    found: Figures = {}
    for column in ranking:
        found |= of_estimate(column.alone, f"{column.name} alone")
        found[f"{column.name} alone"] |= {"p": column.pvalue_alone, "adjusted p": column.adjusted_alone}
        if column.given_rest is not None:
            found |= of_estimate(column.given_rest, f"{column.name} given rest")
            rest = {"p": column.pvalue_given_rest, "adjusted p": column.adjusted_given_rest}
            found[f"{column.name} given rest"] |= rest
    return found


def of_answer(answer) -> Figures:
    return {"search": {"p": float(answer.pvalue), "value": float(answer.information)}}


def of_command(*arguments) -> Figures:
    """What the command prints as JSON, run in this process; numbers only, from whatever depth."""
    before, sys.argv = sys.argv, ["pydine", *map(str, arguments), "--json"]
    said, errors = io.StringIO(), io.StringIO()
    try:
        with kept_handlers(), redirect_stdout(said), redirect_stderr(errors):
            app.main()
    except SystemExit as end:
        if end.code:
            raise ValueError(f"pydine {' '.join(sys.argv[1:])}: {errors.getvalue()}") from end
    finally:
        sys.argv = before
    return {"said": dict(_leaves(json.loads(said.getvalue())))}


def _leaves(told, path=""):
    if isinstance(told, dict):
        for key, item in told.items():
            yield from _leaves(item, f"{path} {key}".strip())
    elif isinstance(told, list):
        for i, item in enumerate(told):
            yield from _leaves(item, f"{path} {i}".strip())
    elif isinstance(told, int | float):
        yield path, float(told)
