"""Speed and memory on one core.

python benchmarks/speed.py [--repeats 7] [--large-repeats 3] [--skip-million]

Contenders are run in turn on the same dataset, a new one in every round, so that other load on the machine affects
all alike; figures are medians over the rounds. Every contender has run once before the clock starts.
"""

import common

# isort: split

import tempfile
from argparse import ArgumentParser
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from statistics import median

from harness.conditional import sample
from harness.measure import call_in_new_process, import_seconds, in_turn, medians
from pydine.experiments.datasets import Dataset, paper_cmi, paper_mi
from pydine.experiments.methods import methods_of

KCI_RATIO, KCI_AIM = 10.0, 30.0
GROWTH, GROWTH_SIZES = 11.0, (10_000, 100_000)
KSG_RATIO = 60.0
IMPORT_SECONDS, IMPORT_RUNS = 0.8, 5
MILLION, MILLION_MIB = 1_000_000, 2048.0

NOTES = """
Warm; contenders in turn on the same data; medians over the rounds. `dine`: `pydine.mutual_information`,
`dine-paper`: `pydine.DINE.paper()`, both with n_jobs = 1. `kcit`: causal-learn's test. `ksg`: nearest neighbours
on SciPy's and scikit-learn's trees.
""".strip()

Draw = Callable[[int], Dataset]
Contender = Callable[[Dataset], object]


def nonlinear(n: int, seed: int) -> Dataset:
    return sample("sine-index", n, 5, 0.5, seed)


def nearly_linear(n: int, seed: int) -> Dataset:
    return paper_cmi(n, 1, 0.5, seed, dz=5)


KINDS = {"non-linear z": nonlinear, "the paper's z": nearly_linear}


CONTENDERS: dict[str, Contender] = {**methods_of("cmi"), "kcit": methods_of("cit")["kcit"]}


def race(draw: Draw, contenders: dict[str, Contender], repeats: int) -> dict[str, float]:
    """Median seconds of each contender on the datasets 0, 1, .., in turn."""

    def prepared(run: Contender, seed: int) -> Callable[[], object]:
        return partial(run, draw(seed))

    return medians(in_turn({name: partial(prepared, run) for name, run in contenders.items()}, repeats))


def growth(draw: Callable[[int, int], Dataset], run: Contender, sizes: Iterable[int], repeats: int) -> dict[int, float]:
    """Median seconds of a method by the number of rows, the sizes in turn."""

    def prepared(n: int, seed: int) -> Callable[[], object]:
        return partial(run, draw(n, seed))

    return medians(in_turn({n: partial(prepared, n) for n in sizes}, repeats))


def best_and_typical_import() -> tuple[float, float]:
    """Smallest and median seconds of ``import pydine`` in a new interpreter, after one that may write bytecode."""
    import_seconds("pydine")
    runs = [import_seconds("pydine") for _ in range(IMPORT_RUNS)]
    return min(runs), median(runs)


def first_call_seconds() -> tuple[float, float]:
    """The first call of a process, with nothing compiled yet and with the machine code on disk."""
    data = nonlinear(1000, 0)
    with tempfile.TemporaryDirectory() as folder:
        first = partial(call_in_new_process, "mutual_information", (data.x, data.y, data.z), NUMBA_CACHE_DIR=folder)
        compiling, cached = first().seconds, first().seconds
    return compiling, cached


def million() -> tuple[float, float, float]:
    """Seconds, peak MiB of the process, and peak MiB less the data, at a million rows with dz = 5."""
    data = nonlinear(MILLION, 0)
    arrays = (data.x, data.y, data.z)
    cost = call_in_new_process("mutual_information", arrays)
    return cost.seconds, cost.peak_mib, cost.peak_mib - sum(array.nbytes for array in arrays) / 2**20


# --- the sections of the report: the bars that they decide, and a table ---

Section = tuple[list[common.Bar], str]


def small_samples(repeats: int) -> Section:
    bars, lines = [], []

    def compare(question: str, draw: Draw, names: list[str]) -> dict[str, float]:
        seconds = race(draw, {name: CONTENDERS[name] for name in names}, repeats)
        for name, value in seconds.items():
            times = value / seconds["dine"]
            lines.append({"question": question, "method": name, "ms": f"{1e3 * value:.1f}", "/ dine": times})
        return seconds

    for kind, draw in KINDS.items():
        question = f"I(X;Y given Z), d = 1, dz = 5, {kind}"
        seconds = compare(question, partial(draw, 1000), ["dine", "dine-paper", "ksg", "kcit"])
        name = f"6. KCI / dine, {kind} (aim: {KCI_AIM:g})"
        bars.append(common.Bar(name, seconds["kcit"] / seconds["dine"], low=KCI_RATIO))
    seconds = compare("I(X;Y), d = 20", partial(paper_mi, 1000, 20, 0.5), ["dine", "dine-paper", "ksg"])
    name = "6. I(X;Y), d = 20: dine / KSG"
    bars.append(common.Bar(name, seconds["dine"] / seconds["ksg"], high=KSG_RATIO))
    return bars, common.markdown(lines)


def large_samples(repeats: int) -> Section:
    bars, lines = [], []
    for kind, draw in KINDS.items():
        small, large = growth(draw, CONTENDERS["dine"], GROWTH_SIZES, repeats).values()
        lines.append({"z": kind, "n = 10,000: s": small, "n = 100,000: s": large, "ratio": large / small})
        bars.append(common.Bar(f"6. t(100,000) / t(10,000), {kind}", large / small, high=GROWTH))
    return bars, common.markdown(lines)


def start() -> Section:
    best, typical = best_and_typical_import()
    compiling, cached = first_call_seconds()
    lines = [
        {"what": f"import pydine, best of {IMPORT_RUNS}", "s": best},
        {"what": f"import pydine, median of {IMPORT_RUNS}", "s": typical},
        {"what": "first call on a machine (compiles)", "s": compiling},
        {"what": "first call of a process, machine code on disk", "s": cached},
    ]
    return [common.Bar("6. import pydine: s, median", typical, high=IMPORT_SECONDS)], common.markdown(lines)


def memory() -> Section:
    seconds, peak, above = million()
    text = f"{seconds:.1f} s; peak of the whole process {peak:.0f} MiB, that is {above:.0f} MiB above the data."
    return [common.Bar("n = 1,000,000: MiB above the data", above, high=MILLION_MIB)], text


def main() -> None:
    parser = ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=7, help="rounds at n = 1000 (default: %(default)s)")
    parser.add_argument("--large-repeats", type=int, default=3, help="rounds at large n (default: %(default)s)")
    parser.add_argument("--skip-million", action="store_true", help="leave out a million rows")
    parser.add_argument("--output", type=Path, default=common.RESULTS, help="folder (default: %(default)s)")
    options = parser.parse_args()
    sections = {
        "n = 1000": small_samples(options.repeats),
        "Growth, I(X;Y given Z), d = 1, dz = 5": large_samples(options.large_repeats),
        "Start": start(),
    }
    if not options.skip_million:
        sections["A million rows, d = 1, dz = 5, non-linear z"] = memory()
    common.report(
        options.output / "speed.md",
        "# Speed on one core",
        NOTES,
        "## Bars",
        common.bar_table([bar for bars, _ in sections.values() for bar in bars]),
        *(text for title, (_, table) in sections.items() for text in (f"## {title}", table)),
        "## Provenance",
        common.provenance(),
    )


if __name__ == "__main__":
    main()
