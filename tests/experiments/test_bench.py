import io
import math
import subprocess
import sys
from functools import partial

import numpy as np
import pytest
from matplotlib import pyplot as plt
from rich.console import Console
from scipy.stats import t as student

import pydine
from pydine import baselines
from pydine.baselines.gaussian import gaussian_copula
from pydine.baselines.ksg import ksg
from pydine.experiments import runner
from pydine.experiments.bench import run_bench
from pydine.experiments.convergence import run_convergence
from pydine.experiments.datasets import paper_cit, paper_cmi, paper_mi
from pydine.experiments.figures import COLOURS, MARKERS, PLACES, draw_estimates, draw_tests
from pydine.experiments.grids import GRIDS, grid
from pydine.experiments.methods import combined_pvalue, label, methods_of, peers, usual_methods
from pydine.experiments.summaries import convergence_summary, curves, decision_summary, error_summary, rates

SILENT = Console(file=io.StringIO())


@pytest.fixture(autouse=True)
def no_open_figures():
    yield
    plt.close("all")


def row(method="a", truth=0.0, estimate=0.0, error="", **key):
    figures = {"low": math.nan, "high": math.nan, "score": math.nan, "seconds": 0.5, "peak_mib": 100.0}
    return {**key, "method": method, "truth": truth, "estimate": estimate, **figures, "code": "c", "error": error}


# --- grids ---


@pytest.mark.parametrize(("kind", "datasets"), [("mi", 1400), ("cmi", 1400), ("cit", 1200)])
def test_the_grids_are_the_paper_s(kind, datasets):
    tasks = grid(kind).tasks(["a"])
    assert len({tuple(task.key.values()) for task in tasks}) == len(tasks) == datasets


@pytest.mark.parametrize("kind", GRIDS)
def test_a_quick_grid_is_a_part_of_the_whole(kind):
    whole, quick = ({tuple(task.key.items()) for task in grid(kind, quick=q).tasks(["a"])} for q in (False, True))
    assert quick < whole


def test_the_trials_of_a_test_are_half_independent():
    seeds = {task.key["seed"] for task in grid("cit", 6).tasks(["a"])}
    assert seeds == {0, 1, 2, 100, 101, 102}
    assert {task.key["seed"] for task in grid("mi", 3).tasks(["a"])} == {0, 1, 2}


@pytest.mark.parametrize(
    ("kind", "key", "expected"),
    [
        ("mi", {"n": 200, "d": 2, "rho": 0.5, "seed": 1}, paper_mi(200, 2, 0.5, 1)),
        ("cmi", {"n": 1000, "d": 20, "rho": -0.99, "seed": 0}, paper_cmi(1000, 20, -0.99, 0)),
        ("cit", {"n": 1000, "dz": 8, "seed": 101}, paper_cit(101, 8)),
    ],
)
def test_a_task_draws_the_dataset_that_its_key_names(kind, key, expected):
    (task,) = (task for task in grid(kind, 4).tasks(["a"]) if task.key == key)
    drawn = task.draw()
    np.testing.assert_array_equal(drawn.x, expected.x)
    assert drawn.truth == expected.truth


@pytest.mark.parametrize(
    ("kind", "trials", "message"),
    [
        ("tests", None, "kind must be 'mi' or 'cmi' or 'cit', but got 'tests'"),
        ("mi", 51, "trials must be an integer from 1 to 50 for 'mi', got 51"),
        ("cit", 1, "trials must be an integer from 2 to 200 for 'cit', got 1"),
    ],
)
def test_a_grid_that_is_not_there_is_refused(kind, trials, message):
    with pytest.raises(ValueError, match=message):
        grid(kind, trials)


# --- methods ---


def test_the_estimators_are_the_calls_that_they_are_named_after():
    data, methods = paper_cmi(120, 1, 0.75, 3), methods_of("cmi")
    estimate = pydine.mutual_information(data.x, data.y, data.z, random_state=3)
    found = methods["dine"](data)
    assert found.estimate == estimate.value
    assert (found.low, found.high) == estimate.confidence_interval(0.95)
    gaussian = pydine.mutual_information(data.x, data.y, data.z, base="gaussian", random_state=3)
    assert methods["dine-gaussian"](data).estimate == gaussian.value
    paper = pydine.DINE.paper(random_state=3).fit(data.x, data.y, data.z)
    assert methods["dine-paper"](data).estimate == paper.information_.value
    assert methods["copula"](data).estimate == gaussian_copula(data.x, data.y, data.z)
    assert methods["oracle"](data).estimate == pytest.approx(data.truth, abs=0.2)
    assert math.isfinite(methods["ksg"](data).estimate)


