"""Files that somebody wants to break the command line with, all from one seed."""

import contextlib
import gzip
import io
import json
import os
import shutil
import sys
import zipfile

import numpy as np
import polars as pl
import scipy.sparse

from fuzz.outcomes import sentence_fault
from pydine.cli import app
from pydine.inputs import streams
from pydine.inputs.files import streamed
from systems import kept_handlers

ROWS = 40
CODES = {0: "an answer", 1: "one sentence", 2: "wrong usage", 3: "rejected"}


def table(rng):
    x = rng.standard_normal(ROWS)
    return pl.DataFrame({"x": x, "y": x + rng.standard_normal(ROWS), "z": rng.standard_normal(ROWS)})


def of_kinds(rng):
    """The same with a column of labels, one of steps, one of booleans, and holes."""
    labels = [None if code == 3 else f"label {code}" for code in rng.integers(0, 4, ROWS).tolist()]
    more = {"l": labels, "s": rng.poisson(1.5, ROWS), "b": rng.random(ROWS) < 0.5}
    return table(rng).with_columns(pl.Series(name, values) for name, values in more.items())


def written(write):
    buffer = io.BytesIO()
    write(buffer)
    return buffer.getvalue()


def csv_of(frame):
    return frame.write_csv().encode()


GOOD = {
    "csv": csv_of,
    "tsv": lambda f: f.write_csv(separator="\t").encode(),
    "utf-16": lambda f: f.write_csv().encode("utf-16"),
    "gzip": lambda f: gzip.compress(csv_of(f)),
    "parquet": lambda f: written(f.write_parquet),
    "parquet plain": lambda f: written(lambda b: f.write_parquet(b, compression="uncompressed")),
    "arrow": lambda f: written(f.write_ipc),
    "arrow packed": lambda f: written(lambda b: f.write_ipc(b, compression="zstd")),
    "stream": lambda f: written(f.write_ipc_stream),
    "npy": lambda f: written(lambda b: np.save(b, f.to_numpy())),
    "records": lambda f: written(lambda b: np.save(b, f.to_numpy(structured=True))),
    "npz": lambda f: written(lambda b: np.savez_compressed(b, **{n: f[n].to_numpy() for n in f.columns})),
}
MAGIC = (b"PAR1", b"ARROW1\0\0", b"\xff\xff\xff\xff", b"\x93NUMPY\x01\0", b"PK\x03\x04", b"\x1f\x8b\x08", b"\xff\xfe",
         b"\xfe\xff", b"FEA1", b"\xd0\xcf\x11\xe0", b"\xef\xbb\xbf", b"x,y,z\n")  # fmt: skip


def flipped(rng, content):
    array = np.frombuffer(content, dtype=np.uint8).copy()
    places = rng.integers(len(array), size=int(rng.choice([1, 3, 30])))
    array[places] ^= np.uint8(1) << rng.integers(8, size=len(places)).astype(np.uint8)
    return array.tobytes()


def numbers_replaced(rng, content):
    """Four or eight bytes that may be a length or an offset, made extreme."""
    place = int(rng.integers(max(1, len(content) - 8)))
    value = (b"\xff" * 4, b"\x7f" + b"\xff" * 7, b"\0" * 8, b"\0\0\0\x80")[rng.integers(4)]
    return content[:place] + value + content[place + len(value) :]


