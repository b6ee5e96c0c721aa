"""Nearest neighbours, beside another implementation."""

import numpy as np
import pytest
from scipy.spatial import cKDTree
from scipy.special import digamma

from pydine.baselines.ksg import ksg
from pydine.kernels.neighbours import neighbours


@pytest.mark.parametrize("dz", [0, 1, 3])
def test_as_by_trees(dz):
    x, y, *z = np.random.default_rng(dz).standard_normal((2 + dz, 200))
    z, asked = np.array(z).reshape(dz, 200), np.array([5, 0, 199, 77])
    radii, counts = neighbours(x, y, z, asked, 3)
    everything = np.vstack([x, y, z]).T
    expected = cKDTree(everything).query(everything[asked], k=[4], p=np.inf)[0][:, 0]
    np.testing.assert_array_equal(radii, expected)
    for found, columns in zip(counts, (z, [x, *z], [y, *z], [x, y, *z]), strict=True):
        far = np.max([np.abs(column[asked, None] - column) for column in columns], axis=0) if len(columns) else 0.0
        np.testing.assert_array_equal(found, np.broadcast_to(far < expected[:, None], (4, 200)).sum(axis=1))


def test_they_give_the_peers_information():
    x, e, z = np.random.default_rng(0).standard_normal((3, 300))
    y = x + e
    x, y, z = ((a - a.mean()) / a.std() for a in (x, y, z))
    counts = neighbours(x, y, z[None], np.arange(300), 3)[1]
    assert (counts[3] == 3).all()
    alone, with_x, with_y, _ = digamma(counts).mean(axis=1)
    assert digamma(3) + alone - with_x - with_y == pytest.approx(ksg(x, y, z, k=3), abs=1e-6)


def test_ties():
    """Rows at the same place are as close as can be; none is closer than that."""
    same = np.zeros(20)
    radii, counts = neighbours(same, same, same[None], np.arange(20), 4)
    assert not radii.any()
    assert not counts.any()
