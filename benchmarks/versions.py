"""Another version of this library as a method of a benchmark: it answers in a process of its own."""

import json
import os
import subprocess
import sys
import tempfile
from functools import cached_property
from pathlib import Path

import numpy as np

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


class OtherVersion:
    """Estimates by the code of another clone, which is in `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()

    @property
    def commit(self) -> str:
        """What the clone has checked out."""
        command = ["git", "-C", str(self.folder), "rev-parse", "--short", "HEAD"]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    def __call__(self, data: Dataset) -> Outcome:
        """Ask the other version."""
        z = np.empty((len(data.x), 0)) if data.z is None else data.z
        path = Path(self._exchange.name) / "data.npz"
        np.savez(path, x=data.x, y=data.y, z=z)
        self._servant.stdin.write(f"{json.dumps(str(path))}\n")
        self._servant.stdin.flush()
        return Outcome(*json.loads(self._servant.stdout.readline()))

    def __getstate__(self) -> dict[str, Path]:
        """Another process starts a servant of its own."""
        return {"folder": self.folder}

    @cached_property
    def _exchange(self) -> tempfile.TemporaryDirectory[str]:
        return tempfile.TemporaryDirectory()

    @cached_property
    def _servant(self) -> subprocess.Popen[str]:
        environment = {**os.environ, "PYTHONPATH": str(self.folder / "src")}
        pipe = subprocess.PIPE
        return subprocess.Popen([sys.executable, "-c", SERVANT], env=environment, stdin=pipe, stdout=pipe, text=True)
