"""The list of rungs, and the names by which stored units find their expansions; no other module lists them."""

from __future__ import annotations

from pydine.units.rungs.linear import ADDITIVE, LINEAR, SCALE, additive, with_radius
from pydine.units.rungs.networks import (
    MOST_BENT,
    IndexRung,
    NetworkRung,
    WideRung,
    cubic,
    larger_networks,
)
from pydine.units.rungs.rung import Rung
from pydine.units.rungs.waves import WavesRung, has_rows, waves
from pydine.units.settings import LadderSettings
from pydine.units.unit import Expansion, identity

EXPANSIONS: dict[str, Expansion] = {f.__name__: f for f in (identity, with_radius, cubic, additive, waves)}


def rungs_for(c: int, n_train: int, settings: LadderSettings) -> list[Rung]:
    """The rungs from plain to rich, for c > 0 context columns and n_train rows to learn from in a fold."""
    most = settings.iterations
    rungs: list[Rung] = [LINEAR, SCALE, ADDITIVE]
    if c > 1 and settings.networks > 0:
        names = ("index", "curved index")[: 2 if c <= MOST_BENT else 1]
        rungs += [IndexRung(name, cubic, most, start) for start, name in enumerate(names)]
    rungs += [NetworkRung("network", identity, most, start) for start in range(settings.networks)]
    if settings.networks > 0 and has_rows(c, n_train):
        rungs.append(WavesRung("waves", waves, most))
    if settings.networks > 0:
        rungs += larger_networks(c, n_train, settings)
    rungs += [WideRung("wide", with_radius, most, start) for start in range(settings.wide_networks)]
    return [rung for rung in rungs if rung.name.split()[-1] not in settings.without]
