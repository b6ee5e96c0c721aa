"""Small files that unpack to hundreds of megabytes: refused before they do, whatever they are packed with."""

import gzip
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from faults import peak_memory
from pydine.inputs.files import open_file
from pydine.inputs.files.streamed import open_stream

BOUND, PARTS = 2_000_000, 16  # bytes; of 10 MB each
LITTLE = 60 << 20  # what a refusal may take, libraries included
WORD = "word" * 2500
FILES = {
    "text": lambda: pa.array([f"{i}{WORD}" for i in range(1000)]),
    "one word": lambda: pa.array([WORD] * 1000),
    "dictionary": lambda: pa.DictionaryArray.from_arrays(pa.array(np.zeros(1000, dtype=np.int32)), [WORD]),
    "struct": lambda: pa.array([{"a": WORD, "b": 1.0}] * 1000),
    "list": lambda: pa.array([[0.0] * 1250] * 1000),
    "list of text": lambda: pa.array([[WORD, WORD]] * 500),
    "numbers": lambda: pa.array(np.zeros(1_250_000)),
    "nulls": lambda: pa.nulls(1_250_000, pa.float64()),
    "boolean": lambda: pa.array(np.zeros(1_250_000, dtype=np.bool_)),
}
KINDS = {
    "parquet snappy": {"compression": "snappy"},
    "parquet gzip": {"compression": "gzip"},
    "parquet zstd, no dictionaries": {"compression": "zstd", "use_dictionary": False},
    "parquet zstd, pages of version 2": {"compression": "zstd", "data_page_version": "2.0"},
    "arrow zstd": "zstd",
    "arrow lz4": "lz4",
    "stream zstd": "zstd",
}


def packed(path, kind, column):
    """Write a table of one column, part by part."""
    batch = pa.record_batch([column], names=["x"])
    if kind.startswith("parquet"):
        with pq.ParquetWriter(path, batch.schema, **KINDS[kind]) as writer:
            for _ in range(PARTS):
                writer.write_batch(batch)
        return
    make = pa.ipc.new_stream if kind.startswith("stream") else pa.ipc.new_file
    with make(str(path), batch.schema, options=pa.ipc.IpcWriteOptions(compression=KINDS[kind])) as writer:
        for _ in range(PARTS):
            writer.write_batch(batch)


def read_all(path):
    for opened in (lambda: open_stream(str(path), max_bytes=BOUND), lambda: open_file(path, max_bytes=BOUND)):
        table = opened()
        if table is not None:
            table.read(table.names)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("held", FILES)
def test_columns_are_refused_before_they_are_unpacked(kind, held, tmp_path):
    path = tmp_path / "data"
    packed(path, kind, FILES[held]())
    assert path.stat().st_size < 8_000_000
    with peak_memory() as grown, pytest.raises(ValueError, match=r"unpacks to more than|must hold numbers|no numbers"):
        read_all(path)
    assert grown() < LITTLE


def test_text_and_arrays(tmp_path):
    with gzip.open(tmp_path / "data.csv.gz", "wb", compresslevel=1) as file:
        for _ in range(PARTS):
            file.write(b"1\n" * 5_000_000)
    header = {"descr": "<f8", "fortran_order": False, "shape": (20_000_000,)}
    packing = zipfile.ZipFile(tmp_path / "data.npz", "w", zipfile.ZIP_DEFLATED, compresslevel=1)
    with packing as file, file.open("x.npy", "w") as member:
        np.lib.format.write_array_header_1_0(member, header)
        for _ in range(PARTS):
            member.write(bytes(10_000_000))
    for name in ("data.csv.gz", "data.npz"):
        with peak_memory() as grown, pytest.raises(ValueError, match="unpacks to more than 2,000,000 bytes"):
            read_all(tmp_path / name)
        assert grown() < LITTLE
