"""Questions about tables beyond memory: what all rows say, by flows that a sample has taught."""

import tracemalloc

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pydine
from pydine.answers.fitting import fit
from pydine.answers.settings import Settings
from pydine.inputs import streams
from pydine.inputs.reading import read_question
from pydine.latents.scores import ScoreMap
from pydine.nulls.moments import Moments
from pydine.questions.streamed.refining import refined, sample_of

Z = ["z0", "z1"]


def rows(n):
    rng = np.random.default_rng(1)
    z, u = rng.standard_normal((2, n)), rng.standard_normal(n)
    x = np.sin(z[0]) + z[1] + rng.standard_normal(n)
    y = 0.3 * x + 0.5 * z[1] ** 2 + rng.standard_normal(n)
    return pa.table({"x": x, "y": y, "z0": z[0], "z1": z[1], "u": u})


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("rows") / "rows.parquet"
    pq.write_table(rows(20_000), path, row_group_size=3000)
    return path


@pytest.fixture
def streamed(monkeypatch):
    """A quarter of the rows is the sample."""
    monkeypatch.setattr(streams, "SAMPLE_ROWS", 5000)
    monkeypatch.setattr(streams, "BATCH_ROWS", 2000)


@pytest.mark.slow
def test_few_rows_are_read_as_they_are(path):
    here, there = (pydine.mutual_information("x", "y", Z, data=data) for data in (pq.read_table(path), path))
    assert (there.value, there.standard_error, there.n_samples) == (here.value, here.standard_error, 20_000)


@pytest.mark.slow
def test_information_of_all_rows(path, streamed):
    here = pydine.mutual_information("x", "y", Z, data=pq.read_table(path))
    there = pydine.mutual_information("x", "y", Z, data=str(path))
    # A quarter of the rows has less evidence for a shape, and teaches the functions of z less well.
    assert abs(there.value - here.value) < 0.5 * here.standard_error
    assert there.standard_error == pytest.approx(here.standard_error, rel=0.25)
    assert there.n_samples == 20_000
    assert there.details["sample_rows"] == 5000


@pytest.mark.slow
def test_the_test_of_all_rows(path, streamed):
    here = pydine.independence_test("x", "u", Z, data=pq.read_table(path), method="analytic")
    there = pydine.independence_test("x", "u", Z, data=path, method="analytic")
    assert np.abs(np.log(there.pvalue / here.pvalue)) < 1.0
    assert pydine.independence_test("x", "y", Z, data=path, method="analytic").pvalue < 1e-100
    with pytest.raises(ValueError, match="method='permutation' needs all rows in memory"):
        pydine.independence_test("x", "u", Z, data=path, method="permutation")


@pytest.mark.slow
def test_all_pairs_of_all_rows(path, streamed):
    here = pydine.pairwise_information(pq.read_table(path), given=Z)
    there = pydine.pairwise_information(pl.scan_parquet(path), given=Z)
    assert there.names == here.names
    assert np.nanmax(np.abs(there.values - here.values) / here.standard_errors) < 0.2
    assert np.abs(np.log(there.pvalues[0, 2] / here.pvalues[0, 2])) < 1.5  # flows from a quarter of the rows
    with pytest.raises(ValueError, match="given='rest' needs all rows in memory"):
        pydine.pairwise_information(path, given="rest")


@pytest.mark.slow
def test_sides_of_several_columns(path, streamed):
    here = pydine.mutual_information(["x", "u"], "y", "z0", data=pq.read_table(path), base="gaussian")
    there = pydine.mutual_information(["x", "u"], "y", "z0", data=path, base="gaussian")
    assert abs(there.value - here.value) < 0.4 * here.standard_error


@pytest.mark.slow
def test_threads_have_the_same_bits(path, streamed):
    one, two = (
        pydine.independence_test("x", "y", Z, data=path, method="analytic", n_jobs=n_jobs).estimate for n_jobs in (1, 2)
    )
    assert (one.value, one.standard_error) == (two.value, two.standard_error)


@pytest.mark.slow
def test_the_second_pass_over_the_rows_of_the_first_changes_nothing(path):
    """Latents, projection, closed form and test of rows that are gone through are those of rows in memory."""
    sample = sample_of(path, ("x", "y", *Z), "raise")
    assert sample.is_whole
    answer = fit(read_question("x", "y", Z, data=sample.columns), Settings(base="gaussian").seeded())
    again, sums = refined(answer, sample)
    assert again.information.value == pytest.approx(answer.information.value, rel=1e-6)
    assert again.information.standard_error == pytest.approx(answer.information.standard_error, rel=1e-3)
    blocks = Moments.of(answer.latents).statistics()
    # In standard errors; leverages, which matter less the more rows there are, are not gone through again.
    errors = np.sqrt(2.0 * sums.n * sums.blocks(*sums.variables)), np.sqrt(2.0 * sums.n * blocks)
    np.testing.assert_allclose(*errors, atol=0.05)


