"""Models, cached units, results in JSON and machine code that somebody has edited with care, all from one seed.

An edit knows the structure: it changes heads, shapes, types, lengths and references, and seals the file again, so that
nothing but what is said in it can be wrong. Whatever is read must give the same numbers each time it is read, take
little memory, and fail with a sentence of pydine's or not at all.
"""

import contextlib
import copy
import json
import tempfile
import warnings
from functools import cache
from pathlib import Path

import numpy as np

import pydine
from faults import peak_memory
from fuzz.outcomes import is_worded, place_of, sentence_fault
from pydine.archive import _members, _sealed
from pydine.kernels.machine_code import KeptCode
from pydine.results.records import Record
from pydine.units.settings import LadderSettings
from pydine.work.cache import UNIT, UnitCache, key_of
from pydine.work.tasks import UnitTask, fit_task

TIMES, BESIDES = 10, 50 << 20  # what a case may take: so many times its file, and a little
ROWS = 40
SHARES = {"model": 0.5, "unit": 0.25, "result": 0.2, "code": 0.05}
ODD = (0, 1, -1, 2, 7, 10**6, 2**31, 2**62, -(2**63), 10**30, 0.5, -0.0, 1e308, True, None, "", "float64", "View", [],
       {}, {"float": "nan"}, {"float": "inf"}, {"tuple": []}, {"same": 0}, {"same": 10**6}, {"dict": []})  # fmt: skip


# --- what is edited ---------------------------------------------------------------------------------------------------


def sample(n, seed=0):
    rng = np.random.default_rng(seed)
    z = rng.standard_normal(n)
    x = z + rng.standard_normal(n)
    return x, x**2 + np.sin(2.0 * z) + rng.standard_normal(n), z


def of_kinds(n, seed=0):
    rng = np.random.default_rng(seed)
    labels = np.array(["red", "green", "blue"])[rng.integers(0, 3, n)]
    return labels, rng.standard_normal(n) + (labels == "red"), rng.poisson(2.0, n).astype(float)


@cache
def models():
    """Files of models, and rows to ask each about."""
    fitted = (
        (pydine.DINE(), sample(100), sample(ROWS, 1)),
        (pydine.DINE(base="gaussian"), sample(60), sample(ROWS, 1)),
        (pydine.DINE(base="mixture"), sample(200)[:2], sample(ROWS, 1)[:2]),
        (pydine.DINE.paper(max_iter=20), sample(60), sample(ROWS, 1)),
        (pydine.DINE(), of_kinds(100), of_kinds(ROWS, 1)),
    )
    found = []
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for model, rows, new in fitted:
            model.fit(*rows).save(Path(folder) / "model.npz")
            found.append(((Path(folder) / "model.npz").read_bytes(), new))
    return found


@cache
def units():
    """Files of units, and their tasks."""
    rng = np.random.default_rng(0)
    context = rng.standard_normal((2, 60))
    target = np.sin(2.0 * context[0]) + 0.5 * rng.standard_normal(60)
    tasks = [UnitTask(target, context, LadderSettings(), is_crossed) for is_crossed in (False, True)]
    return [(UNIT.to_bytes(fit_task(task)), task) for task in tasks]


@cache
def results():
    """Results, by their classes."""
    x, y, z = sample(100)
    table = dict(zip("xyz", (x, y, z), strict=True))
    return [
        pydine.mutual_information(x, y, z, base="gaussian"),
        pydine.independence_test(x, y, z),
        pydine.pairwise_information(table, base="gaussian"),
        pydine.mutual_information(*of_kinds(100)),
        pydine.wide_information(table),
    ]


# --- edits ------------------------------------------------------------------------------------------------------------


def places(tree, path=()):
    """Paths to every part of a tree of JSON."""
    yield path
    if len(path) > 100:  # of an edit before
        return
    inner = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, part in inner:
        yield from places(part, (*path, key))


def at(tree, path):
    for key in path:
        tree = tree[key]
    return tree


def put(tree, path, value):
    if path:
        at(tree, path[:-1])[path[-1]] = value


