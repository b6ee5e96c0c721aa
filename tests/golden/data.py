"""Small tables for the golden master, each from a seed: shapes, confounded families, kinds of columns, missing values.

A table is a dictionary of columns (n,): those of the sides are called x0, x1, ..., y0, ..., what is given is z0, ...
"""

import numpy as np

Table = dict[str, np.ndarray]


def named(x, y, z=None) -> Table:
    """Columns (n,) or (n, d) of both sides and of what is given, as a table."""
    blocks = {"x": x, "y": y, **({} if z is None else {"z": z})}
    return {f"{name}{i}": column for name, block in blocks.items() for i, column in enumerate(np.atleast_2d(block.T))}


def gaussian(rng, n, rho=0.6, dx=1, dy=1):
    x, e = rng.standard_normal((n, dx)), rng.standard_normal((n, dy))
    common = rho * x.mean(axis=1, keepdims=True) * np.sqrt(dx)
    return named(x, common + np.sqrt(1.0 - rho * rho) * e)


def student(rng, n, degrees=3.0):
    both = rng.standard_normal((2, n)) / np.sqrt(rng.chisquare(degrees, n) / degrees)
    return named(both[0], both[1])


def parabola(rng, n):
    x, e = rng.standard_normal((2, n))
    return named(x, x**2 + 0.7 * e)


def ring(rng, n):
    angle, radius = rng.uniform(0.0, 2.0 * np.pi, n), rng.normal(1.0, 0.2, n)
    return named(radius * np.cos(angle), radius * np.sin(angle))


def sine(rng, n):
    x, e = rng.uniform(-3.0, 3.0, n), rng.standard_normal(n)
    return named(x, np.sin(2.0 * x) + 0.4 * e)


def clusters(rng, n):
    which = rng.integers(0, 3, n)
    x, y = np.array([[0.0, 2.0, 4.0], [0.0, 3.0, -1.0]])[:, which] + 0.5 * rng.standard_normal((2, n))
    return named(x, y)


def checkerboard(rng, n):
    first, second = rng.integers(0, 4, n), rng.integers(0, 2, n)
    return named(first + rng.random(n), 2 * second + first % 2 + rng.random(n))


def heavy(rng, n):
    """Margins that are far from normal: exponentials and a cube of a Cauchy."""
    x, e = rng.standard_cauchy((2, n))
    return named(np.exp(np.clip(x, -20.0, 20.0)), (x + e) ** 3)


def scaled(rng, n):
    """The scale of y follows x; there is no correlation."""
    x, e = rng.standard_normal((2, n))
    return named(x, np.exp(0.8 * x) * e)


def shared_scale(rng, n, d=2):
    scale = np.exp(0.7 * rng.standard_normal((n, 1)))
    return named(scale * rng.standard_normal((n, d)), scale * rng.standard_normal((n, d)))


def many_columns(rng, n, d=12):
    """Two common factors of all columns of both sides."""
    factors = rng.standard_normal((n, 2))
    x, y = (factors @ rng.standard_normal((2, d)) * 0.6 + rng.standard_normal((n, d)) for _ in "xy")
    return named(x, y)


def equal(rng, n):
    x = rng.standard_normal(n)
    return named(x, -(x**3))


def linear(rng, n, dz, rho=0.5):
    z = rng.standard_normal((n, dz))
    a, e = rng.standard_normal((2, n))
    x = a + 0.8 * z.sum(axis=1)
    return named(x, rho * a + np.sqrt(1.0 - rho * rho) * e - z[:, 0], z)


def curved(rng, n, dz, rho=0.5):
    """z moves location and scale of both sides along curves."""
    z, (a, e) = rng.uniform(-2.0, 2.0, (n, dz)), rng.standard_normal((2, n))
    b, index = rho * a + np.sqrt(1.0 - rho * rho) * e, z.mean(axis=1) * np.sqrt(dz)
    x = 2.0 * np.sin(2.0 * index) + np.exp(0.5 * np.cos(3.0 * z[:, 0])) * a
    return named(x, 2.0 * np.cos(2.0 * index) + np.exp(0.5 * np.sin(2.0 * z[:, -1])) * b, z)