def test_the_tests_are_the_calls_that_they_are_named_after():
    data, methods = paper_cit(100, 5, 200), methods_of("cit")
    options = {"n_permutations": 100, "random_state": 100}
    ours = pydine.independence_test(data.x, data.y, data.z, **options)
    analytic = pydine.independence_test(data.x, data.y, data.z, method="analytic", **options)
    assert methods["dine"](data).estimate == ours.pvalue
    assert methods["dine"](data).score == methods["dine-analytic"](data).estimate == analytic.pvalue
    letter = {"algorithm": "paper", "statistic": "gaussian", "pvalue_formula": "paper"}
    paper = pydine.independence_test(data.x, data.y, data.z, **options, **letter)
    assert methods["dine-paper"](data).estimate == paper.pvalue


@pytest.mark.parametrize("statistic", ["auto", "gaussian", "general"])
def test_the_combined_pvalue_is_that_of_the_analytic_method(statistic):
    data = paper_cit(3, 5, 200)
    results = [
        pydine.independence_test(data.x, data.y, data.z, statistic=statistic, method=method, n_permutations=9)
        for method in ("permutation", "analytic")
    ]
    assert combined_pvalue(results[0]) == results[1].pvalue


def test_peers_are_those_that_can_answer():
    assert "mine" in methods_of("mi")
    assert "mine" not in methods_of("cmi")  # it cannot condition
    assert set(peers("cit")) < set(methods_of("cit"))
    data = paper_cmi(100, 1, 0.75, 0)
    assert methods_of("cmi")["ksg"](data).estimate == ksg(data.x, data.y, data.z)
    assert (label("ksg"), label("dine-paper")) == ("KSG", "DINE (as published)")


@pytest.mark.parametrize("kind", GRIDS)
def test_the_usual_methods_are_methods(kind):
    everything, _ = usual_methods(kind, quick=False)
    quick, (note,) = usual_methods(kind, quick=True)
    assert set(quick) < set(everything) <= set(methods_of(kind))
    assert note.startswith("Left out of a quick run: ")


def test_what_is_not_installed_is_left_out_and_told(monkeypatch, tmp_path):
    monkeypatch.setattr(baselines, "find_spec", lambda package: None)
    methods, notes = usual_methods("cit", quick=False)
    assert methods == ("dine", "dine-analytic", "dine-paper", "gcm", "ccit")
    assert notes == ("RCIT and KCIT need causallearn; install with: pip install causal-learn",)
    with pytest.raises(ImportError, match="MINE needs jax; install with: pip install"):
        run_bench("mi", methods=["mine"], output=tmp_path, console=SILENT)


# --- summaries ---


def test_errors_are_summed_up_by_cell_and_method():
    rows = [row("a", 1.0, 1.2, n=200, d=2), row("a", 0.0, -0.1, n=200, d=2), row("b", 1.0, 3.0, n=200, d=2)]
    rows[0] |= {"low": 0.9, "high": 1.5}
    rows[1] |= {"low": 0.1, "high": 0.2}
    first, second = error_summary(rows)
    assert (first["method"], first["datasets"], first["failed"]) == ("a", 2, 0)
    assert first["mean_abs_error"] == pytest.approx(0.15)
    assert first["bias"] == pytest.approx(0.05)
    assert first["coverage"] == 0.5
    assert second["mean_abs_error"] == 2.0
    assert math.isnan(second["coverage"])


def test_a_failed_row_leaves_no_average_of_the_others():
    rows = [row("a", 1.0, 1.2, n=200, d=2), row("a", 1.0, math.nan, error="ValueError: no", n=200, d=2)]
    (line,) = error_summary(rows)
    assert line["failed"] == 1
    assert math.isnan(line["mean_abs_error"])
    rows = [row(truth=t, estimate=p, n=9, dz=5) for t, p in ((0.0, 0.5), (1.0, math.nan))]
    assert math.isnan(decision_summary(rows)[0]["f1"])


