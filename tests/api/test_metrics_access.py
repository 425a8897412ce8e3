"""Who may read /metrics: the holder of METRICS_TOKEN, or without one, addresses of one's own network."""

from typing import Any

import pytest
from django.test import Client

pytestmark = pytest.mark.django_db
TOKEN = "correct-horse"


def status(address: str = "127.0.0.1", **headers: str) -> int:
    return Client(REMOTE_ADDR=address).get("/metrics", headers=headers).status_code


@pytest.mark.parametrize(
    "address", ["127.0.0.1", "::1", "10.1.2.3", "172.18.0.5", "192.168.0.9", "fd00::7", "::ffff:10.0.0.1"]
)
def test_without_a_token_ones_own_network_may_read(settings: Any, address: str) -> None:
    settings.METRICS_TOKEN = ""
    assert status(address) == 200


@pytest.mark.parametrize("address", ["8.8.8.8", "2001:4860:4860::8888", "::ffff:8.8.8.8", "100.64.0.1", "", "unix:"])
def test_without_a_token_nobody_else_may(settings: Any, address: str) -> None:
    settings.METRICS_TOKEN = ""
    assert status(address) == 403


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"X-Forwarded-For": "8.8.8.8"}, 403),
        ({"X-Forwarded-For": "10.0.0.1, 8.8.8.8"}, 403),  # the first one is whatever the caller has claimed
        ({"X-Forwarded-For": "10.0.0.1"}, 200),
        ({"X-Forwarded-For": "someone"}, 403),
        ({"X-Real-IP": "8.8.8.8"}, 403),
        ({"X-Real-IP": "10.0.0.1"}, 200),
        ({"Forwarded": "for=10.0.0.1"}, 403),  # not read, so not trusted
    ],
)
def test_a_proxy_does_not_lend_its_address(settings: Any, headers: dict[str, str], expected: int) -> None:
    settings.METRICS_TOKEN = ""
    assert status(**headers) == expected


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (f"Bearer {TOKEN}", 200),
        (f"bearer {TOKEN}", 200),
        ("Bearer wrong", 401),
        ("Bearer ", 401),
        ("Bearer \xe9", 401),
        (f"Basic {TOKEN}", 401),
        (TOKEN, 401),
    ],
)
@pytest.mark.parametrize("address", ["127.0.0.1", "8.8.8.8"])
def test_with_a_token_only_its_holder_may(settings: Any, address: str, header: str, expected: int) -> None:
    settings.METRICS_TOKEN = TOKEN
    assert status(address, Authorization=header) == expected


def test_with_a_token_ones_own_network_needs_it_too(settings: Any) -> None:
    settings.METRICS_TOKEN = TOKEN
    answer = Client().get("/metrics")
    assert (answer.status_code, answer.headers["WWW-Authenticate"]) == (401, 'Bearer realm="metrics"')
    assert b"memplatform_" not in answer.content


def test_outsiders_read_no_figures_of_readiness(settings: Any) -> None:
    settings.METRICS_TOKEN = ""
    inside = Client().get("/readyz").json()
    outside = Client(REMOTE_ADDR="8.8.8.8").get("/readyz").json()
    assert inside["dead"] == 0
    assert {name for name, value in outside.items() if value is None} == {
        "oldest_queued_seconds",
        "vector_lag_seconds",
        "dead",
        "workers_alive",
        "scheduler_seconds",
    }
    assert (outside["status"], outside["paused_models"]) == (inside["status"], [])
