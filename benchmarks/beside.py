"""Time and memory of estimates, tests, all pairs, commands and the first call, beside another version of the code.

python benchmarks/beside.py FOLDER [--rounds 3] [--output FOLDER]

FOLDER is a clone of the other version. One core; versions in turn, each in a process of its own.
"""

import common

# isort: split

import compileall
import json
import os
import subprocess
import sys
import tempfile
from argparse import ArgumentParser
from pathlib import Path

from harness.measure import run_process

HERE = Path(__file__).parents[1]

NOTES = """
Processor milliseconds of `mutual_information` and `independence_test` at n = 1000, warm: the best of three calls,
averaged over three confounded families (for dz = 0, over their noises alone); the least of {rounds} rounds in which the
versions take turns. First call: a new process that has to compile everything, once for each version. Whole: a process
from its start to its end, with its peak memory, where the machine code is on disk. "before" is {before}.
""".strip()

TIMES = """
import json, warnings
from dataclasses import replace
warnings.simplefilter("ignore")
import pydine
from harness.conditional import FAMILIES, sample
from measure import measured

ASKED = {
    "estimate": lambda d: pydine.mutual_information(d.x, d.y, d.z, n_jobs=1),
    "test": lambda d: pydine.independence_test(d.x, d.y, d.z),
}


def drawn(family, dz, rho):
    data = sample(family, 1000, max(dz, 1), rho, 0)
    return data if dz else replace(data, x=data.latent_x, y=data.latent_y, z=None)


found = {}
for dz in (0, 1, 5, 20):
    for rho in (0.0, 0.6):
        for name, ask in ASKED.items():
            best = []
            for family in list(FAMILIES)[:3]:
                data, times = drawn(family, dz, rho), []
                for _ in range(4):
                    with measured() as cost:
                        ask(data)
                    times.append(1e3 * cost.processor_seconds)
                best.append(min(times[1:]))
            found[f"{name}, dz = {dz}, rho = {rho:g}"] = sum(best) / len(best)
print(json.dumps(found))
"""

# Whole processes: what `speed.py`, `independence_speed.py`, `pairwise.py` and `startup.py` measure of this package.
FIRST = (
    "import numpy as np, pydine; x, y, z = np.random.default_rng(0).standard_normal((3, 300));"
    "pydine.mutual_information(x + z, y + z, z)"
)
LOAD = "import numpy as np, pydine; rng = np.random.default_rng(0); z = rng.standard_normal((5, {n}));"
SIDES = "x, y = np.sin(z.sum(axis=0)) + rng.standard_normal((2, {n}));"
WHOLE = {
    "import": "import pydine; pydine.mutual_information",
    "command": "import sys; from pydine.cli import app; sys.argv[1:] = 'mi {csv} -x a -y b'.split(); app.main()",
    "estimate of 100,000 rows": (LOAD + SIDES).format(n=100_000) + "pydine.mutual_information(x, y, z.T)",
    "test of 10,000 rows, 999 permutations": (LOAD + SIDES).format(n=10_000) + "pydine.independence_test(x, y, z.T)",
    "all pairs of 1000 columns": LOAD.format(n=1000) + "pydine.pairwise_information(rng.standard_normal((1000, 1000)))",
    "all pairs of 100 columns given 5": LOAD.format(n=1000)
    + "t = np.hstack([z.T, rng.standard_normal((1000, 100)) + z[0][:, None]]);"
    + "pydine.pairwise_information(t, given=[0, 1, 2, 3, 4], base='gaussian')",
}


def whole(code: str, folder: Path, **variables: str) -> dict[str, float]:
    """Processor milliseconds and peak MiB of a process."""
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as table:
        # Values that do not repeat: earlier versions accept continuous columns only.
        table.write("a,b\n" + "".join(f"{i * 0.618033 % 1},{i * i * 0.414213 % 1}\n" for i in range(400)))
        table.flush()
        command = [sys.executable, "-W", "ignore", "-c", code.replace("{csv}", table.name)]
        cost = run_process(command, PYTHONPATH=str(folder / "src"), **variables)
    return {"ms": 1e3 * cost.processor_seconds, "MiB": cost.peak_mib}


def ask(code: str, folder: Path) -> dict[str, float]:
    """The times that a version's run of some code prints; it can import this version's `measure` and `harness`."""
    path = os.pathsep.join(map(str, (folder / "src", HERE / "src/pydine/experiments", HERE / "benchmarks")))
    environment = os.environ | {"PYTHONPATH": path}
    done = subprocess.run([sys.executable, "-c", code], env=environment, check=True, capture_output=True, text=True)
    times: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return times


def main() -> None:
    options = ArgumentParser(description=__doc__)
    options.add_argument("folder", type=Path, help="a clone of the other version")
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--output", type=Path, default=common.RESULTS)
    options = options.parse_args()
    versions = {"before": options.folder.resolve(), "now": HERE}
    for folder in versions.values():  # so that no version is timed while it turns its sources into bytecode
        compileall.compile_dir(folder / "src", quiet=2)
    rounds = [{name: ask(TIMES, folder) for name, folder in versions.items()} for _ in range(options.rounds)]
    first = {}
    for name, folder in versions.items():
        with tempfile.TemporaryDirectory() as empty:
            first[name] = {"first call": whole(FIRST, folder, NUMBA_CACHE_DIR=empty)["ms"]}
    lines = []
    for question in [*rounds[0]["now"], "first call"]:
        asked = [first] if question == "first call" else rounds
        before, now = (min(part[name][question] for part in asked) for name in versions)
        lines.append({"question": question, "before, ms": before, "now, ms": now, "now / before": now / before})
    memory = []
    for name, code in WHOLE.items():
        runs = [{version: whole(code, folder) for version, folder in versions.items()} for _ in range(options.rounds)]
        best = {v: {unit: min(run[v][unit] for run in runs) for unit in ("ms", "MiB")} for v in versions}
        for unit, table in (("ms", lines), ("MiB", memory)):
            before, now = best["before"][unit], best["now"][unit]
            question = f"whole: {name}" if unit == "ms" else name
            table.append(
                {"question": question, f"before, {unit}": before, f"now, {unit}": now, "now / before": now / before}
            )
    common.report(
        options.output / "beside.md",
        "# Time and memory beside the version before",
        NOTES.format(rounds=options.rounds, before=common.version_in(options.folder)),
        common.markdown(lines),
        "## Peak memory",
        common.markdown(memory),
        "## Provenance",
        common.provenance(),
    )


if __name__ == "__main__":
    main()
