"""Directions of the edges of a skeleton: colliders, what is known beforehand, and what follows from both.

Two columns that are not joined, with a common neighbour k: if sets that separate them leave k out, both point to k (a
collider); if they need k, not both do. Rules that tell which (Ramsey, Spirtes and Zhang 2006; Colombo and Maathuis
2014):

- "checked": k is outside the separating set, and the two depend on each other again once k is added to it.
- "majority": among all sets of neighbours that separate the two, more than half (fewer than half) leave k out.
- "conservative": all of them (none of them) do.

Other triples are ambiguous, and nothing follows from them. Meek's four rules (1995) then direct all edges whose
direction follows from that of others. All edges that a pass directs are directed at once, so that the order of columns
does not matter, and an edge that two colliders direct both ways conflicts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from pydine.questions.graphs.knowledge import Knowledge
from pydine.questions.graphs.skeleton import Ask, Given, Pair, PairQuestion, Skeleton

COLLIDERS = ("checked", "majority", "conservative")

Triple = tuple[int, int, int]  # i, k, j: i and j (i < j) are joined with k, and not with each other
Square = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Directed:
    """Arrowheads of edges, and triples that tell nothing.

    Parameters
    ----------
    heads : ndarray of bool, shape (p, p)
        Entry (i, j): whether the edge of i and j has an arrowhead at j.
    ambiguous : frozenset of (int, int, int)
    """

    heads: Square
    ambiguous: frozenset[Triple]


def directions(
    found: Skeleton, ask: Ask, alpha: float, colliders: str, depth: int | None, known: Knowledge
) -> Directed:
    """Direct the edges of a skeleton as far as independences and what is known tell."""
    triples = list(_triples(found))
    votes = _checked if colliders == "checked" else _counted
    shares = votes(found, triples, ask, alpha, depth)
    least = {"checked": 1.0, "majority": 0.5, "conservative": 1.0}[colliders]
    heads = found.joined & ~known.may.T  # where the other direction is ruled out
    bent, ambiguous = [], set()
    for (i, k, j), share in zip(triples, shares, strict=True):
        is_collider = share > least if least < 1.0 else share >= least
        if is_collider and known.may[i, k] and known.may[j, k]:
            bent.append((i, k, j))
        elif is_collider or not (share < 1.0 - least if least < 1.0 else share <= 0.0):
            ambiguous.add((i, k, j))
    for i, k, j in bent:
        heads[i, k] = heads[j, k] = True
    return Directed(_followed(found.joined, heads, frozenset(ambiguous), known.may), frozenset(ambiguous))


def _triples(found: Skeleton) -> Iterator[Triple]:
    for k in range(len(found.joined)):
        for i, j in combinations(found.neighbours(k), 2):
            if not found.joined[i, j]:
                yield i, k, j


# --- colliders: the share of separating sets that leave out the middle of a triple ------------------------------------


def _checked(found: Skeleton, triples: Sequence[Triple], ask: Ask, alpha: float, _: int | None) -> list[float]:
    """1 if the separating set leaves out the middle and cannot do with it, 0 if it holds it; 0.5 if both separate."""
    asked = {
        (i, k, j): PairQuestion(i, j, tuple(sorted((*found.links[i, j].given, k))))
        for i, k, j in triples
        if (i, j) in found.links and k not in found.links[i, j].given
    }
    pvalues = dict(zip(asked, ask(list(asked.values())), strict=True))
    shares = []
    for i, k, j in triples:
        if (i, j) not in found.links:  # apart because somebody knows it: no set says why
            shares.append(0.5)
        elif (i, k, j) in pvalues:
            shares.append(0.5 if pvalues[i, k, j] > alpha else 1.0)
        else:
            shares.append(0.0)
    return shares


def _counted(found: Skeleton, triples: Sequence[Triple], ask: Ask, alpha: float, depth: int | None) -> list[float]:
    """Of all sets of neighbours that separate the ends, and the one that the search found."""
    pairs = list(dict.fromkeys((i, j) for i, _, j in triples if (i, j) in found.links))
    asked = [PairQuestion(*pair, given) for pair in pairs for given in _every(found, pair, depth)]
    separating: dict[Pair, set[Given]] = {pair: {found.links[pair].given} for pair in pairs}
    for one, pvalue in zip(asked, ask(asked), strict=True):
        if pvalue > alpha:
            separating[one.pair].add(one.given)
    return [
        float(np.mean([k not in given for given in separating[i, j]])) if (i, j) in separating else 0.5
        for i, k, j in triples
    ]


def _every(found: Skeleton, pair: Pair, depth: int | None) -> list[Given]:
    """All sets of neighbours of either end."""
    sides = [found.neighbours(end) for end in pair]
    sizes = range((max(map(len, sides)) if depth is None else depth) + 1)
    return list(dict.fromkeys(given for side in sides for size in sizes for given in combinations(side, size)))


# --- what follows -----------------------------------------------------------------------------------------------------


def _followed(joined: Square, heads: Square, ambiguous: frozenset[Triple], may: Square) -> Square:
    """Apply Meek's rules until nothing more follows."""
    while True:
        arrows, free = heads & ~heads.T, joined & ~heads & ~heads.T
        for rule in (_away, _onwards, _twice, _around):
            new = rule(joined, arrows, free, ambiguous) & free & may
            new &= ~new.T  # directed both ways, it follows from nothing
            if new.any():
                heads = heads | new
                break
        else:
            return heads


def _away(joined: Square, arrows: Square, free: Square, ambiguous: frozenset[Triple]) -> Square:
    """Rule 1: a -> b - c with a and c apart: b -> c, as b is no collider."""
    found = np.zeros_like(joined)
    for b, c in np.argwhere(free).tolist():
        before = np.flatnonzero(arrows[:, b] & ~joined[:, c]).tolist()
        found[b, c] = any((min(a, c), b, max(a, c)) not in ambiguous for a in before)
    return found


def _onwards(_joined: Square, arrows: Square, free: Square, _: frozenset[Triple]) -> Square:
    """Rule 2: a -> b -> c and a - c: a -> c, or there were a circle."""
    steps: Square = (arrows.astype(np.intp) @ arrows.astype(np.intp)) > 0
    return free & steps


def _twice(joined: Square, arrows: Square, free: Square, ambiguous: frozenset[Triple]) -> Square:
    """Rule 3: a - c -> b, a - d -> b, c and d apart, a - b: a -> b."""
    found = np.zeros_like(joined)
    for a, b in np.argwhere(free).tolist():
        between = np.flatnonzero(free[a] & arrows[:, b]).tolist()
        found[a, b] = any(not joined[c, d] and (c, a, d) not in ambiguous for c, d in combinations(between, 2))
    return found


def _around(joined: Square, arrows: Square, free: Square, _: frozenset[Triple]) -> Square:
    """Rule 4: a - d -> c -> b, a and c joined, b and d apart, a - b: a -> b; only where something is known before."""
    found = np.zeros_like(joined)
    for a, b in np.argwhere(free):
        for c in np.flatnonzero(joined[a] & arrows[:, b]):
            found[a, b] |= bool((free[a] & arrows[:, c] & ~joined[b]).any())
    return found
