"""What the first request would wait for is loaded before."""

import pytest
from structlog.testing import capture_logs

from memplatform.warm_up import warm_up


@pytest.mark.django_db
def test_nothing_is_missing() -> None:
    with capture_logs() as lines:
        warm_up()
    assert lines == []
