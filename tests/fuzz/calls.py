"""Calls of the public functions with odd data, kinds, containers and options, all from one seed."""

import decimal
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import scipy.sparse

import pydine
from fuzz.outcomes import run

# --- columns ----------------------------------------------------------------------------------------------------------

COLUMNS = {
    "normal": lambda rng, n, _: rng.standard_normal(n),
    "uniform": lambda rng, n, _: rng.random(n),
    "cauchy": lambda rng, n, _: rng.standard_cauchy(n),
    "lognormal": lambda rng, n, _: np.exp(5.0 * rng.standard_normal(n)),
    "ties": lambda rng, n, _: rng.integers(0, 4, n).astype(float),
    "two values": lambda rng, n, _: rng.integers(0, 2, n).astype(float),
    "spike": lambda rng, n, _: np.where(rng.random(n) < 0.8, 0.0, rng.standard_normal(n)),
    "outlier": lambda rng, n, _: np.append(rng.standard_normal(max(n - 1, 0)), 1e12)[:n],
    "constant": lambda rng, n, _: np.full(n, 3.0),
    "copy": lambda rng, n, other: other.copy(),
    "near-copy": lambda rng, n, other: other + 1e-13 * rng.standard_normal(n),
    "noisy copy": lambda rng, n, other: other + 1e-3 * rng.standard_normal(n),
    "mirrored": lambda rng, n, other: -other,
    "cubed": lambda rng, n, other: np.clip(other, -1e90, 1e90) ** 3,
    "squared": lambda rng, n, other: np.clip(other, -1e90, 1e90) ** 2,
    "row number": lambda rng, n, _: np.arange(n, dtype=float),
    "huge": lambda rng, n, _: 1e300 * rng.standard_normal(n),
    "largest": lambda rng, n, _: np.finfo(float).max * np.sign(rng.standard_normal(n)) * rng.random(n),
    "tiny": lambda rng, n, _: 1e-300 * rng.standard_normal(n),
    "subnormal": lambda rng, n, _: 5e-324 * rng.integers(0, 50, n),
    "offset": lambda rng, n, _: 1e15 + rng.standard_normal(n),
    "signed zeros": lambda rng, n, _: rng.choice([0.0, -0.0, 1.0], n),
    "clusters": lambda rng, n, _: rng.integers(0, 2, n) * 1e6 + rng.standard_normal(n),
}
HOLES = {"nan": np.nan, "inf": np.inf, "-inf": -np.inf}


def matrix(rng, n, width, before):
    """Columns side by side, shape (n, width); later ones may be made of earlier ones."""
    columns = []
    for _ in range(width):
        kind = str(rng.choice(list(COLUMNS))) if rng.random() < 0.45 else "normal"
        known = [*before, *columns]
        other = known[rng.integers(len(known))] if known else rng.standard_normal(n)
        columns.append(COLUMNS[kind](rng, n, other))
    values = np.column_stack(columns) if columns else np.empty((n, 0))
    if values.size and rng.random() < 0.04:
        values[rng.integers(n), rng.integers(width)] = HOLES[str(rng.choice(list(HOLES)))]
    return values


# --- containers -------------------------------------------------------------------------------------------------------


def nullable(values):
    frame = named(values).convert_dtypes()
    return frame.mask(named(values).isna(), pd.NA) if len(frame) else frame


def named(values):
    return pd.DataFrame(values, columns=[f"c{i}" for i in range(values.shape[1])])


def read_only(values):
    values = values.copy()
    values.flags.writeable = False
    return values


