"""Machine code that comes with a wheel, so that the first answer on a machine need not wait for a compiler.

All processors compute the same bits (`arithmetic`), so code for a processor that nearly all include gives the same
answers as code that is compiled for one of them, within a tenth of its speed. It is used where the sources, Numba, LLVM
and the system are those that it was made with; elsewhere, code is compiled as if there were none. A checkout of the
sources has none: `make dist` makes it (`scripts/machine_code.py`).
"""

from __future__ import annotations

import hashlib
import json
import lzma
import pickle
import sys
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import llvmlite.binding as ll
import numba as nb

__all__ = ["BROUGHT", "CPU", "FILE", "brought", "has_brought", "origin", "pack"]

config: Any = import_module("numba.core.config")  # nothing there has types
serialize: Any = import_module("numba.core.serialize")

FILE = Path(__file__).with_name("machine_code.xz")
CPU = "x86-64-v3"  # memory: what processors since 2013 to 2015 have
# fact: what LLVM means by it.
NEEDED = ("avx", "avx2", "bmi", "bmi2", "cx16", "f16c", "fma", "lzcnt", "movbe", "popcnt", "sahf", "sse4.2", "xsave")
PYTHONS = ((3, 11), (3, 12), (3, 13))  # fact: whose objects compiled code takes and returns in the same way
DIGEST_BYTES = 32  # fact: of BLAKE2b
TYPES = 5  # fact: where Numba's record of a function, without its machine code, has the types of its variables

BROUGHT: set[str] = set()  # names that brought code defines, as far as it was loaded


def origin(sources: str) -> bytes:
    """What machine code of these sources depends on, but for the processor: a line that a file of it begins with."""
    parts = {
        "sources": sources,
        "numba": nb.__version__,
        "llvm": ll.llvm_version_info,
        "triple": ll.get_process_triple(),
    }
    return json.dumps({**parts, "cpu": CPU}).encode()


def pack(sources: str, codes: Mapping[tuple[str, str], tuple[Any, ...]]) -> bytes:
    """A file of machine code.

    Parameters
    ----------
    sources : str
        A digest of the sources.
    codes : mapping of tuple of str to tuple
        By the name of a function and its signature, what Numba keeps of it. The bitcode that other functions could
        inline is left out but for the names that it defines, and so are types of variables, which are for people: they
        are nine tenths of it.
    """
    slim = {}
    for key, ((name, kind, (machine, bitcode)), *rest) in codes.items():
        rest[TYPES] = ""
        slim[key] = _names(bitcode), serialize.dumps(((name, kind, (machine, _nothing())), *rest))
    filters = [{"id": lzma.FILTER_X86}, {"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME}]
    content = origin(sources) + b"\n" + lzma.compress(pickle.dumps(slim), filters=filters)
    return hashlib.blake2b(content, digest_size=DIGEST_BYTES).digest() + content


def _nothing() -> bytes:
    """Bitcode of an empty module."""
    bitcode: bytes = ll.parse_assembly("").as_bitcode()
    return bitcode


def _names(bitcode: bytes) -> list[str]:
    """What a module defines."""
    module = ll.parse_bitcode(bitcode)
    every = (*module.functions, *module.global_variables)
    return [value.name for value in every if not value.is_declaration]


def has_brought(sources: str, function: str, signature: tuple[Any, ...]) -> bool:
    """Whether `brought` finds something."""
    return (function, str(signature)) in _codes(sources)


def brought(sources: str, function: str, signature: tuple[Any, ...], codegen: Any) -> Any:
    """What Numba keeps of a function with a signature, if the wheel has brought it for machines such as this one.

    `codegen` is Numba's: it is told of the names that the code defines, since it looks for no others.
    """
    found = _codes(sources).get((function, str(signature)))
    if found is None:
        return None
    names, code = found
    BROUGHT.update(names)
    codegen._engine._defined_symbols.update(names)  # of the very version of Numba that the code was made with
    return pickle.loads(code)


@cache
def _codes(sources: str) -> Mapping[tuple[str, str], tuple[list[str], bytes]]:
    """All that the wheel has brought, if it fits this machine and is as it was written."""
    if not (FILE.is_file() and _fits()):
        return {}
    found = FILE.read_bytes()
    digest, content = found[:DIGEST_BYTES], found[DIGEST_BYTES:]
    line, _, packed = content.partition(b"\n")
    if line != origin(sources) or digest != hashlib.blake2b(content, digest_size=DIGEST_BYTES).digest():
        return {}
    codes: Mapping[tuple[str, str], tuple[list[str], bytes]] = pickle.loads(lzma.decompress(packed))
    return codes


def _fits() -> bool:
    """Whether this Python and processor can run it, and Numba was not asked for code of another sort."""
    asked = (config.CPU_NAME, config.CPU_FEATURES, config.BOUNDSCHECK or None, config.DEBUGINFO_DEFAULT or None)
    if any(part is not None for part in asked) or config.OPT != 3 or sys.implementation.name != "cpython":
        return False
    if sys.version_info[:2] not in PYTHONS:
        return False
    features = ll.get_host_cpu_features()
    return all(features.get(name, False) for name in NEEDED)