def edited(rng, tree):
    """One edit of a tree, in place."""
    every = list(places(tree))
    path = every[rng.integers(len(every))]
    other = every[rng.integers(len(every))]
    part = at(tree, path)
    how = rng.integers(9)
    if how <= 2:
        put(tree, path, copy.deepcopy(ODD[rng.integers(len(ODD))]))
    elif how == 3:  # an array of another shape, type or place
        arrays = [p for p in every if p and p[-1] == "array" and isinstance(at(tree, p), list)]
        if arrays:
            array = at(tree, arrays[rng.integers(len(arrays))])
            field = rng.integers(4)
            if field == 2 and array[2]:
                k = rng.integers(len(array[2]))
                array[2][k] = int(rng.choice([0, 1, array[2][k] - 1, array[2][k] + 1, 2 * array[2][k], 10**9, -1]))
            else:
                array[field] = (
                    str(rng.choice(["float32", "int64", "bool", "float64", "object"])),
                    int(rng.choice([0, 1, array[1] + 1, 10**9, -1])),
                    array[2][::-1] + [1] * int(rng.integers(2)),
                    str(rng.choice(["C", "F", "A", "K"])),
                )[field]
    elif how == 4 and isinstance(part, list) and part:
        part[:] = part * int(rng.choice([2, 3, 1000])) if rng.random() < 0.5 else part[: rng.integers(len(part))]
    elif how == 5 and isinstance(part, dict) and part:
        key = list(part)[rng.integers(len(part))]
        if rng.random() < 0.5:
            del part[key]
        else:
            part[str(rng.choice(["weights", "sign", "class", "__class__", "\x1b[2J", "x" * 2000]))] = part[key]
    elif how == 6 and not (other[: len(path)] == path or path[: len(other)] == other):
        put(tree, path, json.loads(json.dumps(at(tree, other))))
    elif how == 7:
        put(tree, path, {"same": int(rng.integers(-2, 60))})
    elif how == 8:
        deep = part if not isinstance(part, dict | list) else 0
        for _ in range(int(rng.choice([1, 3, 2000]))):
            deep = [deep]
        put(tree, path, deep)


def edit(rng, tree):
    """One edit of a tree, in place, or none where an edit before has left nothing that it could change."""
    with contextlib.suppress(RecursionError, TypeError, ValueError, IndexError):
        edited(rng, tree)


def reshaped(rng, array):
    """An array that could stand in the place of another, but for its shape or its numbers."""
    how, cut = rng.integers(9), (slice(None),) * int(rng.integers(max(array.ndim, 1)))
    if how <= 3 and array.ndim:
        shorter, longer = slice(None, -1) if how else slice(1, None), np.r_[np.arange(array.shape[len(cut)]), 0]
        return array[(*cut, longer if how == 3 and array.shape[len(cut)] else shorter)]
    if how == 4:
        return array.T
    if how == 5:
        return array.ravel() if rng.random() < 0.5 else array[None]
    if how == 6:
        return array[:0] if array.ndim else array
    filled, odd = array.copy(), (-1, 0, 1, 2, 7, 100, 2**31 - 1, -(2**31))
    if filled.dtype.kind == "f":
        odd = (*odd, np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324)
    if filled.size:
        filled.flat[rng.integers(filled.size, size=1 if how == 7 else filled.size)] = rng.choice(odd)
    return filled


def repacked(rng, head, members):
    """Other arrays in the place of some, with all that follow moved: nothing but the parts' fit can be wrong."""
    found = [at(head["content"], path) for path in places(head["content"]) if path and path[-1] == "array"]
    chosen, parts = set(rng.integers(len(found), size=rng.integers(1, 3)).tolist()), {}
    for place, array in enumerate(found):
        kind, start, shape, order = array
        numbers = members[kind][start : start + int(np.prod(shape))].reshape(shape, order=order)
        numbers = reshaped(rng, numbers) if place in chosen else numbers
        before = parts.setdefault(kind, [])
        array[1:3] = [sum(part.size for part in before), list(numbers.shape)]
        before.append(numbers.ravel(order))
    return {kind: np.concatenate(held) for kind, held in parts.items()}


