"""Other people's benchmarks: a part of each, with their published figures beside ours, on one page.

python benchmarks/public.py [--only SUITE ...] [--collect] [--jobs 2] [--docs docs]

Each suite is a command of its own, which writes its tables under benchmarks/results/public/; this one runs them, two at
a time, and writes docs/public.md from what they left. With --collect nothing is run. A suite whose file is missing, or
that fails or takes too long, is named as not run. Networks are read from pgmpy and rings drawn by manm-cs, where they
are on the path (`make public` puts them there).
"""

import common

# isort: split

import json
import math
import os
import subprocess
import sys
import time
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

import beyond_normal
import graphs
import public_mesner
import real_z

HERE, ROOT = Path(__file__).parent, Path(__file__).parents[1]
FOLDER = common.RESULTS / "public"
SAMPLES = ROOT / "build" / "public" / "samples"
# Within a part of the best other error, a difference of shares, or standard errors of ours, two figures are level.
LEVEL, SHARE, NOISE = 0.1, 0.02, 2.0
DIGITS = {"LMI": 0.028, "KSG": 0.360, "InfoNCE": 0.402, "MINE": 0.258}  # mean errors in bits that LMI publishes
FIRST, EQUAL, NOT_FIRST = "first", "level", "**not first**"

INTRODUCTION = """
# Public benchmarks

The benchmarks with which other people measure their estimators and tests, run with pydine's defaults, with their
published figures beside ours. The suites were not chosen by us, except for the last, and no row is left out: where
another method is better, the row says **not first**. `make public` runs a part of each suite and writes this page, in
about half an hour on two cores; it needs no network, except for the network files of two packages. The command under
each table runs the whole suite.

"First" means better than every other figure in the row. "Level" means within a tenth of the best other error, within
0.02 of the best other share (F1, AUC, power), or within two standard errors of ours, where these are known. "Published"
figures are those of the authors, on their datasets; ours are from datasets drawn by their generators, or by us from the
same distributions.
""".strip()


@dataclass(frozen=True)
class Row:
    """A figure of ours beside those of others; lower is better, or higher. ``error`` is a standard error of ours.

    Figures below ``least`` count as that: a test that rejects less than its level is not better for it.
    """

    what: str
    ours: float
    others: Mapping[str, float]
    error: float = 0.0
    is_lower: bool = True
    least: float = -math.inf

    @property
    def place(self) -> str:
        """First, level or not first; empty where there is nothing to compare with."""
        known = [value for value in self.others.values() if not math.isnan(value)]
        if math.isnan(self.ours) or not known:
            return ""
        best = max(min(known) if self.is_lower else max(known), self.least)
        ours = max(self.ours, self.least)
        gain = best - ours if self.is_lower else ours - best
        if abs(gain) <= max(LEVEL * abs(best) if self.is_lower else SHARE, NOISE * self.error):
            return EQUAL
        return FIRST if gain > 0.0 else NOT_FIRST


@dataclass(frozen=True)
class Suite:
    """Somebody's benchmark: what it is, how its part is run, and the rows that it leaves.

    Each command is a script of this folder with its arguments; ``rows`` reads what they left in a folder.
    """

    name: str
    title: str
    about: str
    commands: tuple[tuple[str, ...], ...]
    rows: Callable[[Path], list[Row]]
    minutes: float = 14.0

    @property
    def whole(self) -> str:
        """The command of all of it."""
        return f"python benchmarks/{self.commands[-1][0]}"


@dataclass
class Run:
    """How a run ended: why it is missing, if it is, and what it took."""

    missing: str = ""
    seconds: float = field(default=math.nan)


# --- what suites leave ---


def mesner(folder: Path) -> list[Row]:
    lines = public_mesner.lines(_frame(folder / "public_mesner.csv"))
    beside = ("Mesner-Shalizi", *public_mesner.OTHERS)
    return [
        Row(f"{line['task']}: error, nats", _number(line["pydine"]), _some(line, beside), _number(line["±"]))
        for line in lines
    ]


def of_beyond_normal(folder: Path) -> list[Row]:
    """Errors as a share of the truth, beside the methods of the benchmark itself."""
    rows, others = _frame(folder / "beyond_normal.csv"), beyond_normal.peers(common.RESULTS / "beyond_normal_peers.csv")
    names = dict(pd.read_csv(SAMPLES / "tasks.csv").set_index("task").name) if SAMPLES.exists() else {}
    found = []
    for task, part in rows[rows.method == beyond_normal.DEFAULT].groupby("task", sort=False):
        theirs, truth = others[others.task == task], float(part.truth.iloc[0])
        off = {
            name: abs(beyond_normal.mean(theirs[theirs.method == name].estimate) - truth) / truth
            for name in beyond_normal.PEERS
        }
        noise = float(part.standard_error.mean()) / truth
        own = abs(float(part.estimate.mean()) - truth) / truth
        found.append(Row(f"{names.get(task, task)}: error, share of {truth:.2f} nats", own, off, noise))
    return found


