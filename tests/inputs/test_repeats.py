"""A word where a column looks like subjects or dates with several rows each, and none about ordinary tables."""

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn import datasets

import pydine
from pydine.inputs.columns import Source
from pydine.inputs.dependence import DependentRowsWarning, warn_of_repeats

DATA = Path(__file__).parents[2] / "docs" / "data"


def table(count=40, size=5):
    rng = np.random.default_rng(0)
    a, b, c = rng.normal(size=(3, count * size))
    return pd.DataFrame({"a": a, "b": b, "c": c}), rng.permutation(np.repeat(np.arange(count), size))


@pytest.mark.parametrize("name", ["subject", "patientId", "Family", "customer_id", "ID"])
@pytest.mark.parametrize("as_text", [False, True])
def test_subjects_are_named(name, as_text):
    data, who = table()
    data[name] = [f"s{i}" for i in who] if as_text else who
    said = f"Column {name!r} looks like subjects with several rows each .40 in 200 rows.*pass clusters={name!r}"
    with pytest.warns(DependentRowsWarning, match=said):
        pydine.mutual_information("a", "b", data=data)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pydine.mutual_information("a", "b", data=data, clusters=name)


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_dates_that_repeat_are_named(library):
    data, when = table()
    days = np.datetime64("2024-01-01") + when
    for name, values in (("measured", days.astype("datetime64[us]")), ("visit_date", days.astype(str))):
        frame = library({**{key: data[key].to_numpy() for key in data}, name: values})
        with pytest.warns(DependentRowsWarning, match=f"looks like dates with several rows each.*time='{name}'"):
            pydine.mutual_information("a", "b", data=frame)


def test_every_door_that_sees_a_table_tells():
    data, who = table()
    data = data.assign(subject=[f"s{i}" for i in who])
    gaps = data.assign(a=data["a"].where(data.index > 3))
    for ask in (
        lambda: pydine.pairwise_information(data, base="gaussian"),
        lambda: pydine.rank(data, "a", base="gaussian"),
        lambda: pydine.causal_graph(data, strengths=False),
        lambda: pydine.ConditionalSelector(base="gaussian").fit(data[["b", "subject"]], data["a"]),
        lambda: pydine.pairwise_information(gaps, base="gaussian", nan_policy="omit"),
    ):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            ask()
        assert [str(one.message) for one in told if one.category is DependentRowsWarning and "'subject'" in str(one)]


@pytest.mark.parametrize(
    "column",
    [
        ("id", np.arange(200)),  # each once
        ("student", np.arange(200) % 2),  # yes and no
        ("family_size", np.arange(200) % 7),
        ("model_year", np.arange(200) % 13),
        ("birth_date", np.datetime64("1980-01-01") + np.arange(200)),
        ("subject", np.append(np.arange(190), np.arange(10))),  # hardly any repeats
    ],
)
def test_ordinary_columns_are_not(column):
    data, _ = table()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_repeats(Source.read(data.assign(**{column[0]: column[1]})))


def test_who_is_asked_about_is_known():
    data, who = table()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pydine.mutual_information("a", "subject", data=data.assign(subject=who.astype(float)))


@pytest.mark.parametrize("load", ["iris", "diabetes", "wine", "breast_cancer", "linnerud", "digits"])
def test_tables_of_scikit_learn(load):
    frame = getattr(datasets, f"load_{load}")(as_frame=True).frame
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_repeats(Source.read(frame))


@pytest.mark.parametrize("path", sorted(DATA.glob("*.tsv")), ids=lambda path: path.stem)
def test_tables_of_the_documentation(path):
    frame = pd.read_csv(path, sep="\t")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        warn_of_repeats(Source.read(frame))
    expected = {"stature": ["Column 'family'"], "admissions": ["Column 'Freq'"]}
    assert [str(one.message).split(" looks")[0] for one in told] == expected.get(path.stem, [])