DAMAGES = (
    flipped,
    flipped,
    numbers_replaced,
    lambda rng, content: content,
    lambda rng, content: content[: rng.integers(1, len(content))],
    lambda rng, content: content[rng.integers(len(content)) :],
    lambda rng, content: content + content,
    lambda rng, content: content + rng.bytes(50),
    lambda rng, content: content[: len(content) // 2] + rng.bytes(20) + content[len(content) // 2 :],
)


def cells(rng):
    """A table of text whose cells and header are odd."""
    odd = ["", " ", "NA", "nan", "1e999", "-1e999", "0x1F", "1_000", "1,5", "١٢٣", "½", "1.5.2", "--1", "=1+1", "'1",
           '"', '"a\nb"', "\x1b[2J", "\u202e1", "true", "1e-400", "Infinity", "9" * 400, "é", "\ufeff1"]  # fmt: skip
    lines = [["x", "y", "z"], *([repr(v) for v in row] for row in rng.standard_normal((ROWS, 3)))]
    for _ in range(int(rng.integers(1, 4))):
        row = int(rng.integers(len(lines)))
        word, place = odd[rng.integers(len(odd))], int(rng.integers(3))
        lines[row][place : place + 1] = [word]  # the line may have become shorter than that
        if rng.random() < 0.2:
            lines[row] = lines[row][: rng.integers(4)] + ["1"] * int(rng.integers(3))
    end = ("\n", "\r\n", "\r", "\n\n", "\u2028")[rng.integers(5)]
    return end.join((",", ";", "\t", "|", " ")[rng.integers(5)].join(line) for line in lines).encode()


def oddities(rng):
    """Whole files that are well-formed and odd."""
    wide = ",".join(f"c{i}" for i in range(3000))
    made = (
        b"",
        b"\n" * 1000,
        b"x,y,z\n",
        b"x\n" * 50,
        b'"' * 5000,
        b"," * 5000 + b"\n" + b"," * 5000,
        b"x,y,z\n" + b"1,2,3\n" * 50,
        b"x,y,z\n" + b"\0" * 100,
        b"a" * 200_000 + b",y\n1,2\n",
        f"{wide}\n{','.join(['1'] * 3000)}\n".encode(),
        b"x,x,y\n1,2,3\n",
        rng.bytes(3000),
        gzip.compress(bytes(3 << 20)),
        gzip.compress(gzip.compress(csv_of(table(rng)))),
        written(lambda b: np.savez_compressed(b, x=np.zeros(1 << 19))),
        written(lambda b: np.save(b, np.zeros((2, 3, 4)))),
        written(lambda b: np.save(b, np.zeros((30, 0)))),
        written(lambda b: np.save(b, np.array([{}], dtype=object), allow_pickle=True)),
        written(lambda b: np.save(b, np.zeros(9, dtype=[("x", "f8", (2,)), ("y", [("a", "i4")])]))),
        written(lambda b: np.save(b, np.zeros((9, 2), dtype="M8[s]"))),
        written(lambda b: np.savez(b, x=np.zeros(3), y=np.zeros(4))),
        written(lambda b: scipy.sparse.save_npz(b, scipy.sparse.eye_array(9).tocsr())),
        written(lambda b: zipfile.ZipFile(b, "w").writestr("../../x.npy", b"no")),
        written(pl.DataFrame({"x": [[1.0]] * 9, "y": [{"a": 1}] * 9}).write_parquet),
        written(pl.DataFrame({"x": ["a"] * 9, "y": [b"b"] * 9}).write_ipc),
        written(pl.DataFrame({"x": np.zeros(1 << 20), "y": np.zeros(1 << 20)}).write_parquet),
        written(pl.DataFrame({"x\x1b[2J": [1.0] * 30, "y\n": [2.0] * 30}).write_parquet),
    )
    return made[rng.integers(len(made))]


def content(rng):
    """One hostile file, and what it is called in a report."""
    how = rng.random()
    if how < 0.6:
        kind = str(rng.choice(list(GOOD)))
        frame = of_kinds(rng) if rng.random() < 0.3 and kind not in ("npy", "records", "npz") else table(rng)
        return kind, DAMAGES[rng.integers(len(DAMAGES))](rng, GOOD[kind](frame))
    if how < 0.75:
        return "cells", cells(rng)
    if how < 0.85:
        return "magic", MAGIC[rng.integers(len(MAGIC))] + rng.bytes(int(rng.integers(200)))
    return "oddity", oddities(rng)


NAMES = ("data.csv", "data[1].csv", "-x.csv", "a b.csv", "data\x1b[2J.csv", "*.csv", "~.csv", "http:__data.csv",
         "data.parquet", "data.arrow", "folder/data.parquet", "folder/data.feather")  # fmt: skip
COMMANDS = (
    ("mi", "-x", "x", "-y", "y", "--base", "gaussian", "--json"),
    ("mi", "-x", "1", "-y", "2", "--base", "gaussian", "--csv", "--no-header"),
    ("mi", "-x", "x", "-y", "y", "-z", "z", "--base", "gaussian", "--nan", "omit"),
    ("test", "-x", "x", "-y", "y", "--method", "analytic", "--nan", "omit"),
    ("matrix", "--base", "gaussian", "--nan", "omit", "--csv"),
    ("mi", "-x", "x", "-y", "y", "--base", "gaussian", "--sample", "20", "--separator", ";"),
    ("mi", "-x", "l", "-y", "s", "-z", "x", "--base", "gaussian"),
    ("rank", "--target", "y", "--base", "gaussian", "--csv"),
    ("rank", "--target", "x", "--base", "gaussian", "--kind", "y=nominal"),
    ("report", "--target", "y", "--base", "gaussian", "-o", "page.html"),
)


def command(words):
    """Run the command in this process: its code, and what it printed on both."""
    out, err = io.StringIO(), io.StringIO()
    before, sys.argv = sys.argv, ["pydine", *words]
    try:
        with kept_handlers(), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            app.main()
        code = 0
    except SystemExit as end:
        code = end.code or 0
    finally:
        sys.argv = before
    return code, out.getvalue(), err.getvalue()


def faults_of(words, code, out, err):
    """What is wrong with how a command ended, or None."""
    if any(mark in out + err for mark in ("\x1b", "\x07", "\u202e", "Traceback", "panicked")):
        return "something that a terminal obeys, or a stack"
    if code not in CODES or code == 2:
        return f"the exit code {code}"
    if code == 1:
        return "a defect, as it says itself" if "bug in pydine" in err else sentence_fault(err) or None
    if "--json" in words and json.loads(out)["information"] is None:
        return "an information that is not a number"
    return None


@contextlib.contextmanager
def going_through(is_asked):
    """Columns of Parquet and Arrow files are gone through, however few rows they have."""
    before = streamed.SMALL_FILE, streams.SAMPLE_ROWS
    if is_asked:
        streamed.SMALL_FILE, streams.SAMPLE_ROWS = 0, ROWS // 2
    try:
        yield
    finally:
        streamed.SMALL_FILE, streams.SAMPLE_ROWS = before


def read(tally, seed, folder):
    """One file, or a folder of one, and one command."""
    rng = np.random.default_rng(seed)
    kind, data = content(rng)
    name = str(rng.choice(NAMES))
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_bytes(data)
    chosen = COMMANDS[rng.integers(len(COMMANDS))]
    words = (chosen[0], "--max-bytes", str(2 << 20), *chosen[1:], "--", name.partition("/")[0])
    here = os.getcwd()  # noqa: PTH109
    os.chdir(folder)
    try:
        with going_through(rng.random() < 0.5):
            code, out, err = command(words)
    except BaseException as error:  # noqa: BLE001 - a panic too
        tally.add("an exception", f"seed {seed} {kind} {chosen[0]}: {type(error).__name__} {str(error)[:100]}")
        return
    finally:
        os.chdir(here)
        for left in folder.iterdir():
            shutil.rmtree(left) if left.is_dir() else left.unlink()
    found = faults_of(words, code, out, err)
    said = f"\n{err}" if found else ""
    tally.add(CODES.get(code, "another code"), f"seed {seed} {kind} {chosen[0]}: {found}{said}" if found else None)
