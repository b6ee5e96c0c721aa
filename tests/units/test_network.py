"""The layout of a unit's flat parameters and what is read off a fitted network."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
from pydine.kernels.layers import IDENTITY, RELU, TANH
from pydine.units.network import Network
from reference import NETWORKS, parameters, rows

networks = st.one_of(
    st.builds(Network.linear, st.integers(0, 6), st.integers(1, 5)),
    st.builds(Network.tanh, st.integers(0, 6), st.integers(1, 9), st.integers(1, 5)),
    st.builds(Network.paper, st.integers(0, 6), st.integers(1, 6), st.integers(1, 17)),
)


@settings(deadline=None, max_examples=60)
@given(network=networks)
def test_slices_tile_the_vector(network):
    """The linear part, then weights and biases layer by layer, no gap and no overlap."""
    position = network.n_skip
    for weights, biases in network.layer_slices:
        assert weights.start == position
        assert biases.start == weights.stop
        position = biases.stop
    assert position == network.n_parameters
    counts = [weights.size for weights, _ in reference.dense_layers(network, np.ones(network.n_parameters))]
    assert len(counts) == len(network.layer_slices)


@settings(deadline=None, max_examples=60)
@given(network=networks)
def test_layout_agrees_with_the_description(network):
    sizes, activations, groups, skip = network.layout
    assert sizes.dtype == activations.dtype == np.int64
    assert tuple(sizes) == network.sizes == (network.n_inputs, *network.hidden, 3 * network.components)
    assert tuple(activations) == (*network.activations, IDENTITY)
    assert len(activations) == len(sizes) - 1
    assert (groups, skip) == (network.groups, network.skip)


@pytest.mark.parametrize(
    ("network", "count"),
    [
        (Network.linear(0, 1), 3),
        (Network.linear(3, 2), 2 * 3 + 3 * 2),
        (Network.tanh(3, 8, 2), 2 * 3 + (3 * 8 + 8) + (8 * 6 + 6)),
        (Network.index(3, 8, 2), 2 * 3 + (3 + 1) + (8 + 8) + (8 * 6 + 6)),
        # c: 5 -> 4 -> 4; three heads: 4 -> 4 -> 16
        (Network.paper(5, 4, 16), (5 * 4 + 4) + (4 * 4 + 4) + 3 * ((4 * 4 + 4) + (4 * 16 + 16))),
        (Network.paper(0, 4, 16), 4 + (4 * 4 + 4) + 3 * ((4 * 4 + 4) + (4 * 16 + 16))),
    ],
)
def test_number_of_parameters(network, count):
    assert network.n_parameters == count


def test_kinds():
    linear, tanh, paper = Network.linear(3, 2), Network.tanh(3, 8, 2), Network.paper(3, 4, 16)
    assert linear.skip
    assert linear.n_inputs == 0
    assert tanh.skip
    assert tanh.n_inputs == 3
    assert tanh.activations == (TANH,)
    assert not paper.skip
    assert paper.activations == (RELU, IDENTITY, RELU)
    assert {network.n_context for network in (linear, tanh, paper)} == {3}


def test_heads_of_the_paper_share_no_hidden_unit():
    """The weights of w, mu and ln sigma are three blocks; everything else of the last layer is zero."""
    network = Network.paper(2, 4, 3)
    *_, (last, _) = reference.dense_layers(network, np.ones(network.n_parameters))
    np.testing.assert_array_equal(last, np.kron(np.eye(3), np.ones((3, 4))))


@pytest.mark.parametrize("name", ["linear", "tanh", "layers see some columns"])
def test_features(name):
    """The bounded log-scale, and the hidden units as the layers have them."""
    network = NETWORKS[name]
    theta, context = parameters(network), rows(network, 25)[1]
    features = network.hidden_features(theta, context)
    width = sum(network.hidden[:1])
    assert features.shape == (25, width + 1)
    assert (np.abs(features) <= 1.0).all()
    c = network.n_context
    columns = [np.tanh(theta[c : 2 * c] @ context)]
    if network.hidden:
        weights, biases = next(iter(reference.dense_layers(network, theta)))
        columns += list(np.tanh(weights @ context[: network.n_inputs] + biases[:, None]))
    for column in columns:
        assert np.isclose(features, column[:, None], rtol=1e-12, atol=1e-12).all(axis=0).any()


def test_features_of_an_index_network_vary_with_the_index_alone():
    network = Network.index(3, 8, 2)
    theta, context = parameters(network), rows(network, 25)[1]
    theta[3:6] = 0.0  # the log-scale
    direction = theta[network.layer_slices[0][0]]
    across = np.linalg.svd(direction[None])[2][1:]  # at right angles to the direction
    moved = context + across.T @ np.random.default_rng(0).standard_normal((2, 25))
    assert np.abs(moved - context).max() > 1.0
    features = network.hidden_features(theta, context)
    assert features.shape == (25, 9)
    np.testing.assert_allclose(network.hidden_features(theta, moved), features, atol=1e-9)


def test_a_network_is_a_value():
    network = Network.tanh(3, 8, 2)
    assert network == Network.tanh(3, 8, 2)
    assert network != Network.tanh(3, 8, 3)
    assert len({network, Network.tanh(3, 8, 2)}) == 1
    assert network.n_parameters > 0  # what is cached travels or is made again
    again = pickle.loads(pickle.dumps(network))
    assert again == network
    assert again.layer_slices == network.layer_slices
