"""What the tests of layers share."""

import pytest

from tests.layers.spaces import SPACES

AT_FIRST = {
    name: {key: value.clone() for key, value in space.state_dict().items()}
    for name, space in SPACES.items()
    if space.state_dict()
}


@pytest.fixture(autouse=True)
def _spaces_as_at_first():
    """Tests share their spaces: what a layer has taught one of them is forgotten again."""
    yield
    for name, state in AT_FIRST.items():
        SPACES[name].double().load_state_dict(state)
