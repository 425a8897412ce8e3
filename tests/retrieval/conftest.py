"""Tests of searches begin with nothing in the cache."""

from collections.abc import Iterator

import pytest
from apps.memories.search.cache import CACHE


@pytest.fixture(autouse=True)
def _nothing_is_kept() -> Iterator[None]:
    CACHE.clear()
    yield
    CACHE.clear()
