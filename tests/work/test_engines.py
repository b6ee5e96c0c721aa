"""Work that leaves the process: the same bits, few bytes, and nothing lost with a worker."""

import os
import signal
from functools import partial
from pathlib import Path

import joblib
import numpy as np
import pytest
from joblib.externals.loky.process_executor import BrokenProcessPool

import pydine
from cluster_data import GIVEN, answer, columns, digest
from pydine.questions.ranking import rank
from pydine.units.ladder import LadderSettings
from pydine.work import engines, execution
from pydine.work.cache import UnitCache, fit_units
from pydine.work.execution import arrivals, is_sent_away, run
from pydine.work.parcels import Job, Packing, unpack
from pydine.work.tasks import UnitTask


@pytest.fixture(autouse=True)
def everything_is_worth_a_trip(monkeypatch):
    monkeypatch.setattr(execution, "WORTH_A_TRIP", 0.0)


@pytest.fixture(scope="module")
def alone():
    return answer()


def tasks(count=6, n=300):
    rng = np.random.default_rng(0)
    block = rng.normal(size=(count + 2, n))
    return [UnitTask(row, block[:2].copy(), LadderSettings()) for row in block[2:]]


# --- parcels ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "array",
    [
        np.arange(200.0),
        np.arange(600.0).reshape(3, 200),
        np.asfortranarray(np.arange(600.0).reshape(3, 200)),
        np.arange(600.0).reshape(200, 3),
        np.arange(2000) % 3 == 0,
        np.arange(2000, dtype=np.int32)[::2],
        np.arange(5.0),
        np.array(["a", "b"] * 300),
        np.empty((0, 400)),
    ],
    ids=str,
)
def test_what_is_unpacked_is_what_was_packed(array):
    packing = Packing()
    parcel = packing.pack({"array": array, "rest": "of it"})
    found = unpack(parcel, dict(enumerate(packing.chunks())))["array"]
    np.testing.assert_array_equal(found, array)
    assert found.dtype == array.dtype
    assert found.flags.f_contiguous == array.flags.f_contiguous or array.strides[0] > array.itemsize
    assert found.flags.writeable


def test_columns_travel_once_and_tasks_are_small():
    some = tasks(50)
    job = Job.of(partial(fit_units), [[task] for task in some])
    assert job.nbytes < 1.1 * 52 * some[0].target.nbytes + 2048
    assert max(len(parcel.content) for parcel in job.groups) < 2000


def test_groups_are_worth_their_trip_and_end_together(monkeypatch):
    monkeypatch.setattr(execution, "WORTH_A_TRIP", 0.1)
    groups = execution._groups([0.001] * 1000, 2)
    assert [i for group in groups for i in group] == list(range(1000))
    assert 16 <= len(groups) <= 21
    assert execution._groups([5.0] * 4, 2) == [[0], [1], [2], [3]]


# --- the same bits ----------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_all_pairs_in_a_context(alone, backend):
    with joblib.parallel_config(backend=backend, n_jobs=2):
        assert answer() == alone


@pytest.mark.slow
def test_n_jobs_alone_is_threads(alone):
    assert answer(n_jobs=2) == alone
    assert not is_sent_away(2)


@pytest.mark.parametrize(("n_jobs", "away"), [(None, True), (2, True), (1, False)])
def test_who_asks_for_one_job_stays_here(n_jobs, away):
    with joblib.parallel_config(backend="loky", n_jobs=2):
        assert is_sent_away(n_jobs) is away
    assert not is_sent_away(n_jobs)


