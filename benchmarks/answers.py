"""One process that answers every question of a file, in one setting, and prints the answers as JSON.

python benchmarks/answers.py QUESTIONS.npz '{"seed": 0, "order": 0, "change": ""}'

It calls only public functions of pydine, so that any version of the library can answer.
"""

import json
import sys
import warnings
from pathlib import Path

import numpy as np

import pydine

CHANGES = ("", "swapped", "negated", "reversed")


def load(path: Path) -> dict[str, list[np.ndarray]]:
    """Columns of x, of y and of z, each (n, d), by question; the arrays of a file are called ``name|x`` and so on."""
    with np.load(path) as data:
        names = dict.fromkeys(key.rpartition("|")[0] for key in data.files)
        return {name: [data[f"{name}|{part}"] for part in "xyz"] for name in names}


def changed(arrays: list[np.ndarray], order: int, change: str) -> list[np.ndarray]:
    """The same question asked differently: rows in another order, x and y swapped, x negated, z's columns reversed."""
    x, y, z = arrays
    if order:
        rows = np.random.default_rng(order).permutation(len(x))
        x, y, z = x[rows], y[rows], z[rows]
    if change == "swapped":
        x, y = y, x
    return [-x if change == "negated" else x, y, z[:, ::-1] if change == "reversed" else z]


def answer(x: np.ndarray, y: np.ndarray, z: np.ndarray, seed: int) -> dict[str, object]:
    """The estimate and its standard error in nats, its base, the analytic p-value, and the error if one failed."""
    given = z if z.shape[1] else None
    found: dict[str, object] = {"value": None, "error_bar": None, "base": "", "pvalue": None, "error": ""}
    try:
        estimate = pydine.mutual_information(x, y, given, random_state=seed, n_jobs=1)
        found |= {"value": estimate.value, "error_bar": estimate.standard_error, "base": estimate.base}
        test = pydine.independence_test(x, y, given, method="analytic", random_state=seed, n_jobs=1)
        found["pvalue"] = test.pvalue
    except Exception as problem:  # noqa: BLE001 a failure is an answer: it is compared like any other
        found["error"] = f"{type(problem).__name__}: {problem}"
    return found


def main() -> None:
    questions, setting = load(Path(sys.argv[1])), json.loads(sys.argv[2])
    warnings.simplefilter("ignore")
    answers = {
        name: answer(*changed(arrays, setting["order"], setting["change"]), setting["seed"])
        for name, arrays in questions.items()
    }
    print(json.dumps({"library": str(Path(pydine.__file__).parents[1].resolve()), "answers": answers}))


if __name__ == "__main__":
    main()