CONTAINERS = {
    "array": lambda v: v,
    "one dimension": lambda v: v[:, 0] if v.shape[1] == 1 else v,
    "fortran": np.asfortranarray,
    "strided": lambda v: np.repeat(v, 2, axis=0)[::2],
    "backwards": lambda v: v[::-1][::-1],
    "read-only": read_only,
    "big-endian": lambda v: v.astype(">f8"),
    "float32": lambda v: v.astype(np.float32),
    "float16": lambda v: v.astype(np.float16),
    "longdouble": lambda v: v.astype(np.longdouble),
    "int64": lambda v: np.nan_to_num(v, nan=0, posinf=9, neginf=9).clip(-1e9, 1e9).astype(np.int64),
    "uint8": lambda v: np.nan_to_num(v).clip(0, 255).astype(np.uint8),
    "bool": lambda v: v > 0,
    "object": lambda v: v.astype(object),
    "decimal": lambda v: np.array([[decimal.Decimal(repr(float(c))) for c in row] for row in v], dtype=object),
    "text": lambda v: v.astype(str),
    "complex": lambda v: v + 1j,
    "dates": lambda v: np.zeros(v.shape, dtype="M8[s]"),
    "bytes": lambda v: v.astype("S8"),
    "list": lambda v: v.tolist(),
    "tuple": lambda v: tuple(map(tuple, v.tolist())),
    "masked": lambda v: np.ma.masked_greater(v, 1.5),
    "recarray": lambda v: np.rec.fromarrays(v.T) if v.shape[1] else v,
    "three dimensions": lambda v: v[None],
    "scalar": lambda v: 3.0,
    "none": lambda v: None,
    "empty": lambda v: [],
    "generator": lambda v: (row for row in v),
    "set": lambda v: set(v[:, 0].tolist()) if v.shape[1] else set(),
    "ragged": lambda v: [[1.0], [1.0, 2.0]],
    "sparse": scipy.sparse.csr_matrix,
    "pandas": named,
    "pandas series": lambda v: pd.Series(v[:, 0]) if v.shape[1] else pd.Series(dtype=float),
    "pandas nullable": nullable,
    "pandas category": lambda v: named(v).astype("category"),
    "pandas arrow": lambda v: named(v).astype("float64[pyarrow]"),
    "pandas index": lambda v: named(v).set_index(pd.Index(np.arange(len(v))[::-1])),
    "pandas same names": lambda v: pd.DataFrame(v, columns=["c"] * v.shape[1]),
    "polars": lambda v: pl.DataFrame(v, schema=[f"c{i}" for i in range(v.shape[1])]),
    "polars nulls": lambda v: pl.DataFrame(v, schema=[f"c{i}" for i in range(v.shape[1])]).fill_nan(None),
    "polars category": lambda v: pl.DataFrame(v.astype(str)).cast(pl.Categorical),
    "polars lazy": lambda v: pl.DataFrame(v).lazy(),
    "pyarrow": lambda v: pa.table({f"c{i}": v[:, i] for i in range(v.shape[1])}),
    "dictionary": lambda v: {f"c{i}": v[:, i] for i in range(v.shape[1])},
}
USUAL = ("array", "one dimension", "list", "pandas", "polars", "pandas nullable", "float32")

# --- options ----------------------------------------------------------------------------------------------------------

OPTIONS = {
    "random_state": [0, 1, 2**32 - 1, 2**40, -1, 1.5, None, "seed", np.int64(3), np.random.default_rng(0), True],
    "n_jobs": [None, 1, 2, -1, 0, 1.5, "many"],
    "nan_policy": ["raise", "omit", "OMIT", None, 3],
    "base": ["gaussian", "auto", "student", "flow", "Gaussian", None, 3, ""],
}


def options(rng, *names, **fixed):
    """Mostly the usual options; now and then an odd one."""
    chosen = {name: OPTIONS[name][rng.integers(len(OPTIONS[name]))] for name in names if rng.random() < 0.04}
    return {**fixed, **chosen}


# --- questions --------------------------------------------------------------------------------------------------------


def of_estimate(estimate):
    low, high = estimate.confidence_interval()
    text = str(estimate)
    return {"value": estimate.value, "low": low, "high": high, "length": len(text)}


def base_of(rng):
    return ("gaussian", "gaussian", "gaussian", "auto", "student", "flow")[rng.integers(6)]


