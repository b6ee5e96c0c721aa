"""Frames to report on, one of them with hostile names, and what a page gives to its script."""

import json
import re

import numpy as np

from pydine.inputs.files import Frame

ROWS = 160
HOSTILE = {
    "script": '<script>document.title="owned"</script>',
    "end": "</script><img src=x onerror=\"document.title='owned'\">",
    "attribute": '" onmouseover="document.title=1" x="',
    "template": "${target} $x %s {0}",
    "separators": "line\u2028separator\u2029and\u202edirection",
    "long": "a very long name " * 12,
}


def make_frame(**more):
    rng = np.random.default_rng(0)
    cause = rng.standard_normal(ROWS)
    columns = {
        "cause": cause,
        "proxy": cause + 0.5 * rng.standard_normal(ROWS),
        "noise": rng.standard_normal(ROWS),
        "outcome": cause + 0.6 * rng.standard_normal(ROWS),
        **more,
    }
    return Frame("folder/data.csv", columns, {"colour": "it holds text", "one": "it is constant"}, ROWS)


def hostile_frame():
    rng = np.random.default_rng(1)
    columns = {text: rng.standard_normal(ROWS) for text in HOSTILE.values()}
    columns["outcome"] = columns[HOSTILE["script"]] + 0.5 * rng.standard_normal(ROWS)
    return Frame("<b>data<b>.csv", columns, {"<u>left</u>": "it holds <em>text</em>"}, ROWS)


def data_of(page):
    """What the page gives to its script."""
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)[1])