def test_the_band_of_a_curve_is_student_s():
    rows = [row(estimate=e, n=200, d=2, rho=0.5, seed=s) for s, e in enumerate([1.0, 2.0, 6.0])]
    (point,) = curves(rows)
    margin = student.ppf(0.975, 2) * math.sqrt(7.0 / 3.0)  # the sample variance of 1, 2, 6 is 7
    assert point["mean"] == pytest.approx(3.0)
    assert (point["low"], point["high"]) == pytest.approx((3.0 - margin, 3.0 + margin))
    assert math.isnan(curves(rows[:1])[0]["low"])


def test_rates_are_counted_by_hand():
    dependent = np.array([False, False, False, False, True, True])
    pvalues = np.array([0.01, 0.3, 0.05, 0.9, 0.02, 0.06])
    found = rates(dependent, pvalues)
    assert found["type_1"] == 0.5  # a p-value of just the level rejects
    assert found["type_2"] == 0.5
    assert found["f1"] == pytest.approx(2 / (2 + 2 + 1))  # one hit, two false alarms, one miss
    assert found["auc"] == pytest.approx(5 / 8)  # pairs in the right order: 0.02 beats 3 of 4, 0.06 beats 2
    # a score takes the place of the p-value in the AUC, and nowhere else
    scored = rates(dependent, pvalues, np.array([0.5, 0.6, 0.7, 0.8, 0.1, 0.2]))
    assert scored == {**found, "auc": 1.0}


def test_spread_and_error_are_summed_up_by_size():
    rows = [row(truth=2.0, estimate=e, n=100, d=1, rho=0.75, seed=s) for s, e in enumerate([1.0, 2.0, 6.0])]
    (line,) = convergence_summary(rows)
    assert line["variance"] == pytest.approx(7.0)
    assert line["variance_low"] < 7.0 < line["variance_high"]
    assert line["mean_abs_error"] == pytest.approx(5 / 3)


# --- figures ---


def estimation_rows():
    return [
        row(method, rho * rho, rho * rho + seed, n=n, d=d, rho=rho, seed=seed)
        for n in (200, 1000)
        for d in (2, 20)
        for rho in (-0.5, 0.0, 0.5)
        for seed in (0, 1)
        for method in ("dine", "unheard-of")
    ]


def test_the_figure_of_estimates_has_a_panel_for_each_cell():
    figure = draw_estimates(estimation_rows(), "I(X;Y)")
    assert [axes.get_title() for axes in figure.axes] == [f"$n = {n}$, $d = {d}$" for n in (200, 1000) for d in (2, 20)]
    for axes in figure.axes:
        mean, other, truth = axes.lines
        np.testing.assert_allclose(mean.get_xydata(), [[-0.5, 0.75], [0.0, 0.5], [0.5, 0.75]])
        np.testing.assert_allclose(truth.get_xydata(), [[-0.5, 0.25], [0.0, 0.0], [0.5, 0.25]])
        assert truth.is_dashed()
        assert len(axes.collections) == 2  # bands
        assert mean.get_color() != other.get_color()
        assert mean.get_marker() != other.get_marker()
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["DINE (this package)", "unheard-of", "truth"]


def test_the_figure_of_tests_has_the_paper_s_four_panels():
    rows = [
        row(method, float(seed % 2), 0.01 if seed % 2 else 0.5, n=1000, dz=dz, seed=seed)
        for dz in (5, 8)
        for seed in range(6)
        for method in ("dine", "kcit")
    ]
    figure = draw_tests(rows)
    assert [axes.get_title() for axes in figure.axes] == ["F1 score", "AUC", "type I error", "type II error"]
    f1, _, type_1, _ = figure.axes
    np.testing.assert_array_equal(f1.lines[0].get_ydata(), [1.0, 1.0])
    assert type_1.lines[-1].get_ydata() == [0.05, 0.05]


def test_the_looks_of_methods_are_distinct():
    assert len(set(COLOURS)) == len(set(MARKERS)) == len(COLOURS)
    assert max(PLACES.values()) < len(COLOURS)


