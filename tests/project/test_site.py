"""The documentation site: it builds without a warning, fetches nothing, and shows everything that there is to use."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import matplotlib as mpl
import pytest
from PIL import Image

import pydine
from pydine.cli import app

mpl.use("Agg")

CHECKOUT = Path(__file__).parents[2]
DOCS = CHECKOUT / "docs"
SCRIPT = CHECKOUT / "scripts" / "documentation_pictures.py"
LARGEST_PICTURE = 60_000  # bytes
TOOLS = ("sphinx", "furo", "myst_parser")

pytestmark = [
    pytest.mark.slow,  # the whole site is built
    pytest.mark.skipif(not DOCS.exists(), reason="a distribution has no documents"),
]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    missing = [tool for tool in TOOLS if importlib.util.find_spec(tool) is None]
    if missing:
        pytest.skip(f"building the site needs {', '.join(missing)}: python scripts/environments.py docs")
    folder = tmp_path_factory.mktemp("site")
    # In a process of its own: what autodoc imports, and warns of, stays there.
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", str(DOCS), str(folder)]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    return folder


@pytest.fixture(scope="module")
def pictures():
    spec = importlib.util.spec_from_file_location(SCRIPT.stem, SCRIPT)
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(SCRIPT.parent)  # of the modules that it draws with
        spec.loader.exec_module(module)
    return module


def test_every_document_is_a_page(site):
    pages = {path.relative_to(site).with_suffix("") for path in site.rglob("*.html")}
    written = {path.relative_to(DOCS).with_suffix("") for path in DOCS.rglob("*.md") if path.parent.name != "data"}
    assert written <= pages


def test_it_can_be_read_without_a_network(site):
    fetched = re.compile(r"""<(?:script|img|iframe|source)\b[^>]*\bsrc="(?:https?:)?//|<link\b[^>]*\bhref="https?://""")
    for page in site.rglob("*.html"):
        assert not fetched.search(page.read_text(encoding="utf-8")), page.name
    for sheet in site.rglob("*.css"):
        assert not re.search(r"@import|url\([\"']?https?:", sheet.read_text(encoding="utf-8")), sheet.name
    assert (site / "searchindex.js").exists()


def test_everything_public_is_in_the_reference(site):
    text = "".join(page.read_text(encoding="utf-8") for page in (site / "api").glob("*.html"))
    missing = [name for name in pydine.__all__ if name != "__version__" and f'id="pydine.{name}"' not in text]
    assert not missing


def test_every_command_is_described():
    text = (DOCS / "cli.md").read_text(encoding="utf-8")
    commands = [command.name for command in app.command_line().registered_commands]
    assert len(commands) > 5
    assert [name for name in commands if f"`pydine {name}`" not in text] == []


def test_pictures_are_small_and_shown(pictures):
    shown = "".join(path.read_text(encoding="utf-8") for path in DOCS.glob("*.md"))
    for name in pictures.PICTURES:
        path = DOCS / "images" / f"{name}.png"
        assert path.stat().st_size < LARGEST_PICTURE, name
        assert f"](images/{path.name})" in shown, name


def test_pictures_have_words_for_those_who_do_not_see_them():
    for path in DOCS.rglob("*.md"):
        assert "![](" not in path.read_text(encoding="utf-8"), path.name


@pytest.mark.parametrize("name", ["normal-scores", "calibration"])
def test_a_picture_can_be_drawn(name, pictures, tmp_path):
    pictures.write(pictures.PICTURES[name](), tmp_path / "drawn.png")
    with Image.open(tmp_path / "drawn.png") as drawn, Image.open(DOCS / "images" / f"{name}.png") as kept:
        assert drawn.size == kept.size
