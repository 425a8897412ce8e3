"""Migrations that would stop a working service, or the version before them, are reported."""

from typing import Any

import pytest
from django.contrib.postgres.operations import AddConstraintNotValid, AddIndexConcurrently
from django.core.management import call_command
from django.db import migrations, models
from django.db.migrations.state import ModelState, ProjectState

from memplatform.migration_rules import violations


def before() -> ProjectState:
    state = ProjectState()
    fields = [
        ("id", models.BigAutoField(primary_key=True)),
        ("name", models.CharField(max_length=40)),
        ("note", models.TextField(null=True)),
        ("size", models.IntegerField(default=0)),
    ]
    state.add_model(ModelState("memories", "Thing", fields))
    return state


def rules(*operations: Any, **attributes: Any) -> list[str]:
    kind = type("Migration", (migrations.Migration,), {"operations": list(operations), **attributes})
    return [each.rule for each in violations(kind("0099_x", "memories"), before())]


INDEX = models.Index(fields=["name"], name="thing_by_name")
CHECK = models.CheckConstraint(condition=models.Q(size__gt=0), name="thing_large")


def generated() -> models.GeneratedField:
    return models.GeneratedField(expression=models.F("size"), output_field=models.IntegerField(), db_persist=True)


@pytest.mark.parametrize(
    ("operation", "rule"),
    [
        (migrations.AddIndex("thing", INDEX), "index"),
        (migrations.RunSQL("create index on memories_thing (name)"), "index"),
        (migrations.AddConstraint("thing", CHECK), "check"),
        (migrations.AddConstraint("thing", models.UniqueConstraint(fields=["name"], name="one")), "unique"),
        (migrations.AddField("thing", "twice", generated()), "rewrite"),
        (migrations.AddField("thing", "weight", models.IntegerField(default=1)), "default"),
        (migrations.AddField("thing", "weight", models.IntegerField()), "default"),
        (migrations.AlterField("thing", "size", models.BigIntegerField(default=0)), "rewrite"),
        (migrations.AlterField("thing", "name", models.CharField(max_length=20)), "rewrite"),
        (migrations.AlterField("thing", "note", models.TextField()), "not null"),
        (migrations.RenameField("thing", "name", "title"), "rename"),
        (migrations.RemoveField("thing", "name"), "remove"),
    ],
)
def test_what_locks_rewrites_or_breaks_is_reported(operation: Any, rule: str) -> None:
    assert rules(operation) == [rule]
    assert rules(operation, accepted={rule: "the table is small"}) == []


@pytest.mark.parametrize(
    "operation",
    [
        AddIndexConcurrently("thing", INDEX),
        migrations.RunSQL("create index concurrently x on memories_thing (name)"),
        AddConstraintNotValid("thing", CHECK),
        migrations.AddField("thing", "weight", models.IntegerField(default=1, db_default=1)),
        migrations.AddField("thing", "weight", models.IntegerField(null=True)),
        migrations.AlterField("thing", "name", models.CharField(max_length=80)),
        migrations.AlterField("thing", "name", models.TextField()),
        migrations.RunSQL("create function f() returns void language sql as $$ update memories_thing set size = 1 $$"),
        migrations.RunPython(migrations.RunPython.noop),
    ],
)
def test_what_runs_beside_a_service_is_not(operation: Any) -> None:
    assert rules(operation) == []


@pytest.mark.parametrize("data", [migrations.RunSQL("update memories_thing set size = 1"), migrations.RunPython(print)])
def test_schema_and_data_are_not_mixed(data: Any) -> None:
    schema = migrations.AddField("thing", "weight", models.IntegerField(null=True))
    assert rules(schema, data) == ["mixed"]
    assert rules(data) == []


def test_a_new_table_has_no_rows_to_wait_for() -> None:
    made = migrations.CreateModel(
        "Other", [("id", models.BigAutoField(primary_key=True)), ("name", models.TextField())]
    )
    assert rules(made, migrations.AddIndex("other", models.Index(fields=["name"], name="other_by_name"))) == []


def test_ours_follow_the_rules() -> None:
    call_command("lint_migrations")
