"""The recipes of CONTRIBUTING.md: each block of code there runs as it stands, and does what the recipe says."""

import re
from pathlib import Path

import numpy as np
import pytest

from pydine.units.ladder import LadderSettings, fit_ladder
from pydine.units.rungs.registry import EXPANSIONS
from pydine.work.cache import UnitCache
from pydine.work.tasks import NOTHING, Fitted, UnitTask

CHECKOUT = Path(__file__).parents[2]
CONTRIBUTING = CHECKOUT / "CONTRIBUTING.md"
RECIPE = re.compile(r"^### ([^\n]+)\n(?:(?!^#).)*?^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)

pytestmark = pytest.mark.skipif(not CONTRIBUTING.exists(), reason="a distribution has no such page")


def recipes():
    """Code by the title of its section."""
    return dict(RECIPE.findall(CONTRIBUTING.read_text(encoding="utf-8")))


def followed(title):
    """What a recipe leaves behind, by name."""
    names = {"__name__": "recipe"}
    exec(compile(recipes()[title], f"CONTRIBUTING.md, {title}", "exec"), names)
    return names


def test_there_is_one_for_each_thing_that_is_added():
    assert set(recipes()) == {"A base", "A rung", "A kind of column"}


def test_files_of_the_walk_are_there():
    text = CONTRIBUTING.read_text(encoding="utf-8")
    walk = text.partition("## A walk through one call")[2].partition("\n## ")[0]
    assert re.findall(r"^(\d+)\. ", walk, re.MULTILINE) == [str(i) for i in range(1, 11)]
    package = CHECKOUT / "src" / "pydine"
    paths = re.findall(r"`(\w+/\w+\.py)`", walk)
    assert len(paths) > 15
    assert [path for path in paths if not (package / path).exists()] == []


def test_a_base_is_averaged_with_the_others():
    made = followed("A base")
    gaussian, _, sign = made["bases"]
    assert made["weights"].sum() == pytest.approx(1.0)
    assert made["weights"][2] == 1.0
    assert made["average"].name == "sign"
    assert sign.value == pytest.approx(np.log(2.0), abs=0.02)  # one bit, the sign
    assert gaussian.value < sign.value
    assert sign.held_out.mean() == pytest.approx(np.log(2.0), abs=0.02)


def test_a_rung_counts_where_held_out_rows_ask_for_it():
    made = followed("A rung")
    fitted, target, context = made["fitted"], made["target"], made["context"][None]
    assert fitted.rung_weights["ripples"] > 0.5
    assert "ripples" not in made["without"].rung_weights
    assert sum(fitted.rung_weights.values()) == pytest.approx(1.0)
    latent, plain = (unit.latent(target, context) for unit in (fitted, made["without"]))
    wave = np.sin(16.0 * context[0])
    assert abs(np.corrcoef(target, wave)[0, 1]) > 0.7
    assert abs(np.corrcoef(latent, wave)[0, 1]) < 0.5 * abs(np.corrcoef(plain, wave)[0, 1])


def test_a_rung_leaves_the_ladder_as_it_was_and_is_kept_by_name(tmp_path):
    made = followed("A rung")
    target, context, fitted = made["target"], made["context"][None], made["fitted"]
    again = fit_ladder(target, context, LadderSettings())
    assert again.rung_weights == made["without"].rung_weights
    assert "ripples" not in EXPANSIONS
    task = UnitTask(target, context, LadderSettings())
    cache = UnitCache(tmp_path)
    cache.keep(task, Fitted(fitted, NOTHING))
    assert cache.find(task).unit is fitted  # in memory, though no file can name what its models see
    assert not UnitCache(tmp_path).has(task)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(EXPANSIONS, "ripples", made["ripples"])
        cache.keep(task, Fitted(fitted, NOTHING))
        kept = UnitCache(tmp_path).find(task)
    assert UnitCache(tmp_path).find(task) is None  # and now nobody knows the name
    np.testing.assert_array_equal(kept.unit.latent(target, context), fitted.latent(target, context))


def test_a_kind_of_column_is_seen_by_others():
    made = followed("A kind of column")
    assert made["gain"] > 0.01
    assert len(made["contexts"][1].values) == 2
    held = made["as_angle"].held_out
    assert held.shape == (150,)
    assert np.isfinite(held).all()
