"""The long run of the laws: ``make laws``, or ``PYTHONPATH=tests python -m laws.run --datasets 1000``."""

import argparse
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np

from laws import checks
from laws.samples import drawn

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results" / "laws.md"
HEAD = """# Laws

`make laws`: {count} random datasets of all kinds of columns (`tests/laws/samples.py`), seeds from {first} on, with at
most {rows} rows. Exact laws: no figure of an answer (value, standard error, ends of the interval, in nats, and ln p)
moves by more than {rounding:g}, rounding error. All changes are made at once, and one by one where figures move.
Statistical laws: one answer is not more than {errors:g} combined standard errors above another that it must not exceed;
by chance one in 740 of those that hold with equality is.

| law | asked | violations | largest |
|---|---|---|---|
"""


def tried(seed, most_rows, note):
    """Ask everything about one dataset; `note(law, size, is_broken, sample)` is told of each."""
    sample = drawn(seed, most_rows)
    answer = checks.ask(sample)
    size = checks.moved(answer, checks.ask(checks.at_once(sample, seed)))
    for law, change in checks.EXACT.items():
        if size > checks.ROUNDING:  # which of them is it?
            one = checks.moved(answer, checks.ask(change(sample, np.random.default_rng(seed))))
            note(law, one, one > checks.ROUNDING, sample)
        else:
            note(law, size, False, sample)
    note("all of these at once", size, size > checks.ROUNDING, sample)
    for law, pair in checks.compared(sample, answer, np.random.default_rng(seed)).items():
        size = checks.excess(*pair)
        note(law, size, size > checks.ERRORS, sample)
    broken = checks.within(sample, answer)
    for law in ("value inside its interval", "below the entropy of labels", "test beside interval"):
        note(law, float(law in broken), law in broken, sample)


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--datasets", type=int, default=1000)
    options.add_argument("--seed", type=int, default=0, help="of the first; the others follow")
    options.add_argument("--rows", type=int, default=600, help="most rows of a dataset")
    options.add_argument("--results", type=Path, default=RESULTS)
    chosen = options.parse_args()
    sizes, broken = defaultdict(list), defaultdict(list)

    def note(law, size, is_broken, sample):
        sizes[law].append(size)
        if is_broken:
            broken[law].append((size, sample.name))
            sys.stdout.write(f"{law}: {size:.3g}; {sample.name}\n")
            sys.stdout.flush()

    for done, seed in enumerate(range(chosen.seed, chosen.seed + chosen.datasets), start=1):
        tried(seed, chosen.rows, note)
        text = HEAD.format(
            count=done, first=chosen.seed, rows=chosen.rows, rounding=checks.ROUNDING, errors=checks.ERRORS
        )
        text += "".join(
            f"| {law} | {len(all_)} | {len(broken[law])} | {max(all_):.2g} |\n" for law, all_ in sizes.items()
        )
        lines = [f"- {law}: {size:.3g}; {name}" for law, found in broken.items() for size, name in found]
        chosen.results.write_text(text + ("\n## Violations\n\n" + "\n".join(lines) + "\n" if lines else ""))
    sys.exit(bool(broken["all of these at once"]))


if __name__ == "__main__":
    main()
