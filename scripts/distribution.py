"""Build a wheel and an sdist into dist/, check them, and try the wheel where nothing else is, without and with extras.

`scripts/release_check.py` does this too, and more.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import machine_code
from environments import CHECKOUT, SMOKE, environment, install, run

DIST = CHECKOUT / "dist"
NEEDED = ("pydine/py.typed", "pydine/report/template.html", "pydine/report/script.js", "pydine/report/style.css")
MOST_BYTES = {".whl": 1_000_000, ".gz": 4_000_000}  # results of benchmarks are in the repository only
NOTHING_COMPILES = "import os, sys, tempfile; os.environ['NUMBA_CACHE_DIR'] = tempfile.mkdtemp(); " + (
    "from pydine.kernels.compilation import missing; sys.exit(', '.join(missing()) or None)"
)
UNWANTED = ("__pycache__", ".pyc", ".nbc", ".code", ".npz", "benchmarks/results/")


def build() -> tuple[Path, Path]:
    """Build both: the wheel from the sdist, so that the sdist is known to be complete."""
    shutil.rmtree(DIST, ignore_errors=True)
    with machine_code.made():
        subprocess.run([sys.executable, "-m", "build", "--outdir", DIST, CHECKOUT], check=True)
    (wheel,), (sdist,) = DIST.glob("*.whl"), DIST.glob("*.tar.gz")
    return wheel, sdist


def check(wheel: Path, sdist: Path) -> None:
    """Look into them: what must be there, what must not, and what an index would say of them."""
    with tarfile.open(sdist) as archive:
        packed = archive.getnames()
    inside = zipfile.ZipFile(wheel).namelist()
    missing = [name for name in NEEDED if name not in inside]
    unwanted = [name for name in (*inside, *packed) if any(mark in name for mark in UNWANTED)]
    if missing or unwanted:
        sys.exit(f"the wheel lacks {missing}, and there are files that should not be there: {unwanted}")
    for path in (wheel, sdist):
        if path.stat().st_size > MOST_BYTES[path.suffix]:
            sys.exit(f"{path.name} has {path.stat().st_size:,} bytes, more than {MOST_BYTES[path.suffix]:,}")
    subprocess.run([sys.executable, "-m", "twine", "check", "--strict", wheel, sdist], check=True)


def try_out(inside: Path, wheel: Path) -> None:
    """Install the wheel where nothing else is, ask it, and ask again with the command line and figures."""
    for extras in ("", "[cli,plot]"):
        install(inside, f"{wheel}{extras}")
        if not run([inside, SMOKE]):
            sys.exit(f"{wheel.name}{extras} does not work where it is installed")
        if machine_code.is_made_here() and not run([inside, "-c", NOTHING_COMPILES]):
            sys.exit(f"{wheel.name}{extras} has no machine code for the Numba that it is installed with")


def main() -> None:
    """Build, check, install and try."""
    wheel, sdist = build()
    check(wheel, sdist)
    with environment(sys.executable) as inside:
        try_out(inside, wheel)
    sizes = ", ".join(f"{path.relative_to(CHECKOUT)} ({path.stat().st_size:,} bytes)" for path in (wheel, sdist))
    sys.stdout.write(f"Ready: {sizes}\n")


if __name__ == "__main__":
    main()
