"""Counted limits are exact with any number of concurrent callers."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from apps.tenants.limits import RateLimit, forget, prune_counters, seconds_to_wait
from apps.tenants.models import RateCounter

DAY = 24 * 60 * 60  # windows that don't end during a test


def count(subject: str, most: int) -> int:
    try:
        return seconds_to_wait(RateLimit(subject, most=most, seconds=DAY))
    finally:
        connection.close()


@pytest.mark.django_db(transaction=True)
def test_of_two_hundred_at_once_fifty_pass() -> None:
    with ThreadPoolExecutor(20) as threads:
        waits = list(threads.map(lambda _: count("a", 50), range(200)))
    assert waits.count(0) == 50
    assert all(0 < wait <= DAY for wait in waits if wait)


@pytest.mark.django_db
def test_subjects_are_counted_apart_and_forgotten() -> None:
    limits = [RateLimit(subject, most=1, seconds=DAY) for subject in ("a", "b")]
    assert [seconds_to_wait(limit) == 0 for limit in (*limits, *limits)] == [True, True, False, False]
    forget("a")
    assert [seconds_to_wait(limit) == 0 for limit in limits] == [True, False]


@pytest.mark.django_db
def test_a_limit_of_nothing_lets_nobody_pass() -> None:
    assert seconds_to_wait(RateLimit("a", most=0, seconds=DAY)) > 0


@pytest.mark.django_db
def test_counters_of_past_windows_are_deleted() -> None:
    seconds_to_wait(RateLimit("past", most=1, seconds=DAY))
    RateCounter.objects.update(window_start="2020-01-01T00:00:00Z", ends_at="2020-01-02T00:00:00Z")
    seconds_to_wait(RateLimit("now", most=1, seconds=DAY))
    assert prune_counters() == 1
    assert [each.subject for each in RateCounter.objects.all()] == ["now"]
