"""Methods that run in a separate process: another version of this library, and gmm-mi."""

import json
import os
import subprocess
import sys
import tempfile
from functools import cached_property
from pathlib import Path

import numpy as np

from harness.provenance import git
from pydine.experiments.datasets import Dataset
from pydine.experiments.runner import Outcome

SERVANT = """
import json, sys, warnings
warnings.simplefilter("ignore")
import numpy as np
import pydine

for line in sys.stdin:
    with np.load(json.loads(line)) as data:
        x, y, z = (data[name] for name in "xyz")
    estimate = pydine.mutual_information(x, y, z if z.shape[1] else None, n_jobs=1)
    print(json.dumps([estimate.value, *estimate.confidence_interval(0.95)]), flush=True)
"""


GMM_MI = """
import json, sys, warnings
warnings.simplefilter("ignore")
import numpy as np
from gmm_mi.mi import EstimateMI

for line in sys.stdin:
    with np.load(json.loads(line)) as data:
        both = np.hstack([data["x"], data["y"]])
    try:
        value, error = EstimateMI().fit_estimate(both)
    except ValueError:  # its mixture has collapsed onto a few rows
        value = error = float("nan")
    print(json.dumps([value, value - 1.96 * error, value + 1.96 * error]), flush=True)
"""


class Servant:
    """Estimates by a program that another Python runs: it reads the names of files, and writes estimates and limits."""

    def __init__(self, python: str, program: str, folder: Path | None = None) -> None:
        self.python, self.program, self.folder = python, program, folder

    def __call__(self, data: Dataset) -> Outcome:
        """Ask it."""
        z = np.empty((len(data.x), 0)) if data.z is None else data.z
        path = Path(self._exchange.name) / "data.npz"
        np.savez(path, x=data.x, y=data.y, z=z)
        self._process.stdin.write(f"{json.dumps(str(path))}\n")
        self._process.stdin.flush()
        return Outcome(*json.loads(self._process.stdout.readline()))

    def __getstate__(self) -> dict[str, object]:
        """Another process starts a servant of its own."""
        return {"python": self.python, "program": self.program, "folder": self.folder}

    @cached_property
    def _exchange(self) -> tempfile.TemporaryDirectory[str]:
        return tempfile.TemporaryDirectory()

    @cached_property
    def _process(self) -> subprocess.Popen[str]:
        environment = {**os.environ, "PYTHONPATH": str(self.folder / "src") if self.folder else ""}
        pipe, nothing = subprocess.PIPE, None if self.folder else subprocess.DEVNULL
        command = [self.python, "-c", self.program]
        return subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, stderr=nothing, text=True)


class OtherVersion(Servant):
    """Estimates by the code of another clone, which is in `folder`."""

    folder: Path

    def __init__(self, folder: Path) -> None:
        super().__init__(sys.executable, SERVANT, folder.resolve())

    @property
    def commit(self) -> str:
        """What the clone has checked out."""
        return git(self.folder, "rev-parse", "--short", "HEAD")


class GmmMi(Servant):
    """Estimates of the package gmm-mi (Piras et al. 2023), one column a side and no z, by a Python that has it."""

    def __init__(self, python: str) -> None:
        super().__init__(python, GMM_MI)
