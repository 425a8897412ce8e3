"""A web process warms up before it takes requests, and takes them even where that fails."""

from typing import Any

import pytest
from django.db import OperationalError, connection
from structlog.testing import capture_logs

from apps.providers import registry
from memplatform.serving.warm_up import warm_up


@pytest.mark.django_db(transaction=True)
def test_the_embedder_is_loaded_though_the_database_is_away(settings: Any) -> None:
    settings.EMBEDDER = "hashing"
    registry._embedder.cache_clear()

    def refuse(*_: Any) -> None:
        raise OperationalError("away")

    with connection.execute_wrapper(refuse), capture_logs() as logs:
        warm_up()
    assert [(each["event"], each["step"]) for each in logs] == [("not warmed up", "_connect")]
    assert registry._embedder.cache_info().currsize == 1
