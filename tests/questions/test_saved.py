"""Models that last: the same bits after loading, whole files or none, and a sentence for any other file."""

import re
import signal
import subprocess
import sys

import numpy as np
import pytest

from faults import files_of, flips, full_disk, retold
from pydine import DINE, DeterminedWarning, InformationEstimate, UnitCache, mutual_information
from pydine.answers.settings import BASES
from pydine.archive import _members, _sealed
from pydine.questions.saved import MODEL
from pydine.work.cache import UNIT

MODELS = {
    **{f"{base} base": {"base": base} for base in BASES},
    "paper": dict(DINE.paper(max_iter=40).get_params()),
    "paper, flow base": dict(DINE.paper(max_iter=40, base="flow").get_params()),
}


def sample(n, seed, dz=2):
    rng = np.random.default_rng(seed)
    z = rng.standard_normal((n, dz))
    x = rng.standard_normal((n, 2)) + (np.sin(2.0 * z[:, :1]) if dz else 0.0)
    return x, x[:, :1] ** 2 + 0.5 * rng.standard_normal((n, 1)), z if dz else None


@pytest.fixture(scope="module", params=MODELS)
def model(request):
    return DINE(**MODELS[request.param]).fit(*sample(120, 0))


@pytest.fixture(scope="module")
def plain():
    return DINE(base="gaussian").fit(*sample(80, 0, dz=1))


def loaded(model, folder):
    model.save(folder / "model.npz")
    return DINE.load(folder / "model.npz")


def test_everything_is_the_same_to_the_last_bit(model, tmp_path):
    again, new = loaded(model, tmp_path), sample(300, 1)
    far = [1e6 * block for block in new]
    for rows in (new, far):
        for one, other in zip(model.transform(*rows), again.transform(*rows), strict=True):
            np.testing.assert_array_equal(one, other)
        np.testing.assert_array_equal(model.pointwise(*rows), again.pointwise(*rows))
        assert model.score(*rows) == again.score(*rows)
    assert again.information_ == model.information_
    assert dict(again.information_.details) == dict(model.information_.details)
    assert again.get_params() == model.get_params()
    assert (again.n_features_in_, again.tuning_) == (model.n_features_in_, model.tuning_)
    np.testing.assert_array_equal(again.flow_.cross_product, model.flow_.cross_product)


def mixed_sample(n, seed):
    rng = np.random.default_rng(seed)
    labels, counts = np.array(["red", "green", "blue"])[rng.integers(0, 3, n)], rng.poisson(2.0, n)
    flags, numbers = rng.random(n) < 0.4, rng.standard_normal(n) + (labels == "red")
    rain = np.where(rng.random(n) < 0.4, 0.0, rng.exponential(size=n) + 0.3 * numbers**2)
    return {"labels": labels, "counts": counts, "flags": flags, "numbers": numbers, "rain": rain}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("asked", "base"),
    [
        *((asked, base) for base in BASES for asked in [("labels", "numbers", "counts")]),
        (("flags", "labels", "rain"), "auto"),
        (("counts", "rain", "labels"), "auto"),
        (("numbers", "rain"), "auto"),
        ((["labels", "numbers"], "rain", ["flags", "counts"]), "auto"),
    ],
)
def test_columns_of_any_kind_are_the_same_too(asked, base, tmp_path):
    data, new = mixed_sample(200, 0), mixed_sample(100, 1)
    model = DINE(base=base).fit(*asked, data=data)
    again = loaded(model, tmp_path)
    for one, other in zip(model.transform(*asked, data=new), again.transform(*asked, data=new), strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(model.pointwise(*asked, data=new), again.pointwise(*asked, data=new))
    assert model.score(*asked, data=new) == again.score(*asked, data=new)
    assert again.information_ == model.information_


def test_a_shape_that_neighbours_have_a_say_in(tmp_path):
    def spiral(seed):
        turns = np.random.default_rng(seed).uniform(0.0, 2.0 * np.pi, 200)
        return (1.0 + turns) * np.cos(3.0 * turns), (1.0 + turns) * np.sin(3.0 * turns)

    model = DINE(interval="calibrated").fit(*spiral(0))
    assert model.information_.details["by_neighbours"] > 0.1
    again = loaded(model, tmp_path)
    np.testing.assert_array_equal(model.pointwise(*spiral(1)), again.pointwise(*spiral(1)))
    assert again.information_ == model.information_
    assert InformationEstimate.from_json(model.information_.to_json()).to_json() == model.information_.to_json()


def test_a_shape_with_edges(tmp_path):
    def blocks(seed):
        rng = np.random.default_rng(seed)
        column = rng.integers(4, size=400)
        return column + rng.random(400), column % 2 + rng.random(400)

    model = DINE().fit(*blocks(0))
    assert sum(weight for name, weight in model.information_.details["mixture"].items() if "classes" in name) > 0.5
    again = loaded(model, tmp_path)
    np.testing.assert_array_equal(model.pointwise(*blocks(1)), again.pointwise(*blocks(1)))
    assert again.information_ == model.information_


def test_it_can_be_saved_and_fitted_again(model, tmp_path):
    again = loaded(model, tmp_path)
    first = (tmp_path / "model.npz").read_bytes()
    again.save(tmp_path / "model.npz")
    assert (tmp_path / "model.npz").read_bytes() == first
    assert again.fit(*sample(120, 0)).information_ == model.information_


@pytest.mark.slow
def test_in_another_process(tmp_path):
    model, new = DINE().fit(*sample(120, 0)), sample(50, 1)
    model.save(tmp_path / "model.npz")
    np.savez(tmp_path / "rows.npz", x=new[0], y=new[1], z=new[2])
    code = (
        "import sys, numpy as np, pydine\n"
        "rows = np.load(sys.argv[2])\n"
        "print(pydine.DINE.load(sys.argv[1]).pointwise(rows['x'], rows['y'], rows['z']).tobytes().hex())"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "model.npz"), str(tmp_path / "rows.npz")]
    there = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert there.strip() == model.pointwise(*new).tobytes().hex()


