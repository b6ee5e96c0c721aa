"""Stacks: members that share scores, and members of which a mixture keeps a trace."""

import numpy as np
import pytest

from pydine.bases.gaussian import GaussianBase
from pydine.bases.mixture import MixtureBase
from pydine.bases.stack import Member, Stack, StackRatio
from pydine.bases.student import StudentBase
from pydine.kernels.mixing import mixture_log_density
from shapes import gaussian, latents_of, parabola


def stacked(latents, more=()):
    return Stack.of([GaussianBase().fit(latents), StudentBase().fit(latents)], more, latents, 3)


def test_scores_that_members_share_change_nothing():
    latents = latents_of(*parabola(300))
    base = MixtureBase().fit(latents)
    both, z = latents.both[:, :50] + 0.01, latents.z[:, :50]
    ratio = base.log_ratio
    assert isinstance(ratio, StackRatio)
    one_by_one = np.array([member(both, z) for member in ratio.members])
    np.testing.assert_array_equal(ratio(both, z), mixture_log_density(one_by_one, ratio.weights))


class TestTraces:
    def stack_with(self, advantage):
        """Plain bases, and a member that is as good as the Gaussian one but for so many nats a row."""
        latents = latents_of(*gaussian(600))
        plain = Member.of(GaussianBase().fit(latents), latents)
        nearly = Member("nearly", plain.log_ratio, plain.held_out + advantage, plain.seen + advantage)
        return stacked(latents, [nearly])

    @pytest.mark.parametrize("advantage", [-3.0, -0.5])
    def test_they_count_nothing(self, advantage):
        stack = self.stack_with(advantage)
        assert stack.weights[-1] == 0.0
        assert stack.weights.sum() == pytest.approx(1.0, abs=1e-12)
        base = stack.as_base("mixture")
        assert len(base.log_ratio.members) < len(stack.members)
        assert base.details["mixture"]["nearly"] == 0.0

    def test_more_than_a_trace_counts(self):
        assert self.stack_with(0.5).weights[-1] > 0.9
