"""Run a command with this machine playing another CPU.

python scripts/play_cpu.py nehalem python -m pytest
"""

import subprocess
import sys
from pathlib import Path

CHECKOUT = Path(__file__).parents[1]
BUILD = CHECKOUT / "build" / "machines"  # machine code for the CPUs that are played

sys.path.insert(0, str(CHECKOUT / "benchmarks"))
from harness.machines import environment, playable  # noqa: E402


def main() -> None:
    """Run the command, and end as it ends."""
    name, *command = sys.argv[1:]
    if name not in playable():
        sys.exit(f"this machine can play {', '.join(playable())}, but not {name}")
    sys.exit(subprocess.run(command, env=environment(name, cache=BUILD), check=False).returncode)


if __name__ == "__main__":
    main()
