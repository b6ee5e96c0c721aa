"""A ranking is what single estimates and tests say, of the same rows, adjusted for their number."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.stats import false_discovery_control

import pydine
from pydine.inputs.reading import read_question
from pydine.questions.features.rest import rest_of
from pydine.questions.ranking import rank


@pytest.fixture
def data():
    rng = np.random.default_rng(1)
    cause = rng.standard_normal(200)
    return {
        "noise": rng.standard_normal(200),
        "proxy": cause + 0.5 * rng.standard_normal(200),
        "cause": cause,
        "y": cause + 0.7 * rng.standard_normal(200),
    }


def test_the_figures_are_those_of_single_questions(data):
    ranking = rank(data, "y", base="gaussian")
    assert [column.name for column in ranking] == ["cause", "proxy", "noise"]
    for column in ranking:
        rest = [name for name in ("noise", "proxy", "cause") if name != column.name]
        assert column.alone == pydine.mutual_information(column.name, "y", data=data, base="gaussian")
        assert column.given_rest == pydine.mutual_information(column.name, "y", rest, data=data, base="gaussian")
        test = pydine.independence_test(column.name, "y", rest, data=data, method="analytic")
        assert column.pvalue_given_rest == test.pvalue
    for kind in ("alone", "given_rest"):
        raw = [getattr(column, f"pvalue_{kind}") for column in ranking]
        adjusted = [getattr(column, f"adjusted_{kind}") for column in ranking]
        np.testing.assert_allclose(adjusted, false_discovery_control(raw))


def test_what_not_detected(data):
    ranking = rank(data, "y", base="gaussian")
    assert ranking.not_detected == ("proxy", "noise")
    assert (ranking.target, len(ranking), ranking.n_samples, ranking.n_dropped) == ("y", 3, 200, 0)


def test_one_column_has_no_rest(data):
    (only,) = rank(data, "y", ["proxy"], base="gaussian")
    assert only.given_rest == only.alone
    assert not only.not_detected


def test_missing_values_cost_a_column_s_own_rows_alone_and_all_rows_given_the_rest(data):
    data["noise"][:7] = np.nan
    data["cause"][190:] = np.nan
    ranking = rank(data, "y", base="gaussian", nan_policy="omit")
    assert (ranking.n_samples, ranking.n_dropped) == (183, 17)
    rows = {column.name: (column.alone.n_samples, column.given_rest.n_samples) for column in ranking}
    assert rows == {"noise": (193, 183), "proxy": (200, 183), "cause": (190, 183)}
    cut = {name: values[7:190] for name, values in data.items()}
    for column in ranking:
        rest = [name for name in ("noise", "proxy", "cause") if name != column.name]
        alone = pydine.mutual_information(column.name, "y", data=data, base="gaussian", nan_policy="omit")
        assert column.alone.value == alone.value
        assert (
            column.given_rest.value
            == pydine.mutual_information(column.name, "y", rest, data=cut, base="gaussian").value
        )
    with pytest.raises(ValueError, match="nan_policy='omit'"):
        rank(data, "y")


def test_no_row_has_all_columns(data):
    data["noise"][:100] = np.nan
    data["cause"][100:] = np.nan
    ranking = rank(data, "y", base="gaussian", nan_policy="omit")
    assert ranking.why_no_rest.startswith("0 of 200 rows have all columns")
    assert {column.given_rest for column in ranking} == {None}
    assert not ranking.not_detected
    assert ranking.columns[0].alone.n_samples == 100


def test_a_column_with_next_to_no_values_is_left_out_by_name(data):
    data["noise"][5:] = np.nan
    ranking = rank(data, "y", base="gaussian", nan_policy="omit")
    assert [column.name for column in ranking] == ["cause", "proxy"]
    assert "must have at least 12 rows" in ranking.left_out["noise"]
    assert ranking.n_samples == 200


def test_figures_alone_come_first_and_the_others_stream_in(data):
    seen = []
    ranking = rank(data, "y", base="gaussian", watch=seen.append)
    assert [sum(column.given_rest is not None for column in part) for part in seen] == [0, 1, 2, 3]
    assert [column.alone for column in seen[0]] == [column.alone for column in ranking]
    assert seen[-1] == ranking


@pytest.mark.slow
def test_with_very_many_columns_the_rest_is_a_selection_that_is_named(monkeypatch):
    monkeypatch.setattr("pydine.questions.features.rest.MOST_GIVEN", 4)
    rng = np.random.default_rng(3)
    values = rng.standard_normal((9, 300))
    data = {f"c{i}": column for i, column in enumerate(values)}
    data["copy"] = data["c0"] ** 3
    data["y"] = values[0] + 0.6 * values[1] + 0.5 * values[2] - 0.5 * values[3] + rng.standard_normal(300)
    ranking = rank(data, "y", base="gaussian")
    assert len(ranking.screened) == 5
    assert {"c1", "c2", "c3"} < set(ranking.screened)
    assert "copy" not in ranking.screened  # it brings nothing
    for column in ranking:
        if column.copy_of:
            continue
        given = [name for name in ranking.screened if name != column.name][:4]
        single = pydine.mutual_information(column.name, "y", given, data=data, base="gaussian")
        assert column.given_rest.value == single.value


def test_labels_count_by_their_indicators_and_their_codes_have_no_order(monkeypatch):
    monkeypatch.setattr("pydine.questions.features.rest.MOST_GIVEN", 4)
    rng = np.random.default_rng(4)
    label = rng.integers(0, 4, 400)
    level = np.array([0.0, 2.0, -2.0, 0.5])[label]  # in no order of the codes
    data = {f"c{i}": rng.standard_normal(400) for i in range(4)}
    data |= {"label": label.astype(float), "y": data["c0"] + level + 0.3 * data["c1"] + rng.standard_normal(400)}

    def chosen(data):
        names = [name for name in data if name != "y"]
        whole = read_question(names, "y", data=data, kinds={"label": "nominal"})
        rest = rest_of(whole, np.array([0.0, 0.0, 0.0, 0.0, 1.0]))
        assert not rest.is_whole
        for i in whole.x:
            given = rest.without(i)
            assert i not in given
            assert sum(rest.widths[j] for j in given) <= 4
        return [names[i] for i in rest.columns]

    assert chosen(data) == ["label", "c0"]  # four indicators and a number
    assert chosen(data | {"label": 3.0 - label}) == ["label", "c0"]


@pytest.mark.slow
def test_a_column_of_more_numbers_than_a_question_is_given_does_not_stand_for_the_rest(monkeypatch):
    monkeypatch.setattr("pydine.questions.features.rest.MOST_GIVEN", 4)
    rng = np.random.default_rng(2)
    data = {
        "label": np.array(list("abcdefgh"))[np.arange(160) % 8],
        "first": rng.standard_normal(160),
        "second": rng.standard_normal(160),
        "y": rng.standard_normal(160),
    }
    whole = read_question(["label", "first", "second"], ["y"], data=data)
    rest = rest_of(whole, np.array([0.3, 0.2, 0.1]))
    assert [whole.table.names[i] for i in rest.columns] == ["first", "second"]
    assert rest.without(whole.x[0]) == whole.x[1:]


def test_threads_change_nothing(data):
    assert rank(data, "y", n_jobs=2, random_state=3) == rank(data, "y", random_state=3)


def test_ties_are_warned_of_once(data):
    data = {name: np.round(values) for name, values in data.items()}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        rank(data, "y", base="gaussian", kinds=dict.fromkeys(data, "continuous"))
    assert [warning.category for warning in caught] == [pydine.TiesWarning]
    assert set(caught[0].message.shares) == set(data)


def test_a_copy_is_left_out_of_the_rest(data):
    plain = rank(data, "y", base="gaussian")
    ranking = rank({**data, "copy": np.exp(data["cause"]), "double": 2.0 * data["y"]}, "y", base="gaussian")
    found = {column.name: column for column in ranking}
    assert (found["copy"].copy_of, found["double"].copy_of) == ("cause", "y")
    assert found["copy"].given_rest is None
    assert found["copy"].alone.value == found["cause"].alone.value
    assert "a copy of cause" in repr(ranking)
    for column in plain:
        assert found[column.name].given_rest.value == column.given_rest.value
    two = rank({"cause": data["cause"], "copy": np.exp(data["cause"]), "y": data["y"]}, "y", base="gaussian")
    assert [column.given_rest is None for column in two] == [False, True]


@pytest.mark.filterwarnings("ignore::pydine.inputs.checks.LeftOutWarning")
def test_columns_that_cannot_be_used_are_left_out_with_the_reason(data):
    n = len(data["y"])
    wrong = {
        "constant": np.ones(n),
        "empty": np.full(n, np.nan),
        "day": np.arange(n).astype("datetime64[D]"),
        "things": np.array([object()] * n),
        "names": np.array([f"name {i}" for i in range(n)]),
    }
    plain = rank(data, "y", base="gaussian")
    for policy in ("raise", "omit"):
        ranking = rank(data | wrong, "y", base="gaussian", nan_policy=policy)
        assert ranking.columns == plain.columns
        assert ranking.left_out["day"] == "it holds dates or times"
        assert ranking.left_out["constant"] == "it is constant"
        assert set(ranking.left_out) == set(wrong)
    holed = data | {"noise": np.where(np.arange(n) < 5, np.nan, data["noise"])}
    ranking = rank(holed | wrong, "y", base="gaussian", nan_policy="omit")
    assert set(ranking.left_out) == set(wrong)
    assert pydine.pairwise_information(data | wrong, base="gaussian").names == tuple(data)
    with pytest.raises(ValueError, match="day"):
        rank(data | wrong, "day")


def test_the_target_may_be_a_list_or_values(data):
    plain = rank(data, "y", base="gaussian")
    assert rank(data, ["y"], base="gaussian") == plain
    several = rank(data, ["y", "noise"], base="gaussian")
    assert [column.name for column in several] == ["cause", "proxy"]
    assert several.target == "y, noise"
    frame = pd.DataFrame(data)
    features = frame.drop(columns="y")
    assert rank(features, frame["y"], base="gaussian").columns == plain.columns
    assert rank(frame, frame["y"], base="gaussian").columns == plain.columns
    assert rank(features, frame["y"].to_numpy(), base="gaussian").target == "y"
    with pytest.warns(UserWarning, match="another order, but rows are matched by position"):
        pydine.mutual_information(frame["cause"], frame["y"].iloc[::-1])


def test_a_ranking_as_a_frame_and_hints(data):
    n = len(data["y"])
    more = {
        "race": np.arange(n) % 3.0,
        "row": np.arange(n) + 1.0,
        "kept": np.where(np.arange(n) == 3, 9999.0, data["noise"]),
    }
    ranking = rank(data | more, "y", base="gaussian")
    assert "may be codes" in ranking.hints["race"]
    assert "serial" in ranking.hints["row"]
    assert "9999 lies far" in ranking.hints["kept"]
    frame = ranking.to_frame()
    assert list(frame["column"]) == [column.name for column in ranking]
    assert frame["high_given_rest"][0] == ranking.columns[0].bound
    assert type(ranking).from_json(ranking.to_json()) == ranking


def test_unknown_columns_are_refused(data):
    with pytest.raises(ValueError, match="the nearest name is 'y'"):
        rank(data, "Y")


def test_columns_say_where_their_dependence_shows():
    rng = np.random.default_rng(0)
    line, bend, turning, noise = rng.standard_normal((4, 400))
    y = line + 0.7 * bend**2 + np.sign(line) * turning + 0.5 * noise
    ranking = rank({"line": line, "bend": bend, "turning": turning, "y": y}, "y")
    shown = {column.name: column.shows for column in ranking}
    assert shown["line"] == "correlation"
    assert shown["bend"] == "bent"
    assert shown["turning"] in {"spread", "changes with z"}
    assert type(ranking).from_json(ranking.to_json()).columns[0].shows == ranking.columns[0].shows


def test_an_interrupted_ranking_is_what_is_known(data):
    """Whoever watches interrupts it once the first figure given the rest is there."""

    def watch(ranking):
        if any(column.given_rest is not None for column in ranking):
            raise KeyboardInterrupt

    whole = rank(data, "y", base="gaussian")
    with pytest.warns(UserWarning, match="Interrupted: estimates given the rest are known for 1 of 3 columns"):
        found = rank(data, "y", base="gaussian", watch=watch)
    assert [column.alone for column in found] == [column.alone for column in whole]
    assert [column.given_rest is None for column in found] == [False, True, True]  # the one that tells most is first
    assert found.columns[0].given_rest == whole.columns[0].given_rest
    assert found.unfinished in repr(found)
    assert not whole.unfinished


def test_an_interruption_before_any_figure_is_passed_on(data, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("pydine.questions.ranking._Asker.__call__", interrupted)
    with pytest.raises(KeyboardInterrupt):
        rank(data, "y", base="gaussian")


def test_of_very_many_rows_there_is_a_first_look_at_some(data, monkeypatch):
    monkeypatch.setattr("pydine.questions.ranking.LOOK_ROWS", 20)
    seen = []
    whole = rank(data, "y", base="gaussian", watch=seen.append)
    assert seen[0].unfinished == "A first look at 20 of 200 rows; the full ranking follows."
    assert {column.alone.n_samples for column in seen[0]} == {20}
    assert whole == rank(data, "y", base="gaussian")  # it changes nothing
