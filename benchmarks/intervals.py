"""Coverage of nominal 95% intervals on the paper's cells, on datasets that are independent of each other.

python benchmarks/intervals.py [--seeds 60] [--jobs 2] [--fresh]    writes the last table of results/accuracy.md
"""

import common

# isort: split

from argparse import Namespace

from accuracy import KINDS, PAPER_SEEDS, independent_rows, paper_rows, seeds_kept, write


def main() -> None:
    options = common.parser(__doc__, seeds=60).parse_args()
    independent = independent_rows(options, options.seeds)
    kept = Namespace(output=options.output, jobs=options.jobs, fresh=False, paper_seeds=PAPER_SEEDS)
    write(options.output, paper_rows(kept, seeds_kept(options.output, *KINDS)), independent)


if __name__ == "__main__":
    main()
