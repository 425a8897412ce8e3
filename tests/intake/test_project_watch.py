"""Limits are counted by a thread beside the questions, as often as is said and for as long as they are asked."""

import time
from collections.abc import Callable
from contextlib import suppress
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


def test_the_first_question_counts_in_the_scope_of_the_project() -> None:
    project, counted = new_id(), []

    def count(each: UUID) -> bool:
        counted.append((each, current_scope().project_id))
        return True

    watch = ProjectWatch(count=count, every=3_600)
    assert [watch.state_of(project) for _ in range(3)] == [True] * 3
    assert counted == [(project, project)]


def test_what_is_asked_for_again_is_counted_again() -> None:
    project, states = new_id(), [False, True]
    watch = ProjectWatch(count=lambda _: states.pop() if states else False, every=1e-3)
    assert watch.state_of(project) is True
    until(lambda: watch.state_of(project) is False)


def test_what_nobody_asks_for_is_forgotten() -> None:
    project, counted = new_id(), list[UUID]()
    watch = ProjectWatch(count=lambda each: bool(counted.append(each)), every=1e-3)
    watch.state_of(project)
    until(lambda: watch.counting is None)
    assert watch.counted == {}
    before = len(counted)
    watch.state_of(project)
    assert len(counted) > before


def test_where_counting_fails_the_next_question_counts() -> None:
    project = new_id()
    watch = ProjectWatch(count=lambda _: True, every=3_600)
    assert watch.state_of(project) is True
    watch.count = _fail
    watch._count_again(project)
    with pytest.raises(DatabaseError):
        watch.state_of(project)
    watch.count = lambda _: False
    assert watch.state_of(project) is False


def test_a_project_that_fails_leaves_the_others_counted() -> None:
    failing, other, states = new_id(), new_id(), [False, True]
    watch = ProjectWatch(
        count=lambda each: _fail(each) if each == failing else (states.pop() if states else False), every=1e-3
    )
    assert watch.state_of(other) is True

    def is_within() -> bool:
        with suppress(DatabaseError):
            watch.state_of(failing)
        return watch.state_of(other) is False

    until(is_within)


def _fail(_: UUID) -> bool:
    raise DatabaseError("gone")
