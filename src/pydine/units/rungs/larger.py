"""Larger networks: the more rows there are, the more of an effect can be learned, if the network has room for it.

A network of fixed size cannot follow every function however many rows it learns from; a sieve, whose size grows with
the rows, can (Chen and White 1999). So networks of twice, four times, ... as many hidden units are tried as long as
each parameter has rows enough and the next smaller network counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pydine.units.growing import ROWS_PER_PARAMETER
from pydine.units.network import Network
from pydine.units.rungs.networks import NetworkRung
from pydine.units.settings import LadderSettings
from pydine.units.unit import identity

MOST_TIMES = 8  # answer: the largest network's hidden units, in multiples of a network's, to save time


@dataclass(frozen=True)
class LargerRung(NetworkRung):
    """A network with `times` as many hidden units, tried if that of half as many counts."""

    times: int = 2

    def network(self, c: int, settings: LadderSettings) -> Network:
        """See `NetworkRung`."""
        return Network.tanh(c, self.times * settings.hidden_units, settings.components)


def larger_networks(c: int, n_train: int, settings: LadderSettings) -> Iterator[LargerRung]:
    """Networks of 2, 4, ... times the hidden units, as many as rows allow."""
    times, below = 2, "network"
    while times <= MOST_TIMES:
        name = f"{times * settings.hidden_units}-unit network"
        rung = LargerRung(name, identity, settings.iterations, 0, times, after=below)
        if ROWS_PER_PARAMETER * rung.network(c, settings).n_parameters > n_train:
            return
        yield rung
        times, below = 2 * times, rung.name
