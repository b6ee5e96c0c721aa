"""The questions of the golden master, by name: each a function of a folder to write to, which returns `Figures`.

A name begins with its group, the entry point that is asked; every group is in the part that the test suite compares.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from unittest.mock import patch

import numpy as np
import polars as pl

import pydine
from golden import data
from golden.answers import (
    Figures,
    of_answer,
    of_command,
    of_estimate,
    of_pairs,
    of_pointwise,
    of_ranking,
    of_rows,
    of_test,
)
from pydine.inputs import streams
from pydine.questions.search import SearchTest, TableTest

Question = Callable[[Path], Figures]

BASES = ("gaussian", "student", "mixture", "flow")
SHAPES = (
    data.gaussian,
    data.student,
    data.parabola,
    data.ring,
    data.sine,
    data.clusters,
    data.checkerboard,
    data.heavy,
    data.scaled,
)
FAMILIES = (data.linear, data.curved, data.product, data.sign_switch, data.bent)
WIDTHS = ((2, 1, 0), (1, 3, 0), (3, 3, 0), (2, 2, 1), (1, 2, 3), (3, 1, 2))  # columns of x, y and z
MIXED = [  # kinds of x, of y, and of what is given
    *((x, y, ()) for x in ("steps", "counts", "masses", "yes/no", "labels", "many labels") for y in ("numbers", x)),
    ("labels", "steps", ()),
    ("masses", "counts", ()),
    ("yes/no", "many labels", ()),
    *((x, y, ("numbers",)) for x in ("steps", "masses", "yes/no", "labels") for y in ("numbers", "steps")),
    *((x, y, ("labels",)) for x in ("numbers", "counts", "labels") for y in ("numbers", "labels")),
    ("numbers", "numbers", ("steps",)),
    ("numbers", "numbers", ("masses", "yes/no")),
    ("labels", "numbers", ("numbers", "labels")),
    ("masses", "counts", ("numbers", "numbers", "steps")),
]


DOZENS = [
    ("dozens", "numbers", ()),
    ("dozens", "dozens", ()),
    ("dozens", "labels", ("labels",)),
    ("dozens", "numbers", ("numbers",)),
    ("numbers", "yes/no", ("dozens",)),
]


def generator(*seeds: int) -> np.random.Generator:
    return np.random.default_rng([32, *seeds])


def sides(table: data.Table) -> dict[str, object]:
    """A table's columns as the arguments x, y, z and data."""
    x, y, z = ([name for name in table if name.startswith(side)] for side in "xyz")
    return {"x": x, "y": y, "z": z or None, "data": table}


def estimate(table: data.Table, _: Path, **options) -> Figures:
    return of_estimate(pydine.mutual_information(**sides(table), **options))


def pointwise(table: data.Table, _: Path, **options) -> Figures:
    return of_pointwise(pydine.pointwise_information(**sides(table), **options))


def test(table: data.Table, _: Path, **options) -> Figures:
    return of_test(pydine.independence_test(**sides(table), **options))


def fitted(table: data.Table, _: Path, **options) -> Figures:
    """A model of the first three quarters of the rows, and what it says of them and of the others."""
    n = 3 * len(table["x0"]) // 4
    seen, new = ({name: column[rows] for name, column in table.items()} for rows in (slice(n), slice(n, None)))
    model = (pydine.DINE.paper if options.pop("paper", False) else pydine.DINE)(**options)
    model.fit(**sides(seen))
    found = of_estimate(model.information_)
    for name, rows in (("seen", seen), ("new", new)):
        asked = sides(rows)
        for side, latents in zip("xy", model.transform(**asked), strict=True):
            found[f"latents {side} {name}"] = of_rows(latents)
        found[f"rows {name}"] = of_rows(model.pointwise(**asked))
        if options.get("score", True):
            found[f"log-likelihood {name}"] = {"mean": model.score(**asked)}
    return found


def pairs(table: data.Table, _: Path, **options) -> Figures:
    return of_pairs(pydine.pairwise_information(table, **options).columns())


def wide(table: data.Table, _: Path, **options) -> Figures:
    return of_pairs(pydine.wide_information(table, **options).columns())


