"""A number and a discrete column: frequencies of the codes that are constant within segments of the number.

Flows are smooth. Where frequencies change abruptly (at a threshold or a grade), segments describe them better than any
flow, and they can follow any shape: the model averages over all ways to cut the number into segments (`kernels`). Given
z, the number is replaced by its latent given z, and a segment has factors r(code) on the probabilities given z:
p(code | number, z) = p(code | z) r(code) / sum p(. | z) r(.).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from pydine.bases.kinds.parts import Parts, codes_of_columns
from pydine.bases.kinds.tables import Codes
from pydine.inputs.kinds import MOST_LEVELS
from pydine.kernels.normal import quantiles
from pydine.kernels.segments import segment_shares
from pydine.latents.kinds.column import Column
from pydine.latents.kinds.conditionals import Conditional
from pydine.latents.kinds.continuous import ContinuousColumn
from pydine.latents.kinds.question import MixedColumns
from pydine.sampling import HeldOut
from pydine.types import FloatArray, RowArray

# precision: bins of a number between which it may be cut: twice as many gain little with 2000 rows. An odd number, so
# that no rank lies between two of them.
PLACES = 255
SEGMENTS, CLEARED = "segments", "segments, cleared"
CUTS = 8.0  # answer: expected number of cuts: for shapes of our own, held-out likelihoods hardly differ from 4 to 16


def segmented(
    columns: MixedColumns,
    latent: MixedColumns | None,
    alone: Sequence[Conditional],
    seeing: Sequence[Conditional],
    folds: Sequence[HeldOut],
) -> dict[str, Parts]:
    """Log-ratios of a number and a discrete column by segments, by name; empty without such a pair, or with many codes.

    Parameters
    ----------
    columns, latent : MixedColumns
        The columns as they are, and with numbers replaced by their latents given z, if z has an effect on them.
    alone, seeing : sequence of Conditional
        Both sides given z, and given z and each other; without the latter, z is not `cleared`.
    folds : sequence of HeldOut
        Rows that are held out together.
    """
    if len(columns.x) != 1 or len(columns.y) != 1 or columns.x[0].is_discrete == columns.y[0].is_discrete:
        return {}
    number, other = sorted((columns.x[0], columns.y[0]), key=lambda column: column.is_discrete)
    codes = codes_of_columns([other])
    if codes.max() >= MOST_LEVELS:
        return {}
    if not columns.z:
        return {SEGMENTS: _held_out(number, codes, None, folds)}
    of_other = next(each for each in alone if each.column is other)
    chances = np.exp(of_other.alternatives.log_chances)
    numbers = [each for each in seeing if each.column is number]
    places = {CLEARED: cleared(numbers[0], of_other)} if numbers else {}
    if latent is not None:
        places[SEGMENTS] = latent.x[0] if number is columns.x[0] else latent.y[0]
    return {name: _held_out(place, codes, chances, folds) for name, place in places.items()}


def cleared(seeing: Conditional, other: Conditional) -> Column:
    """A number with the effect of z removed by a model that sees the other side as well.

    Its distribution given z is that given z and the other side, averaged over the other side given z: with the other
    side known, the effect of z is easier to learn.
    """
    if not seeing.units[0].models:
        return seeing.column  # it depends on nothing; averages would tell its ties apart by their rounding
    alternatives = other.alternatives
    changed = seeing.context.with_others(seeing.context.values, other.column, alternatives.seen)
    scores = seeing.column.pieces(seeing.column.values)[0][1]
    below, above = np.zeros((2, len(scores)))
    for chances, context in zip(np.exp(alternatives.log_chances), changed, strict=True):
        under, over = seeing.units[0].tails(scores, context)
        below += chances * under
        above += chances * over
    # From both tails, so that far values of the negated number differ as much as these do.
    place = np.empty(len(scores))
    quantiles(below, above, place)
    return ContinuousColumn(place)


def bins_of(scores: FloatArray) -> Codes:
    """The bin of each of scores (n,), of `PLACES` bins of equal size; for negated scores, bins are mirrored."""
    ordered, n = np.sort(scores), len(scores)
    twice = np.searchsorted(ordered, scores, side="left") + np.searchsorted(ordered, scores, side="right")  # the rank
    bins, rest = np.divmod(PLACES * twice, 2 * n)
    outwards: Codes = np.where((rest == 0) & (twice < n), bins - 1, bins)
    return outwards


def _held_out(number: Column, codes: Codes, chances: FloatArray | None, folds: Sequence[HeldOut]) -> Parts:
    bins = bins_of(number.context[0])
    every, held_out = np.arange(len(codes)), np.empty(len(codes))
    for rows, away in folds:
        held_out[rows] = _ratios(bins, codes, np.delete(every, away), rows, chances)
    return Parts(partial(_ratios, bins, codes, every, every, chances), held_out, 1.0)


def _ratios(bins: Codes, codes: Codes, learned: RowArray, rows: RowArray, chances: FloatArray | None) -> FloatArray:
    """Log-ratios of `rows` by segments of the rows `learned`, in nats; `chances` (codes, n) are p(code | z), if any."""
    k = int(codes.max()) + 1
    counts = np.zeros((PLACES, k))
    np.add.at(counts, (bins[learned], codes[learned]), 1.0)
    overall = (counts.sum(axis=0) + 0.5) / (len(learned) + 0.5 * k)
    shares = segment_shares(counts, overall, CUTS / PLACES)
    if chances is None:
        average = counts.sum(axis=1) @ shares / len(learned)
        logs: FloatArray = np.log(shares / average)
        return logs[bins[rows], codes[rows]]
    ratios = shares / overall
    whole = (chances[:, rows] * ratios[bins[rows]].T).sum(axis=0)
    found: FloatArray = np.log(ratios[bins[rows], codes[rows]] / whole)
    return found
