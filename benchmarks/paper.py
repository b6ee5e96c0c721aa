"""The paper's experiments and the convergence of its theory, as `pydine bench` runs them, for the tables that are kept.

python benchmarks/paper.py mi | cmi | cit | convergence [--methods NAME ...] [--trials N] [--renew | --confirm N]

Rows say which code they are of. `results_page.py` makes docs/results.md of them.
"""

import one_thread  # noqa: F401

# isort: split

from argparse import ArgumentParser
from functools import partial
from pathlib import Path

from common import CONFIRM, RESULTS
from harness.provenance import ESTIMATES, TESTS
from harness.runner import run
from pydine.experiments.bench import run_bench
from pydine.experiments.convergence import run_convergence

# The part of the code that the rows of an experiment depend on.
SCOPES = {"mi": ESTIMATES, "cmi": ESTIMATES, "cit": TESTS, "convergence": ESTIMATES}


def main() -> None:
    parser = ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kind", choices=SCOPES)
    parser.add_argument("--methods", nargs="+", help="by default the usual ones")
    parser.add_argument("--trials", type=int, help="datasets of each combination (default: as in the paper)")
    parser.add_argument("--jobs", type=int, default=1, help="processes (default: %(default)s)")
    parser.add_argument("--fresh", action="store_true", help="run again the rows of earlier runs")
    parser.add_argument("--renew", action="store_true", help="run again the rows that earlier code computed")
    parser.add_argument("--confirm", type=int, default=0, metavar="N", help=CONFIRM)
    parser.add_argument("--output", type=Path, default=RESULTS, help="folder (default: %(default)s)")
    options = parser.parse_args()
    ask = run_convergence if options.kind == "convergence" else partial(run_bench, options.kind)
    chosen = {name: getattr(options, name) for name in ("methods", "trials") if getattr(options, name)}
    how = {"jobs": options.jobs, "fresh": options.fresh, "renew": options.renew, "output": options.output}
    print(ask(**chosen, **how, runner=partial(run, scope=SCOPES[options.kind], confirm=options.confirm)))


if __name__ == "__main__":
    main()
