"""The analytic test of independence of two sides, which all entry points share, and its form for all pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from pydine.latents.flows import Latents
from pydine.nulls.moments import BLOCKS, SQUARES, combined, moments_of
from pydine.nulls.tables import CodeTable
from pydine.nulls.tiles import Tiles
from pydine.types import FloatArray

STATISTICS = ("auto", "gaussian", "general")
WORDS = tuple(block.partition(" in ")[0] for block in BLOCKS)  # fact: whichever side is bent


class AnalyticTest(NamedTuple):
    """The result of the test.

    Parameters
    ----------
    pvalue : float
        Never 0.
    blocks : ndarray, shape (4,)
        Statistics of latents and squares in nats, in the order of `moments.SQUARES`.
    block_pvalues : ndarray, shape (6,)
        In the order of `moments.BLOCKS`.
    """

    pvalue: float
    blocks: FloatArray
    block_pvalues: FloatArray

    @classmethod
    def settled(cls, value: float, pvalue: float) -> AnalyticTest:
        """The result where it is known without latents."""
        return cls(pvalue, np.full(len(SQUARES), value), np.full(len(BLOCKS), pvalue))

    @property
    def shows(self) -> str:
        """Where dependence shows, in words: the plainest block with half of the evidence, ln p, of the clearest."""
        evidence = -np.log(self.block_pvalues)
        return WORDS[int(np.argmax(evidence >= 0.5 * evidence.max()))]


def analytic_test(tested: Latents | CodeTable, statistic: str = "auto") -> AnalyticTest:
    """Test whether the sides of latents, or of a table of labels, depend on each other."""
    moments = moments_of(tested)
    blocks, pvalues, order = moments.statistics(), moments.pvalues(), named_order(tested)
    return AnalyticTest(
        float(combined(statistic, pvalues, moments.has_z)), blocks[order[: len(blocks)]], pvalues[order]
    )


def pairwise_test(latents: Latents) -> FloatArray:
    """P-values of `analytic_test` for every pair of the latents' columns, shape (p (p - 1) / 2,).

    Pairs are in the order of ``np.triu_indices(p, 1)``.
    """
    tiles, every = Tiles.of(latents), slice(None)
    pairs = np.triu_indices(len(tiles.columns), 1)
    return tiles.test(every, every, tiles.correlations(every, every), pairs)


def in_sample(latents: Latents, variables: Sequence[slice]) -> Callable[[int, int], FloatArray]:
    """The blocks' p-values (6,) of any two of these variables, each one or several of the latents' columns."""
    if all(variable.stop - variable.start == 1 for variable in variables):
        tiles, every = Tiles.of(latents), slice(None)
        found = tiles.pvalues(every, every, tiles.correlations(every, every))
        return lambda i, j: found[i, j]
    columns = [list(range(variable.start, variable.stop)) for variable in variables]
    return lambda i, j: analytic_test(latents.of_columns(columns[i], columns[j])).block_pvalues


def named_order(tested: Latents | CodeTable) -> list[int]:
    """The permutation that puts the blocks of `moments_of`, where y may go first, into the order of `BLOCKS`."""
    latents = None if isinstance(tested, CodeTable) else tested
    is_swapped = latents is not None and latents.view is not None and latents.view.is_swapped
    return [0, 2, 1, *range(3, len(BLOCKS))] if is_swapped else list(range(len(BLOCKS)))


def summary(statistic: str, blocks: FloatArray, pvalues: FloatArray, has_z: bool) -> Any:
    """The test statistic: nats for one block, -ln of the combined p-value for several."""
    return blocks[..., 0] if statistic == "gaussian" else -np.log(combined(statistic, pvalues, has_z))


def in_words(pvalues: FloatArray, has_z: bool) -> dict[str, float]:
    """P-values (6,) by the names of their blocks; without z nothing changes with it."""
    names = BLOCKS if has_z else BLOCKS[:-1]
    return dict(zip(names, pvalues.tolist(), strict=False))
