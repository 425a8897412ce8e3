"""What tests of chaos share: a town of real processes, and the state that a calm run ends in."""

from collections.abc import Iterator

import pytest

from tests.chaos.town import Town, a_town


@pytest.fixture(scope="session")
def town() -> Iterator[Town]:
    with a_town() as made:
        yield made