def of_real_z(folder: Path) -> list[Row]:
    """False rejections beyond the level, and power at rho = 0.15 beside those that hold their level in the row."""
    rows = _frame(folder / "real_z.csv")
    count = rows[rows.rho == 0.0].groupby("method").seed.nunique()
    found = []
    for (table, shape), part in pd.DataFrame(real_z.lines(rows)).groupby(["Z", "shape"], sort=False):
        shares = part.set_index("method")
        noise = {name: math.sqrt(real_z.ALPHA * (1.0 - real_z.ALPHA) / count[name]) for name in shares.index}
        levels = shares["rho 0"]
        others = {name: float(levels[name]) for name in shares.index if name != "dine"}
        where, own = f"{table}, {shape}", float(levels["dine"])
        found.append(Row(f"{where}: rejected at 5%, nothing there", own, others, noise["dine"], least=real_z.ALPHA))
        holds = [name for name in others if levels[name] <= real_z.ALPHA + NOISE * noise[name]]
        power = {name: float(shares["rho 0.15"][name]) for name in holds}
        if levels["dine"] <= real_z.ALPHA + NOISE * noise["dine"]:
            own = float(shares["rho 0.15"]["dine"])
            error = math.sqrt(max(own * (1.0 - own), 0.05) / max(count["dine"] // real_z.WEAKEST, 1))
            found.append(Row(f"{where}: rejected at 5%, rho = 0.15", own, power, error, is_lower=False))
    return found


def networks(folder: Path) -> list[Row]:
    """F1 of skeletons; where there is one sample, edges count as if they were independent trials."""
    rows, found = _frame(folder / "graphs.csv"), []
    for network, part in rows[rows.method.isin(["dine", *graphs.OTHERS])].groupby("network", sort=False):
        means, own = part.groupby("method", sort=False).f1.mean(), part[part.method == "dine"]
        others = {name: float(means[name]) for name in means.index if name != "dine"}
        if network in graphs.RINGS:
            others["mCMIkNN (published)"] = graphs.RINGS[str(network)]
        value = float(means["dine"])
        noise = math.sqrt(value * (1.0 - value) / float(own.true_edges.sum()))
        found.append(Row(f"{network}: F1", value, others, noise, is_lower=False))
    return found


def tables(
    name: str, labels: Sequence[str], ours: str, others: Sequence[str], unit: str
) -> Callable[[Path], list[Row]]:
    """Rows of a file of tables, {part: {"rows": [...]}}, by the columns that name a row, ours and theirs."""

    def rows(folder: Path) -> list[Row]:
        parts = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
        return [
            Row(f"{part}, {', '.join(f'{row[key]:g} {key}' for key in labels)}: {unit}", row[ours], _some(row, others))
            for part, table in parts.items()
            for row in table["rows"]
            if all(key in row for key in labels)
        ]

    return rows


def of_lmi(folder: Path) -> list[Row]:
    """Rows of the grid, and one of all digits."""
    found = tables("public_lmi", ("columns",), "error", tuple(DIGITS), "error, bits")(folder)
    parts = json.loads((folder / "public_lmi.json").read_text(encoding="utf-8"))
    errors = [row["error"] for row in parts.get("digits", {"rows": []})["rows"]]
    own = sum(errors) / len(errors) if errors else math.nan
    return [*found, Row("digits, resampled (theirs: of MNIST): error, bits", own, DIGITS)]


def decisions(name: str) -> Callable[[Path], list[Row]]:
    """Rows of a file of results of tests: lines of ours and of others by part, and lines with others as columns."""

    def rows(folder: Path) -> list[Row]:
        found = []
        for table in markdown_tables((folder / f"{name}.md").read_text(encoding="utf-8")):
            if {"part", "test"} <= set(table):
                found += [
                    row for part, lines in table.groupby("part", sort=False) for row in _by_test(str(part), lines)
                ]
            elif {"part", "AUC", "KCIT"} <= set(table):
                found += _by_setting(table)
        return found

    return rows


def _by_test(part: str, lines: pd.DataFrame) -> list[Row]:
    figures = lines.set_index("test")
    own = figures.loc["dine"]
    noise = {"AUC": _number(own.get("its error", math.nan)), "F1": 0.0, "type I": 0.0}
    return [
        Row(
            f"{part}: {figure}",
            _number(own[figure]),
            {str(name): _number(value) for name, value in figures[figure].items() if name != "dine"},
            0.0 if math.isnan(noise[figure]) else noise[figure],
            is_lower=figure == "type I",
            least=real_z.ALPHA if figure == "type I" else -math.inf,
        )
        for figure in noise
        if figure in figures
    ]


def _by_setting(table: pd.DataFrame) -> list[Row]:
    setting = str(table.columns[1])
    return [
        Row(
            f"{line['part']}, {setting} {line[setting]}: AUC",
            _number(line["AUC"]),
            {name: _number(line[name]) for name in ("KCIT", "mCMIkNN")},
            _number(line["its error"]),
            is_lower=False,
        )
        for line in table.to_dict("records")
    ]


def markdown_tables(text: str) -> list[pd.DataFrame]:
    """The tables of a page, as text; a dash is NaN."""
    found: list[pd.DataFrame] = []
    for block in text.split("\n\n"):
        lines = [line.strip("| ").split(" | ") for line in block.splitlines() if line.startswith("|")]
        if len(lines) > 2:
            head, _, *rows = lines
            found.append(pd.DataFrame(rows, columns=head).replace("-", "nan"))
    return found


def _frame(path: Path) -> pd.DataFrame:
    rows = pd.read_csv(path, keep_default_na=False, na_values=[""])
    return common.frame(rows.to_dict("records")) if "estimate" in rows else rows


def _number(value: object) -> float:
    return float(str(value))


def _some(line: Mapping[str, object], names: Sequence[str]) -> dict[str, float]:
    return {name: _number(line[name]) for name in names if name in line}


# --- the suites ---

SUITES = (
    Suite(
        "mesner",
        "Columns of mixed kinds: Mesner and Shalizi (2020)",
        "Nine tasks with one column of z, n = 1000; root mean square errors. Published: from the file of results in "
        "omesner/knncmi. Their estimates are cut at 0, which flatters them where the truth is 0.",
        (("public_mesner.py", "--part", "--renew"),),
        mesner,
    ),
    Suite(
        "beyond-normal",
        "Dependence of many forms: Beyond Normal (Czyż et al. 2023)",
        "Tasks of at most five columns a side, n = 10,000, one dataset each. Others: the methods of the package "
        "benchmark-mi, as `benchmarks/beyond_normal_peers.py` runs them. The samples are drawn by "
        "`benchmarks/beyond_normal_samples.py`.",
        (
            ("beyond_normal_samples.py", "--samples", str(SAMPLES), "--part", "--seeds", "1"),
            ("beyond_normal.py", "--samples", str(SAMPLES), "--seeds", "1", "--renew"),
        ),
        of_beyond_normal,
    ),
    Suite(
        "mutinfo",
        "Strong dependence: mutinfo (Butakov et al. 2024)",
        "Families with 2 to 10 nats, one to three columns a side, n = 10,000; mean absolute errors. Published: "
        "from the tables of VanessB/mutinfo.",
        (("public_mutinfo.py",),),
        tables("public_mutinfo", ("nats",), "error", ("KSG", "WKL", "MINE", "InfoNCE"), "error, nats"),
    ),
    Suite(
        "lmi",
        "Many columns a side: LMI (Gowri et al. 2024)",
        "Sides of 10 to 500 columns, of which one to nine dimensions are shared and many are copies, 0 to 2 bits, "
        "n = 2000; and images of digits, some of them shuffled. Mean absolute errors. Published: means over the file "
        "of results in ggdna/latent-mutual-information.",
        (
            ("public_lmi.py", "--part", "digits"),
            ("public_lmi.py", "--part", "10-50", "--part", "100-500", "--every", "9"),
        ),
        of_lmi,
    ),
    Suite(
        "mcmiknn",
        "Decisions with mixed columns: mCMIkNN (Hügle et al. 2023)",
        "Structures of one to nine columns in Z of any mixture of kinds. Published: from the p-values of "
        "hpi-epic/mCMIkNN.",
        (("public_mcmiknn.py", "--renew"),),
        decisions("public_mcmiknn"),
    ),
    Suite(
        "lcit",
        "Many columns in Z: LCIT (Duong and Nguyen 2022)",
        "The authors' own simulation, 25 to 100 columns in Z. Published: from baosws/LCIT.",
        (("public_lcit.py", "--part", "250x25", "500x25", "1000x25", "--renew"),),
        decisions("public_lcit"),
    ),
    Suite(
        "networks",
        "Graphs: networks of pgmpy, mCMIkNN's rings, random graphs",
        "Skeletons at alpha = 0.01, n = 1000, beside PC of causal-learn with Fisher's z, G and GCM; `rings` are the "
        "graphs of mCMIkNN's comparison at 0.05, with the F1 that its authors publish.",
        (
            (
                "graphs.py",
                "--seeds",
                "2",
                "--renew",
                "--only",
                "random 20",
                "mixed 20",
                "sachs",
                "alarm",
                "ecoli70",
                "magic-niab",
                "magic-niab bent",
                "rings 30 0.05 0.75",
                "rings 40 0.1 0.0",
                "rings 40 0.15 0.5",
                "rings 50 0.2 0.0",
            ),
        ),
        networks,
    ),
    Suite(
        "real-z",
        "Z of real tables with a known truth",
        "This suite is our own, as none has been published: Z from real tables, sides that follow functions fitted to "
        "two of their other columns, and noise terms with correlation rho. Beside GCM with forests and the t-test of a "
        "linear regression. Power is compared among the methods that keep their level in the row.",
        (("real_z.py", "--seeds", "16", "--peers", "8", "--renew"),),
        of_real_z,
    ),
)


# --- running them ---


def run(suite: Suite, folder: Path) -> Run:
    """Run a suite's commands, one after the other, with what they say in a file; a failure is a sentence."""
    start = time.monotonic()
    for script, *words in suite.commands:
        if not (HERE / script).exists():
            return Run(f"benchmarks/{script} is not there")
        beside = [] if script.endswith("_samples.py") else ["--output", str(folder)]
        with (folder / f"{suite.name}.log").open("w", encoding="utf-8") as log:
            try:
                left = 60.0 * suite.minutes - (time.monotonic() - start)
                command = [sys.executable, str(HERE / script), *words, *beside]
                subprocess.run(command, check=True, stdout=log, stderr=log, timeout=left, cwd=ROOT)
            except subprocess.TimeoutExpired:
                return Run(f"it took more than {suite.minutes:g} minutes")
            except subprocess.CalledProcessError as problem:
                return Run(f"it ended with exit code {problem.returncode}")
    return Run(seconds=time.monotonic() - start)


def left_by(suite: Suite, folder: Path) -> tuple[list[Row], str]:
    """The rows that a suite left in the folder, or in that of all results; or why there are none."""
    for place in (folder, common.RESULTS):
        try:
            return suite.rows(place), ""
        except FileNotFoundError:
            continue
        except (KeyError, ValueError, AttributeError) as problem:
            return [], f"its table cannot be read ({type(problem).__name__}: {problem})"
    return [], "there is no table"


# --- the page ---


def section(suite: Suite, rows: list[Row], missing: str) -> Iterator[str]:
    yield f"## {suite.title}"
    yield suite.about
    if not rows:
        yield f"**Not run**: {missing}."
        return
    names = list(dict.fromkeys(name for row in rows for name in row.others))
    lines = [
        {"row": row.what, "pydine": row.ours, **{name: row.others.get(name, math.nan) for name in names}, "": row.place}
        for row in rows
    ]
    yield common.markdown(lines)
    left = f" This time {missing}: the rows are from an earlier run." if missing else ""
    yield f"The whole suite: `{suite.whole}`.{left}"


def counted(found: Mapping[str, list[Row]]) -> str:
    """How many rows of each suite are first, level and not first."""
    lines = []
    for title, rows in found.items():
        count = Counter(row.place for row in rows)
        places = {"first": count[FIRST], "level": count[EQUAL], "not first": count[NOT_FIRST]}
        lines.append({"suite": title, "rows": len(rows) or "not run", **places})
    return common.markdown(lines)


def page(found: Mapping[Suite, tuple[list[Row], str]], seconds: float) -> str:
    counts = counted({suite.title: rows for suite, (rows, _) in found.items()})
    sections = [text for suite, (rows, missing) in found.items() for text in section(suite, rows, missing)]
    took = "" if math.isnan(seconds) else f" The run took {seconds / 60.0:.0f} minutes."
    return "\n\n".join([INTRODUCTION, counts, *sections, "## Provenance", common.provenance() + took]) + "\n"


def main() -> None:
    parser = ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=[suite.name for suite in SUITES], default=[], metavar="SUITE")
    parser.add_argument("--collect", action="store_true", help="write the page from what earlier runs left")
    parser.add_argument("--jobs", type=int, default=2, help="suites at a time (default: %(default)s)")
    parser.add_argument("--output", type=Path, default=FOLDER, help="folder of the tables (default: %(default)s)")
    parser.add_argument("--docs", type=Path, default=ROOT / "docs", help="folder of the page (default: %(default)s)")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    chosen = [] if options.collect else [suite for suite in SUITES if not options.only or suite.name in options.only]
    start = time.monotonic()
    with ThreadPoolExecutor(options.jobs) as pool:
        runs = dict(zip(chosen, pool.map(lambda suite: run(suite, options.output), chosen), strict=True))
    found = {}
    for suite in SUITES:
        rows, unread = left_by(suite, options.output)
        ended = runs.get(suite, Run())
        found[suite] = rows, ended.missing or unread
        print(f"{suite.name}: {len(rows)} rows, {ended.seconds:.0f} s {found[suite][1]}")
    text = page(found, time.monotonic() - start if len(chosen) == len(SUITES) else math.nan)
    (options.docs / "public.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
