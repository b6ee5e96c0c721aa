"""The matrix of `pydine.corr` beside those of pandas, phik and dython, on four real tables.

python benchmarks/matrices.py --peers PYTHON [--output FOLDER]    writes results/matrices.md

PYTHON is an interpreter that has phik and dython, such as that of a virtual environment of theirs.
"""

import common

# isort: split

import io
import json
import subprocess
import tempfile
import time
import warnings
from argparse import ArgumentParser
from pathlib import Path

import pandas as pd
from sklearn.datasets import load_diabetes

import pydine

DATA = Path(__file__).parents[1] / "docs" / "data"
MOST_COLUMNS = 8

PEERS = """
import json, sys, time, warnings
import pandas as pd
warnings.simplefilter("ignore")
from importlib.metadata import version
import phik
from dython.nominal import associations
table = pd.read_csv(sys.argv[1])
numbers = list(table.select_dtypes("number"))
def phik_of(): return table.phik_matrix(interval_cols=numbers, verbose=False)
def dython_of(): return associations(table, compute_only=True)["corr"]
found = {}
for name, ask in (("phik", phik_of), ("dython", dython_of)):
    ask()
    start = time.process_time()
    matrix = ask().astype(float).loc[list(table), list(table)]
    seconds = time.process_time() - start
    found[name] = {"matrix": matrix.to_json(), "seconds": seconds, "version": version(name)}
print(json.dumps(found))
"""

NOTES = """
pandas: Pearson's correlation of the columns of numbers. phik: a contingency table of bins, expressed as the correlation
of a normal pair with as large a chi-squared. dython: Pearson's correlation of numbers, Theil's or Cramer's of labels,
the correlation ratio of a number and labels, without a sign. pydine: the correlation of a normal pair with as much
information, minus where both have an order and one falls as the other rises. A dash: not defined there. CPU seconds of
a second call, on one core.
""".strip()


def tables() -> dict[str, pd.DataFrame]:
    """Four real tables, of at most eight columns each; the first rows are not chosen."""
    diabetes = load_diabetes(scaled=False, as_frame=True)
    whole = diabetes.data.assign(target=diabetes.target, sex=diabetes.data["sex"].map({1: "a", 2: "b"}))
    cars = pd.read_csv(DATA / "auto-mpg.tsv", sep="\t")
    credit = pd.read_csv(DATA / "credit.tsv", sep="\t")
    heights = pd.read_csv(DATA / "stature.tsv", sep="\t")
    found = {"Diabetes": whole[["age", "sex", "bmi", "bp", "s3", "s5", "target"]], "Cars": cars, "Credit": credit}
    found["Heights of families"] = heights
    return {name: _narrow(table) for name, table in found.items()}


def _narrow(table: pd.DataFrame) -> pd.DataFrame:
    """Columns that are no names, the first eight of them."""
    kept = [c for c in table if table[c].dtype.kind in "if" or table[c].nunique() <= 0.2 * len(table)]
    return table[kept[:MOST_COLUMNS]]


def peers(python: str, table: pd.DataFrame) -> dict[str, dict[str, object]]:
    """What phik and dython say of a table."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        table.to_csv(path, index=False)
        done = subprocess.run([python, "-c", PEERS, str(path)], capture_output=True, text=True, check=True)
    found: dict[str, dict[str, object]] = json.loads(done.stdout.splitlines()[-1])
    for one in found.values():
        one["matrix"] = pd.read_json(io.StringIO(str(one["matrix"]))).loc[list(table), list(table)]
    return found


def shown(matrix: pd.DataFrame) -> str:
    """A matrix with two decimals."""
    rows = [
        {"": name, **{str(c): "-" if pd.isna(v) else f"{v:.2f}" for c, v in row.items()}}
        for name, row in matrix.iterrows()
    ]
    return common.markdown(rows)


def section(name: str, table: pd.DataFrame, python: str) -> tuple[str, dict[str, str]]:
    """A table's four matrices, and the versions of the peers."""
    theirs = peers(python, table)
    plain = table.corr(numeric_only=True).reindex(index=list(table), columns=list(table))
    pydine.corr(table, n_jobs=1)
    start = time.process_time()
    own = pydine.corr(table, n_jobs=1)
    seconds = time.process_time() - start
    parts = [f"## {name}", f"{len(table):,} rows.", "pandas", shown(plain)]
    for peer, found in theirs.items():
        parts += [f"{peer}, {float(str(found['seconds'])):.2f} CPU s", shown(found["matrix"])]  # type: ignore[arg-type]
    parts += [f"pydine, {seconds:.2f} CPU s", shown(own)]
    return "\n\n".join(parts), {peer: str(found["version"]) for peer, found in theirs.items()}


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--peers", required=True, metavar="PYTHON")
    parser.add_argument("--output", type=Path, default=common.RESULTS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    sections, versions = [], dict[str, str]()
    for name, table in tables().items():
        text, versions = section(name, table, options.peers)
        sections.append(text)
    told = ", ".join(f"{peer} {number}" for peer, number in versions.items())
    common.report(
        options.output / "matrices.md",
        "# One matrix, beside pandas, phik and dython",
        *sections,
        f"{NOTES} {told}.",
        common.provenance(),
    )


if __name__ == "__main__":
    main()
