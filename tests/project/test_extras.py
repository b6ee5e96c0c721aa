"""What works in processes that cannot import the optional packages, and what is said where one is needed."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from pydine.show import extras, progress

OPTIONAL = ("typer", "click", "rich", "polars", "matplotlib", "pandas", "pyarrow", "networkx")


def run(code, *, without=OPTIONAL):
    """Run code in a process of its own, where importing these packages fails as if they were not installed."""
    block = f"import sys; sys.modules.update(dict.fromkeys({without!r}));"
    return subprocess.run([sys.executable, "-c", block + code], capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_the_core_answers_without_any_of_them():
    code = """
import numpy as np, pydine
x, y, noise = np.random.default_rng(0).standard_normal((3, 80))
y += x
print(est := pydine.mutual_information(x, y, noise, base="gaussian"))
est._repr_html_()
print(pydine.independence_test(x, y, n_permutations=99))
frame = {"x": x, "noise": noise, "y": y}
print(pydine.pairwise_information(frame, base="gaussian", progress=True))
print(pydine.rank(frame, "y", base="gaussian"))
"""
    done = run(code)
    assert done.returncode == 0, done.stderr
    assert "I(x; y | z) = " in done.stdout


@pytest.mark.parametrize("package", ["typer", "rich"])
def test_the_command_says_what_to_install(package):
    done = run("from pydine.__main__ import main; main()", without=(package,))
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr == f'pydine: the command line needs {package}: pip install "pydine[cli]"\n'


def test_the_demonstration_says_so_too():
    done = run("import runpy; runpy.run_module('pydine.demo', run_name='__main__')", without=("rich",))
    assert done.returncode == 1
    assert done.stderr == 'the demonstration needs rich: pip install "pydine[cli]"\n'


def test_progress_without_rich_is_a_line_of_text(monkeypatch, capsys):
    monkeypatch.setattr(progress, "is_here", lambda package: package != "rich")
    with progress.progress_bar("3 pairs", 3, show=True) as step:
        step()
    assert capsys.readouterr().err == "3 pairs...\n"  # where there is no terminal, lines follow every few seconds
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with progress.progress_bar("3 pairs", 3) as step:
        step()
    assert "\r3 pairs: 1 of 3\x1b[K" in capsys.readouterr().err


def test_the_extra_that_is_named_brings_the_package():
    pyproject = Path(__file__).parents[2] / "pyproject.toml"
    declared = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    for package, extra in extras.EXTRAS.items():
        assert any(requirement.startswith(f"{package}>=") for requirement in declared[extra]), package


def test_what_is_missing_names_the_extra_that_brings_it():
    with pytest.raises(ImportError, match=r'^drawing needs matplotlib: pip install "pydine\[plot\]"$') as refused:
        raise extras.missing("matplotlib", "drawing")
    assert refused.value.name == "matplotlib"
    extras.require("numpy", "anything")
