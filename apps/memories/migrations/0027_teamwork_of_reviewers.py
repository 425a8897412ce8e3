"""Assignments of memories to reviewers, comments on memories, and what each reviewer has open."""

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

import apps.pipeline.core.identifiers


class Migration(migrations.Migration):
    dependencies = [
        ("memories", "0026_pending_by_wording"),
        ("tenants", "0009_encrypt_secrets"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="MemoryComment",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=apps.pipeline.core.identifiers.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("author", models.CharField(help_text="person", max_length=160)),
                ("text", models.TextField()),
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
                    "memory",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="comments",
                        to="memories.memory",
                    ),
                ),
            ],
            options={
                "ordering": ("id",),
                "indexes": [models.Index(fields=["memory"], name="comment_by_memory")],
            },
        ),
        migrations.CreateModel(
            name="ReviewAssignment",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=apps.pipeline.core.identifiers.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("assigned_by", models.CharField(help_text="person", max_length=160)),
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
                    "memory",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="assignments",
                        to="memories.memory",
                    ),
                ),
                (
                    "person",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ("id",),
                "indexes": [
                    models.Index(fields=["memory"], name="assignment_by_memory"),
                    models.Index(fields=["person"], name="assignment_by_person"),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("end_user", "memory"), name="assignment_once_per_memory")
                ],
            },
        ),
        migrations.CreateModel(
            name="ReviewPresence",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=apps.pipeline.core.identifiers.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("object_id", models.UUIDField(help_text="of the memory or pair")),
                ("seen_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "person",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
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
                "ordering": ("-seen_at",),
                "indexes": [models.Index(fields=["person"], name="presence_by_person")],
                "constraints": [models.UniqueConstraint(fields=("project", "person"), name="presence_once_per_person")],
            },
        ),
    ]
