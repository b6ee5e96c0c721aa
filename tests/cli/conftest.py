"""A folder of files, and the command run in it."""

import subprocess
import sys

import pytest

from command_line import make_frame
from pydine.cli import app
from systems import kept_handlers


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("cli")
    make_frame().write_csv(path / "data.csv")
    make_frame().write_parquet(path / "data.parquet")
    (path / "flat.csv").write_text("town,b,none\n" + "".join(f"Ulm,{i},NA\n" for i in range(20)))
    (path / "typo.csv").write_text("a,b\n1,2\n3,4\nl5,6\n")
    return path


@pytest.fixture
def run(folder, monkeypatch, capsys):
    """Run the command in this process: quick, for what does not need one of its own."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "100")

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["pydine", *arguments])
        with pytest.raises(SystemExit) as end:
            app.main()
        said = capsys.readouterr()
        return subprocess.CompletedProcess(arguments, end.value.code or 0, said.out, said.err)

    with kept_handlers():
        yield run
