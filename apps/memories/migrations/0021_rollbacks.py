"""Rollbacks, what they withdraw, and the records of what traces do to the names of entities."""

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models

import apps.pipeline.core.identifiers


class Migration(migrations.Migration):
    dependencies = [
        ("memories", "0020_choices_by_reference"),
        ("tenants", "0007_second_factor"),
    ]

    operations = [
        migrations.AddField(
            model_name="entity",
            name="added_by",
            field=models.UUIDField(
                blank=True, editable=False, help_text="the trace that brought it, if one did", null=True
            ),
        ),
        migrations.AddField(
            model_name="entity",
            name="withdrawn",
            field=models.BooleanField(
                db_default=False, default=False, help_text="a rollback has taken it back; nothing refers to it any more"
            ),
        ),
        migrations.AddField(
            model_name="entityalias",
            name="withdrawn",
            field=models.BooleanField(
                db_default=False, default=False, help_text="a rollback has taken it back; no other trace says it"
            ),
        ),
        migrations.AddField(
            model_name="memoryorigin",
            name="withdrawn",
            field=models.BooleanField(
                db_default=False, default=False, help_text="a rollback has taken it back; it counts no more"
            ),
        ),
        migrations.AddField(
            model_name="memoryversion",
            name="rollback_id",
            field=models.UUIDField(
                blank=True, help_text="the rollback that made the change, or whose undo did", null=True
            ),
        ),
        migrations.CreateModel(
            name="Rollback",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=apps.pipeline.core.identifiers.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("selection", models.JSONField(help_text="which traces are taken back")),
                (
                    "forced",
                    models.JSONField(
                        default=list, help_text="memories that are taken back although they were edited since"
                    ),
                ),
                (
                    "rerun",
                    models.BooleanField(
                        default=False, help_text="the traces are run again under the active configuration"
                    ),
                ),
                ("note", models.CharField(blank=True, max_length=255)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("waiting", "waiting"),
                            ("done", "done"),
                            ("undoing", "undoing"),
                            ("undone", "undone"),
                        ],
                        default="waiting",
                        max_length=16,
                    ),
                ),
                ("counts", models.JSONField(default=dict, help_text="what was taken back, by kind")),
                ("actor", models.CharField(help_text="key, person or command that asked for it", max_length=160)),
                ("undone_by", models.CharField(blank=True, help_text="who asked for the undo", max_length=160)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                ("undone_at", models.DateTimeField(blank=True, null=True)),
                (
                    "project",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="tenants.project",
                    ),
                ),
            ],
            options={
                "ordering": ("-id",),
            },
        ),
        migrations.CreateModel(
            name="RollbackItem",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=apps.pipeline.core.identifiers.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("waiting", "waiting"),
                            ("done", "done"),
                            ("undoing", "undoing"),
                            ("undone", "undone"),
                        ],
                        default="waiting",
                        max_length=16,
                    ),
                ),
                (
                    "done",
                    models.JSONField(
                        default=dict, help_text="what was taken back beside the versions of memories, for the undo"
                    ),
                ),
                ("left_alone", models.JSONField(default=list, help_text="[{memory or entity, reason}]")),
                ("error", models.TextField(blank=True, help_text="why the last try failed; it is tried again")),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                (
                    "end_user",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="tenants.enduser",
                    ),
                ),
                (
                    "rollback",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="items",
                        to="memories.rollback",
                    ),
                ),
            ],
            options={
                "ordering": ("id",),
            },
        ),
        migrations.CreateModel(
            name="EntityChange",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=apps.pipeline.core.identifiers.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("trace_id", models.UUIDField(help_text="the row of the trace may have been deleted since")),
                (
                    "kind",
                    models.CharField(
                        choices=[("named", "named"), ("renamed", "renamed"), ("taken", "taken")], max_length=16
                    ),
                ),
                ("alias", models.CharField(help_text="the name that was said, taken or given", max_length=255)),
                ("folded", models.CharField(help_text="the alias in its canonical form", max_length=255)),
                ("former", models.CharField(blank=True, help_text="the name before a renaming", max_length=255)),
                (
                    "uses",
                    models.PositiveIntegerField(
                        default=1, help_text="how often a description had been said when it was taken"
                    ),
                ),
                (
                    "withdrawn",
                    models.BooleanField(db_default=False, default=False, help_text="a rollback has taken it back"),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                (
                    "end_user",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="tenants.enduser",
                    ),
                ),
                (
                    "entity",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="changes",
                        to="memories.entity",
                    ),
                ),
            ],
            options={
                "ordering": ("created_at", "id"),
                "indexes": [
                    models.Index(fields=["end_user", "trace_id"], name="entity_change_of_trace"),
                    models.Index(fields=["entity"], name="entity_change_by_entity"),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("kind__in", ["named", "renamed", "taken"])), name="entity_change_kind_known"
                    )
                ],
            },
        ),
        migrations.AddIndex(
            model_name="rollback",
            index=models.Index(fields=["project", "-id"], name="rollback_of_project"),
        ),
        migrations.AddIndex(
            model_name="rollback",
            index=models.Index(
                condition=models.Q(("state__in", ["undoing", "waiting"])), fields=["id"], name="rollback_unfinished"
            ),
        ),
        migrations.AddConstraint(
            model_name="rollback",
            constraint=models.CheckConstraint(
                condition=models.Q(("state__in", ["done", "undoing", "undone", "waiting"])), name="rollback_state_known"
            ),
        ),
        migrations.AddIndex(
            model_name="rollbackitem",
            index=models.Index(fields=["rollback"], name="rollback_item_by_rollback"),
        ),
        migrations.AddConstraint(
            model_name="rollbackitem",
            constraint=models.UniqueConstraint(fields=("end_user", "rollback"), name="rollback_once_a_user"),
        ),
        migrations.AddConstraint(
            model_name="rollbackitem",
            constraint=models.CheckConstraint(
                condition=models.Q(("state__in", ["done", "undoing", "undone", "waiting"])),
                name="rollback_item_state_known",
            ),
        ),
    ]
