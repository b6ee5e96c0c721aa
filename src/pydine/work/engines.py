"""Engines that run work elsewhere: joblib's worker processes, Dask, Ray, and whatever else joblib has a backend for.

The engine is selected as joblib's users know it, ``with joblib.parallel_config(backend=...)``, and `chosen` reads that.
Dask and Ray are then used directly: joblib's own bridges send columns with every batch, or to one worker alone, return
results only at the end, and fail when one worker fails.

To add another executor, write a class with `workers` and `results` (see `Executor` in `execution`), and a line of
`chosen`.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

from pydine.kernels.compilation import PACKAGE, sources_digest
from pydine.work.execution import Executor, ensure_compiled, inside
from pydine.work.parcels import Chunk, Errand, Job
from pydine.work.threads import one_thread

TRIES = 3  # guard: attempts without a new result before the loss of workers is treated as an error of the work itself
BROADCAST_BYTES = 64 << 20  # memory: up to this total, chunks are sent to all workers; beyond, to those that need them
AHEAD = 2  # memory: groups submitted at a time for each of Ray's workers


@cache
def code_digest() -> str:
    """A digest of the whole package: whoever sends work, and those who do it, must have the same."""
    return sources_digest(PACKAGE, ("**/*.py",))


def work(errand: Errand, sources: str, chunks: Sequence[Chunk]) -> list[Any]:
    """Run an errand in a worker: with compiled code and one thread, and without sending parts of it elsewhere."""
    if sources != code_digest():
        raise RuntimeError(
            "a worker has another version of pydine than the process that sent it work; install the same on both."
        )
    ensure_compiled()
    with inside(), one_thread():
        return errand.run(chunks)


def _work_of_ray(errand: Errand, sources: str, *chunks: Chunk) -> list[Any]:
    return work(errand, sources, chunks)


def chosen(n_jobs: int | None) -> Executor | int:
    """The executor that joblib's context and `n_jobs` select, or a number of threads in this process.

    ``n_jobs=None`` means the number in the context, or else the backend's default: one thread without a context.
    """
    from joblib.parallel import get_active_backend

    backend, jobs = get_active_backend(prefer="threads")  # only a hint: a context takes precedence
    jobs = jobs if n_jobs is None else n_jobs
    jobs = getattr(backend, "default_n_jobs", 1) if jobs is None else jobs
    name = type(backend).__name__
    if name == "DaskDistributedBackend":
        return DaskExecutor(backend.client)
    if name == "RayBackend":
        return RayExecutor.of(jobs, backend.ray_remote_args)
    workers = int(backend.effective_n_jobs(jobs))
    if workers == 1 or getattr(backend, "supports_sharedmem", False):
        return workers
    return JoblibExecutor(workers, bool(getattr(backend, "supports_return_generator", False)))


def threads(n_jobs: int | None) -> int:
    """How many threads of this process to use for work that stays here."""
    executor = chosen(n_jobs)
    if isinstance(executor, int):
        return executor
    from joblib import cpu_count

    return min(executor.workers, int(cpu_count()))


@dataclass(frozen=True)
class JoblibExecutor:
    """Joblib's processes, or any other backend; columns are memory-mapped if the backend can, as loky can.

    If a worker dies, so does the pool; groups without a result are then run again in a new pool.
    """

    workers: int
    is_generator: bool = True

    def results(self, job: Job) -> Iterator[tuple[int, list[Any]]]:
        """Results of groups as they are ready, or in batches if the backend has no generators."""
        from joblib.externals.loky.process_executor import BrokenProcessPool

        left = dict.fromkeys(range(len(job.groups)))
        tries = TRIES
        while left:
            try:
                for group, result in self._some(job, list(left)):
                    yield group, result
                    del left[group]
                    tries = TRIES
            except BrokenProcessPool:
                tries -= 1
                if not tries:
                    raise

    def _some(self, job: Job, groups: Sequence[int]) -> Iterator[tuple[int, list[Any]]]:
        from joblib import Parallel, delayed

        def calls(some: Sequence[int]) -> Iterator[Any]:
            for group in some:
                errand = job.errand(group)
                yield delayed(_numbered)(group, errand, code_digest(), *(job.chunks[i] for i in errand.chunks))

        options: dict[str, Any] = {"n_jobs": self.workers, "batch_size": 1, "max_nbytes": 1}
        if self.is_generator:
            yield from Parallel(return_as="generator_unordered", **options)(calls(groups))
            return
        step = 4 * self.workers
        for start in range(0, len(groups), step):
            yield from Parallel(**options)(calls(groups[start : start + step]))


def _numbered(group: int, errand: Errand, sources: str, *chunks: Chunk) -> tuple[int, list[Any]]:
    return group, work(errand, sources, chunks)


@dataclass(frozen=True)
class DaskExecutor:
    """A Dask cluster, through its client: columns are scattered once, and tasks of lost workers are run again.

    Parameters
    ----------
    client : distributed.Client
    """

    client: Any

    @property
    def workers(self) -> int:
        """Number of threads of all workers."""
        cores: dict[str, int] = self.client.ncores()
        return max(1, sum(cores.values()))

    def results(self, job: Job) -> Iterator[tuple[int, list[Any]]]:
        """Results of groups as they are ready."""
        left = dict.fromkeys(range(len(job.groups)))
        tries = TRIES
        while left:
            before = len(left)
            for group, result in self._some(job, list(left)):
                del left[group]
                yield group, result
            tries = tries - 1 if len(left) == before else TRIES
            if not tries:
                raise RuntimeError("Dask lost its data repeatedly; check that its workers stay alive.")

    def _some(self, job: Job, groups: Sequence[int]) -> Iterator[tuple[int, list[Any]]]:
        """Results of groups that finish; those whose columns were lost with a worker are sent again by the caller."""
        from concurrent.futures import CancelledError

        distributed: Any = import_module("distributed")
        self.client.wait_for_workers(1, timeout=60)
        chunks = self.client.scatter(job.chunks, hash=False, broadcast=job.nbytes <= BROADCAST_BYTES)
        futures = {}
        for group in groups:
            errand = job.errand(group)
            futures[self._submit(errand, [chunks[i] for i in errand.chunks])] = group
        try:
            for future, result in distributed.as_completed(list(futures), with_results=True, raise_errors=False):
                if future.status == "finished":
                    yield futures.pop(future), result
                elif future.status == "error" and not isinstance(result[1], CancelledError):
                    raise result[1].with_traceback(result[2])
        finally:
            for future in futures:  # after an error, or if the caller does not wait for the rest
                future.cancel()

    def _submit(self, errand: Errand, chunks: list[Any]) -> Any:
        # A new key for each attempt: the scheduler remembers the outcome of a key.
        key = f"pydine-{uuid.uuid4().hex}"
        return self.client.submit(work, errand, code_digest(), chunks, key=key, pure=False)


@dataclass(frozen=True)
class RayExecutor:
    """Ray: columns are put into its object store once, from which all workers of a machine read them.

    Parameters
    ----------
    workers : int
    options : tuple of (str, object)
        Options of its tasks, as in ``parallel_config("ray", ray_remote_args=...)``.
    """

    workers: int
    options: tuple[tuple[str, Any], ...] = ()

    @classmethod
    def of(cls, jobs: int, options: dict[str, Any] | None) -> RayExecutor:
        """An executor with `jobs` workers, or as many as Ray has processors if `jobs` is negative."""
        ray: Any = import_module("ray")
        if not ray.is_initialized():
            ray.init(log_to_driver=False)
        if jobs < 0:
            jobs = int(ray.cluster_resources().get("CPU", 1))
        return cls(max(1, jobs), tuple((options or {}).items()))

    def results(self, job: Job) -> Iterator[tuple[int, list[Any]]]:
        """Results of groups as they are ready; more groups are submitted at a time than there are workers."""
        ray: Any = import_module("ray")
        options = {"num_cpus": 1, "max_retries": TRIES, **dict(self.options)}
        remote = ray.remote(**options)(_work_of_ray)
        chunks, waiting = [ray.put(chunk) for chunk in job.chunks], iter(range(len(job.groups)))
        sources, running = code_digest(), dict[Any, int]()

        def hand_over() -> None:
            for group in waiting:
                errand = job.errand(group)
                running[remote.remote(errand, sources, *(chunks[i] for i in errand.chunks))] = group
                if len(running) >= AHEAD * self.workers:
                    return

        try:
            hand_over()
            while running:
                (done,), _ = ray.wait(list(running), num_returns=1)
                yield running.pop(done), ray.get(done)
                hand_over()
        finally:
            for reference in running:
                ray.cancel(reference)
