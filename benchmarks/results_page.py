"""The page of results, from tables that `pydine bench` wrote: docs/results.md and its figures.

python benchmarks/results_page.py [--tables benchmarks/results] [--docs docs]
"""

import common

# isort: split

import math
from argparse import ArgumentParser
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeAlias

import pandas as pd

from harness.confirmation import read_confirmed
from harness.provenance import SCOPES, code_version
from pydine.experiments.figures import draw_convergence, draw_estimates, draw_tests, ordered, save
from pydine.experiments.grids import GRIDS
from pydine.experiments.methods import PERMUTATIONS
from pydine.experiments.summaries import LEVEL, convergence_summary, decision_summary, error_summary, rates
from pydine.experiments.table import Row
from pydine.theory import asymptotic_variance, variance_bound

Measure: TypeAlias = Callable[[pd.DataFrame], float]

HERE = Path(__file__).parent
DEFAULT, REFERENCES = "dine", ("oracle",)  # an oracle is given the latents: it does not compete
METRICS = {"f1": "F1", "auc": "AUC", "type_1": "Type I error", "type_2": "Type II error"}
DESCRIPTIONS = {
    "dine": "`pydine.mutual_information` and `pydine.independence_test` with their defaults",
    "dine-gaussian": '`pydine.mutual_information(..., base="gaussian")`',
    "dine-paper": "the published algorithms to the letter: `pydine.DINE.paper()`, and for the test "
    '`algorithm="paper", statistic="gaussian", pvalue_formula="paper"`',
    "dine-analytic": '`pydine.independence_test(..., method="analytic")`',
    "oracle": "the closed form on the true latents, z projected out: what no estimator that has to learn them can beat",
    "copula": "normal scores of ranks, z projected out linearly, the Gaussian closed form; nothing is trained",
    "ksg": "nearest neighbours: Kraskov, Stögbauer and Grassberger (2004); given z, Frenzel and Pompe (2007)",
    "mine": "Belghazi et al. (2018)",
    "mind": "Samo (2021)",
    "ccmi": "Mukherjee, Asnani and Kannan (2020)",
    "kcit": "Zhang, Peters, Janzing and Schölkopf (2011)",
    "rcit": "Strobl, Zhang and Visweswaran (2019)",
    "ccit": "Sen et al. (2017)",
    "gcm": "Shah and Peters (2020)",
    "fisher-z": "partial correlation with Fisher's transformation",
}

INTRODUCTION = """
The three experiments of the paper (Duong and Nguyen, AAAI 2023), with data and figures like the authors', run with the
versions listed at the end. `python benchmarks/results_page.py` writes this page from `benchmarks/results/mi.csv`,
`benchmarks/results/cmi.csv`, `benchmarks/results/cit.csv` and `benchmarks/results/convergence.csv`, which were made by
the commands below, with more methods by `--methods`.

    python benchmarks/paper.py mi
    python benchmarks/paper.py cmi
    python benchmarks/paper.py cit
    python benchmarks/paper.py convergence

Columns marked "authors" are computed from the raw results that the paper's authors published with their code, on the
same datasets (`benchmarks/authors_estimation.csv`, `benchmarks/authors_tests.csv`). All other columns were run for this
page; for other people's methods we used this package's implementations and settings.
""".strip()

ESTIMATION = """
Mean absolute error in nats; the number of datasets behind each mean is in brackets where it is not that of the whole
experiment, {whole} a cell. The figure shows the means and their 95% bands, the truth dashed.
""".strip()

QUESTIONS = {"mi": "I(X;Y)", "cmi": "I(X;Y given Z)"}
AGREEMENT_SHARE, AGREEMENT_NATS = 0.25, 0.1
BASELINES = """
Mean estimates in nats over the datasets of a cell, here and in the runs that the paper's authors published. They agree
if they are within 25% or 0.1 nats of each other. Where they do not:

- MIND here solves its convex problem to convergence, which leaves it far closer to the truth than the authors' run of
  it (see the errors above).
- CCMI here standardises its columns before the classifier sees them; those of the paper's datasets have very unequal
  scales. `pydine.baselines` has `standardise=False`, which uses them unchanged.
- MINE is trained by stochastic gradients on few rows, from starts that are not those of the authors; in 20 columns its
  estimate is a lower bound that is far from tight, and how far depends on the training.
""".strip()

MORE_ROWS = """
Errors of the default on questions other than the paper's: shapes alone, seven families given 1 and 5 columns, columns
of mixed kinds, alone and given a continuous column (`benchmarks/results/consistency.md`, of an earlier version, with
one dataset per question and size).
""".strip()

CONVERGENCE = """
I(X;Y) on the paper's datasets as the number of rows grows. Theorem 1 says that the error goes to zero, Lemma 2 that the
variance is O(d / n). Beside the measured variance are its first-order term, the sum of the squared canonical
correlations over n (`pydine.theory.asymptotic_variance`), and the bound from the lemma's proof
(`pydine.theory.variance_bound`).
Variances in squared nats, errors in nats.
""".strip()