@pytest.mark.slow
def test_ranking_selection_and_tuning_in_processes():
    data = columns(6, 300)
    X, y = np.column_stack([data[name] for name in ("c00", "c02", "z0", "z1")]), data["c01"]

    def answers():
        ranking = rank({**{f"x{i}": column for i, column in enumerate(X.T)}, "y": y}, "y")
        selector = pydine.ConditionalSelector().fit(X, y)
        tuned = pydine.DINE(tune=True).fit(X[:, 0], y, X[:, 2:])
        paper = pydine.DINE.paper().set_params(max_iter=20).fit(X[:, :1], y, X[:, 2:])
        return (
            [(column.alone.value, column.given_rest.value, column.pvalue_given_rest) for column in ranking],
            selector.pvalues_.tolist(),
            selector.information_.tolist(),
            [tuned.information_.value, paper.information_.value],
        )

    here = answers()
    with joblib.parallel_config(backend="loky", n_jobs=2):
        assert answers() == here


@pytest.mark.slow
def test_every_pair_given_the_rest_in_processes():
    data = {name: column for name, column in columns(6, 300).items() if name < "c04"}
    here = digest(pydine.pairwise_information(data, "rest"))
    with joblib.parallel_config(backend="loky", n_jobs=2):
        assert digest(pydine.pairwise_information(data, "rest")) == here


@pytest.mark.slow
def test_what_workers_fit_for_a_question_is_kept():
    cache, again = UnitCache(), UnitCache()
    pydine.pairwise_information(columns(), GIVEN, cache=cache)
    with joblib.parallel_config(backend="loky", n_jobs=2):
        pydine.pairwise_information(columns(), GIVEN, cache=again)
    assert set(again._entries) == set(cache._entries)


# --- errors, progress, loss -------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_errors_of_the_work_reach_the_caller():
    def fail(i):
        raise ValueError(f"item {i}")

    with joblib.parallel_config(backend="loky", n_jobs=2), pytest.raises(ValueError, match="item"):
        run(fail, range(3), None)


@pytest.mark.slow
def test_progress_moves_before_the_end():
    """Results come as they are ready: the first is seen while the last is held back."""
    seen = []

    def slow(path, i):
        import time

        while i == 3 and not path.exists():
            time.sleep(0.01)
        return i

    def watch(path):
        with joblib.parallel_config(backend="loky", n_jobs=2):
            for i, _ in arrivals(partial(slow, path), range(4), None):
                seen.append(i)
                if len(seen) == 3:
                    path.touch()

    path = Path(os.environ.get("TMPDIR", "/tmp")) / f"pydine-test-{os.getpid()}"
    try:
        watch(path)
    finally:
        path.unlink(missing_ok=True)
    assert sorted(seen) == [0, 1, 2, 3]
    assert seen[-1] == 3


def killing(folder, i):
    """Ends the worker the first time that the fourth item is run, once the caller has got enough of the others."""
    import time

    mark = Path(folder) / "killed"
    if i == 3 and not mark.exists():
        until = time.monotonic() + 60.0
        while not (Path(folder) / "enough").exists() and time.monotonic() < until:
            time.sleep(0.01)
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    with (Path(folder) / f"{i}").open("a") as file:
        file.write("x")
    return i * i


@pytest.mark.slow
def test_a_worker_that_is_killed_does_not_cost_what_has_arrived(tmp_path):
    found, before = {}, []
    with joblib.parallel_config(backend="loky", n_jobs=2):
        for i, square in arrivals(partial(killing, tmp_path), range(40), None):
            assert i not in found
            found[i] = square
            if len(found) == 20:
                before = list(found)
                (tmp_path / "enough").touch()
    assert found == {i: i * i for i in range(40)}
    assert (tmp_path / "killed").exists()
    assert [(tmp_path / f"{i}").read_text() for i in before] == ["x"] * 20


def always_killed(i):
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.slow
def test_work_that_kills_every_worker_is_an_error():
    with joblib.parallel_config(backend="loky", n_jobs=2), pytest.raises(BrokenProcessPool):
        run(always_killed, range(4), None)


def test_another_version_is_refused():
    job = Job.of(abs, [[1]])
    with pytest.raises(RuntimeError, match="another version"):
        engines.work(job.errand(0), "of another version", [])