def test_thinned_maps_are_the_maps():
    column = np.random.default_rng(4).standard_normal(200_000)
    whole, scores = ScoreMap.fit(column)
    thin = whole.thinned()
    assert len(thin.values) < 40_000
    assert np.abs(thin(column) - scores).max() < 0.01
    beyond = np.array([-9.0, 9.0])
    np.testing.assert_array_equal(thin(beyond), whole(beyond))


def test_names_that_are_not_there(path):
    with pytest.raises(ValueError, match="asks for the column 'nothing'"):
        pydine.mutual_information("x", "nothing", data=path)


@pytest.mark.slow
def test_memory_does_not_grow_with_the_table(tmp_path, monkeypatch):
    """Arrow's memory is not traced; NumPy's is, and four times the rows must not need more of it."""
    monkeypatch.setattr(streams, "SAMPLE_ROWS", 2000)
    monkeypatch.setattr(streams, "BATCH_ROWS", 2000)
    peaks = []
    for n in (40_000, 160_000):
        pq.write_table(rows(n), tmp_path / "rows.parquet", row_group_size=2000)
        tracemalloc.start()
        pydine.mutual_information("x", "y", data=tmp_path / "rows.parquet", base="gaussian")
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.2 * peaks[0] + 2**20


@pytest.fixture(scope="module")
def of_any_kind(tmp_path_factory):
    """Rows with counts, labels and booleans, in memory and in a file."""
    rng, n = np.random.default_rng(2), 3000
    count, word, yes = rng.integers(0, 4, n), np.array(list("abc"))[rng.integers(0, 3, n)], rng.random(n) < 0.5
    x = count + (word == "a") + rng.standard_normal(n)
    y = 0.3 * x + count + yes + rng.standard_normal(n)
    table = pa.table({"x": x, "y": y, "u": rng.standard_normal(n), "count": count, "word": word, "yes": yes})
    path = tmp_path_factory.mktemp("kinds") / "rows.parquet"
    pq.write_table(table, path)
    return table, path


QUESTIONS = [("x", "word", None), ("x", "y", "word"), ("count", "yes", None)]


@pytest.mark.slow
@pytest.mark.parametrize(("x", "y", "z"), QUESTIONS)
def test_few_rows_of_any_kind_are_read_as_they_are(of_any_kind, x, y, z):
    here, there = (pydine.mutual_information(x, y, z, data=data) for data in of_any_kind)
    assert (there.value, there.standard_error, there.n_samples) == (here.value, here.standard_error, 3000)
    assert there.kinds == here.kinds


@pytest.mark.slow
@pytest.mark.parametrize(("x", "y", "z"), QUESTIONS)
def test_what_rests_on_the_sample_says_so(of_any_kind, monkeypatch, x, y, z):
    monkeypatch.setattr(streams, "SAMPLE_ROWS", 1000)
    with pytest.warns(UserWarning, match="the answer rests on a random sample of 1,000 of 3,000 rows"):
        found = pydine.mutual_information(x, y, z, data=of_any_kind[1])
    assert found.n_samples == found.details["sample_rows"] == 1000
    with pytest.warns(UserWarning, match="a random sample of 1,000 of 3,000 rows"):
        tested = pydine.independence_test(x, y, z, data=of_any_kind[1], method="analytic")
    assert tested.estimate.n_samples == 1000


@pytest.mark.slow
def test_given_counts_and_booleans_all_rows_are_asked(of_any_kind, monkeypatch):
    here = pydine.mutual_information("x", "y", ["count", "yes"], data=of_any_kind[0], base="gaussian")
    monkeypatch.setattr(streams, "SAMPLE_ROWS", 1000)
    there = pydine.mutual_information("x", "y", ["count", "yes"], data=of_any_kind[1], base="gaussian")
    assert there.n_samples == 3000
    assert abs(there.value - here.value) < 0.3 * here.standard_error


@pytest.mark.slow
def test_pairs_of_any_kind(of_any_kind, monkeypatch):
    """Pairs of continuous columns rest on all rows, the others on the sample: counts say which."""
    monkeypatch.setattr(streams, "SAMPLE_ROWS", 1000)
    with pytest.warns(UserWarning, match="some pairs rest"):
        found = pydine.pairwise_information(of_any_kind[1], "count", base="gaussian")
    assert found.kinds == ("continuous", "continuous", "continuous", "nominal", "nominal")
    smooth = np.array([kind == "continuous" for kind in found.kinds])
    expected = np.where(smooth[:, None] & smooth, 3000, 1000)
    np.fill_diagonal(expected, 0)
    np.testing.assert_array_equal(found.counts, expected)