@pytest.mark.parametrize("kind", ["determined", "infinite"])
def test_verdicts(kind, tmp_path):
    x, y, z = sample(80, 0)
    with pytest.warns(DeterminedWarning) if kind == "determined" else np.errstate():
        model = DINE().fit(x[:, 0], *((y, x[:, 0] ** 3) if kind == "determined" else (np.exp(x[:, 0]), z)))
    again = loaded(model, tmp_path)
    assert again.information_.value == model.information_.value
    assert np.isnan(again.information_.standard_error) == np.isnan(model.information_.standard_error)
    with pytest.raises(ValueError, match="there are no flows to map rows with"):
        again.transform(x[:, 0], y, z[:, 0])


def test_columns_that_add_nothing_and_tuning(tmp_path):
    """Columns of x that repeat, tied values, and what tuning tried, names included."""
    x, y, _ = sample(80, 0)
    data = {"a": np.round(x[:, 0]), "b": -np.round(x[:, 0]), "é\x1b": y[:, 0]}
    with pytest.warns(UserWarning, match="Tied values"):
        model = DINE(max_iter=5, tune=True, base="gaussian", kinds={"a": "continuous", "b": "continuous"}).fit(
            ["a", "b"], "é\x1b", data=data
        )
    again = loaded(model, tmp_path)
    assert again.information_.names == model.information_.names
    assert again.tuning_ == model.tuning_
    assert again.kinds == model.kinds
    np.testing.assert_array_equal(again.transform(["a", "b"], "é\x1b", data=data)[0][:, 1], 0.0)


def test_before_fit(tmp_path):
    with pytest.raises(ValueError, match="not fitted"):
        DINE().save(tmp_path / "model.npz")


def test_parameters_that_are_objects_are_refused(tmp_path):
    model = DINE(base="gaussian", random_state=np.random.default_rng(0)).fit(*sample(40, 0, dz=0))
    with pytest.raises(
        ValueError, match=r"random_state must be a number.* but is a Generator; change it with set_param"
    ):
        model.save(tmp_path / "model.npz")
    assert files_of(tmp_path) == []
    loaded(model.set_params(random_state=np.int64(0)), tmp_path)


