import numpy as np
import pytest

from pydine.inputs.angles import Cut, angle_kind, around, cut_of, opened
from pydine.inputs.kinds import Kind, as_said, check_kinds, period_of, periods_of


def test_what_is_said_of_an_angle():
    assert period_of("angle:360") == period_of("angle:degrees") == 360.0
    assert period_of("angle:radians") == 2.0 * np.pi
    assert period_of("angle:24") == period_of("angle:hours") == 24.0
    assert check_kinds({"wind": "angle:360"}, ["wind"]) == {"wind": Kind.ANGLE}
    assert periods_of({"wind": "angle:360", "code": "nominal", 2: "angle:12"}) == {"wind": 360.0, "column 2": 12.0}


@pytest.mark.parametrize("wrong", ["angle", "angle:", "angle:0", "angle:-360", "angle:inf", "angle:nan", "angle:deg"])
def test_once_around_has_to_be_a_number(wrong):
    assert period_of(wrong) is None
    with pytest.raises(ValueError, match=r"kinds\['wind'\] must be .* such as 'angle:360' or 'angle:radians', but got"):
        check_kinds({"wind": wrong}, ["wind"])


def test_kinds_that_were_found_can_be_said_again():
    said = as_said(
        {"wind": Kind.ANGLE, "hour": Kind.CYCLE, "n": Kind.ORDINAL}, {"wind": "angle:radians", "hour": "angle:24"}
    )
    assert check_kinds(said, list(said)) == {"wind": Kind.ANGLE, "hour": Kind.ANGLE, "n": Kind.ORDINAL}
    assert periods_of(said) == {"wind": 2.0 * np.pi, "hour": 24.0}


def test_a_circle_is_cut_where_nothing_is():
    values = np.random.default_rng(0).uniform(100.0, 300.0, 500)
    cut = cut_of(values, 360.0)
    assert abs((cut.start - 20.0 + 180.0) % 360.0 - 180.0) < 2.0
    assert np.array_equal(np.argsort(cut(values)), np.argsort(values))


def test_the_cut_moves_with_the_values():
    values = np.random.default_rng(0).vonmises(1.0, 0.5, 1000)
    turns, _ = opened(values, 2.0 * np.pi)
    for shift in (0.1, 2.0, 5.0, 100.0):
        moved, _ = opened(np.mod(values + shift, 2.0 * np.pi), 2.0 * np.pi)
        np.testing.assert_allclose(moved, turns, atol=1e-12)
    back, _ = opened(-values, 2.0 * np.pi)
    np.testing.assert_allclose(back, 1.0 - turns, atol=1e-12)


def test_rounding_makes_no_new_values():
    hours = np.random.default_rng(0).integers(0, 24, 600)
    for shift in (0.0, 0.1, 1.0 / 3.0):
        turns, _ = opened(np.mod(hours + shift, 24.0), 24.0)
        assert len(np.unique(turns)) == 24
        assert len(np.unique(around(turns)[0])) == 12  # either side of the cut has the same cosines
        assert angle_kind(turns) is Kind.CYCLE


def test_angles_that_hardly_repeat_are_numbers():
    assert angle_kind(opened(np.random.default_rng(0).integers(0, 360, 500).astype(float), 360.0)[0]) is Kind.ANGLE


def test_turns_are_less_than_one():
    assert Cut(0.0, 360.0)(np.array([-1e-300, 0.0, 90.0, 360.0, 720.0])).tolist() == [0.0, 0.0, 0.25, 0.0, 0.0]
    with pytest.raises(ValueError, match="Cut"):
        Cut(0.0, 0.0)
