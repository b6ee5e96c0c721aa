"""What users may call, as names, parameters and defaults; and what of it has gone since another version.

`python scripts/interface.py` prints that of the package that it imports, as JSON.
"""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

Interface = dict[str, dict[str, str | None]]


def interface() -> Interface:
    """Every public name with its parameters, and the default of each; None where there is none."""
    import pydine

    names = {name: getattr(pydine, name) for name in pydine.__all__ if not name.startswith("_")}
    return {name: parameters for thing, value in names.items() for name, parameters in _of(thing, value)}


def _of(name: str, thing: object) -> Iterator[tuple[str, dict[str, str | None]]]:
    if not callable(thing):
        yield name, {}
        return
    yield name, _parameters(thing)
    if inspect.isclass(thing):
        for member in dir(thing):
            owner = next((base for base in thing.__mro__ if member in vars(base)), object)
            if not member.startswith("_") and owner.__module__.startswith("pydine."):
                found = getattr(thing, member)
                yield f"{name}.{member}", _parameters(found) if callable(found) else {}


def _parameters(thing: object) -> dict[str, str | None]:
    try:
        signature = inspect.signature(thing)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return {}
    found = (parameter for parameter in signature.parameters.values() if parameter.name != "self")
    return {p.name: None if p.default is p.empty else repr(p.default) for p in found}


def of_source(source: Path) -> Interface:
    """The interface of the package in a folder, found by a process of its own."""
    command = [sys.executable, __file__]
    variables = {**os.environ, "PYTHONPATH": str(source)}
    return json.loads(subprocess.check_output(command, text=True, env=variables))


def gone(before: Interface, now: Interface) -> list[str]:
    """What can no longer be called as before: names, parameters, and defaults that are others."""
    found = []
    for name, parameters in before.items():
        if name not in now:
            found.append(f"`{name}` is gone")
            continue
        for parameter, default in parameters.items():
            if parameter not in now[name]:
                found.append(f"`{name}({parameter}=)` is gone")
            elif now[name][parameter] != default:
                found.append(f"`{name}({parameter}={default})` is now {parameter}={now[name][parameter]}")
        needed = [p for p, default in now[name].items() if p not in parameters and default is None]
        found += [f"`{name}({parameter}=)` is new and has no default" for parameter in needed]
    return found


if __name__ == "__main__":
    json.dump(interface(), sys.stdout, indent=1)