def ranked(table: data.Table, _: Path, **options) -> Figures:
    return of_ranking(pydine.rank(table, **options))


def selected(X, y, _: Path, **options) -> Figures:
    selector = pydine.ConditionalSelector(**options).fit(X, y)
    columns = range(X.shape[1])
    return {
        f"column {i}": {"value": float(selector.information_[i]), "p": float(selector.pvalues_[i])} for i in columns
    } | {"selected": {f"step {i}": float(which) for i, which in enumerate(selector.selected_)}}


def scored(X, y, _: Path, **options) -> Figures:
    found = zip(*pydine.mutual_information_score(X, y, **options), strict=True)
    return {f"column {i}": {"value": float(value), "p": float(p)} for i, (value, p) in enumerate(found)}


def searched(table: data.Table, _: Path, **options) -> Figures:
    """By arrays, and by columns of a table."""
    columns, given = list(table.values()), list(range(2, len(table)))
    z = np.column_stack([columns[i] for i in given]) if given else None
    return {
        "arrays": of_answer(SearchTest(**options).ask(columns[0], columns[1], z))["search"],
        "columns": of_answer(TableTest(table, **options).ask_columns(0, 1, given))["search"],
    }


def adapted(table: data.Table, _: Path) -> Figures:
    """The adapters for libraries of causal discovery."""
    from pydine.integrations import causal_learn, dowhy, pgmpy, tigramite

    columns = np.column_stack(list(table.values()))
    x, y, given = columns[:, 0], columns[:, 1], columns[:, 2:]
    names, places = list(table), tuple(range(2, columns.shape[1]))
    by_name = pgmpy.DineTest(table)
    by_name(names[0], names[1], names[2:])
    test = tigramite.DineTest()
    measure = test.get_dependence_measure(columns.T, np.array([0, 1] + [2] * len(places)))
    return {
        "causal-learn": {"p": causal_learn.DineTest(columns)(0, 1, places)},
        "dowhy": {"p": dowhy.DineTest()(x, y, given if places else None)},
        "pgmpy": {"p": by_name.p_value_, "value": by_name.effect_size_},
        "tigramite": {"p": test.get_analytic_significance(measure)},
    }


