"""Speed and memory of the test of conditional independence on one core, beside causal-learn's and tigramite's.

python benchmarks/independence_speed.py [--repeats 7]    writes results/independence_speed.md
"""

import common

# isort: split

from argparse import ArgumentParser
from collections.abc import Callable
from functools import partial
from pathlib import Path

from harness.measure import call_in_new_process
from pydine.experiments.datasets import Dataset
from pydine.experiments.methods import methods_of
from speed import KINDS, growth, nonlinear, race

TEST = "dine-999"
SIZES = (1000, 10_000, 100_000)
KCI_RATIO, CMIKNN_RATIO, GROWTH, MEMORY_GROWTH = 10.0, 500.0, 100.0, 11.0

NOTES = """
A z of 5 columns, n = 1000, one thread, warm; contenders in turn on the same data; medians over the rounds (`cmiknn`
once: tigramite's test with its defaults, 500 shuffles). Growth and memory with a non-linear z.
`dine-999`: `pydine.independence_test` with 999 permutations; `dine-analytic`: its other method. `kcit`, `rcit`:
causal-learn's with their defaults.
""".strip()


def cmiknn(data: Dataset) -> None:
    from tigramite.independence_tests.cmiknn import CMIknn

    CMIknn(workers=1).run_test_raw(data.x, data.y, data.z)


def first_large(draw: Callable[[int, int], Dataset], seed: int) -> Dataset:
    """The dataset that is timed, and for warming up a smaller one: this test takes minutes."""
    return draw(1000 if seed == 0 else 200, seed)


CONTENDERS = {name: methods_of("cit")[name] for name in (TEST, "dine-analytic", "kcit", "rcit")}


def peak_mib(n: int) -> float:
    """Peak memory of a process that tests n rows."""
    data = nonlinear(n, 0)
    return call_in_new_process("independence_test", (data.x, data.y, data.z)).peak_mib


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--output", type=Path, default=common.RESULTS)
    options = parser.parse_args()
    bars, races = [], []
    for kind, draw in KINDS.items():
        seconds = race(partial(draw, 1000), CONTENDERS, options.repeats)
        seconds |= race(partial(first_large, draw), {"cmiknn": cmiknn}, 1)
        bars.append(common.Bar(f"5. KCI / test, {kind}", seconds["kcit"] / seconds[TEST], low=KCI_RATIO))
        bars.append(common.Bar(f"5. CMIknn / test, {kind}", seconds["cmiknn"] / seconds[TEST], low=CMIKNN_RATIO))
        races += [{"z": kind, "test": m, "ms": 1e3 * s, "/ pydine": s / seconds[TEST]} for m, s in seconds.items()]
    seconds = list(growth(nonlinear, CONTENDERS[TEST], SIZES, 3).values())
    peaks = [peak_mib(n) for n in SIZES]
    bars.append(common.Bar("5. t(100,000) / t(1,000)", seconds[-1] / seconds[0], high=GROWTH))
    above = (peaks[2] - peaks[0]) / (peaks[1] - peaks[0])
    bars.append(common.Bar("5. memory above n = 1,000: n = 100,000 / n = 10,000", above, high=MEMORY_GROWTH))
    sizes = [
        {"n": n, "seconds": s, "peak of the process, MiB": peak}
        for n, s, peak in zip(SIZES, seconds, peaks, strict=True)
    ]
    sections = ["# Speed of the test on one core", NOTES, "## Bars", common.bar_table(bars)]
    sections += ["## n = 1000", common.markdown(races), "## Growth", common.markdown(sizes)]
    common.report(options.output / "independence_speed.md", *sections, "## Provenance", common.provenance())


if __name__ == "__main__":
    main()