BESIDE = """
, by the wall clock, with one thread. Other runs shared the machine, so these are upper
bounds: `benchmarks/speed.py` and `benchmarks/independence_speed.py` compare times in one run.
""".strip()


# --- tables ---


def pivot(lines: pd.DataFrame, index: list[str], columns: str, value: str) -> str:
    """A table of one figure, with the methods in the order of the figures."""
    table = lines.pivot(index=index, columns=columns, values=value)
    methods = ordered(lines.method)
    table = table[methods] if columns == "method" else table.loc[methods]
    return common.markdown(table.rename(columns=str).reset_index().to_dict("records"))


def with_count(lines: pd.DataFrame, whole: int) -> list[str]:
    """Mean errors, with the number of datasets where it is not that of the whole experiment."""
    return [
        ("-" if math.isnan(error) else f"{error:.3f}") + (f" ({count})" if count != whole else "")
        for error, count in zip(lines.mean_abs_error, lines.datasets, strict=True)
    ]


def estimation(kind: str, rows: list[Row]) -> list[str]:
    """The sections on an experiment with estimates."""
    grid = GRIDS[kind]
    whole = len(grid.axes["rho"]) * len(grid.seeds)
    lines = pd.DataFrame(error_summary(rows))
    theirs = pd.read_csv(HERE / "authors_estimation.csv").query("kind == @kind")
    both = pd.concat([lines, theirs.assign(method=theirs.method + ", authors", datasets=whole)])
    missing = theirs[theirs.missing > 0]
    gaps = [f"{r.missing} of {r.method}'s estimates at n = {r.n}, d = {r.d}" for r in missing.itertuples()]
    return [
        ESTIMATION.format(whole=whole) + (f" The authors' table lacks {' and '.join(gaps)}." if gaps else ""),
        f"![Mean estimates and the truth](images/{kind}.png)",
        pivot(both.assign(error=with_count(both, whole)), ["n", "d"], "method", "error"),
        *not_first(rows, ["n", "d"], ["rho", "seed"], {"mean absolute error": mean_abs_error}, lowest=True),
        f"Median seconds of one estimate{BESIDE}",
        pivot(lines, ["n", "d"], "method", "seconds"),
    ]


def testing(rows: list[Row]) -> list[str]:
    """The sections on the experiment with tests."""
    lines = pd.DataFrame(decision_summary(rows))
    theirs = pd.read_csv(HERE / "authors_tests.csv")
    both = pd.concat([lines, theirs.assign(method=theirs.method + ", authors")])
    counts = ", ".join(f"{m} {c}" for m, c in lines.groupby("method", sort=False).datasets.min().items())
    sections = [
        f"Decisions at the level {LEVEL:g}, n = {lines.n.iloc[0]}, by the number of columns in z. Datasets of each dz, "
        f"half of them independent: {counts}. The authors' AUC ranks by their p-values, which have ties; ours by "
        "p-values without ties where a method has them.",
        "![F1, AUC and error rates of the tests](images/cit.png)",
    ]
    for metric, label in METRICS.items():
        sections += [f"### {label}, by dz", pivot(both, ["method"], "dz", metric)]
    measures = {label: partial(measure, metric) for metric, label in (("f1", "F1"), ("auc", "AUC"))}
    sections += not_first(rows, ["dz"], ["seed"], measures, lowest=False)
    return [*sections, f"Median seconds of one test{BESIDE}", pivot(lines, ["dz"], "method", "seconds")]


def convergence(rows: list[Row]) -> list[str]:
    """The sections on theory and measurement."""
    table = [
        {
            "n": line["n"],
            "method": line["method"],
            "datasets": line["datasets"],
            "mean absolute error": f"{line['mean_abs_error']:.4f}",
            "variance": f"{line['variance']:.2e}",
            "its 95% interval": f"{line['variance_low']:.2e} to {line['variance_high']:.2e}",
            "first order": f"{asymptotic_variance([line['rho']] * line['d'], line['n']):.2e}",
            "bound": f"{variance_bound(line['d'], line['d'], line['n']):.2e}",
        }
        for line in convergence_summary(rows)
    ]
    first = rows[0]
    setting = f"d = {first['d']}, a correlation of {first['rho']:g}."
    return [
        f"{CONVERGENCE} {setting}",
        "![Variance and error against n](images/convergence.png)",
        common.markdown(table),
        MORE_ROWS,
        "![Mean errors of four groups of questions against rows](images/consistency.png)",
    ]


# --- other people's methods beside the authors' runs of them ---


