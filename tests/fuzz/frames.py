"""Questions about columns of any kind, by name, in frames and in files that are gone through, all from one seed."""

import decimal
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

import pydine
from fuzz.calls import COLUMNS, base_of, of_estimate, options
from fuzz.outcomes import run
from pydine.inputs import streams

# --- columns ----------------------------------------------------------------------------------------------------------


def cut(rng, of, levels):
    """Levels (n,) as whole numbers that say something of another column, with rows of their own."""
    order = np.argsort(np.argsort(of, kind="stable"), kind="stable")
    found = (order * levels // max(len(of), 1)).astype(int)
    return np.where(rng.random(len(of)) < 0.3, rng.integers(0, levels, len(of)), found)


def words(codes):
    return np.array([f"level {code}" for code in codes], dtype=object)


def with_holes(rng, values):
    """Some of them missing, as an array of objects."""
    values = np.array(values, dtype=object)
    values[rng.random(len(values)) < 0.1] = None
    return values


KINDS = {
    "text": lambda rng, n, other: words(cut(rng, other, 4)),
    "two words": lambda rng, n, other: words(cut(rng, other, 2)),
    "many words": lambda rng, n, other: words(cut(rng, other, 30)),
    "identifiers": lambda rng, n, _: words(range(n)),
    "one word": lambda rng, n, _: words([0] * n),
    "a rare word": lambda rng, n, _: words([1, *[0] * (n - 1)][:n]),
    "empty text": lambda rng, n, _: np.array(["", " ", "\x1b[2J"], dtype=object)[rng.integers(0, 3, n)],
    "text with holes": lambda rng, n, other: with_holes(rng, words(cut(rng, other, 3))),
    "only holes": lambda rng, n, _: np.full(n, None, dtype=object),
    "booleans": lambda rng, n, other: cut(rng, other, 2).astype(bool),
    "booleans with holes": lambda rng, n, other: with_holes(rng, cut(rng, other, 2).astype(bool)),
    "counts": lambda rng, n, other: cut(rng, other, 6),
    "counts with holes": lambda rng, n, other: with_holes(rng, cut(rng, other, 6)),
    "point mass": lambda rng, n, other: np.where(rng.random(n) < 0.4, 0.0, rng.exponential(size=n) + other.clip(-9, 9)),
    "two masses": lambda rng, n, other: np.clip(np.nan_to_num(other), -0.5, 0.5),
    "few rows": lambda rng, n, _: np.where(np.arange(n) < 2, 5.0, 0.0),
    "float with nan": lambda rng, n, _: np.where(rng.random(n) < 0.1, np.nan, rng.standard_normal(n)),
    "big integers": lambda rng, n, _: 2**62 + rng.integers(0, 5, n),
    "decimals": lambda rng, n, _: np.array([decimal.Decimal(int(v)) / 7 for v in rng.integers(0, 99, n)], dtype=object),
    "days": lambda rng, n, _: np.datetime64("2020-01-01") + rng.integers(0, 400, n).astype("m8[D]"),
    "mixed objects": lambda rng, n, _: np.array(([1, "a", None, 2.5, True] * (n // 5 + 1))[:n], dtype=object),
}
NAMES = ("a", "b", "c", "d", "e", "f")
ODD_NAMES = ("a b", "é\x1b[2J", "", "1", "x;y", "\N{RIGHT-TO-LEFT OVERRIDE}z")


def columns_of(rng, n, names):
    made, numbers = {}, [rng.standard_normal(n)]
    for name in names:
        other = numbers[rng.integers(len(numbers))]
        if rng.random() < 0.6:
            made[name] = KINDS[str(rng.choice(list(KINDS)))](rng, n, other)
        else:
            kind = str(rng.choice(list(COLUMNS))) if rng.random() < 0.4 else "normal"
            made[name] = COLUMNS[kind](rng, n, other) + (0.5 * other.clip(-9, 9) if rng.random() < 0.5 else 0.0)
            numbers.append(made[name])
    return made


# --- frames -----------------------------------------------------------------------------------------------------------


def pandas_categories(rng, columns):
    """Whatever is not a number as a category, of which some are not used."""
    frame = pd.DataFrame(columns)
    for name in frame.columns[[v.dtype == object for v in frame.to_dict("series").values()]]:
        if not frame[name].map(lambda v: isinstance(v, str) or v is None).all():
            continue
        used = sorted({v for v in frame[name] if v is not None})
        frame[name] = pd.Categorical(frame[name], [*used, "unused"], ordered=bool(rng.random() < 0.5))
    return frame


def polars_of(columns):
    return pl.DataFrame({name: list(v) if v.dtype == object else v for name, v in columns.items()}, strict=False)


def polars_categories(columns):
    frame = polars_of(columns)
    return frame.with_columns(pl.col(pl.String).cast(pl.Categorical))


def file_of(columns, folder):
    pq.write_table(polars_of(columns).to_arrow(), folder / "rows.parquet", row_group_size=17)
    return folder / "rows.parquet"


FRAMES = {
    "dictionary": lambda rng, columns, folder: columns,
    "pandas": lambda rng, columns, folder: pd.DataFrame(columns),
    "pandas nullable": lambda rng, columns, folder: pd.DataFrame(columns).convert_dtypes(),
    "pandas arrow": lambda rng, columns, folder: pd.DataFrame(columns).convert_dtypes(dtype_backend="pyarrow"),
    "pandas categories": lambda rng, columns, folder: pandas_categories(rng, columns),
    "polars": lambda rng, columns, folder: polars_of(columns),
    "polars categories": lambda rng, columns, folder: polars_categories(columns),
    "pyarrow": lambda rng, columns, folder: polars_of(columns).to_arrow(),
    "pyarrow dictionaries": lambda rng, columns, folder: polars_categories(columns).to_arrow(),
    "polars lazy": lambda rng, columns, folder: polars_of(columns).lazy(),
    "file": lambda rng, columns, folder: file_of(columns, folder),
}

# --- questions --------------------------------------------------------------------------------------------------------


def kept(result):
    """Whether a result is what its JSON says; named as a number, so that it is looked at like others."""
    text = result.to_json()
    return {"from JSON": 0.0 if type(result).from_json(text).to_json() == text else np.nan}


def usual(rng, *names, **fixed):
    fixed.setdefault("nan_policy", "omit" if rng.random() < 0.8 else "raise")
    if rng.random() < 0.15:
        fixed["kinds"] = {str(rng.choice(NAMES)): str(rng.choice(["nominal", "ordinal", "continuous", "text"]))}
    return options(rng, *names, **fixed)


def sides(names):
    return names[0], names[1], list(names[2:]) or None


def information(rng, data, names, folder):
    result = pydine.mutual_information(*sides(names), data=data, **usual(rng, "base", base=base_of(rng)))
    return {**of_estimate(result), **kept(result)}


def rows(rng, data, names, folder):
    found = pydine.pointwise_information(*sides(names), data=data, **usual(rng, "base", base=base_of(rng)))
    found.top(3)
    return {"values": np.nan_to_num(found.values, posinf=0.0), **of_estimate(found.estimate), **kept(found)}


def test(rng, data, names, folder):
    method = "analytic" if rng.random() < 0.5 else "permutation"
    found = pydine.independence_test(*sides(names), data=data, method=method, n_permutations=19, **usual(rng))
    return {"pvalue": found.pvalue, "length": len(str(found)), **kept(found)}


def pairs(rng, data, names, folder):
    given = (None, None, "rest", list(names[3:]))[rng.integers(4)]
    found = pydine.pairwise_information(data, given, progress=False, **usual(rng, base=base_of(rng)))
    off = ~np.eye(len(found.names), dtype=bool)
    values, pvalues = found.values[off], found.pvalues[off]
    values[np.isnan(values) & (pvalues == 1.0)] = 0.0  # too few rows in common, as a warning has said
    return {"value": values, "pvalue": pvalues, "length": len(str(found)), **kept(found)}


def ranking(rng, data, names, folder):
    found = pydine.rank(data, names[0], progress=False, **usual(rng, base=base_of(rng)))
    told = [estimate for column in found.columns for estimate in (column.alone, column.given_rest) if estimate]
    pvalues = [column.pvalue_alone for column in found.columns]
    pvalues += [column.pvalue_given_rest for column in found.columns if column.given_rest]
    return {"value": [one.value for one in told], "pvalue": pvalues, "length": len(str(found)), **kept(found)}


def wide(rng, data, names, folder):
    fixed = usual(rng)
    fixed.pop("kinds", None)
    found = pydine.wide_information(data, progress=False, **fixed)
    return {"value": found.values, "pvalue": found.pvalues, "length": len(str(found)), **kept(found)}


def selector(rng, data, names, folder):
    if not isinstance(data, pd.DataFrame | pl.DataFrame):
        return {"nothing to ask": 0.0}
    fitted = pydine.ConditionalSelector().fit(data[list(names[1:])], data[names[0]])
    return {"support": fitted.get_support()}


def model(rng, data, names, folder):
    """Fitted, kept in a file, and asked again: the same bits."""
    asked = sides(names)
    fitted = pydine.DINE(**usual(rng, "base", base=base_of(rng))).fit(*asked, data=data)
    fitted.save(folder / "model.npz")
    again = pydine.DINE.load(folder / "model.npz")
    ours, theirs = fitted.score(*asked, data=data), again.score(*asked, data=data)
    same = np.array([ours]).tobytes() == np.array([theirs]).tobytes() and again.information_ == fitted.information_
    return {**of_estimate(fitted.information_), "loaded": 0.0 if same else np.nan}


QUESTIONS = (information, information, information, rows, test, test, pairs, ranking, ranking, wide, selector, model)
SIZES = (0, 1, 2, 12, 20, *[40] * 3, *[80] * 6, *[150] * 6, 400)


def ask(tally, seed, folder):
    """One question, all of it from the seed."""
    rng = np.random.default_rng(seed)
    n, question = int(rng.choice(SIZES)), QUESTIONS[rng.integers(len(QUESTIONS))]
    names = tuple(
        map(str, rng.permutation(ODD_NAMES if rng.random() < 0.1 else NAMES)[: int(rng.choice([2, 2, 3, 3, 4, 6]))])
    )
    kind = str(rng.choice(list(FRAMES)))
    sample = streams.SAMPLE_ROWS, streams.BATCH_ROWS
    with warnings.catch_warnings(), np.errstate(all="ignore"):  # those of making it are not pydine's
        warnings.simplefilter("ignore")
        columns = columns_of(rng, n, names)
        try:
            data = FRAMES[kind](rng, columns, folder)
        except (ValueError, TypeError, OverflowError, pa.ArrowException, pl.exceptions.PolarsError):
            return  # there is no such frame
    if kind in ("polars lazy", "file") and rng.random() < 0.5:
        streams.SAMPLE_ROWS, streams.BATCH_ROWS = 60, 25  # most of the rows are not in the sample
    try:
        run(tally, f"seed {seed} {question.__name__} n={n} {kind}", lambda: question(rng, data, names, folder))
    finally:
        streams.SAMPLE_ROWS, streams.BATCH_ROWS = sample