def streamed(ask: Callable[[Path], Figures], table: data.Table, folder: Path) -> Figures:
    """A file of which a third is the sample that flows learn from."""
    pl.DataFrame(table).write_parquet(path := folder / "rows.parquet", row_group_size=500)
    n = len(next(iter(table.values())))
    with patch.multiple(streams, SAMPLE_ROWS=n // 3, BATCH_ROWS=n // 10):
        return ask(path)


def commanded(table: data.Table, arguments: str, folder: Path) -> Figures:
    """The command line on a CSV file."""
    pl.DataFrame(table).write_csv(path := folder / "table.csv")
    command, *rest = arguments.split()
    return of_command(command, path, *rest)


def estimates() -> dict[str, Question]:
    found: dict[str, Question] = {}
    for i, shape in enumerate(SHAPES):
        for n in (60, 300):
            found[f"estimate: {shape.__name__}, n = {n}"] = partial(estimate, shape(generator(i), n))
        found[f"estimate: {shape.__name__}, n = 2000"] = partial(estimate, shape(generator(i, 1), 2000))
    for i, family in enumerate(FAMILIES):
        for dz, n, rho in ((1, 200, 0.5), (3, 300, 0.9), (5, 400, 0.0)):
            name = f"estimate: {family.__name__}, dz = {dz}, n = {n}, rho = {rho}"
            found[name] = partial(estimate, family(generator(i, 2), n, dz, rho))
        found[f"estimate: {family.__name__}, dz = 5, n = 1000"] = partial(estimate, family(generator(i, 3), 1000, 5))
    for widths in WIDTHS:
        found[f"estimate: blocks, widths {widths}"] = partial(estimate, data.blocks(generator(3), 250, *widths))
    found |= {
        "estimate: shared scale, two columns a side": partial(estimate, data.shared_scale(generator(4), 300)),
        "estimate: many columns a side": partial(estimate, data.many_columns(generator(5), 300)),
        "estimate: twenty columns a side": partial(estimate, data.many_columns(generator(14), 800, 20)),
        "estimate: few rows, dz = 2": partial(estimate, data.curved(generator(6), 25, 2)),
        "estimate: few rows": partial(estimate, data.gaussian(generator(7), 15)),
        "estimate: equal sides": partial(estimate, data.equal(generator(8), 100)),
        "estimate: z determines x": partial(estimate, data.determined(generator(9), 150, 2)),
        "estimate: strong, dz = 10": partial(estimate, data.linear(generator(10), 400, 10, 0.95)),
        "estimate: many columns in z": partial(estimate, data.linear(generator(11), 300, 20, 0.5)),
        "estimate: holes": partial(
            estimate, data.with_holes(generator(12), data.curved(generator(13), 300, 2)), nan_policy="omit"
        ),
    }
    return found


def estimates_by_base() -> dict[str, Question]:
    tables = {
        "gaussian": data.gaussian(generator(20), 250),
        "student": data.student(generator(21), 250),
        "clusters": data.clusters(generator(22), 250),
        "curved, dz = 1": data.curved(generator(23), 250, 1),
        "bent, dz = 2": data.bent(generator(24), 250, 2),
        "blocks": data.blocks(generator(25), 250, 2, 2, 1),
        "labels given numbers": data.of_kinds(generator(26), 250, "labels", "numbers", ("numbers",)),
    }
    found: dict[str, Question] = {
        f"base: {base}, {name}": partial(estimate, table, base=base) for name, table in tables.items() for base in BASES
    }
    tables |= {
        "curved, dz = 5": data.curved(generator(27), 600, 5),
        "linear, dz = 2": data.linear(generator(28), 150, 2),
    }
    for name in ("curved, dz = 1", "bent, dz = 2", "blocks", "clusters", "curved, dz = 5", "linear, dz = 2"):
        found[f"calibrated: {name}"] = partial(estimate, tables[name], interval="calibrated")
    return found


def mixed() -> dict[str, Question]:
    found: dict[str, Question] = {}
    for i, (x, y, given) in enumerate(MIXED):
        table = data.of_kinds(generator(30, i), 220, x, y, given)
        name = f"{x} and {y}" + (f" given {', '.join(given)}" if given else "")
        found[f"kinds: {name}"] = partial(estimate, table)
        if i % 3 == 0:
            found[f"test of kinds: {name}"] = partial(test, table, method="analytic")
        if i % 6 == 1:
            found[f"pointwise of kinds: {name}"] = partial(pointwise, table)
    table = data.of_kinds(generator(31), 200, "steps", "numbers", ("numbers",))
    found |= {
        "kinds: steps said to be labels": partial(estimate, table, kinds={"x0": "nominal"}),
        "kinds: steps said to be continuous": partial(estimate, table, kinds={"x0": "continuous"}),
        "kinds: holes": partial(estimate, data.with_holes(generator(32), table), nan_policy="omit"),
        **{
            f"kinds: dozens of labels and {y}" + (f" given {', '.join(given)}" if given else ""): partial(
                estimate, data.of_kinds(generator(35, i), 480, x, y, given)
            )
            for i, (x, y, given) in enumerate(DOZENS)
        },
        "kinds: labels and numbers a side": partial(
            estimate, {**data.of_kinds(generator(33), 250, "labels", "numbers"), "x1": generator(34).random(250)}
        ),
        "test of kinds: permuted": partial(test, table, n_permutations=99),
    }
    return found


def rows() -> dict[str, Question]:
    tables = {
        "gaussian": data.gaussian(generator(40), 200),
        "ring": data.ring(generator(41), 300),
        "student": data.student(generator(42), 200),
        "curved, dz = 2": data.curved(generator(43), 250, 2),
        "blocks": data.blocks(generator(44), 200, 2, 2, 1),
        "holes": data.with_holes(generator(45), data.linear(generator(46), 200, 2)),
    }
    found: dict[str, Question] = {
        f"pointwise: {name}": partial(pointwise, table, nan_policy="omit") for name, table in tables.items()
    }
    found["pointwise: gaussian base"] = partial(pointwise, tables["curved, dz = 2"], base="gaussian")
    return found


def tests() -> dict[str, Question]:
    tables: dict[str, data.Table] = {
        **{shape.__name__: shape(generator(50, i), 200) for i, shape in enumerate(SHAPES)},
        **{f"{family.__name__}, dz = 1": family(generator(51, i), 250, 1, 0.0) for i, family in enumerate(FAMILIES)},
        **{f"{family.__name__}, dz = 4": family(generator(52, i), 300, 4, 0.2) for i, family in enumerate(FAMILIES)},
        "blocks": data.blocks(generator(53), 250, 2, 3, 2),
        "z determines x": data.determined(generator(54), 150, 2),
    }
    found: dict[str, Question] = {
        f"test: analytic, {name}": partial(test, table, method="analytic") for name, table in tables.items()
    }
    for name in ("gaussian", "ring", "linear, dz = 1", "curved, dz = 1", "sign_switch, dz = 4", "blocks"):
        found[f"test: permuted, {name}"] = partial(test, tables[name], n_permutations=199)
    for statistic in ("gaussian", "general"):
        for method in ("analytic", "permutation"):
            options = {"statistic": statistic, "method": method, "n_permutations": 99}
            found[f"test: {statistic}, {method}"] = partial(test, tables["bent, dz = 1"], **options)
    holes = data.with_holes(generator(55), tables["curved, dz = 1"])
    paper = data.curved(generator(56), 60, 1)
    return found | {
        "test: holes": partial(test, holes, method="analytic", nan_policy="omit"),
        "test: the paper's": partial(test, paper, algorithm="paper", n_permutations=49, pvalue_formula="paper"),
    }


def models() -> dict[str, Question]:
    curved, parabola = data.curved(generator(60), 400, 2), data.parabola(generator(61), 400)
    many = data.curved(generator(62), 1000, 1)
    return {
        "model: curved": partial(fitted, curved),
        "model: parabola": partial(fitted, parabola),
        "model: blocks": partial(fitted, data.blocks(generator(63), 300, 2, 2, 1)),
        "model: gaussian base": partial(fitted, curved, base="gaussian"),
        "model: more rows than max_rows": partial(fitted, many, max_rows=200),
        "model: more rows than max_rows, without z": partial(fitted, data.ring(generator(64), 1000), max_rows=200),
        "model: other settings": partial(fitted, parabola, n_components=3, hidden_units=4, n_folds=4, n_networks=1),
        "model: labels, more rows than max_rows": partial(
            fitted, data.of_kinds(generator(69), 800, "labels", "numbers", ("numbers",)), max_rows=200
        ),
        "model: tuned": partial(fitted, data.curved(generator(65), 120, 1), tune=True),
        "model: the paper's": partial(fitted, data.curved(generator(66), 80, 1), paper=True, max_iter=40),
        "model: labels": partial(fitted, data.of_kinds(generator(67), 300, "labels", "numbers", ("numbers",))),
        "model: masses and counts": partial(fitted, data.of_kinds(generator(68), 300, "masses", "counts")),
    }


def tables() -> dict[str, Question]:
    plain, mixed = data.plain_table(generator(70), 200), data.mixed_table(generator(71), 250)
    larger, holes = data.plain_table(generator(72), 1500, 9), data.with_holes(generator(73), plain)
    X, y = np.column_stack([plain[f"c{i}"] for i in (0, 2, 3, 5)]), plain["c1"]
    groups = {"first": ["c0", "c1"], "second": ["c2", "c3"], "third": ["c4"]}
    return {
        "pairs: numbers": partial(pairs, plain),
        "pairs: numbers given one": partial(pairs, plain, given=["c0"]),
        "pairs: numbers given the rest": partial(pairs, plain, given="rest"),
        "pairs: groups": partial(pairs, plain, groups=groups),
        "pairs: kinds": partial(pairs, mixed),
        "pairs: kinds given a label": partial(pairs, mixed, given=["label"]),
        "pairs: kinds given a number": partial(pairs, mixed, given=["cause"]),
        "pairs: holes": partial(pairs, holes, nan_policy="omit", adjust="holm"),
        "pairs: what is given is shared": partial(pairs, larger, given=["c0"]),
        "pairs: gaussian base": partial(pairs, larger, given=["c0", "c1"], base="gaussian"),
        "wide: numbers": partial(wide, larger, alpha=1.0),
        "wide: given two": partial(wide, larger, given=["c0", "c1"], alpha=1.0),
        "wide: the strongest": partial(wide, data.plain_table(generator(74), 150, 30), top=8),
        "wide: holes": partial(wide, holes, nan_policy="omit", alpha=1.0),
        "rank: numbers": partial(ranked, plain, target="c1"),
        "rank: kinds": partial(ranked, mixed, target="steps"),
        "rank: a label": partial(ranked, mixed, target="label"),
        "rank: holes": partial(ranked, holes, target="c2", nan_policy="omit"),
        "rank: gaussian base": partial(ranked, plain, target="c3", base="gaussian"),
        "select: numbers": partial(selected, X, y),
        "select: classes": partial(selected, X, (y > 0.0) * 1),
        "select: a bend": partial(selected, np.column_stack([plain[f"c{i}"] for i in (0, 1, 5)]), plain["c4"]),
        "score: numbers": partial(scored, X, y, target="numbers"),
        "score: classes": partial(scored, X, (y > 0.0) * 1),
        "search: numbers": partial(searched, {name: plain[name] for name in ("c0", "c2", "c1")}),
        "search: general statistic": partial(searched, data.bent(generator(75), 200, 1), statistic="general"),
        "search: without z": partial(searched, data.ring(generator(76), 200)),
        "search: steps": partial(searched, data.of_kinds(generator(77), 200, "steps", "counts", ("numbers",))),
        "adapters: numbers": partial(adapted, {name: plain[name] for name in ("c0", "c2", "c1")}),
        "adapters: without z": partial(adapted, data.parabola(generator(78), 200)),
        "adapters: curved, dz = 2": partial(adapted, data.curved(generator(79), 200, 2, 0.0)),
    }


def files() -> dict[str, Question]:
    curved, mixed = data.curved(generator(80), 3000, 1), data.mixed_table(generator(81), 250)
    ring = data.ring(generator(82), 3000)
    given = sides(curved) | {"data": None}

    def information(path: Path, **asked) -> Figures:
        return of_estimate(pydine.mutual_information(**asked | {"data": path}))

    def tested(path: Path, **asked) -> Figures:
        return of_test(pydine.independence_test(**asked | {"data": path}, method="analytic"))

    said = {
        "mi": "mi -x cause -y effect",
        "mi given": "mi -x cause -y effect -z steps -z noise",
        "mi of kinds": "mi -x label -y amount --level 0.9",
        "mi, mixture base": "mi -x cause -y effect --base mixture",
        "test": "test -x cause -y noise -z effect --method analytic",
        "test of kinds": "test -x label -y cause -z amount --method analytic",
        "matrix": "matrix",
        "matrix given": "matrix --given noise",
        "rank": "rank --target effect",
        "strongest": "matrix --top 5",
    }
    numbers = {name: mixed[name] for name in ("cause", "effect", "noise", "amount")}
    return {
        "stream: estimate": partial(streamed, partial(information, **given), curved),
        "stream: estimate without z": partial(streamed, partial(information, x="x0", y="y0"), ring),
        "stream: estimate, gaussian base": partial(streamed, partial(information, **given, base="gaussian"), curved),
        "stream: test": partial(streamed, partial(tested, **given), curved),
        "stream: pairs": partial(
            streamed, lambda path: of_pairs(pydine.pairwise_information(path, given=["z0"]).columns()), curved
        ),
        **{
            f"command: {name}": partial(commanded, numbers if name == "strongest" else mixed, words)
            for name, words in said.items()
        },
    }


def questions() -> dict[str, Question]:
    """All of them, by name."""
    makers = (estimates, estimates_by_base, mixed, rows, tests, models, tables, files)
    return {name: ask for make in makers for name, ask in make().items()}


def quick() -> dict[str, Question]:
    """Those that the test suite compares: the first of each group, and every third of what follows."""
    places: dict[str, int] = {}
    found: dict[str, Question] = {}
    for name, ask in questions().items():
        group = name.partition(":")[0]
        places[group] = places.get(group, -1) + 1
        if places[group] % 3 == 0:
            found[name] = ask
    return found
