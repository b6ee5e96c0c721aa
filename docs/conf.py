"""How the documentation is built: sphinx-build -W docs build/site. Nothing is fetched, then or when it is read."""

from importlib.util import find_spec

from pydine import __version__

project = "pydine"
author = "pydine contributors"
release = version = __version__
copyright = "pydine contributors, MIT licence"  # noqa: A001 - Sphinx's own name

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
source_suffix = {".md": "markdown"}
myst_heading_anchors = 3
highlight_language = "none"  # blocks without a language are output

# Docstrings hold types and shapes, so signatures need not; what stands in single backticks is a link where it can be.
default_role = "py:obj"
autodoc_typehints = "none"
autodoc_mock_imports = [name for name in ("causallearn", "tigramite") if find_spec(name) is None]
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = False  # or the underscores that fitted attributes end with are lost

html_theme = "furo"
html_title = f"pydine {version}"
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#1f6f8b", "color-brand-content": "#1f6f8b"},
    "dark_css_variables": {"color-brand-primary": "#6fc3dd", "color-brand-content": "#6fc3dd"},
}
html_static_path = ["static"]
html_css_files = ["pages.css"]
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False

exclude_patterns = ["data"]
