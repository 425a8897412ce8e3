"""Every table of end users has the column `end_user_id`, first in unique constraints and indexes."""

from typing import Any

import pytest
from django.apps import apps
from django.db import connection
from django.db.models import Model, UniqueConstraint

ROOMS = ("traces", "outbox", "alerts", "events", "items", "imports", "memories")

# Tables with rows of a project rather than an end user; small, or queried by project only.
OF_A_PROJECT = {
    "Alert",
    "AlertDelivery",
    "AlertRecipients",
    "ConfigurationVersion",
    "EvaluationSample",
    "EventLog",
    "FileImport",
    "ImportFile",
    "HourlyLatency",
    "HourlyTally",
    "IdempotentRequest",
    "LedgerCheckpoint",
    "LedgerEntry",
    "ModelPause",
    "ModelTestCall",
    "PreFilterRule",
    "ProjectEvent",
    "Rollback",
    "Replay",
    "StoredItem",
    "Webhook",
    "WebhookDelivery",
}
OF_NOBODY = {"JobRound", "SchedulerHeartbeat", "TalliedHour", "WorkerHeartbeat"}

# Indexes over all end users of a project, for queues and lists; no turn waits for their queries.
ACROSS_USERS = {
    "trace_of_project_by_time",
    "trace_that_reads_again",
    "memory_live_note",
    "memory_of_project",
    "memory_by_creation",
    "memory_by_first_access",
    "memory_pending_by_wording",
    "link_of_project",
    "version_by_actor",
    "lease_held",
    "lease_ready",
    "trace_extraction_failed",
    "replayed_by_state",
    "work_dead",
}

OWNED = [
    model
    for room in ROOMS
    for model in apps.get_app_config(room).get_models()
    if model.__name__ not in OF_A_PROJECT | OF_NOBODY
]


def fields_of(rule: Any) -> tuple[str, ...]:
    return tuple(field.lstrip("-") for field in rule.fields)


def test_what_belongs_to_nobody_is_named_here_on_purpose() -> None:
    names = {model.__name__ for room in ROOMS for model in apps.get_app_config(room).get_models()}

    assert names >= OF_A_PROJECT | OF_NOBODY


@pytest.mark.parametrize("model", OWNED, ids=lambda model: model.__name__)
def test_a_row_names_its_end_user(model: type[Model]) -> None:
    field = model._meta.get_field("end_user")

    assert field.column == "end_user_id"
    assert not field.null


@pytest.mark.parametrize("model", OWNED, ids=lambda model: model.__name__)
def test_the_end_user_comes_first_in_what_is_unique(model: type[Model]) -> None:
    for rule in model._meta.constraints:
        if isinstance(rule, UniqueConstraint):
            assert fields_of(rule)[0] == "end_user", rule.name
    assert not model._meta.unique_together
    unique = {field.name for field in model._meta.get_fields() if getattr(field, "unique", False)}
    assert unique <= {"id", "end_user"}


@pytest.mark.parametrize("model", OWNED, ids=lambda model: model.__name__)
def test_the_end_user_comes_first_in_composite_indexes(model: type[Model]) -> None:
    for index in model._meta.indexes:
        if len(index.fields) > 1 and index.name not in ACROSS_USERS:
            assert fields_of(index)[0] == "end_user", index.name


@pytest.mark.parametrize("model", OWNED, ids=lambda model: model.__name__)
def test_no_foreign_key_brings_an_index_of_its_own(model: type[Model]) -> None:
    for field in model._meta.get_fields():
        is_own_key = field.many_to_one and field.concrete and field.name not in ("end_user", "merged_into")
        assert not (is_own_key and field.db_index), field.name


def test_the_database_has_the_indexes_that_the_models_name(db: None) -> None:
    with connection.cursor() as cursor:
        cursor.execute("select indexname from pg_indexes where schemaname = current_schema()")
        there = {name for (name,) in cursor.fetchall()}

    assert {index.name for model in OWNED for index in model._meta.indexes} <= there
