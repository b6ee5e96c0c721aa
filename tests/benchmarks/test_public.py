"""The page of public benchmarks: who is first, what is read of tables, and what is said of a suite that is missing."""

import math

import pytest

public = pytest.importorskip("public")

TABLES = """# A suite

| part | test | type I | AUC | its error |
| --- | --- | --- | --- | --- |
| n250 | dine | 0.060 | 0.908 | 0.010 |
| n250 | KCIT | 0.128 | 0.821 | - |

By columns:

| part | columns | AUC | its error | KCIT | mCMIkNN |
| --- | --- | --- | --- | --- | --- |
| n250 | 9 | 0.700 | 0.010 | 0.619 | 0.810 |
"""


@pytest.mark.parametrize(
    ("ours", "theirs", "options", "place"),
    [
        (0.5, 1.0, {}, "first"),
        (1.05, 1.0, {}, "level"),  # within a tenth
        (1.5, 1.0, {}, "**not first**"),
        (1.5, 1.0, {"error": 0.3}, "level"),  # within two standard errors
        (0.9, 0.8, {"is_lower": False}, "first"),
        (0.8, 0.9, {"is_lower": False}, "**not first**"),
        (0.05, 0.0, {"least": 0.05}, "level"),  # a test that never rejects is no better
        (0.5, math.nan, {}, ""),
    ],
)
def test_a_row_says_who_is_first(ours, theirs, options, place):
    assert public.Row("a row", ours, {"other": theirs}, **options).place == place


def test_tables_of_tests_are_read(tmp_path):
    (tmp_path / "suite.md").write_text(TABLES, encoding="utf-8")
    rows = public.decisions("suite")(tmp_path)
    assert [(row.what, row.ours, row.place) for row in rows] == [
        ("n250: AUC", 0.908, "first"),
        ("n250: type I", 0.06, "first"),
        ("n250, columns 9: AUC", 0.7, "**not first**"),
    ]


def test_a_suite_that_is_missing_is_named(tmp_path):
    missing = public.Suite("gone", "Gone", "About it.", (("no_such_script.py",),), public.decisions("gone"))
    assert public.run(missing, tmp_path).missing == "benchmarks/no_such_script.py is not there"
    rows, why = public.left_by(missing, tmp_path)
    assert (rows, why) == ([], "there is no table")
    page = public.page({missing: (rows, why)}, math.nan)
    assert "**Not run**: there is no table." in page
    assert "| Gone | not run | 0 | 0 | 0 |" in page
