"""Filters as they are parsed: what they may contain, and which value is refused."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db.models import Q

from apps.memories.filter import MOST_CONDITIONS, MOST_DEPTH, MOST_VALUES, parse_filter
from apps.memories.source_filter import source_condition
from apps.pipeline.core.enums import Status
from apps.pipeline.core.input_validation import BadInput

DAY = datetime(2026, 3, 2, tzinfo=UTC)
END = DAY + timedelta(days=1, microseconds=-1)


@pytest.mark.parametrize(
    ("given", "condition"),
    [
        ({"topic": "home"}, Q(topic__exact="home")),
        ({"topic": {"ne": "home"}}, ~Q(topic__exact="home")),
        ({"tags": "goal"}, Q(tags__contains=["goal"])),
        ({"tags": {"in": ["goal", "plan"]}}, Q(tags__overlap=["goal", "plan"])),
        ({"said_at": {"gt": "2026-03-02"}}, Q(said_at__gt=END)),
        ({"said_at": {"gte": "2026-03-02"}}, Q(said_at__gte=DAY)),
        ({"said_at": {"lt": "2026-03-02"}}, Q(said_at__lt=DAY)),
        ({"said_at": {"lte": "2026-03-02T01:00:00+01:00"}}, Q(said_at__lte=DAY)),
        ({"said_at": "2026-03-02"}, Q(said_at__gte=DAY) & Q(said_at__lte=END)),
        ({"confidence": {"gt": 0.5, "lte": 1}}, Q(confidence__gt=0.5) & Q(confidence__lte=1.0)),
        ({"OR": [{"topic": "a"}, {"NOT": {"topic": "b"}}]}, Q(topic__exact="a") | ~Q(topic__exact="b")),
        ({"metadata": {"size": 2}}, source_condition(['@.metadata."size" == 2'])),
        ({"run_id": {"in": ["r1", "r2"]}}, source_condition(['@.run_id == "r1" || @.run_id == "r2"'])),
        (
            {"agent_id": "a", "run_id": "r", "topic": "home"},
            Q(topic__exact="home") & source_condition(['@.agent_id == "a"', '@.run_id == "r"']),
        ),
    ],
    ids=str,
)
def test_what_a_filter_means(given: dict[str, Any], condition: Q) -> None:
    assert parse_filter(given, at="/filter").condition == condition


def nested(levels: int) -> dict[str, Any]:
    return {"NOT": nested(levels - 1)} if levels > 1 else {"topic": "a"}


@pytest.mark.parametrize(
    ("given", "pointer"),
    [
        ([], "/filter"),
        ({}, "/filter"),
        ({"colour": "red"}, "/filter/colour"),
        ({"AND": {}}, "/filter/AND"),
        ({"AND": []}, "/filter/AND"),
        ({"OR": [{"topic": "a"}, {"topic": 1}]}, "/filter/OR/1/topic"),
        ({"topic": {"gt": "a"}}, "/filter/topic/gt"),
        ({"topic": {}}, "/filter/topic"),
        ({"topic": ""}, "/filter/topic"),
        ({"topic": "x" * 256}, "/filter/topic"),
        ({"topic": "a\x00"}, "/filter/topic"),
        ({"metadata.a\x00": "b"}, "/filter/metadata.a\x00"),
        ({"metadata": "x"}, "/filter/metadata"),
        ({"metadata": {"a/b": None}}, "/filter/metadata/a~1b"),
        ({"metadata.": "x"}, "/filter/metadata."),
        ({"type": "thing"}, "/filter/type"),
        ({"status": {"in": ["active", "gone"]}}, "/filter/status/in/1"),
        ({"run_id": {"in": []}}, "/filter/run_id/in"),
        ({"run_id": {"in": ["r"] * (MOST_VALUES + 1)}}, "/filter/run_id/in"),
        ({"confidence": True}, "/filter/confidence"),
        ({"confidence": {"gt": float("inf")}}, "/filter/confidence/gt"),
        ({"said_at": 3}, "/filter/said_at"),
        ({"said_at": {"lt": "soon"}}, "/filter/said_at/lt"),
        ({"said_at": "2026-02-31"}, "/filter/said_at"),
        ({"said_at": "0001-01-01"}, "/filter/said_at"),
        (nested(MOST_DEPTH + 1), "/filter" + "/NOT" * MOST_DEPTH),
        ({"OR": [{"topic": "a"}] * (MOST_CONDITIONS + 1)}, "/filter"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_what_is_wrong_is_named(given: Any, pointer: str) -> None:
    with pytest.raises(BadInput) as error:
        parse_filter(given, at="/filter")

    assert error.value.at == pointer


def test_the_deepest_filter_is_taken() -> None:
    assert parse_filter(nested(MOST_DEPTH), at="/filter")


def test_the_statuses_that_a_filter_names() -> None:
    given = {"OR": [{"status": {"in": ["superseded", "archived"]}}, {"NOT": {"status": "retracted"}}]}

    assert parse_filter(given, at="").statuses == (Status.SUPERSEDED, Status.ARCHIVED)
