"""Many columns a side: LMI's grid of Gaussian sides, 10 to 5000 columns, 0 to 2 bits, n = 2000; and resampled digits.

python benchmarks/public_lmi.py                      all parts
python benchmarks/public_lmi.py --part 100-500       one of: 10-50, 100-500, 1000-5000, digits
python benchmarks/public_lmi.py --every 4            one cell in so many of the grid

The generator is that of https://github.com/ggdna/latent-mutual-information (`analysis/B_Gaussian_grid.ipynb`), written
anew: k shared dimensions of one correlation each, half of the other columns noise, and all others exact copies of the
shared ones. Published errors are means over its table of results (`results/MI_Gaussian_grids.csv`). Digits, as in
`analysis/B_MNIST.ipynb`: pairs of images of the same digit, 0 or 1, of which a share is shuffled, so that the
information is about that of the two labels. Ours are scikit-learn's, 8 x 8 and 178 of each digit at most, in place of
MNIST's 28 x 28 and 5000.
"""

import argparse
import json
import math
import time
import warnings
from pathlib import Path

from common import RESULTS, markdown, provenance, report

# isort: split

import numpy as np
from sklearn.datasets import load_digits

import pydine

ROWS, BITS, INTRINSIC = 2000, np.linspace(0.0, 2.0, 10), range(1, 10)
GROUPS = {f"{step}-{5 * step}": tuple(range(step, 6 * step, step)) for step in (10, 100, 1000)}
PUBLISHED = {  # mean absolute errors in bits, over all cells
    "10-50": {"LMI": 0.425, "KSG": 0.728, "InfoNCE": 0.755, "MINE": 0.476},
    "100-500": {"LMI": 0.405, "KSG": 0.978, "InfoNCE": 1.000, "MINE": 0.928},
    "1000-5000": {"LMI": 0.391, "KSG": 0.999, "InfoNCE": 0.999, "MINE": 0.999},
}
PUBLISHED_DIGITS = {"LMI": 0.028, "KSG": 0.360, "InfoNCE": 0.402, "MINE": 0.258}


def sides(bits: float, d: int, k: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Two sides of d columns: k shared dimensions, (d - k) // 2 columns of noise, and copies of the shared ones."""
    rho = math.sqrt(1.0 - 2.0 ** (-2.0 * bits / k))
    noise = (d - k) // 2
    x, e = rng.standard_normal((2, ROWS, k))
    y = rho * x + math.sqrt(1.0 - rho * rho) * e
    return tuple(
        np.hstack([a, a[:, rng.integers(k, size=d - k - noise)], rng.standard_normal((ROWS, noise))]) for a in (x, y)
    )


def of_group(group: str, every: int) -> list[dict[str, object]]:
    """A row for each number of columns: mean absolute errors in bits, coverage, CPU seconds."""
    rows: list[dict[str, object]] = []
    for d in GROUPS[group]:
        found = []
        for place, (k, bits) in enumerate((k, bits) for k in INTRINSIC for bits in BITS):
            if (place + GROUPS[group].index(d)) % every:
                continue
            x, y = sides(bits, d, k, np.random.default_rng([d, k, place]))
            start = time.process_time()
            answer = pydine.mutual_information(x, y)
            seconds = time.process_time() - start
            low, high = (end / math.log(2.0) for end in answer.confidence_interval(0.95))
            value = answer.value / math.log(2.0)
            found.append((abs(value - bits), float(low <= bits <= high), seconds, k <= 3, value - bits))
            print(d, k, f"{bits:.2f} {value:.3f} {low:.3f} {high:.3f} {seconds:.2f}", flush=True)
        error, inside, seconds, is_few, bias = np.array(found).T
        row = {"columns": d, "cells": len(found), "bias": bias.mean(), "error": error.mean()}
        row |= {"1-3 shared": error[is_few == 1].mean(), "4-9 shared": error[is_few == 0].mean(), "worst": error.max()}
        rows.append(row | PUBLISHED[group] | {"cover": inside.mean(), "CPU s": seconds.mean()})
    return rows


def of_digits(every: int) -> list[dict[str, object]]:
    """Pairs of zeros and ones, of which a share is shuffled: the value beside that of the labels, in bits."""
    images, labels = load_digits(return_X_y=True)
    halves = [np.split(np.flatnonzero(labels == digit)[:178], 2) for digit in (0, 1)]
    first, second = (np.concatenate([half[i] for half in halves]) for i in (0, 1))
    rows: list[dict[str, object]] = []
    for place, share in enumerate(np.linspace(0.0, 1.0, 11) ** 2):
        if place % every:
            continue
        rng = np.random.default_rng(place)
        order = rng.permutation(len(first))
        x, y = first[order], second[order]
        shuffled = int(share * len(x))
        x[:shuffled] = rng.permutation(x[:shuffled])
        table = np.histogram2d(labels[x], labels[y], bins=2)[0] / len(x)
        told = bits_of(table)
        start = time.process_time()
        answer = pydine.mutual_information(*(of_side(images[side]) for side in (x, y)))
        low, high = (end / math.log(2.0) for end in answer.confidence_interval(0.95))
        value = answer.value / math.log(2.0)
        row = {"shuffled": share, "of labels": told, "value": value, "error": abs(value - told)}
        rows.append(row | {"low": low, "high": high, "CPU s": time.process_time() - start})
        print(rows[-1], flush=True)
    return rows


def of_side(images: np.ndarray) -> np.ndarray:
    return images[:, images.std(axis=0) > 0.0]


def bits_of(table: np.ndarray) -> float:
    """The information of a table of probabilities, in bits."""
    outer = np.outer(table.sum(axis=1), table.sum(axis=0))
    some = table > 0.0
    return float((table[some] * np.log2(table[some] / outer[some])).sum())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=(*GROUPS, "digits"), action="append", help="which parts; all if none")
    parser.add_argument("--every", type=int, default=1, help="one cell in so many")
    parser.add_argument("--output", type=Path, default=RESULTS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    kept = options.output / "public_lmi.json"
    tables = json.loads(kept.read_text()) if kept.exists() else {}
    for part in options.part or (*GROUPS, "digits"):
        rows = of_digits(options.every) if part == "digits" else of_group(part, options.every)
        tables[part] = {"rows": rows, "from": provenance()}
    kept.write_text(json.dumps(tables, indent=0))
    sections = []
    for part in (part for part in (*GROUPS, "digits") if part in tables):
        if part == "digits":
            beside = ", ".join(f"{name} {figure}" for name, figure in PUBLISHED_DIGITS.items())
            title, mean = "Digits, resampled", np.mean([row["error"] for row in tables[part]["rows"]])
            said = f"Mean error {mean:.3f} bits. Published, of MNIST: {beside}.\n\n"
        else:
            title, mean = f"{part} columns a side", np.mean([row["error"] for row in tables[part]["rows"]])
            said = f"Mean error {mean:.3f} bits; LMI's, as published, {PUBLISHED[part]['LMI']}.\n\n"
        sections.append(f"## {title}\n\n{said}{markdown(tables[part]['rows'])}\n\n{tables[part]['from']}")
    report(
        options.output / "public_lmi.md",
        "# Many columns a side: LMI's grid\n\n`python benchmarks/public_lmi.py`. n = 2000. Errors are mean absolute "
        "errors in bits, over 0 to 2 bits and 1 to 9 shared dimensions; others as published.",
        *sections,
    )


if __name__ == "__main__":
    main()