def product(rng, n, dz, rho=0.0):
    z, (a, e) = rng.standard_normal((n, dz)), rng.standard_normal((2, n))
    both = z[:, 0] * z[:, -1]
    return named(both + a, np.tanh(both) + rho * a + e, z)


def sign_switch(rng, n, dz, rho=0.8):
    """The sign of the correlation follows z."""
    z, (a, e) = rng.standard_normal((n, dz)), rng.standard_normal((2, n))
    return named(a, np.sign(z[:, 0]) * rho * a + np.sqrt(1.0 - rho * rho) * e, z)


def bent(rng, n, dz, rho=0.0):
    """A parabola, after z has moved both sides."""
    z, (a, e) = rng.standard_normal((n, dz)), rng.standard_normal((2, n))
    return named(a + np.sin(1.5 * z).sum(axis=1), a**2 + 0.7 * e + 0.5 * z[:, 0] ** 2, z)


def blocks(rng, n, dx, dy, dz):
    """Several columns a side; the first two sides share a factor, and z moves all of them."""
    z, factor = rng.standard_normal((n, dz)), rng.standard_normal((n, 1))
    of_z = np.sin(z).sum(axis=1, keepdims=True)
    return named(*(0.7 * factor + of_z + rng.standard_normal((n, d)) for d in (dx, dy)), z if dz else None)


def determined(rng, n, dz, rho=0.0):
    table = linear(rng, n, dz)
    return {**table, "x0": np.exp(table["z0"])}


# From a continuous latent (n,) to a column of a kind; the generator gives what is random about it.
KINDS = {
    "numbers": lambda rng, latent: latent,
    "steps": lambda rng, latent: np.round(latent),
    "counts": lambda rng, latent: rng.poisson(np.exp(0.5 * latent)) * 1.0,
    "masses": lambda rng, latent: np.where(rng.random(len(latent)) < 0.3, 0.0, np.exp(latent)),
    "yes/no": lambda rng, latent: latent > 0.3,
    "labels": lambda rng, latent: np.array(["left", "middle", "right"])[np.digitize(latent, [-0.7, 0.7])],
    "many labels": lambda rng, latent: np.array([f"no. {i}" for i in range(8)])[
        np.digitize(latent + 0.3 * rng.standard_normal(len(latent)), [-1.2, -0.8, -0.4, 0.0, 0.4, 0.8, 1.2])
    ],
    "dozens": lambda rng, latent: np.array([f"no. {i}" for i in range(40)])[
        np.argsort(np.argsort(latent)) * 40 // len(latent)
    ],
}


def of_kinds(rng, n, x, y, given=()):
    """Sides of two kinds that share a latent, each moved by what is given, of kinds as well."""
    z = rng.standard_normal((n, len(given)))
    common, moved = rng.standard_normal(n), 0.6 * z.sum(axis=1)
    sides = {name: 0.8 * common + moved + 0.6 * rng.standard_normal(n) for name in ("x0", "y0")}
    found = {name: KINDS[kind](rng, sides[name]) for name, kind in (("x0", x), ("y0", y))}
    return {**found, **{f"z{i}": KINDS[kind](rng, z[:, i]) for i, kind in enumerate(given)}}


def with_holes(rng, table, share=0.08):
    """The same table with missing numbers."""
    numbers = {name: column for name, column in table.items() if column.dtype.kind == "f"}
    return {**table, **{name: np.where(rng.random(len(c)) < share, np.nan, c) for name, c in numbers.items()}}


def mixed_table(rng, n):
    """Six columns of several kinds, most of which depend on each other."""
    cause, other = rng.standard_normal((2, n))
    return {
        "cause": cause,
        "effect": np.abs(cause) + 0.5 * rng.standard_normal(n),
        "steps": KINDS["steps"](rng, cause + other),
        "label": KINDS["labels"](rng, other),
        "amount": KINDS["masses"](rng, other + 0.5 * rng.standard_normal(n)),
        "noise": rng.standard_normal(n),
    }


def plain_table(rng, n, p=6):
    """Columns of numbers: a chain, a bend, and one that has nothing to do with the others."""
    columns = rng.standard_normal((n, p))
    for i in range(1, p - 2):
        columns[:, i] += 0.7 * columns[:, i - 1]
    columns[:, p - 2] += columns[:, 0] ** 2
    return {f"c{i}": columns[:, i] for i in range(p)}
