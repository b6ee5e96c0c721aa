"""Folds of a report that say why a column tells little once the others are known."""

from __future__ import annotations

import numpy as np

from pydine.report.content import Report
from pydine.report.markup import name, nats, pvalue, shown
from pydine.results.explanation import Explanation
from pydine.types import FloatArray

WIDTH, HEIGHT, MARGIN = 360, 220, 12
MOST_POINTS = 500


def explanations(report: Report) -> str:
    """The folds, as HTML: one for each column that tells something alone and is not detected given the others."""
    folds = [
        f"<details><summary>Why is {name(row.name)} not detected given the others?</summary>"
        f"{_fold(row.why, row.given_rest.adjusted, report.alpha)}</details>"
        for row in report.ranking
        if row.why is not None and row.given_rest is not None
    ]
    return "".join(folds)


def _fold(why: Explanation, adjusted: float, alpha: float) -> str:
    """The fold of a column; p-values in it are of the column by itself, `adjusted` is the ranking's."""
    rows = ""
    for text, step in why.lines():
        low, high = step.left.confidence_interval()
        rows += (
            f'<tr><th scope="row">{shown(text)}</th><td class="number">{nats(step.left.value)} '
            f'<small class="wide">± {step.left.standard_error:.3f}</small></td>'
            f'<td class="number">{low:.3f} to {high:.3f}</td><td class="number">{pvalue(step.pvalue)}</td></tr>'
        )
    head = (
        '<thead><tr><th scope="col">given</th><th scope="col" class="number">left, nats</th>'
        '<th scope="col" class="number">95% interval</th><th scope="col" class="number">p</th></tr></thead>'
    )
    said = " ".join(shown(sentence) for sentence in (why.summary, why.beside_line) if sentence)
    if why.steps[-1].pvalue <= alpha:
        said += f" Adjusted for all columns of the ranking, p = {pvalue(adjusted)}: not detected."
    table = f'<div class="scroll"><table>{head}<tbody>{rows}</tbody></table></div>'
    return f"<p>{said}</p>{table}{_partial_plot(why)}"


def _partial_plot(why: Explanation) -> str:
    """What the others leave of both, in their units, as a drawing."""
    if not np.size(why.residuals):
        return ""
    x, y = why.residuals[:, :MOST_POINTS]
    across, down = _places(x, WIDTH), HEIGHT - _places(y, HEIGHT)
    dots = "".join(f'<circle cx="{a:.1f}" cy="{b:.1f}" r="2"/>' for a, b in zip(across, down, strict=True))
    return (
        f'<figure><svg viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" role="img" aria-label="partial plot" '
        f'fill="currentColor" fill-opacity="0.5">{dots}</svg>'
        f'<figcaption class="legend">Across: {name(why.name)}, {x.min():.4g} to {x.max():.4g}; up: {name(why.target)}, '
        f"{y.min():.4g} to {y.max():.4g}; both are residuals given the others.</figcaption></figure>"
    )


def _places(values: FloatArray, size: int) -> FloatArray:
    low, high = float(values.min()), float(values.max())
    return MARGIN + (values - low) / (high - low or 1.0) * (size - 2 * MARGIN)
