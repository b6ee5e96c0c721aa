"""Random datasets of every kind of column, with a structure that makes sides depend on each other and on z."""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

MOST_ROWS = 1500
WORDS = np.array([f"w{i:02d}" for i in range(64)])


def plain(rng, latent):
    return latent


def heavy(rng, latent):
    return np.sign(latent) * np.expm1(np.abs(latent) * 2.0)


def skewed(rng, latent):
    return np.exp(latent)


def rounded(rng, latent):
    return np.round(latent, int(rng.integers(0, 2)))


def counts(rng, latent):
    return rng.poisson(np.exp(0.5 * latent + 0.5)) * 1.0


def zero_inflated(rng, latent):
    return np.where(latent < rng.normal(-0.3, 0.3), 0.0, np.exp(latent))


def halves(rng, latent):
    """Two values, of as many rows each as can be: the scores of all rows have the same absolute value."""
    return (latent > np.median(latent)) * 1.0


def yes_no(rng, latent):
    return (latent > rng.normal(0.0, 0.7)) * 1.0


def codes(rng, latent):
    """A few whole numbers whose order means nothing."""
    levels = int(rng.integers(3, 6))
    cuts = np.quantile(latent, np.arange(1, levels) / levels)
    return rng.permutation(levels)[np.digitize(latent, cuts)] * 1.0


def words(rng, latent):
    levels = int(rng.integers(2, 7))
    cuts = np.sort(rng.normal(size=levels - 1))
    return rng.permutation(WORDS)[np.digitize(latent, cuts)]


def many_words(rng, latent):
    cuts = np.quantile(latent, np.linspace(0.0, 1.0, 31)[1:-1])
    return rng.permutation(WORDS)[np.digitize(latent + 0.2 * rng.normal(size=len(latent)), cuts)]


NUMBERS = (plain, plain, heavy, skewed)
OTHERS = (rounded, counts, zero_inflated, halves, yes_no, codes, words, many_words)
EFFECTS = (lambda t: t, np.sin, np.abs, lambda t: t * t / 2.0, np.tanh, lambda t: np.sin(2.5 * t))


@dataclass(frozen=True)
class Sample:
    """Columns of x, y and z (which may have none), as frames, and a name that says what they are."""

    name: str
    x: pd.DataFrame
    y: pd.DataFrame
    z: pd.DataFrame

    @property
    def frame(self):
        return pd.concat([self.x, self.y, self.z], axis=1)

    def arguments(self):
        """What the functions take."""
        return self.x, self.y, self.z if self.z.shape[1] else None

    def mapped(self, change):
        """The sample with `change` made to each of its frames."""
        return replace(self, x=change(self.x), y=change(self.y), z=change(self.z))


def drawn(seed, most_rows=MOST_ROWS):
    """The sample of a seed: numbers alone in half of them, and columns of any kind in the others."""
    rng = np.random.default_rng([seed, 33])
    n = int(np.exp(rng.uniform(np.log(100), np.log(most_rows))))
    dx, dy = (int(rng.choice([1, 1, 1, 2, 3])) for _ in "xy")
    dz = int(rng.choice([0, 0, 1, 1, 2, 3, 4, 5, 6]))
    kinds = NUMBERS if rng.random() < 0.4 else NUMBERS + OTHERS
    z = rng.normal(size=(n, dz))
    common, strength = rng.normal(size=n), rng.choice([0.0, 0.3, 0.8])

    def side(d):
        latents = strength * EFFECTS[rng.integers(len(EFFECTS))](common)[:, None] + rng.normal(size=(n, d))
        for j in range(dz):
            latents += rng.choice([0.0, 0.4, 0.8]) * EFFECTS[rng.integers(len(EFFECTS))](z[:, j])[:, None]
        return latents

    blocks = {"x": side(dx), "y": side(dy), "z": z}
    frames, seen = {}, []
    for name, latents in blocks.items():
        made = {}
        for i, latent in enumerate(latents.T):
            kind = kinds[rng.integers(len(kinds))]
            column = kind(rng, latent)
            varies = bool((column != column[0]).any())  # a cut may lie beyond all rows
            made[f"{name}{i}"] = column if varies else halves(rng, latent)
            seen.append(f"{name}{i} {kind.__name__}")
        frames[name] = pd.DataFrame(made, index=pd.RangeIndex(n))
    return Sample(f"seed {seed}, {n} rows: {', '.join(seen)}", **frames)
