"""``pydine doctor``: what is installed, and whether it is ready."""

from __future__ import annotations

import os
import platform
import sys
from importlib import metadata
from typing import Annotated, Any

import typer

from pydine._version import __version__
from pydine.cli import options
from pydine.cli.options import Format
from pydine.cli.output.answers import answer, plain_table

CORE = ("numpy", "scipy", "scikit-learn", "numba", "joblib", "narwhals", "threadpoolctl", "rich", "typer")


def doctor(
    compile_now: Annotated[
        bool,
        typer.Option(
            "--compile",
            metavar=options.FLAG,
            help="Compile what is not compiled yet, so that no estimate has to wait.",
        ),
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Check the installation: versions, threads, compiled code and where it is kept, extras."""
    if compile_now:
        from pydine.kernels.compilation import compile_all, compiled_once, explained

        with explained(), compiled_once():
            compile_all()
    record = _findings()
    answer(Format.json if as_json else Format.people, record, [record], lambda: _shown(record))


def _findings() -> dict[str, Any]:
    return {
        "pydine": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "executable": sys.executable,
        "core": {name: _version(name) for name in CORE},
        "cores": os.cpu_count(),
        "threads": _threads(),
        **_compiled(),
        "extras": _extras(),
    }


def _version(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def _threads() -> int:
    import numba

    return int(numba.get_num_threads())


def _compiled() -> dict[str, Any]:
    """Where the machine code of the kernels is kept, in how many files, and whether they are as they were written."""
    from pydine.kernels.compilation import declared, missing
    from pydine.kernels.machine_code import KEPT, is_whole, place

    every = len(list(declared()))
    files = [file for kept in KEPT for file in kept.files()]
    damaged = sum(not is_whole(file) for file in files)
    to_compile = len(missing())
    folders = sorted({str(kept.folder) for kept in KEPT})
    return {
        "compiled": not to_compile,
        "functions": every,
        "functions_to_compile": to_compile,
        "cache": ", ".join(folders) or None,
        "cache_place": place(),
        "cache_files": len(files),
        "cache_damaged": damaged,
    }


def _extras() -> dict[str, dict[str, str | None]]:
    """The packages of every optional extra, and which version of each is installed."""
    extras: dict[str, dict[str, str | None]] = {}
    for requirement in metadata.requires("pydine") or ():
        name, _, condition = requirement.partition(";")
        if "extra ==" not in condition:
            continue
        extra = condition.partition("extra ==")[2].strip(" '\"")
        if extra not in ("dev", "bench", "release"):
            package = name.strip().split("[")[0]
            for mark in "<>=!~ ":
                package = package.split(mark)[0]
            extras.setdefault(extra, {})[package] = _version(package)
    return extras


def _shown(record: dict[str, Any]) -> Any:
    from rich.text import Text

    table = plain_table("", "", left=2)
    table.show_header = False
    table.add_row("pydine", f"{record['pydine']}, Python {record['python']}, {record['platform']}")
    table.add_row("core", ", ".join(f"{name} {version or 'missing'}" for name, version in record["core"].items()))
    table.add_row("cores", f"{record['cores']}, Numba uses up to {record['threads']} threads")
    to_compile, every = record["functions_to_compile"], record["functions"]
    ready = (
        f"{to_compile} of {every} functions are not yet: the first estimate waits for them; run pydine doctor --compile"
        if to_compile
        else f"all {every} functions are ready"
    )
    if record["cache_damaged"]:
        ready = f"{record['cache_damaged']} of {record['cache_files']} files are damaged and will be recompiled"
    table.add_row("compiled", f"{ready}; {record['cache_place']}")
    for extra, packages in record["extras"].items():
        missing = [name for name, version in packages.items() if version is None]
        there = ", ".join(f"{name} {version}" for name, version in packages.items() if version is not None)
        cell = Text(there)
        if missing:
            cell.append(
                f"{'; ' if there else ''}missing {', '.join(missing)}: pip install {' '.join(missing)}", "yellow"
            )
        table.add_row(f"extra {extra}", cell)
    return table
