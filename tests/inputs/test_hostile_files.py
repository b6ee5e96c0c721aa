"""Files that are not what they seem: the one that was named is read, within bounds, or refused in one sentence."""

import gzip
import io
import os
import subprocess
import sys
import threading
import zipfile

import numpy as np
import polars as pl
import pytest
import scipy.sparse

from pydine.inputs.files import open_file
from pydine.inputs.files.content import HEAD

VALUES = [1.5, -2.0, 3.25]
WRITERS = {
    "csv": lambda frame, path: frame.write_csv(path),
    "parquet": lambda frame, path: frame.write_parquet(path),
    "arrow": lambda frame, path: frame.write_ipc(path),
    "stream": lambda frame, path: frame.write_ipc_stream(path),
}


def read_all(path, **options):
    table = open_file(path, **options)
    return table.read(table.names)


def refusal(path, **options):
    with pytest.raises(ValueError, match=str(path.name)) as refused:
        read_all(path, **options)
    assert "\n" not in str(refused.value)
    return str(refused.value)


# The very file that was named.


@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize(("named", "other"), [("data[1]", "data1"), ("data*", "data1"), ("~", "home"), ("a?", "ab")])
def test_a_name_is_no_pattern(kind, named, other, tmp_path):
    WRITERS[kind](pl.DataFrame({"x": VALUES}), tmp_path / "right")
    WRITERS[kind](pl.DataFrame({"x": [7.0, 8.0, 9.0]}), tmp_path / other)
    (tmp_path / "right").rename(tmp_path / named)
    np.testing.assert_array_equal(open_file(tmp_path / named).read(["x"])["x"], VALUES)


@pytest.mark.parametrize("kind", WRITERS)
def test_a_file_that_is_replaced_later_was_read_before(kind, tmp_path):
    path = tmp_path / "data"
    WRITERS[kind](pl.DataFrame({"x": VALUES}), path)
    table = open_file(path)
    path.unlink()
    WRITERS[kind](pl.DataFrame({"x": [0.0, 0.0, 0.0]}), path)
    np.testing.assert_array_equal(table.read(["x"])["x"], VALUES)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
@pytest.mark.parametrize("kind", WRITERS)
def test_a_named_pipe_is_read_once(kind, tmp_path):
    WRITERS[kind](pl.DataFrame({"x": VALUES}), tmp_path / "data")
    os.mkfifo(tmp_path / "pipe")
    feeder = threading.Thread(
        target=lambda: (tmp_path / "pipe").write_bytes((tmp_path / "data").read_bytes()), daemon=True
    )
    feeder.start()
    np.testing.assert_array_equal(open_file(tmp_path / "pipe").read(["x"])["x"], VALUES)
    feeder.join()


@pytest.mark.skipif(not os.path.exists("/bin/bash"), reason="there is no bash here")  # noqa: PTH110
@pytest.mark.slow
def test_process_substitution(tmp_path):
    code = "import sys; from pydine.inputs.files import open_file; print(*open_file(sys.argv[1]).read(['x'])['x'])"
    command = f"{sys.executable} -c \"{code}\" <(printf 'x\\n1\\n2\\n')"
    done = subprocess.run(["/bin/bash", "-c", command], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1.0", "2.0"]


# Bounds.


def test_gzip_unpacks_within_a_bound(tmp_path):
    path = tmp_path / "data.csv.gz"
    path.write_bytes(gzip.compress(b"x\n" + b"1\n" * 500_000))
    assert "unpacks to more than 1,000 bytes; pass a larger --max-bytes" in refusal(path, max_bytes=1000)
    assert open_file(path, max_bytes=2_000_000).n_rows == 500_000


def test_an_archive_of_arrays_unpacks_within_a_bound(tmp_path):
    path = tmp_path / "data.npz"
    np.savez_compressed(path, x=np.zeros(100_000))
    assert "unpacks to more than 1,000 bytes" in refusal(path, max_bytes=1000)
    assert open_file(path).n_rows == 100_000


@pytest.mark.parametrize("kind", ["parquet", "arrow", "stream"])
def test_columns_unpack_within_a_bound(kind, tmp_path):
    path = tmp_path / "data"
    WRITERS[kind](pl.DataFrame({"x": np.zeros(100_000)}), path)
    assert "unpacks to more than 1,000 bytes" in refusal(path, max_bytes=1000)


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="there is no endless file here")  # noqa: PTH110
def test_an_endless_file(tmp_path):
    (tmp_path / "endless").symlink_to("/dev/zero")
    assert "unpacks to more than 1,000,000 bytes" in refusal(tmp_path / "endless", max_bytes=1_000_000)


def test_an_endless_pipe(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"1\n" * 1000)))
    with pytest.raises(ValueError, match="the standard input unpacks to more than 100 bytes"):
        open_file("-", max_bytes=100)


# Headers.


@pytest.mark.slow
def test_a_header_of_two_megabytes(tmp_path):
    names = [f"a_rather_long_name_{i:06d}" for i in range(80_000)]
    path = tmp_path / "wide.csv"
    path.write_text("\n".join([",".join(names), ",".join(["1"] * len(names)), ",".join(["2"] * len(names))]))
    assert path.stat().st_size > 2 << 20
    table = open_file(path)
    assert table.names == tuple(names)
    np.testing.assert_array_equal(table.read([names[-1]])[names[-1]], [1.0, 2.0])


