"""Questions that run in parallel: each looks its units up in a cache, and adds those that it has fitted.

In this process they share the cache. Other processes have none: the units that questions are known to need are fitted
first, each once, and sent with them; further units that a question fits come back with its answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydine.work.cache import UnitCache, fit_units, key_of
from pydine.work.execution import AN_ITEM, arrivals, is_sent_away, run
from pydine.work.tasks import Fitted, UnitTask
from pydine.work.threads import one_thread

Item = TypeVar("Item")
Result = TypeVar("Result")
Answerer = Callable[[Item, UnitCache | None], Result]


def ask_all(
    function: Answerer[Item, Result],
    items: Sequence[Item],
    cache: UnitCache | None,
    n_jobs: int | None,
    step: Callable[[], None] | None = None,
    needs: Callable[[Item], Sequence[UnitTask]] | None = None,
) -> list[Result]:
    """Apply a function of an item and a cache to every item, and return the results in the order of the items.

    Parameters
    ----------
    function : callable
        Picklable, without a reference to a cache. Its result depends on the item alone: the cache only saves time.
    items : sequence
        Picklable.
    cache : UnitCache, optional
    n_jobs : int or None
    step : callable, optional
        Called after every item.
    needs : callable, optional
        The units that an item will look up in the cache, as far as they are known in advance.
    """
    if len(items) == 1:  # its units may run in parallel
        results = [function(items[0], cache)]
        if step is not None:
            step()
        return results
    if not is_sent_away(n_jobs):
        with one_thread():
            return run(lambda item: function(item, cache), items, n_jobs, step)
    errands = [_Errand(item) for item in items]
    if needs is not None:
        errands = _supplied(items, needs, cache, n_jobs)
    found: dict[int, Result] = {}
    for i, (result, fresh) in arrivals(_Visit(function, cache is not None), errands, n_jobs, step):
        found[i] = result
        if cache is not None:
            for key, entry in fresh.items():
                cache.keep_as(key, entry)
    return [found[i] for i in range(len(items))]


@dataclass(frozen=True)
class _Errand(Generic[Item]):
    """An item, the units that are sent with it, by their keys, and about how many seconds it takes."""

    item: Item
    known: tuple[tuple[str, Fitted], ...] = ()
    seconds: float = AN_ITEM


def _supplied(
    items: Sequence[Item],
    needs: Callable[[Item], Sequence[UnitTask]],
    cache: UnitCache | None,
    n_jobs: int | None,
) -> list[_Errand[Item]]:
    """Items with the units that they need; each unit is fitted once."""
    wanted = [[(key_of(task), task) for task in needs(item) if len(task.context)] for item in items]
    tasks = {key: task for some in wanted for key, task in some}
    known = dict(zip(tasks, fit_units(list(tasks.values()), cache, n_jobs), strict=True))
    return [
        _Errand(item, tuple((key, known[key]) for key, _ in some), max(AN_ITEM / 5.0, sum(t.seconds for _, t in some)))
        for item, some in zip(items, wanted, strict=True)
    ]


class _Recorder(UnitCache):
    """A cache that records which units were added to it."""

    def __init__(self) -> None:
        super().__init__()
        self.fresh: dict[str, Fitted] = {}

    def keep(self, task: UnitTask, entry: Fitted) -> None:
        """Remember the unit of a task."""
        super().keep(task, entry)
        self.fresh[key_of(task)] = entry


@dataclass(frozen=True)
class _Visit:
    """Turns a function of an item and a cache into one of an errand, which returns the result and the units to keep."""

    function: Callable[[Any, UnitCache | None], Any]
    is_kept: bool

    def __call__(self, errand: _Errand[Any]) -> tuple[Any, dict[str, Fitted]]:
        cache = _Recorder()
        for key, entry in errand.known:
            cache.keep_as(key, entry)
        result = self.function(errand.item, cache)
        return result, cache.fresh if self.is_kept else {}
