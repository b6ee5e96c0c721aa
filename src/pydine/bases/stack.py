"""Stacking of models of the same latents: weights by held-out likelihood, and a value corrected for optimism."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol, runtime_checkable

import numpy as np

from pydine.bases.base import FittedBase, LogRatio, averaged, mean_and_error, mixed
from pydine.bases.elliptical import new_scores
from pydine.kernels.mixing import mixture_log_density
from pydine.latents.flows import Latents
from pydine.latents.scores import ScoreMap
from pydine.sampling import HeldOut, Rows
from pydine.types import FloatArray, must_fit
from pydine.units.evidence import evidence, without_traces


@runtime_checkable
class OfScores(Protocol):
    """Log-ratios that are computed from the latents' normal scores, for which there are maps."""

    @property
    def maps(self) -> tuple[ScoreMap, ...]:
        """The map of each latent."""
        ...

    def of_scores(self, scores: FloatArray, z: FloatArray) -> FloatArray:
        """Log-ratios (m,) of scores (d, m) and z (dz, m)."""
        ...


@dataclass(frozen=True)
class Member:
    """One model of a stack.

    Parameters
    ----------
    name : str
    log_ratio : callable
        As in `FittedBase`.
    held_out, seen : ndarray, shape (n,)
        Log-ratios of the sample's rows, in nats: by models that have not seen the row, and in-sample, by `log_ratio`.
    trust : float
        How far it may count, between 0 and 1.
    edge : float
        For a mixture of latent classes: the share of the rows over which an edge of theirs extends; 0 for others.
    """

    name: str
    log_ratio: LogRatio
    held_out: FloatArray
    seen: FloatArray
    trust: float = 1.0
    edge: float = 0.0

    @classmethod
    def of(cls, base: FittedBase, latents: Latents) -> Member:
        """A base as a member."""
        return cls(base.name, base.log_ratio, base.held_out, base.log_ratio(latents.both, latents.z))


@dataclass(frozen=True)
class Stack:
    """A mixture of members, whose weights maximise the likelihood of held-out rows.

    A fitted model is optimistic on the rows it was fitted to, whose noise it follows, and falls short of the best model
    of its kind on new rows. To first order in 1/n optimism and shortfall are equal (Akaike 1973; Takeuchi 1976), so the
    average of in-sample and held-out log-ratios estimates what the best model would reach. The plain bases are members
    of the stack, and their own values, bias-corrected closed forms, are accurate to a higher order. So the value is
    theirs, plus the stack's average gain over them.

    Parameters
    ----------
    anchor : FittedBase
        The average of the plain bases.
    reference : ndarray, shape (n,)
        Its log-ratios of the sample's rows: the mean of held-out and in-sample ones.
    folds : list of HeldOut
    rows : Rows
    members : tuple of Member
    held_out, seen : ndarray, shape (n,)
        Log-ratios of the sample's rows under the mixture, in nats.
    weights : ndarray, shape (members,)
    """

    anchor: FittedBase
    reference: FloatArray
    folds: list[HeldOut]
    rows: Rows
    members: tuple[Member, ...]
    held_out: FloatArray
    seen: FloatArray
    weights: FloatArray

    @classmethod
    def of(cls, plain: Sequence[FittedBase], more: Sequence[Member], latents: Latents, folds: int) -> Stack:
        """Stack plain bases, which were fitted to the latents, and more members."""
        anchor, held = averaged(plain, latents.rows), latents.rows.folds(latents.outwards, folds)
        average = Member.of(anchor, latents)
        members = (*(Member.of(base, latents) for base in plain), *more)
        nothing, reference = np.zeros(latents.n_rows), 0.5 * (average.held_out + average.seen)
        return cls(anchor, reference, held, latents.rows, members, nothing, nothing, np.zeros(0))._mixed()

    def _mixed(self) -> Stack:
        trust = np.array([member.trust for member in self.members])
        ratios, weights = mixed(np.array([member.held_out for member in self.members]), self.folds, trust)
        weights = without_traces(weights, len(ratios))
        seen = mixture_log_density(np.array([member.seen for member in self.members]), weights)
        return replace(self, held_out=ratios, seen=seen, weights=weights)

    def with_members(self, more: Sequence[Member]) -> Stack:
        """The stack with more members."""
        return replace(self, members=(*self.members, *more))._mixed() if more else self

    def evidence_of(self, held_out: FloatArray) -> float:
        """How far the stack with one more member counts, whose held-out log-ratios are (n,): from 0 to 1."""
        joined = mixed(np.array([self.held_out, held_out]), self.folds)[0]
        return evidence(joined - self.held_out, rows=self.rows)

    def joined_by(self, member: Member, part: float) -> Stack:
        """The average of the stack with one more member, of weight `part` between 0 and 1, and the stack without it."""
        larger = replace(self, members=(*self.members, member))._mixed()
        weights = np.append((1.0 - part) * self.weights, 0.0) + part * larger.weights
        held_out = (1.0 - part) * self.held_out + part * larger.held_out
        return replace(larger, held_out=held_out, seen=(1.0 - part) * self.seen + part * larger.seen, weights=weights)

    def as_base(self, name: str) -> FittedBase:
        """The stack as a fitted base."""
        gain = float((0.5 * (self.held_out + self.seen) - self.reference).mean())
        counted = [i for i, weight in enumerate(self.weights) if weight > 0.0]
        ratio = StackRatio(tuple(self.members[i].log_ratio for i in counted), self.weights[counted])
        names = [member.name for member in self.members]
        details = {**self.anchor.details, "mixture": dict(zip(names, self.weights.tolist(), strict=True))}
        error = max(self.anchor.standard_error, mean_and_error(self.held_out, self.rows)[1])
        optimism = 2.0 * max(gain - float((self.held_out - self.anchor.held_out).mean()), 0.0)
        evaluate = partial(np.asarray, self.held_out)
        edges = np.array([member.edge for member in self.members])
        value = self.anchor.value + gain
        return FittedBase(
            name,
            value,
            error,
            ratio,
            evaluate,
            details,
            optimism=optimism,
            classes=float(self.weights @ (edges > 0.0)),
            edge=float(self.weights @ edges),
            shaped=min(gain / value, 1.0) if min(gain, value) > 0.0 else 0.0,
        )


@dataclass(frozen=True)
class StackRatio:
    """Log-ratios under a mixture of models."""

    members: tuple[LogRatio, ...]
    weights: FloatArray

    def __post_init__(self) -> None:
        """Refuse parts that do not fit each other."""
        must_fit(self, len(self.members) > 0 and self.weights.shape == (len(self.members),))

    def __call__(self, both: FloatArray, z: FloatArray) -> FloatArray:
        """Log-ratios of latents (dx + dy, m) and their z (dz, m), shape (m,)."""
        scores: dict[int, FloatArray] = {}  # by the id of their maps, which members that were fitted together share
        ratios = np.empty((len(self.members), both.shape[1]))
        for i, member in enumerate(self.members):
            found: object = member
            if isinstance(found, OfScores) and found.maps:
                if id(found.maps) not in scores:
                    scores[id(found.maps)] = new_scores(found.maps, both)
                ratios[i] = found.of_scores(scores[id(found.maps)], z)
            else:
                ratios[i] = member(both, z)
        mixed_ratios: FloatArray = mixture_log_density(ratios, self.weights)
        return mixed_ratios
