"""Limits are counted by a thread beside the questions, as often as is said and for as long as they are asked."""

import time
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from django.db import DatabaseError

from apps.intake.project_watch import ProjectWatch
from apps.pipeline.core.identifiers import new_id
from apps.tenants.scope import current_scope

MOST_SECONDS = 20.0


@pytest.fixture(autouse=True)
def _aside(settings: Any) -> None:
    settings.COUNT_LIMITS_ASIDE = True


def until(holds: Callable[[], bool]) -> None:
    """Poll until something holds."""
    deadline = time.monotonic() + MOST_SECONDS
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.001)


def test_a_project_is_within_its_limits_until_it_was_counted() -> None:
    project, counted = new_id(), []

    def count(each: UUID) -> bool:
        counted.append((each, current_scope().project_id))
        return True

    watch = ProjectWatch(count=count, within=False, every=1e-3)
    assert watch.state_of(project) is False
    until(lambda: watch.state_of(project))
    assert set(counted) == {(project, project)}


def test_projects_are_counted_once_in_the_time() -> None:
    counted: list[UUID] = []
    watch = ProjectWatch(count=lambda each: bool(counted.append(each)), within=False, every=3_600)
    first, second = new_id(), new_id()
    watch.state_of(first)
    until(lambda: counted == [first])
    assert [watch.state_of(each) for each in (first, second, first)] == [False] * 3
    assert (counted, set(watch.asked)) == ([first], {first, second})


def test_a_project_beyond_its_limits_is_counted_until_it_is_within_them() -> None:
    project, states = new_id(), [True, True, True]
    watch = ProjectWatch(count=lambda _: bool(states and states.pop()), within=False, every=1e-3)
    watch.state_of(project)
    until(lambda: watch.counting is None)
    assert (states, watch.beyond) == ([], {})


def test_what_is_known_holds_where_counting_fails() -> None:
    project = new_id()
    outcomes: list[bool | Exception] = [True, DatabaseError("gone"), DatabaseError("gone")]

    def count(_: UUID) -> bool:
        outcome = outcomes.pop(0) if outcomes else True
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    watch = ProjectWatch(count=count, within=False, every=1e-3)
    watch.state_of(project)
    until(lambda: not outcomes)
    assert watch.state_of(project) is True
    watch.count = lambda _: False
    until(lambda: watch.counting is None)