def beside_the_authors(kind: str, rows: list[Row]) -> list[Row]:
    """Mean estimates of methods that the authors ran too, by cell, and whether they agree."""
    theirs = pd.read_csv(HERE / "authors_estimation.csv").query("kind == @kind and method != 'DINE'")
    ours, lines = pd.DataFrame(rows), []
    for cell in theirs.itertuples():
        mine = ours.query("n == @cell.n and d == @cell.d and method == @cell.method.lower()").estimate
        if len(mine):
            gap = abs(mine.mean() - cell.mean_estimate)
            agrees = gap <= max(AGREEMENT_NATS, AGREEMENT_SHARE * abs(cell.mean_estimate))
            where = {"question": QUESTIONS[kind], "method": cell.method, "n": cell.n, "d": cell.d}
            figures = {"here": mine.mean(), "authors": cell.mean_estimate, "datasets": len(mine)}
            lines.append({**where, **figures, "agree": "yes" if agrees else "no"})
    return lines


# --- where the default is not first ---


def mean_abs_error(rows: pd.DataFrame) -> float:
    return float((rows.estimate - rows.truth).abs().mean())


def measure(metric: str, rows: pd.DataFrame) -> float:
    return rates((rows.truth > 0).to_numpy(), rows.estimate.to_numpy(), rows.score.to_numpy())[metric]


def not_first(
    rows: list[Row], cell: list[str], within: list[str], measures: dict[str, Measure], *, lowest: bool
) -> list[str]:
    """Every method that does better than the default in a cell, judged on the datasets that both have."""
    found = []
    for values, part in pd.DataFrame(rows).groupby(cell):
        default = part[part.method == DEFAULT]
        for name, measure_of in measures.items():
            for method, other in part.groupby("method", sort=False):
                if method in (DEFAULT, *REFERENCES):
                    continue
                common_keys = default[within].merge(other[within])
                ours, its = (measure_of(side.merge(common_keys)) for side in (default, other))
                if (its < ours) if lowest else (its > ours):
                    where = dict(zip(cell, values, strict=True))
                    figures = {"its": its, "the default's": ours, "datasets": len(common_keys)}
                    found.append({**where, "method": method, "measure": name, **figures})
    what = " or ".join(measures)
    if not found:
        return [f"No other method compared here has a better {what} than the default in any cell."]
    return [f"Where the default is not first ({what}, on the datasets that both have):", common.markdown(found)]


# --- the page ---


def settings(methods: list[str]) -> str:
    lines = [
        {"method": f"`{name}`", "what it is": DESCRIPTIONS.get(name, "see `pydine.baselines`")} for name in methods
    ]
    return f"The test takes {PERMUTATIONS} permutations, as in the paper.\n\n" + common.markdown(lines)


def earlier(rows: dict[str, list[Row]]) -> list[str]:
    """A sentence about the tables that have rows of earlier code, in the words that stale.py looks for."""
    current = {code_version(scope=scope) for scope in SCOPES}
    old = [
        kind
        for kind, part in rows.items()
        if any(r["code"] and not {r["code"], r["confirmed"]} & current for r in part)
    ]
    named = ", ".join(f"`benchmarks/results/{kind}.csv`" for kind in old)
    return [f"Some rows of {named} are of an earlier version."] if old else []


def main() -> None:
    options = ArgumentParser(description=__doc__)
    options.add_argument("--tables", type=Path, default=common.RESULTS)
    options.add_argument("--docs", type=Path, default=HERE.parent / "docs")
    chosen = options.parse_args()
    images = chosen.docs / "images"
    images.mkdir(parents=True, exist_ok=True)
    paths = {kind: chosen.tables / f"{kind}.csv" for kind in PARTS}
    rows = {kind: read_confirmed(path) for kind, path in paths.items() if path.exists()}
    sections, seen = ["# Results", INTRODUCTION, *earlier(rows)], []
    for kind, (title, write, draw) in PARTS.items():
        if kind in rows:
            sections += [f"## {title}", *write(rows[kind])]
            save(draw(rows[kind]), images / f"{kind}.png", (".png",))
            seen += [row["method"] for row in rows[kind]]
    compared = [line for kind in QUESTIONS if kind in rows for line in beside_the_authors(kind, rows[kind])]
    if compared:
        sections += ["## Other people's methods beside the authors' runs", BASELINES, common.markdown(compared)]
    sections += ["## Settings", settings(ordered(seen))]
    everything = pd.DataFrame([row for kind in PARTS for row in rows.get(kind, ())])
    sections += ["## Provenance", common.provenance(everything)]
    common.report(chosen.docs / "results.md", *sections)


PARTS = {
    "mi": (
        "Mutual information (the paper's Figure 1)",
        partial(estimation, "mi"),
        partial(draw_estimates, title="I(X;Y)"),
    ),
    "cmi": (
        "Conditional mutual information (Figure 2)",
        partial(estimation, "cmi"),
        partial(draw_estimates, title="I(X;Y|Z)"),
    ),
    "cit": ("Tests of conditional independence (Figure 3)", testing, draw_tests),
    "convergence": ("Theory and measurement", convergence, draw_convergence),
}


if __name__ == "__main__":
    main()
