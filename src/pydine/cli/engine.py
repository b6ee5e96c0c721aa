"""Where a command runs its work: the options ``--backend`` and ``--scheduler``."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pydine.cli.options import Work, of_method

if TYPE_CHECKING:
    from pydine.inputs.files import Frame


class Engine(StrEnum):
    """Backends of joblib."""

    threading = "threading"
    loky = "loky"
    dask = "dask"
    ray = "ray"


@dataclass(frozen=True)
class Backend:
    """Where flows are fitted."""

    backend: Annotated[
        Engine | None,
        of_method(
            "--backend",
            help="Where flows are fitted: threads or processes on this machine, or a cluster. Results do not change.",
            show_default=False,
        ),
    ] = None
    scheduler: Annotated[
        str | None,
        of_method(
            "--scheduler",
            metavar="ADDRESS",
            help="The cluster for --backend dask (tcp://host:8786) or ray (auto, or host:6379); without it, one is "
            "started on this machine.",
            show_default=False,
        ),
    ] = None

    @contextmanager
    def running(self, jobs: int | None) -> Iterator[None]:
        """Run the work of the block on the engine; without one, in this process."""
        if self.scheduler is not None and self.backend not in (Engine.dask, Engine.ray):
            raise typer.BadParameter("needs --backend dask or --backend ray", param_hint="--scheduler")
        if self.backend is None:
            yield
            return
        from joblib import parallel_config

        if self.backend is Engine.dask:
            with _dask(self.scheduler, jobs) as client, parallel_config("dask", client=client):
                yield
            return
        if self.backend is Engine.ray:
            _start_ray(self.scheduler, jobs)
        with parallel_config(self.backend.value, n_jobs=-1 if jobs is None else jobs):
            yield


@dataclass(frozen=True)
class Distributed(Backend, Work):
    """How and where the work is done."""

    def n_jobs(self, frame: Frame) -> int | None:
        """The number of jobs: left to the engine's context, or what it would be without one."""
        threads = super().n_jobs(frame)
        if self.backend is None:
            return threads
        return self.jobs if self.backend in (Engine.threading, Engine.loky) else None


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
