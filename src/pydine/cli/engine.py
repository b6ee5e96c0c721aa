"""Where a command runs its work: the options ``--backend`` and ``--scheduler``."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from importlib import import_module
from typing import Annotated, Any

import typer

from pydine.cli.options import METHOD


class Engine(StrEnum):
    """Backends of joblib."""

    threading = "threading"
    loky = "loky"
    dask = "dask"
    ray = "ray"


BackendOption = Annotated[
    Engine | None,
    typer.Option(
        "--backend",
        help="Where flows are fitted: threads or processes of this machine, or a cluster. No number depends on it.",
        show_default=False,
        rich_help_panel=METHOD,
    ),
]
SchedulerOption = Annotated[
    str | None,
    typer.Option(
        "--scheduler",
        metavar="ADDRESS",
        help="The cluster of --backend dask (tcp://host:8786) or ray (auto, or host:6379); without it one is started "
        "on this machine.",
        show_default=False,
        rich_help_panel=METHOD,
    ),
]


@contextmanager
def engine(backend: Engine | None, scheduler: str | None, jobs: int | None) -> Iterator[None]:
    """Run what the block asks for on an engine; as ever if there is none."""
    if scheduler is not None and backend not in (Engine.dask, Engine.ray):
        raise typer.BadParameter("needs --backend dask or --backend ray", param_hint="--scheduler")
    if backend is None:
        yield
        return
    from joblib import parallel_config

    if backend is Engine.dask:
        with _dask(scheduler, jobs) as client, parallel_config("dask", client=client):
            yield
        return
    if backend is Engine.ray:
        _start_ray(scheduler, jobs)
    with parallel_config(backend.value, n_jobs=-1 if jobs is None else jobs):
        yield


def workers(backend: Engine | None, jobs: int | None, otherwise: int | None) -> int | None:
    """What `n_jobs` is to be: what the engine's context says, or what it would be without one."""
    return otherwise if backend is None else jobs if backend in (Engine.threading, Engine.loky) else None


def _imported(name: str, package: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise ImportError(f'--backend {name.split(".")[0]} needs {package}: pip install "{package}".') from error


@contextmanager
def _dask(scheduler: str | None, jobs: int | None) -> Iterator[Any]:
    distributed = _imported("distributed", "dask[distributed]")
    if scheduler is not None:
        try:
            client = distributed.Client(scheduler, timeout=20)
        except OSError as error:
            raise ValueError(f"--scheduler: no Dask scheduler answers at {scheduler} ({error}).") from error
        with client:
            yield client
        return
    count = os.cpu_count() or 1
    options = {"n_workers": jobs if jobs and jobs > 0 else count, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        yield client


def _start_ray(scheduler: str | None, jobs: int | None) -> None:
    ray, bridge = _imported("ray", "ray"), _imported("ray.util.joblib", "ray")
    options: dict[str, Any] = {"log_to_driver": False}
    if scheduler is not None:
        options["address"] = scheduler
    elif jobs and jobs > 0:
        options["num_cpus"] = jobs
    if not ray.is_initialized():
        ray.init(**options)
    bridge.register_ray()
