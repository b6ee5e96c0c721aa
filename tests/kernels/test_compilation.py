"""What names compiled code and kept units: the code that they depend on, and no words."""

import ast
import contextlib
import io
import re
import shutil
import signal
import sys
import time
import tokenize
from pathlib import Path

import numpy as np
import pytest

import pydine
from pydine.kernels.compilation import SOURCES, SOURCES_DIGEST, code_of, sources, sources_digest
from pydine.units.ladder import LadderSettings, fit_ladder
from pydine.work.cache import UNIT_SOURCES, UNITS_DIGEST

ROOT = Path(pydine.__file__).parent
MACHINE_CODE, UNITS = ({path.as_posix() for path in sources(ROOT, some)} for some in (SOURCES, UNIT_SOURCES))


def files_of(name):
    """The files of the package that importing a dotted name reads: modules, and the packages that they are in."""
    parts = name.split(".")[1:]
    for length in range(1, len(parts) + 1):
        place = Path(*parts[:length])
        for path in (place.with_suffix(".py"), place / "__init__.py"):
            if (ROOT / path).is_file():
                yield path.as_posix()


def imported_by(file):
    """The files of the package that one of them imports, the front door aside: it only shows what others hold."""
    for node in ast.walk(ast.parse((ROOT / file).read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: absolute imports only, or they are not seen here"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        for name in names:
            if name.partition(".")[0] == "pydine":
                yield from files_of(name)


def reached(start):
    """All files that these import, directly or not, themselves included."""
    known, waiting = set(), list(start)
    while waiting:
        file = waiting.pop()
        if file not in known:
            known.add(file)
            waiting.extend(imported_by(file))
    return known


@pytest.fixture
def package(tmp_path):
    return Path(shutil.copytree(ROOT, tmp_path / "pydine", ignore=shutil.ignore_patterns("__pycache__")))


def digests(package):
    """Of machine code, and of units."""
    return sources_digest(package, SOURCES), sources_digest(package, UNIT_SOURCES)


def files_in(*rooms):
    return {path.relative_to(ROOT).as_posix() for room in rooms for path in (ROOT / room).rglob("*.py")}


def test_all_that_compiled_code_imports_is_covered():
    """What writes files aside: it has no part in what is compiled."""
    kernels = files_in("kernels")
    assert {"kernels/likelihood.py", "kernels/optimiser.py"} <= kernels
    assert kernels == MACHINE_CODE
    assert reached(kernels) - kernels <= {"disk.py", "types.py"}


def test_all_that_fitted_units_import_is_covered():
    units = {*files_in("units"), "work/tasks.py"}
    assert {"units/unit.py", "units/rungs/linear.py"} <= units
    assert units <= UNITS
    assert reached(units) - UNITS == {"disk.py"}


@pytest.mark.slow
def test_functions_are_compiled_where_it_is_seen():
    """Whatever uses the decorator is covered, wherever it stands."""
    users = {
        path.relative_to(ROOT).as_posix()
        for path in ROOT.rglob("*.py")
        if re.search(r"kernels\.compilation import .*\bcompiled\b", path.read_text(encoding="utf-8"))
    }
    kernels = {f"kernels/{name}.py" for name in ("likelihood", "mixing", "normal", "optimiser", "regression")}
    assert kernels <= users <= MACHINE_CODE


@pytest.mark.slow
def test_imports_are_followed():
    assert "results/pairs.py" in reached(["questions/pairwise.py"])
    assert "kernels/arithmetic.py" in reached(["questions/pairwise.py"])
    assert "cli/app.py" in reached(["__main__.py"])


def test_the_digests_are_those_of_the_sources_wherever_they_are(package):
    assert digests(package) == (SOURCES_DIGEST, UNITS_DIGEST)


@pytest.mark.parametrize("file", sorted(UNITS))
def test_code_of_what_is_covered_changes_them(file, package):
    with (package / file).open("a", encoding="utf-8") as source:
        source.write("ANOTHER = 1\n")
    code, units = digests(package)
    assert (code != SOURCES_DIGEST) == (file in MACHINE_CODE)
    assert units != UNITS_DIGEST


@pytest.mark.parametrize("file", ["kernels/likelihood.py", "kernels/mixing.py", "units/ladder.py", "work/tasks.py"])
def test_words_do_not(file, package):
    text = (package / file).read_text(encoding="utf-8")
    changed = text.replace('"""', '"""In other words: ', 1).replace(
        "\n\n\n", '\n\n\n# A remark, and it\'s "quoted".\n\n'
    )
    changed = changed.replace(":\n", ":  # a remark\n")
    assert changed.count("remark") > 3
    (package / file).write_text(changed, encoding="utf-8")
    assert digests(package) == (SOURCES_DIGEST, UNITS_DIGEST)


@pytest.mark.parametrize(
    "file", ["cli/app.py", "answers/fitting.py", "latents/scores.py", "work/execution.py", "__init__.py"]
)
def test_a_change_of_anything_else_does_not(file, package):
    with (package / file).open("a", encoding="utf-8") as source:
        source.write("ANOTHER = 1\n")
    assert digests(package) == (SOURCES_DIGEST, UNITS_DIGEST)


def test_moving_a_file_changes_them(package):
    (package / "kernels" / "normal.py").rename(package / "kernels" / "gauss.py")
    code, units = digests(package)
    assert (code != SOURCES_DIGEST, units != UNITS_DIGEST) == (True, True)


def tokens(source):
    """All that is code, in its order: no comments, no layout, and no strings that stand by themselves."""
    words = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            words.add((node.lineno, node.col_offset))
    layout = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    found = tokenize.generate_tokens(io.StringIO(source).readline)
    return [token.string for token in found if token.type not in layout and token.start not in words]


@pytest.mark.slow
@pytest.mark.parametrize("file", sorted(UNITS))
def test_what_is_left_is_all_of_the_code(file):
    """Line by line it is quick, and right only where a docstring begins a line and no other string has several."""
    source = (ROOT / file).read_text(encoding="utf-8")
    left = code_of(source)
    alone = "\n".join(f"{line} pass" if _is_bare(line, after) else line for line, after in _with_next(left))
    assert [token for token in tokens(alone) if token != "pass"] == [t for t in tokens(source) if t != "pass"]


def _with_next(text):
    lines = text.splitlines()
    return zip(lines, [*lines[1:], ""], strict=False)


def _is_bare(line, after):
    """Whether a definition has lost its body: it was nothing but words."""
    indent = len(line) - len(line.lstrip())
    return line.endswith(":") and len(after) - len(after.lstrip()) <= indent


def test_a_string_that_stands_by_itself_is_left_out():
    source = '"""A.\n\nB."""\n\n# C\nx = 1  # D\ny = "#"  # E\n\n\ndef f():\n    """G"""\n    return "\'"\n'
    assert code_of(source) == 'x = 1\ny = "#"  # E\ndef f():\n    return "\'"'
    assert code_of('"""\nA\n"""\nx = 1\n') == "x = 1"


def is_covered():
    """Whether lines are counted just now."""
    return "coverage" in sys.modules and sys.modules["coverage"].Coverage.current() is not None


def test_ctrl_c_stays_ctrl_c():
    """A signal that comes while compiled code hands over what it returns: 1 in 14 of these used to be a SystemError."""
    if is_covered():
        pytest.skip("the signal may come while coverage holds its lock, which is never released then")
    rng = np.random.default_rng(0)
    context = rng.standard_normal((2, 60))
    target = context[0] + rng.standard_normal(60)
    unit = fit_ladder(target, context, LadderSettings(iterations=20))
    unit.log_density(target, context)  # compiled by now
    before, interrupted = signal.signal(signal.SIGALRM, signal.default_int_handler), 0
    try:
        for trial in range(150):
            with contextlib.suppress(KeyboardInterrupt):
                signal.setitimer(signal.ITIMER_REAL, 0.001 + 0.00005 * (trial % 40))
                for _ in range(300):
                    unit.log_density(target, context)
                time.sleep(1.0)
                pytest.fail("no signal came")
            interrupted += 1
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    assert interrupted == 150
