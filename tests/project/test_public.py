"""The front door: what `import pydine` shows, what it costs, and that the examples in the docstrings are true."""

import doctest
import functools
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import matplotlib as mpl
import pytest

import pydine
import pydine.baselines

mpl.use("Agg")

import matplotlib.pyplot as plt

BASES = Path(__file__).parents[2] / "docs" / "bases.md"

# Shown in a session of its own: nothing that these tests have imported counts.
IMPORT = "import sys, pydine; print(*sorted({name.partition('.')[0] for name in sys.modules}))"


def modules():
    return [info.name for info in pkgutil.walk_packages(pydine.__path__, "pydine.")]


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_import_is_light():
    loaded = set(run(IMPORT).split())
    assert "pydine" in loaded
    assert not {"numba", "llvmlite", "sklearn", "scipy", "joblib", "matplotlib"} & loaded


@pytest.mark.slow
def test_matplotlib_is_loaded_when_something_is_drawn_and_not_before():
    code = "import sys, numpy as np, pydine; r = np.random.default_rng(0).standard_normal((2, 60)); "
    assert run(code + "pydine.pointwise_information(*r); print('matplotlib' in sys.modules)").strip() == "False"


@pytest.mark.slow
def test_arrays_of_numbers_need_neither_frames_nor_labels_nor_a_compiler():
    """Each takes as long to import as much of the package; Numba's registries are for code that is not kept."""
    dear = ["narwhals", "scipy.stats", "joblib", "numba.typed.typeddict", "pydine.bases.kinds", "pydine.inputs.streams"]
    code = "import sys, numpy, pydine; r = numpy.random.default_rng(0).standard_normal((3, 60));"
    ask = "pydine.mutual_information(*r); pydine.independence_test(*r); pydine.pairwise_information(r.T);"
    run(code + ask)  # compiles what is not kept yet
    assert run(f"{code}{ask} print(*set({dear}) & set(sys.modules))").split() == []


@pytest.mark.slow
def test_names_are_there_without_asking_for_their_module():
    assert run("import pydine; print(pydine.DINE.__name__, pydine.mutual_information.__name__)").split() == [
        "DINE",
        "mutual_information",
    ]


def test_all_is_complete():
    assert len(set(pydine.__all__)) == len(pydine.__all__)
    assert {"DINE", "InformationEstimate", "TiesWarning", "__version__", "mutual_information"} <= set(pydine.__all__)
    assert {"PointwiseInformation", "pointwise_information"} <= set(pydine.__all__)
    assert {"DeterminedWarning", "UnitCache", "independence_test", "pairwise_information"} <= set(pydine.__all__)
    for name in pydine.__all__:
        assert getattr(pydine, name) is not None
    assert set(pydine.__all__) <= set(dir(pydine))


def test_star_import():
    names = {}
    exec("from pydine import *", names)
    assert set(pydine.__all__) <= set(names)


def test_a_name_is_always_the_same_object():
    from pydine.questions import estimator

    assert pydine.DINE is pydine.DINE is estimator.DINE


def test_an_unknown_name():
    with pytest.raises(AttributeError, match="'pydine' has no attribute 'mutual_informtion'"):
        pydine.mutual_informtion  # noqa: B018
    assert not hasattr(pydine, "nothing")


def test_public_objects_say_what_they_are():
    for name in pydine.__all__:
        if not name.startswith("__"):
            assert len(getattr(pydine, name).__doc__) > 40


@pytest.mark.parametrize("name", ["pydine", *modules()])
@pytest.mark.slow
def test_examples_in_the_docstrings(name):
    outcome = doctest.testmod(importlib.import_module(name))
    assert outcome.failed == 0


def test_there_are_examples():
    for name in ("DINE", "mutual_information", "pointwise_information", "InformationEstimate"):
        assert ">>>" in getattr(pydine, name).__doc__


def blocks_of(document):
    """The code of a document, with as many blank lines before it as bring it to its own lines."""
    lines, inside, kept = document.read_text().splitlines(), False, []
    for line in lines:
        is_fence = line.startswith("```")
        kept.append(line if inside and not is_fence else "")
        inside = line == "```python" if is_fence else inside
    return "\n".join(kept)


@pytest.mark.slow
@pytest.mark.skipif(not BASES.exists(), reason="a distribution has no documents")
def test_the_code_in_the_document_on_bases_runs_and_says_what_it_says(tmp_path, monkeypatch, capsys):
    """One block after another, as a reader would."""
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "document"}
    exec(compile(blocks_of(BASES), BASES.name, "exec"), names)
    plt.close("all")
    said = capsys.readouterr().out.splitlines()
    assert [line.partition(" base")[0].split()[-1] for line in said[:4]] == ["gaussian", "student", "mixture", "flow"]
    assert names["est"].base in ("mixture", "flow")


@pytest.mark.skipif(not BASES.exists(), reason="a distribution has no documents")
def test_the_code_in_the_document_on_rows_runs_and_says_what_it_says(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    page, names = BASES.with_name("pointwise.md"), {"__name__": "document"}
    exec(compile(blocks_of(page), page.name, "exec"), names)
    assert (names["pointwise"].top(10) < 500).mean() > 0.7
    assert "True" in capsys.readouterr().out.splitlines()


# The reference.

REFERENCE = Path(__file__).parents[2] / "docs" / "api"
DIRECTIVE = re.compile(r"^\.\. auto(?:function|class|module|data):: (\S+)$", re.MULTILINE)


def referenced():
    return {name for page in REFERENCE.glob("*.md") for name in DIRECTIVE.findall(page.read_text(encoding="utf-8"))}


def found(name):
    """The object of a dotted name, module by module and then attribute by attribute."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            thing = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        return functools.reduce(getattr, parts[length:], thing)
    raise ModuleNotFoundError(name)


@pytest.mark.skipif(not REFERENCE.exists(), reason="a distribution has no documents")
def test_all_that_the_reference_names_is_there_and_typed():
    assert len(referenced()) > 30
    for name in sorted(referenced()):
        thing = found(name)
        assert thing.__doc__, name
        if inspect.isfunction(thing):
            assert "return" in thing.__annotations__, name


@pytest.mark.skipif(not REFERENCE.exists(), reason="a distribution has no documents")
def test_the_reference_names_all_that_is_public():
    public = {f"pydine.{name}" for name in pydine.__all__ if name != "__version__"}
    public |= {f"pydine.baselines.{name}" for name in pydine.baselines.__all__ if not name.isupper()}
    assert public <= referenced()