def archived(rng, content):
    """A file of `pydine.archive` with some edits of its head and its numbers, and a digest that agrees."""
    members = dict(_members(content))
    head = json.loads(members["head"].tobytes())
    is_repacked = rng.random() < 0.5
    if is_repacked:
        members |= repacked(rng, head, members)
    for _ in range(0 if is_repacked else int(rng.integers(0, 4))):
        edit(rng, head["content"] if rng.random() < 0.95 else head)
    kinds = [name for name in members if name != "head"]
    if not is_repacked and kinds and rng.random() < 0.4:
        kind = kinds[rng.integers(len(kinds))]
        numbers = members[kind].copy()
        how = rng.integers(4)
        if how == 0 and numbers.dtype.kind == "f":
            numbers[rng.integers(len(numbers), size=3)] = rng.choice([np.nan, np.inf, -np.inf, 1e308, -1.0, 0.0])
        elif how == 1:
            numbers = numbers[: rng.integers(len(numbers))]
        elif how == 2:
            numbers = np.append(numbers, numbers[: rng.integers(1, 50)])
        else:
            numbers = numbers[::-1].copy()
        members[kind] = numbers
    try:
        text = json.dumps(head, separators=(",", ":")).encode()
    except RecursionError:
        text = b"[" * 100_000
    return _sealed({**members, "head": np.frombuffer(text, dtype=np.uint8)})


# --- one case ---------------------------------------------------------------------------------------------------------


def of_model(rng, folder):
    content, rows = models()[rng.integers(len(models()))]
    content = archived(rng, content)
    (folder / "model.npz").write_bytes(content)

    def numbers():
        model = pydine.DINE.load(folder / "model.npz")
        return [model.pointwise(*rows), np.array(model.score(*rows)), *model.transform(*rows)]

    return len(content), numbers


def of_unit(rng, folder):
    content, task = units()[rng.integers(len(units()))]
    content, cached = archived(rng, content), UnitCache(folder)
    path = cached._path(key_of(task))
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)

    def numbers():
        entry = UnitCache(folder).find(task)
        if entry is None:
            return []
        unit = entry.unit
        return [unit.log_density(task.target, task.context), unit.latent(task.target, task.context), entry.log_density]

    return len(content), numbers


def of_result(rng, folder):
    result = results()[rng.integers(len(results()))]
    tree = json.loads(result.to_json())
    for _ in range(int(rng.integers(1, 4))):
        edit(rng, tree)
    try:
        text = json.dumps(tree)
    except RecursionError:
        text = "[" * 100_000
    cls: type[Record] = type(result)

    def numbers():
        read = cls.from_json(text)
        repr(read), read.to_json(), read._repr_html_() if hasattr(read, "_repr_html_") else None
        return [np.array(read.value)] if hasattr(read, "value") else []

    return len(text), numbers


def of_code(rng, folder):
    kept, key, data = (
        KeptCode(folder, "f-1.py3", "sources"),
        ("(f8,)", ("x86", "cpu"), ("code", "")),
        ("data", b"code" * 9),
    )
    kept.save(key, data)
    (path,) = kept.files()
    content = bytearray(path.read_bytes())
    for _ in range(int(rng.integers(1, 4))):
        start, end = sorted(rng.integers(0, len(content) + 1, 2))
        content[start:end] = rng.bytes(int(rng.integers(0, 40))) if rng.random() < 0.7 else content[: end - start]
    path.write_bytes(content)

    def numbers():
        found = kept.load(key)
        assert found in (None, data), "code that was not written is run"
        return []

    return len(content), numbers


KINDS = {"model": of_model, "unit": of_unit, "result": of_result, "code": of_code}


def differ(first, second):
    return len(first) != len(second) or any(a.tobytes() != b.tobytes() for a, b in zip(first, second, strict=True))


def load(tally, seed, folder):
    """One edited file, read twice."""
    rng = np.random.default_rng(seed)
    kind = str(rng.choice(list(SHARES), p=list(SHARES.values())))
    size, numbers = KINDS[kind](rng, folder)
    found, outcome = None, "read"
    with peak_memory() as grown, warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            first = numbers()
            if differ(first, numbers()):
                found = "numbers that differ between loads"
            outcome = "numbers" if first else "read"
        except (ValueError, TypeError) as error:
            outcome = "one sentence"
            found = sentence_fault(str(error)) or (
                None if is_worded(error) else f"{type(error).__name__} in {place_of(error)}"
            )
        except Exception as error:  # noqa: BLE001 - whatever it is, it is what is looked for
            outcome = "another exception"
            found = f"{type(error).__name__} in {place_of(error)} ({' '.join(str(error).split())[:100]})"
        if found is None and grown() > TIMES * size + BESIDES:
            found = f"{grown() >> 20} MiB for a file of {size >> 10} KiB"
    tally.add(f"{kind}: {outcome}", None if found is None else f"seed {seed} {kind}: {found}")