class TestDamage:
    def test_flipped_bits(self, plain, tmp_path):
        plain.save(tmp_path / "model.npz")
        whole = (tmp_path / "model.npz").read_bytes()
        for content in (*flips(whole, 300), *(whole[:length] for length in range(0, len(whole), 500))):
            (tmp_path / "model.npz").write_bytes(content)
            with pytest.raises(
                ValueError, match=r"model\.npz' (is damaged|was not written).*; fit the model again"
            ) as refused:
                DINE.load(tmp_path / "model.npz")
            assert "\n" not in str(refused.value)

    @pytest.mark.parametrize(
        ("before", "after", "why"),
        [
            ('"version":1', '"version":2', r"newer format, by pydine \d.*\(version 2, but at most 1 can be read\)"),
            ('"pydine.model"', '"pydine.table"', "holds a pydine.table, not a pydine.model"),
            ('"max_rows"', '"most_rows"', "holds 'most_rows', which DINE does not have"),
            ('"_verdict"', '"transform"', "holds 'transform', which DINE does not have"),
            ('"learned"', '"unlearned"', "does not hold a model"),
            ('["_dimensions",', '["_dimension",', "holds '_dimension', which DINE does not have"),
            ('"recalibration"', '"calibration"', r"\(RankFlow has other fields: recalibration, calibration\)"),
        ],
    )
    def test_other_files(self, plain, tmp_path, before, after, why):
        plain.save(tmp_path / "model.npz")
        content = (tmp_path / "model.npz").read_bytes()
        (tmp_path / "model.npz").write_bytes(retold(content, before, after))
        with pytest.raises(ValueError, match=why):
            DINE.load(tmp_path / "model.npz")

    @pytest.mark.slow
    def test_what_somebody_made_up_is_refused_or_gives_numbers(self, tmp_path):
        """Any number of the head replaced, with a digest that agrees: compiled code does not read beyond its arrays."""
        rows, rng = sample(100, 0, dz=1), np.random.default_rng(0)
        DINE(base="flow").fit(*rows).save(tmp_path / "model.npz")
        whole = (tmp_path / "model.npz").read_bytes()
        members = _members(whole)
        head = members["head"].tobytes().decode()
        numbers, refused = list(re.finditer(r"-?\d+(\.\d+)?(e-?\d+)?", head)), 0
        for number in rng.choice(len(numbers), 60, replace=False):
            start, end = numbers[number].span()
            other = ("0", "1", "-1", "7", "1000000", "0.5", "null", "[]")[rng.integers(8)]
            told = f"{head[:start]}{other}{head[end:]}".encode()
            (tmp_path / "model.npz").write_bytes(_sealed({**members, "head": np.frombuffer(told, dtype=np.uint8)}))
            try:  # a model of other columns is refused only when it is asked about these
                with np.errstate(all="ignore"):
                    assert DINE.load(tmp_path / "model.npz").pointwise(*rows).shape == (100,)
            except ValueError as error:
                assert "\n" not in str(error).strip()  # noqa: PT017
                refused += 1
        assert 20 < refused < 60

    def test_a_unit_is_no_model(self, tmp_path):
        mutual_information(*sample(80, 0, dz=1), base="gaussian", cache=UnitCache(tmp_path))
        with pytest.raises(ValueError, match=r"holds a pydine\.unit, not a pydine\.model"):
            DINE.load(files_of(tmp_path)[0])

    def test_no_file(self, tmp_path):
        with pytest.raises(FileNotFoundError):
            DINE.load(tmp_path / "model.npz")


class TestWriting:
    def test_a_full_disk_leaves_the_old_file(self, plain, tmp_path):
        plain.save(tmp_path / "model.npz")
        before = (tmp_path / "model.npz").read_bytes()
        with full_disk(1000), pytest.raises(OSError, match=r"model\.npz"):
            plain.save(tmp_path / "model.npz")
        assert [(file.name, file.read_bytes()) for file in files_of(tmp_path)] == [("model.npz", before)]

    @pytest.mark.slow
    def test_a_kill_leaves_a_whole_file(self, plain, tmp_path):
        plain.save(tmp_path / "model.npz")
        code = (
            "import sys, itertools, pydine\n"
            "model = pydine.DINE.load(sys.argv[1])\n"
            "for i in itertools.count(1):\n"
            "    model.set_params(n_folds=2 + i % 9).save(sys.argv[1])\n"
            "    print(i, flush=True)"
        )
        for saves in (1, 12):
            writer = subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "model.npz")], stdout=subprocess.PIPE)
            for _ in range(saves):
                writer.stdout.readline()
            writer.send_signal(signal.SIGKILL)
            writer.communicate()
            assert DINE.load(tmp_path / "model.npz").information_ == plain.information_


def test_the_form_is_what_it_was():
    """Another number here means that files of earlier versions have to be read, or the version be raised."""
    assert (MODEL.name, MODEL.version) == ("pydine.model", 1)
    assert (UNIT.name, UNIT.version) == ("pydine.unit", 1)