# --- the commands ---


@pytest.mark.slow
def test_a_bench_writes_its_table_and_its_figure_and_goes_on_where_it_was(tmp_path):
    done = run_bench("mi", methods=["copula"], trials=1, quick=True, output=tmp_path, console=SILENT)
    assert len(done.rows) == 20
    assert done.table == tmp_path / "mi.csv"
    assert done.figure == tmp_path / "mi.png"
    assert (tmp_path / "mi.pdf").read_bytes().startswith(b"%PDF")
    assert done.figure.read_bytes().startswith(b"\x89PNG")
    assert "coverage" in str(done)
    assert str(done.figure) in str(done)

    out = io.StringIO()
    again = run_bench(
        "mi", methods=["copula", "oracle"], trials=1, quick=True, output=tmp_path, console=Console(file=out)
    )
    assert out.getvalue().startswith("20 rows to run")
    assert [line["method"] for line in again.summary()] == ["copula", "oracle"] * 4


@pytest.mark.slow
def test_a_bench_of_tests_runs_and_is_renewed(tmp_path, monkeypatch):
    run_some = partial(run_bench, "cit", methods=["dine-analytic"], trials=4, quick=True, output=tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(runner, "__version__", "0.0.1")
        run_some(console=SILENT)
    done = run_some(renew=True, console=SILENT)
    assert {line["dz"] for line in done.summary()} == {5, 11, 20}
    assert all(row["score"] == row["estimate"] for row in done.rows)
    assert {row["truth"] > 0 for row in done.rows if row["seed"] < 100} == {False}
    assert {row["code"] for row in done.rows} == {pydine.__version__}


def test_an_unknown_method_is_refused_before_anything_is_run(tmp_path):
    with pytest.raises(ValueError, match=r"methods must be among dine, .* for 'mi', but got 'dime'"):
        run_bench("mi", methods=["copula", "dime"], output=tmp_path / "new", console=SILENT)
    with pytest.raises(ValueError, match="methods must name at least one of dine, "):
        run_bench("mi", methods=[], output=tmp_path / "new", console=SILENT)
    with pytest.raises(ValueError, match=r"jobs must be a number of processes, or -1 .* but got 0"):
        run_bench("mi", jobs=0, output=tmp_path / "new", console=SILENT)
    assert not (tmp_path / "new").exists()


@pytest.mark.slow
def test_a_failure_is_told_with_its_method(tmp_path, monkeypatch):
    def broken(kind):
        return {"copula": lambda data: 1 / 0}

    monkeypatch.setattr("pydine.experiments.bench.methods_of", broken)
    done = run_bench("mi", methods=["copula"], trials=1, quick=True, output=tmp_path, console=SILENT)
    assert done.notes == ("copula failed: ZeroDivisionError: division by zero",)
    assert {line["failed"] for line in done.summary()} == {5}


WITHOUT_EXTRAS = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("pandas", "matplotlib", "jax", "causallearn", "torch"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
from pathlib import Path
from pydine.experiments import runner
from pydine.experiments.bench import run_bench
print(run_bench("mi", methods=["copula", "ksg"], trials=1, quick=True, output=Path(sys.argv[1])))
"""


@pytest.mark.slow
def test_a_bench_needs_no_extra_and_says_which_one_draws(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_EXTRAS, str(tmp_path)], check=True, capture_output=True, text=True
    )
    assert 'No figure: plotting needs matplotlib: pip install "pydine[plot]".' in done.stdout
    assert (tmp_path / "mi.csv").exists()
    assert not (tmp_path / "mi.png").exists()


@pytest.mark.slow
def test_the_convergence_of_the_closed_form_is_the_theory_s(tmp_path):
    done = run_convergence(sizes=(100, 1000), methods=["oracle"], trials=50, output=tmp_path, console=SILENT)
    assert done.figure == tmp_path / "convergence.png"
    few, many = done.summary()
    for line in (few, many):
        assert line["variance_low"] < 0.75**2 / line["n"] < line["variance_high"]
    assert many["mean_abs_error"] < few["mean_abs_error"]
    with pytest.raises(ValueError, match="trials must be an integer from 2 to 50, but got 1"):
        run_convergence(trials=1, output=tmp_path)
