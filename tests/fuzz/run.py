"""The long run of the fuzzer: ``make fuzz``, or ``PYTHONPATH=tests python -m fuzz.run --calls 5000 --loads 0``."""

import argparse
import faulthandler
import sys
import tempfile
from pathlib import Path

from fuzz import calls, frames, hostile, loaders
from fuzz.outcomes import Tally


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--calls", type=int, default=5000)
    options.add_argument("--frames", type=int, default=2000, help="questions about columns of any kind")
    options.add_argument("--files", type=int, default=400)
    options.add_argument("--loads", type=int, default=2000, help="edited models, units, results and machine code")
    options.add_argument("--seed", type=int, default=0, help="of the first; the others follow")
    chosen = options.parse_args()
    faulthandler.enable()
    asked, framed, read, loaded = Tally(), Tally(), Tally(), Tally()
    for seed in range(chosen.seed, chosen.seed + chosen.calls):
        calls.ask(asked, seed)
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(chosen.seed, chosen.seed + chosen.frames):
            frames.ask(framed, seed, Path(folder))
        for seed in range(chosen.seed, chosen.seed + chosen.files):
            hostile.read(read, seed, Path(folder))
        for seed in range(chosen.seed, chosen.seed + chosen.loads):
            loaders.load(loaded, seed, Path(folder))
    findings = asked.findings + framed.findings + read.findings + loaded.findings
    reports = [asked.report("calls"), framed.report("frames"), read.report("files"), loaded.report("loads")]
    sys.stdout.write("\n".join([*reports, *findings, ""]))
    sys.exit(bool(findings))


if __name__ == "__main__":
    main()
