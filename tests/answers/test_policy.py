"""What z determines, and information that is infinite: every verdict, and which columns are left out before one."""

import sys
import warnings
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pydine
from pydine.answers.answer import Known, Verdict
from pydine.answers.policy import (
    DeterminedWarning,
    Mapped,
    determined,
    left_over,
    mapped,
    reduced,
    warn_determined,
    warn_if_determined,
)
from pydine.answers.settings import Settings
from pydine.inputs.reading import read_question
from pydine.inputs.table import Question
from pydine.latents.flows import RankFlow
from pydine.questions.ranking import rank
from pydine.questions.search import SearchTest

N = 120
A, B, C, D, E = np.random.default_rng(0).standard_normal((5, N))
# Four kinds of rows, as many of each: two columns tell which, and the normal scores of the third are a linear function
# of theirs, though its values are not.
KIND = np.tile(np.arange(4.0), N // 4)
HIGH, ODD = (KIND >= 2).astype(float), KIND % 2
PRODUCT = np.exp(2.0 * HIGH + ODD)

MONOTONE = {
    "the same": lambda v: v.copy(),
    "cube": lambda v: v**3,
    "exp": np.exp,
    "affine": lambda v: 2 * v - 3,
    "negative": np.negative,
    "falling": lambda v: np.exp(-v),
}
every_monotone = pytest.mark.parametrize("function", MONOTONE.values(), ids=MONOTONE)


def block(*columns):
    return np.column_stack(columns) if columns else np.empty((N, 0))


def asked(x, y, z=()):
    """A question about columns, and a workshop for it. Networks would take time and change no verdict."""
    question = Question.of(block(*x), block(*y), block(*z))
    return question, Settings(n_networks=0).workshop(question.table)


def left(x, z):
    """Which of the columns x are left over, given z, counted from 0."""
    question, workshop = asked(x, [E], z)
    return left_over(question.x, question.given, workshop)


def columns_of(question):
    return [question.table.columns[list(positions)] for positions in question.blocks]


def is_spread(column, original):
    """Whether a column of integers has other values in every row, none as far away as half of the way to the next."""
    shift = np.abs(column - original)
    return len(np.unique(column)) == len(column) and bool((shift < 0.5).all())


def verdict_of(function, *arguments):
    with pytest.raises(Known) as known:
        function(*arguments)
    return known.value.verdict


class TestVerdicts:
    def test_nothing_left(self):
        assert Verdict.NOTHING_LEFT.value == 0.0
        assert Verdict.NOTHING_LEFT.pvalue == 1.0
        assert "determines a side" in Verdict.NOTHING_LEFT.reason

    def test_infinite(self):
        assert Verdict.INFINITE.value == np.inf
        assert Verdict.INFINITE.pvalue == sys.float_info.min
        assert "determine each other" in Verdict.INFINITE.reason


class TestLeftOver:
    def test_of_nothing(self):
        assert left([], [A]) == ()

    def test_everything_where_nothing_is_given(self):
        assert left([A, B, A], []) == (0, 1, 2)

    def test_everything_that_is_something_else(self):
        assert left([A, A + 0.01 * B, A * B, np.abs(C)], [B, C]) == (0, 1, 2, 3)

    @every_monotone
    def test_no_monotone_function_of_a_given_column(self, function):
        assert left([A, function(B), C], [D, B]) == (0, 2)

    def test_but_one_that_merges_values_does_not_determine_the_column(self):
        assert left([B], [np.maximum(B, 0.0)]) == (0,)

    @pytest.mark.parametrize("scale", [1.0, 1e130, 1e-130])
    @pytest.mark.parametrize("offset", [0.0, 1e3])
    def test_no_linear_function_in_the_columns_own_units(self, scale, offset):
        first, second = np.exp(B), np.exp(C)
        x = (2.0 * first - 3.0 * second + offset) * scale
        assert left([x, A], [first, second]) == (1,)
        assert left([x, A], [first, D]) == (0, 1)

    def test_no_linear_function_of_normal_scores(self):
        assert left([PRODUCT, A], [HIGH, ODD]) == (1,)
        assert left([PRODUCT, A], [HIGH, D]) == (0, 1)

    def test_given_columns_may_determine_each_other(self):
        assert left([A, B + C], [B, C, B - C, B]) == (0,)

    @pytest.mark.parametrize(("noise", "is_left"), [(1e-3, True), (1e-12, False)])
    def test_rounding_is_no_information(self, noise, is_left):
        assert left([B + C + noise * A], [B, C]) == (0,) * is_left

    def test_a_few_huge_values_do_not_hide_the_other_rows(self):
        """Almost all of the variance of x is that of the few largest values of z, but most rows are mostly noise."""
        huge = np.exp(8.0 * B)
        x = huge + A
        assert np.var(A) / np.var(x) < 1e-10
        assert left([x], [huge]) == (0,)
        assert left([x - A + 3.0 * D], [huge, D]) == ()

    def test_columns_with_many_zeros(self):
        first, second = np.maximum(B - 1.0, 0.0), np.maximum(C - 1.0, 0.0)
        assert left([first + 2.0 * second, A], [first, second]) == (1,)


class TestDetermined:
    """Steps and labels."""

    LABEL = np.array(["a", "b", "c", "d"])[KIND.astype(int)]
    COUNTS = np.random.default_rng(2).poisson(3.0, (2, N))

    @pytest.mark.parametrize(
        ("x", "z"),
        [
            (ODD, KIND),
            (ODD, LABEL),
            (LABEL, KIND),
            (KIND, LABEL),
            (np.where(LABEL == "c", "p", "q"), LABEL),
            (A > 0.3, A),
            (np.floor(2.0 * A), -A),
            (np.where(A < -0.5, "low", np.where(A < 0.5, "middle", "high")), np.exp(A)),
            (COUNTS.sum(axis=0), COUNTS.T),
        ],
    )
    def test_functions_of_z(self, x, z):
        is_text = np.asarray(z).dtype.kind == "U"
        for known in [z] if is_text else [z, block(*np.atleast_2d(z.T), B)]:
            question = read_question(x, C, known)
            assert determined(question, Settings().workshop(question.table)) == {0}

    @pytest.mark.parametrize(
        ("x", "z"),
        [
            (KIND, ODD),  # which is a function of x
            (A + 0.5 * B > 0.0, A),
            (np.abs(A) > 0.5, A),
            (np.arange(N) == np.argmax(A), A),  # one row: any column has a largest value
            (ODD, np.arange(N) // 2.0),  # every cell has two rows, and they differ
            (np.repeat(np.random.default_rng(3).integers(0, 2, N // 2), 2), np.arange(N) // 2.0),  # two rows a cell
        ],
    )
    def test_others(self, x, z):
        question = read_question(x, C, z)
        assert determined(question, Settings().workshop(question.table)) == frozenset()

    def test_without_z(self):
        question = read_question(ODD, KIND)
        assert determined(question, Settings().workshop(question.table)) == frozenset()

    def test_the_rest_of_a_side_goes_on(self):
        """Latents, and rows, are those of the columns that are left."""
        label = B + 0.5 * C > 0.0
        both = {"cut": D > 0.0, "label": label, "y": A + label, "d": D}
        model = pydine.DINE().fit(["cut", "label"], "y", "d", data=both)
        assert model.information_.value == pydine.mutual_information("label", "y", "d", data=both).value > 0.0
        assert np.isfinite(model.pointwise(["cut", "label"], "y", "d", data=both)).all()


class TestReduced:
    def test_a_plain_question_stays_as_it_is(self):
        question, workshop = asked([A, B], [C], [D, E])
        plain = reduced(question, workshop)
        assert plain.table is question.table
        assert plain.blocks == question.blocks

    @every_monotone
    def test_columns_that_are_there_twice_in_one_place(self, function):
        question, workshop = asked([A, function(A), B], [C, function(C)], [D, E, function(D), function(D)])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            plain = reduced(question, workshop)
        assert plain.table is question.table
        assert plain.blocks == ((0, 2), (3,), (5, 6))

    def test_columns_that_z_determines_are_left_out_of_both_sides(self):
        question, workshop = asked([D, A, D + E], [B, -E], [D, E])
        assert reduced(question, workshop).blocks == ((1,), (3,), (5, 6))

    @every_monotone
    @pytest.mark.parametrize("is_swapped", [False, True])
    def test_nothing_is_left_of_a_side(self, function, is_swapped):
        sides = [[function(D), D + E], [A, B]]
        assert verdict_of(reduced, *asked(*sides[:: -1 if is_swapped else 1], [D, E])) is Verdict.NOTHING_LEFT

    def test_a_column_in_all_three_places(self):
        assert verdict_of(reduced, *asked([A], [A], [A])) is Verdict.NOTHING_LEFT
        question, workshop = asked([A, B], [A, C], [A])
        assert reduced(question, workshop).blocks == ((1,), (3,), (4,))

    @every_monotone
    @pytest.mark.parametrize("z", [(), (D,)])
    def test_a_copy_on_the_other_side_is_infinite_information(self, function, z):
        assert verdict_of(reduced, *asked([A], [function(A)], z)) is Verdict.INFINITE
        assert verdict_of(reduced, *asked([B, A], [function(A), C], z)) is Verdict.INFINITE

    @settings(deadline=None, max_examples=50)
    @given(order=st.permutations(range(12)))
    def test_other_orders_are_no_copies(self, order):
        question = Question.of(np.arange(12.0)[:, None], np.array(order, dtype=float)[:, None])
        workshop = Settings().workshop(question.table)
        if list(order) in (sorted(order), sorted(order, reverse=True)):
            assert verdict_of(reduced, question, workshop) is Verdict.INFINITE
        else:
            assert reduced(question, workshop).blocks == question.blocks

    @pytest.mark.parametrize("direction", [1.0, -1.0])
    def test_values_that_repeat_are_spread_instead(self, direction):
        """What a column of four values tells of itself is no more than ln 4."""
        question, workshop = asked([KIND], [direction * KIND], [A])
        plain = reduced(question, workshop)
        (x,), (y,), (z,) = columns_of(plain)
        assert is_spread(x, KIND)
        assert is_spread(y, direction * KIND)
        assert abs(np.corrcoef(x - KIND, y - direction * KIND)[0, 1]) < 0.3
        np.testing.assert_array_equal(z, A)
        np.testing.assert_array_equal(question.table.columns[0], KIND)

    def test_values_without_room_between_them_cannot_be_spread(self):
        """Neighbours in float64, each of them in many rows: to go on spreading would never end."""
        neighbours = 1.5 + KIND * np.finfo(float).eps
        assert verdict_of(reduced, *asked([neighbours], [neighbours])) is Verdict.INFINITE


class TestMapped:
    @pytest.mark.parametrize("z", [(), (D,), (D, E)])
    def test_a_plain_question(self, z):
        question, workshop = asked([A, A + B], [B + C], z)
        found = mapped(question, workshop)
        assert isinstance(found, Mapped)
        assert [sorted(block) for block in found.question.blocks] == [list(block) for block in question.blocks]
        assert isinstance(found.flow, RankFlow)
        assert found.flow.dimensions == found.latents.dimensions == question.dimensions
        assert found.latents.both.shape == (3, N)

    def test_left_out_columns_change_nothing(self):
        """Copies within a side and in z, and what z determines, beside the question without them."""
        plain, crowded = (
            mapped(*asked(*blocks))
            for blocks in (
                ([A, A + B], [B + C], [D, E]),
                ([A, D, A + B, np.exp(A)], [D + E, B + C, -E], [D, E, -D]),
            )
        )
        assert crowded.question.dimensions == plain.question.dimensions
        np.testing.assert_array_equal(crowded.latents.both, plain.latents.both)

    @pytest.mark.parametrize(
        ("x", "y", "z", "verdict"),
        [
            ([D], [A], [D], Verdict.NOTHING_LEFT),
            ([A], [D + E, -D], [D, E], Verdict.NOTHING_LEFT),
            ([PRODUCT], [A], [HIGH, ODD], Verdict.NOTHING_LEFT),
            ([KIND], [KIND], [KIND], Verdict.NOTHING_LEFT),
            ([A], [-A], [], Verdict.INFINITE),
            ([A, B], [C, A], [D], Verdict.INFINITE),
            # Values that repeat are spread, but not those of the column that is on both sides.
            ([A, KIND], [A], [], Verdict.INFINITE),
        ],
    )
    def test_verdicts(self, x, y, z, verdict):
        for sides in permutations([x, y]):
            assert verdict_of(mapped, *asked(*sides, z)) is verdict

    def test_values_that_repeat_tell_a_finite_amount(self):
        found = mapped(*asked([KIND], [-KIND]))
        (x,), (y,), _ = columns_of(found.question)
        assert is_spread(x, KIND)
        assert is_spread(y, -KIND)
        assert -0.99 < np.corrcoef(*found.latents.both)[0, 1] < -0.8

    def test_sides_that_determine_each_other_without_being_copies(self):
        """The scores of y are a linear function of those of both columns of x: its values repeat, and are spread."""
        question, workshop = asked([HIGH, ODD], [PRODUCT])
        assert reduced(question, workshop).table is not question.table
        found = mapped(question, workshop)
        assert isinstance(found, Mapped)
        assert len(np.unique(found.question.table.columns[2])) == N

    @pytest.mark.parametrize("labels", [3, 5])
    def test_a_column_that_others_of_its_side_determine(self, labels):
        """Indicators of all labels: the last one follows from the others."""
        label = np.random.default_rng(1).integers(0, labels, N)
        indicators = np.eye(labels)[label].T
        found = mapped(*asked(indicators, [label + A]))
        assert len(found.question.x) == labels - 1
        assert np.linalg.matrix_rank(found.latents.both) == labels

    def test_a_table_goes_on_after_a_column_that_is_determined(self):
        table = {"a": A, "b": A + B, "z": D, "copy": -D}
        with pytest.warns(DeterminedWarning):
            found = pydine.pairwise_information(table, given="z", base="gaussian")
        alone = pydine.mutual_information(A, A + B, D, base="gaussian")
        assert found.values[0, 1] == pytest.approx(alone.value, abs=1e-9)
        assert found.values[0, 2] == found.values[1, 2] == 0.0
        assert found.pvalues[0, 2] == found.pvalues[1, 2] == 1.0


class TestWarnings:
    def test_only_where_nothing_is_left(self):
        question, _ = asked([A, B], [C])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warn_if_determined(Verdict.INFINITE, question)
            warn_determined([])
        with pytest.warns(DeterminedWarning, match=r"determines a side of 0, 1 and 2, so the information is 0"):
            warn_if_determined(Verdict.NOTHING_LEFT, question)

    @pytest.mark.parametrize(
        ("x", "y", "said"),
        [
            (-D, A, r"determines x \(of x and y\), so the information is 0"),
            (A, np.exp(D), r"determines y \(of x and y\), so the information is 0"),
            (2.0 * D, -D, "determines both sides of x and y, so the information is 0"),
        ],
    )
    def test_which_side_is_said(self, x, y, said):
        with pytest.warns(DeterminedWarning, match=said):
            estimate = pydine.mutual_information(x, y, D)
        sides = {"x": ("x",), "y": ("y",)}.get(said.split()[1], ("x", "y"))
        assert estimate.details["determined"] == sides

    def test_once_for_all(self):
        with pytest.warns(DeterminedWarning) as caught:
            warn_determined(["a (of a and b)", "a side of a and c", "a (of a and b)"])
        (warning,) = caught
        assert str(warning.message) == (
            "What is given determines a (of a and b) and a side of a and c, so the information is 0 "
            "and the p-value is 1."
        )

    def test_many_are_counted(self):
        with pytest.warns(DeterminedWarning, match="determines p0, p1, p2, p3, p4 and 4 more, so the information is 0"):
            warn_determined(f"p{i}" for i in range(9))

    @pytest.mark.parametrize(
        "ask",
        [
            lambda: pydine.mutual_information(-D, A, D),
            lambda: pydine.independence_test(-D, A, D),
            lambda: pydine.independence_test(-D, A, D, method="analytic"),
            lambda: pydine.DINE().fit(-D, A, D),
            lambda: pydine.pairwise_information({"a": A, "copy": -D, "z": D}, given="z"),
        ],
        ids=["mutual_information", "permutations", "analytic", "DINE", "pairwise_information"],
    )
    def test_points_at_the_caller(self, ask):
        with pytest.warns(DeterminedWarning) as caught:
            ask()
        assert [warning.filename for warning in caught] == [__file__]

    @pytest.mark.parametrize(
        "ask",
        [
            pydine.mutual_information,
            pydine.independence_test,
            lambda *asked: pydine.independence_test(*asked, method="analytic"),
            lambda *asked: pydine.DINE().fit(*asked),
            lambda x, y, z: pydine.pairwise_information({"x": x, "y": y, "z": z}, given="z"),
            lambda x, y, z: pydine.pairwise_information({"x": x, "y": y, "w": B, "z": z}, given="z", base="gaussian"),
            lambda x, y, z: rank({"x": x, "y": y, "z": z}, "y", base="gaussian"),
            lambda *asked: SearchTest().ask(*asked),
        ],
        ids=["mutual_information", "permutations", "analytic", "DINE", "a pair", "a table", "rank", "SearchTest"],
    )
    @pytest.mark.parametrize(("x", "z"), [(D > 0.0, D), (ODD, KIND)], ids=["label of a number", "label of steps"])
    def test_labels_too(self, ask, x, z):
        with pytest.warns(DeterminedWarning) as caught:
            ask(x, A, z)
        assert [warning.filename for warning in caught] == [__file__]


class TestAnswers:
    def test_nothing_left(self):
        with pytest.warns(DeterminedWarning):
            estimate = pydine.mutual_information(-D, A, D)
        assert (estimate.value, estimate.standard_error) == (0.0, 0.0)
        with pytest.warns(DeterminedWarning):
            assert pydine.independence_test(-D, A, D).pvalue == 1.0

    def test_infinite(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            estimate = pydine.mutual_information(-A, A, D)
            pvalue = pydine.independence_test(-A, A, D).pvalue
        assert estimate.value == np.inf
        assert np.isnan(estimate.standard_error)
        assert pvalue == sys.float_info.min

    def test_rows_have_no_share_in_either(self):
        for x, reason in ((-D, "determines a side"), (A, "determine each other")):
            with pytest.raises(ValueError, match=f"there is no pointwise information, because .* {reason}"):
                pydine.pointwise_information(x, A, D)
