"""Every block of Python in the documents runs, one after another, as a reader would."""

import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

CHECKOUT = Path(__file__).parents[1]
DOCUMENTS = [CHECKOUT / "README.md", *sorted((CHECKOUT / "docs").glob("*.md"))]


def code_of(document):
    """The code of a document, with as many blank lines before it as bring it to its own lines."""
    kept, inside = [], False
    for line in document.read_text(encoding="utf-8").splitlines():
        is_fence = line.startswith("```")
        kept.append(line if inside and not is_fence else "")
        inside = line == "```python" if is_fence else inside
    return "\n".join(kept)


WITH_CODE = [document for document in DOCUMENTS if document.exists() and code_of(document).strip()]


@pytest.mark.skipif(not (CHECKOUT / "docs").exists(), reason="a distribution has no documents")
def test_there_are_documents_with_code():
    assert {"README.md", "bases.md", "all-pairs.md"} <= {document.name for document in WITH_CODE}


@pytest.mark.parametrize("document", WITH_CODE, ids=lambda document: document.name)
def test_the_code_runs(document, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("default")  # a reader's session warns; it does not stop
        exec(compile(code_of(document), document.name, "exec"), {"__name__": "document"})
    plt.close("all")