def mutual_information(rng, x, y, z):
    chosen = options(rng, "random_state", "n_jobs", "nan_policy", "base", base=base_of(rng))
    return of_estimate(pydine.mutual_information(x, y, z, **chosen))


def pointwise_information(rng, x, y, z):
    chosen = options(rng, "random_state", "nan_policy", "base", base=base_of(rng))
    found = pydine.pointwise_information(x, y, z, **chosen)
    found.top(3)
    return {"values": np.nan_to_num(found.values, posinf=0.0), **of_estimate(found.estimate)}


def independence_test(rng, x, y, z):
    method = ("bootstrap", *["analytic"] * 6, *["permutation"] * 9)[rng.integers(16)]
    chosen = options(rng, "random_state", "n_jobs", "nan_policy")
    count = (0, -1, 1.5, *[19] * 30)[rng.integers(33)]
    result = pydine.independence_test(x, y, z, method=method, n_permutations=count, **chosen)
    return {"pvalue": result.pvalue, "length": len(str(result))}


def pairwise_information(rng, x, y, z):
    chosen = options(rng, "random_state", "nan_policy", "base", base="gaussian")
    found = pydine.pairwise_information(x, **chosen)
    off = ~np.eye(len(found.names), dtype=bool)
    return {"value": found.values[off], "pvalue": found.pvalues[off]}


def flat(y):
    """A target as scikit-learn wants it, where it is an array of one column."""
    return y[:, 0] if isinstance(y, np.ndarray) and y.ndim == 2 and y.shape[1] == 1 else y


def score(rng, x, y, z):
    return {"value": pydine.mutual_information_score(x, flat(y), **options(rng, "random_state"))}


def selector(rng, x, y, z):
    fitted = pydine.ConditionalSelector(**options(rng, "random_state")).fit(x, flat(y))
    return {"support": fitted.get_support()}


def estimator(rng, x, y, z):
    fitted = pydine.DINE(**options(rng, "random_state", "base", base=base_of(rng))).fit(x, y, z)
    fitted.transform(x, y, z)
    return {**of_estimate(fitted.information_), "score": fitted.score(x, y, z)}


QUESTIONS = (mutual_information, mutual_information, mutual_information, pointwise_information, independence_test,
             pairwise_information, score, selector, estimator)  # fmt: skip
USUAL_WIDTHS = ([1, 1, 1, 2, 3], [1, 1, 1, 2, 3], [0, 0, 0, 1, 2])
FEATURES = ([1, 2, 2, 3, 4], [1] * 19 + [2], [0])  # and a target
WIDTHS = {pairwise_information: ([1, 2, 3, 4, 5], [1], [0]), score: FEATURES, selector: FEATURES}
SIZES = (0, 1, 12, 16, *[25] * 4, *[40] * 8, *[60] * 8, *[100] * 4)


def wrapped(rng, values):
    """Values in a container; mostly one of the usual ones."""
    kind = str(rng.choice(USUAL if rng.random() < 0.85 else list(CONTAINERS)))
    with warnings.catch_warnings():  # those of making it are not pydine's
        warnings.simplefilter("ignore")
        with np.errstate(all="ignore"):
            return kind, CONTAINERS[kind](values)


def ask(tally, seed):
    """One call, all of it from the seed."""
    rng = np.random.default_rng(seed)
    n = int(rng.choice(SIZES))
    question = QUESTIONS[rng.integers(len(QUESTIONS))]
    sides, kinds = [], []
    before = []
    for side in range(3):
        rows = n if rng.random() > 0.02 else n + 1
        width = int(rng.choice(WIDTHS.get(question, USUAL_WIDTHS)[side]))
        with np.errstate(all="ignore"):
            values = matrix(rng, rows, width, before if rows == n else [])
        before += list(values.T) if rows == n else []
        kind, made = ("absent", None) if side == 2 and width == 0 else wrapped(rng, values)
        kinds.append(kind)
        sides.append(made)
    label = f"seed {seed} {question.__name__} n={n} {'/'.join(kinds)}"
    run(tally, label, lambda: question(rng, *sides))
