"""Places for the nodes of a graph, in layers from left to right, so that no name covers another.

After Sugiyama, Tagawa and Toda (1981): a layer is as far right as the longest way to it, edges over several layers get
places to pass between names, and nodes are ordered by the mean place of their neighbours, from left to right and back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

__all__ = ["Layered", "layered"]

SWEEPS = 12

Arrow = tuple[int, int]


@dataclass(frozen=True)
class Layered:
    """Where nodes are, and the ways of edges between them.

    Parameters
    ----------
    layers : tuple of int
        The layer of each node.
    heights : tuple of float
        Its place in the layer; two nodes of a layer are at least 1 apart.
    ways : tuple of tuple of (int, float)
        For each arrow, the layers and heights that it passes, ends included.
    """

    layers: tuple[int, ...]
    heights: tuple[float, ...]
    ways: tuple[tuple[tuple[int, float], ...], ...]


def layered(count: int, arrows: Sequence[Arrow], loose: Sequence[bool] = ()) -> Layered:
    """Place nodes 0 to count - 1, causes to the left of their effects as far as arrows do not run in circles.

    `loose` says which arrows have no direction, and may run either way.
    """
    firm = [arrow for arrow, is_loose in zip(arrows, loose or [False] * len(arrows), strict=True) if not is_loose]
    place = _order(count, firm)
    forwards = [(a, b) if place[a] < place[b] else (b, a) for a, b in arrows]
    layers = _layers(count, forwards)
    chains, level, n = [], list(layers), count
    for a, b in forwards:
        chain = [a]
        for layer in range(layers[a] + 1, layers[b]):
            chain.append(n)
            level.append(layer)
            n += 1
        chains.append([*chain, b])
    heights = _heights(level, chains)
    ways = []
    for (a, _), chain in zip(arrows, chains, strict=True):
        way = [(level[k], heights[k]) for k in chain]
        ways.append(tuple(way if chain[0] == a else way[::-1]))
    return Layered(tuple(layers), tuple(heights[:count]), tuple(ways))


def _order(count: int, arrows: Sequence[Arrow]) -> dict[int, int]:
    """Places of nodes in a line along which most arrows run, by taking off causes and effects in turns."""
    left, ahead, behind = set(range(count)), list[int](), list[int]()
    out = {k: {b for a, b in arrows if a == k} for k in left}
    into = {k: {a for a, b in arrows if b == k} for k in left}
    while left:
        free = sorted(k for k in left if not into[k] & left)
        last = sorted(k for k in left if not out[k] & left)
        if free:
            ahead += free
            left -= set(free)
        elif last:
            behind += last[::-1]
            left -= set(last)
        else:
            most = max(sorted(left), key=lambda k: len(out[k] & left) - len(into[k] & left))
            ahead.append(most)
            left.remove(most)
    return {k: i for i, k in enumerate([*ahead, *behind[::-1]])}


def _layers(count: int, arrows: Sequence[Arrow]) -> list[int]:
    """The layer of each node: after its last cause, and as near to its first effect as it can be."""
    layers = [0] * count
    for _ in range(count):
        for a, b in arrows:
            layers[b] = max(layers[b], layers[a] + 1)
    for _ in range(count):  # causes of late effects move up to them
        for k in range(count):
            effects = [layers[b] for a, b in arrows if a == k]
            if effects and not any(b == k for _, b in arrows):
                layers[k] = min(effects) - 1
    return layers


def _heights(level: Sequence[int], chains: Sequence[Sequence[int]]) -> list[float]:
    """A height for each node and place to pass, by the mean of its neighbours, at least 1 apart within a layer."""
    near: list[list[int]] = [[] for _ in level]
    for chain in chains:
        for a, b in pairwise(chain):
            near[a].append(b)
            near[b].append(a)
    members: dict[int, list[int]] = {}
    for k, layer in enumerate(level):
        members.setdefault(layer, []).append(k)
    heights = [0.0] * len(level)
    for nodes in members.values():
        for place, k in enumerate(nodes):
            heights[k] = place - 0.5 * (len(nodes) - 1)
    order = sorted(members)
    for sweep in range(SWEEPS):
        for layer in order if sweep % 2 == 0 else order[::-1]:
            _settle(members[layer], heights, near, level, before=(layer - 1, layer + 1)[sweep % 2])
    for layer in order:
        _settle(members[layer], heights, near, level, before=None)
    return heights


def _settle(
    nodes: list[int], heights: list[float], near: list[list[int]], level: Sequence[int], before: int | None
) -> None:
    """Move the nodes of a layer to the mean of their neighbours in the layer before, or in all, and apart."""
    wanted = {}
    for k in nodes:
        some = [heights[i] for i in near[k] if before is None or level[i] == before]
        wanted[k] = sum(some) / len(some) if some else heights[k]
    nodes.sort(key=lambda k: (wanted[k], heights[k], k))
    # Least squares with gaps of 1 between neighbours: blocks that touch move together.
    blocks: list[tuple[float, int]] = []
    for i, k in enumerate(nodes):
        mean, size = wanted[k] - i, 1
        while blocks and blocks[-1][0] > mean:
            other, more = blocks.pop()
            mean, size = (mean * size + other * more) / (size + more), size + more
        blocks.append((mean, size))
    places = [mean for mean, size in blocks for _ in range(size)]
    for i, (k, start) in enumerate(zip(nodes, places, strict=True)):
        heights[k] = start + i
