"""Run a command with this machine playing another CPU.

python scripts/play_cpu.py nehalem python -m pytest
"""

import subprocess
import sys
from pathlib import Path

from pydine.experiments.machines import environment, playable

BUILD = Path(__file__).parents[1] / "build" / "machines"  # machine code for the CPUs that are played


def main() -> None:
    """Run the command, and end as it ends."""
    name, *command = sys.argv[1:]
    if name not in playable():
        sys.exit(f"this machine can play {', '.join(playable())}, but not {name}")
    sys.exit(subprocess.run(command, env=environment(name, cache=BUILD), check=False).returncode)


if __name__ == "__main__":
    main()