@pytest.mark.slow
def test_a_cache_that_cannot_be_written_costs_nothing(alone, tmp_path):
    folder = tmp_path / "cache"
    cache = UnitCache(folder)
    folder.rmdir()
    folder.write_text("a file where the folder was")
    with joblib.parallel_config(backend="loky", n_jobs=2), pytest.warns(UserWarning, match="cannot be written"):
        assert answer(cache=cache) == alone


def test_linear_algebra_has_one_thread_while_work_is_done():
    from threadpoolctl import threadpool_info

    from pydine.work.threads import one_thread

    def most():
        return max(library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas")

    before = most()
    with one_thread():
        assert most() == 1
        with one_thread():
            assert most() == 1
        assert most() == 1
    assert most() == before


# --- shards -----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_shards_that_overlap_or_are_missing(tmp_path, monkeypatch):
    from pydine.questions.pairs import asked
    from pydine.questions.pairwise import fit_shard

    monkeypatch.setattr(asked, "MOST_OWN", 0)  # as in larger tables: pairs share the flows of columns
    alone = answer()
    shards = ["1/4", "2/4", "2/4", "1/2"]  # the fourth quarter is nobody's, and 1/2 overlaps with 1/4
    owed = [fit_shard(columns(), GIVEN, shard=shard, cache=tmp_path) for shard in shards]
    assert owed == [7, 4, 4, 2]
    assert answer(cache=UnitCache(tmp_path)) == alone
    cache = UnitCache(tmp_path)
    assert fit_shard(columns(), GIVEN, shard="4/4", cache=cache) == 0
    assert cache.info().misses == 0


@pytest.mark.slow
def test_shards_of_pairs_given_the_rest(tmp_path):
    from pydine.questions.pairwise import fit_shard

    data = {name: column for name, column in columns(6, 300).items() if name < "c03"}
    for shard in ("1/2", "2/2"):
        assert fit_shard(data, "rest", shard=shard, cache=tmp_path) == 0
    cache = UnitCache(tmp_path)
    assert digest(pydine.pairwise_information(data, "rest", cache=cache)) == digest(
        pydine.pairwise_information(data, "rest")
    )
    assert cache.info().misses == 0


@pytest.mark.slow
def test_shards_of_a_table_with_missing_values_and_labels(tmp_path):
    from pydine.questions.pairwise import fit_shard

    data = {name: column for name, column in columns(6, 300).items() if name not in ("c02", "c03")}
    data["c00"] = np.where(np.arange(300) < 40, np.nan, data["c00"])
    data["word"] = np.array(["a", "b", "c"])[np.arange(300) % 3]
    options = {"cache": tmp_path, "nan_policy": "omit", "kinds": {"c01": "continuous"}}
    for shard in ("2/2", "1/2", "2/2"):  # flows of all columns are known after the second
        fit_shard(data, GIVEN, shard=shard, **options)
    cache = UnitCache(tmp_path)
    found = pydine.pairwise_information(data, GIVEN, **{**options, "cache": cache})
    assert digest(found) == digest(pydine.pairwise_information(data, GIVEN, **{**options, "cache": None}))
    assert cache.info().misses == 0


def test_shards_of_a_file(tmp_path):
    import polars as pl

    from pydine.questions.pairwise import fit_shard

    data = {name: column for name, column in columns(6, 300).items() if name not in ("c02", "c03", "c04", "c05")}
    pl.DataFrame(data).write_parquet(tmp_path / "data.parquet")
    assert fit_shard(tmp_path / "data.parquet", GIVEN, shard="1/1", cache=tmp_path / "flows") == 0
    cache = UnitCache(tmp_path / "flows")
    pydine.pairwise_information(data, GIVEN, cache=cache)
    assert cache.info().misses == 0


@pytest.mark.parametrize("shard", ["0/4", "5/4", "1", "a/b", "1/0", "/2"])
def test_a_shard_is_one_of_its_parts(shard, tmp_path):
    from pydine.questions.pairwise import fit_shard

    with pytest.raises(ValueError, match="shard must be like 3/16"):
        fit_shard(columns(), GIVEN, shard=shard, cache=tmp_path)