def test_a_name_of_two_megabytes(tmp_path):
    path = tmp_path / "long.csv"
    path.write_text("x" * (2 << 20) + ",y\n1,2\n")
    assert "first line that does not name columns" in refusal(path)


@pytest.mark.slow
def test_a_line_without_end(tmp_path):
    path = tmp_path / "line.csv"
    path.write_text("x," * (HEAD // 2 + 1))
    assert "a first line of more than 16 MiB, which cannot be a header" in refusal(path)


def test_an_empty_first_name_is_kept(tmp_path):
    (tmp_path / "data.tsv").write_text("\tx\n1\t2\n")
    assert open_file(tmp_path / "data.tsv").names == ("", "x")


# Arrays.


def test_records_of_several_numbers_are_columns(tmp_path):
    np.save(tmp_path / "data.npy", np.zeros(4, dtype=[("a", "f8"), ("b", "f4", (2,))]))
    assert open_file(tmp_path / "data.npy").names == ("a", "b1", "b2")


@pytest.mark.parametrize(
    ("array", "sentence"),
    [
        (np.zeros((3, 2), dtype=[("a", "f8")]), "they have the shape (3, 2); save columns."),
        (np.zeros(3, dtype=[("a", [("b", "f8")])]), "the field 'a' is itself a record; save columns."),
        (np.zeros(3, dtype=[("a", "f8", (2, 2))]), "one has the shape (3, 2, 2)"),
        (np.zeros(()), "one has the shape ()"),
        (np.zeros(3, dtype="V8"), "it holds values of type |V8"),
        (np.zeros(3, dtype="M8[s]"), "it holds values of type datetime64[s]"),
        (np.zeros(3, dtype=complex), "it holds values of type complex128"),
    ],
)
def test_arrays_that_are_no_columns_of_numbers(array, sentence, tmp_path):
    np.save(tmp_path / "data.npy", array)
    assert sentence in refusal(tmp_path / "data.npy")


def test_a_sparse_matrix_is_named(tmp_path):
    for kind in ("csr", "csc", "coo", "bsr", "dia"):
        scipy.sparse.save_npz(tmp_path / "data.npz", scipy.sparse.eye_array(5).asformat(kind))
        assert "holds a sparse matrix; save matrix.toarray() with numpy.save" in refusal(tmp_path / "data.npz")


def test_an_array_that_claims_to_be_larger_than_memory(tmp_path):
    content = io.BytesIO()
    np.lib.format.write_array_header_1_0(content, {"descr": "<f8", "fortran_order": False, "shape": (10**15,)})
    (tmp_path / "data.npy").write_bytes(content.getvalue() + bytes(80))
    assert "cannot be read as an .npy or .npz file" in refusal(tmp_path / "data.npy")
    with zipfile.ZipFile(tmp_path / "data.npz", "w") as archive:
        archive.writestr("x.npy", content.getvalue() + bytes(80))
    assert "cannot be read as an .npy or .npz file" in refusal(tmp_path / "data.npz")


# Damage.


def test_a_panic_of_polars_is_a_sentence_and_nothing_else(tmp_path, monkeypatch, capfd):
    def panic(*_, **__):
        os.write(2, b"thread '<unnamed>' panicked at crates/polars\n")
        raise pl.exceptions.PanicException("assertion failed\nstack backtrace")

    (tmp_path / "data.csv").write_text("x\n1\n")
    monkeypatch.setattr(pl, "read_csv", panic)
    assert refusal(tmp_path / "data.csv").endswith("cannot be read as a text table (assertion failed).")
    assert capfd.readouterr().err == ""
    os.write(2, b"heard again")
    assert capfd.readouterr().err == "heard again"


def damaged(content, rng):
    """Flips, cuts and repeats of what was a good file."""
    array = np.frombuffer(content, dtype=np.uint8).copy()
    how = rng.integers(4)
    if how == 0:
        return content[: rng.integers(4, len(content))]
    if how == 1:
        start = rng.integers(len(content))
        return content[:start] + content[start : start + 40] * 3 + content[start:]
    array[4 + rng.integers(len(array) - 4, size=1 if how == 2 else 20)] ^= np.uint8(1) << np.uint8(rng.integers(8))
    return array.tobytes()


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*WRITERS, "npz", "gzip"])
def test_damaged_files_are_read_or_refused_in_a_sentence(kind, tmp_path, capfd):
    rng = np.random.default_rng(0)
    path = tmp_path / "data"
    if kind == "npz":
        with path.open("wb") as file:
            np.savez_compressed(file, x=rng.standard_normal(50), y=np.arange(50))
    elif kind == "gzip":
        path.write_bytes(gzip.compress(b"x,y\n" + b"1.5,2\n" * 50))
    else:
        WRITERS[kind](pl.DataFrame({"x": rng.standard_normal(50), "y": range(50), "z": ["a"] * 50}), path)
    whole = path.read_bytes()
    refusals = []
    for _ in range(60):
        path.write_bytes(damaged(whole, rng))
        try:
            read_all(path, max_bytes=1 << 20)
        except ValueError as error:
            refusals.append(str(error))
    assert refusals
    assert not [sentence for sentence in refusals if "\n" in sentence]
    assert "panicked" not in capfd.readouterr().err
