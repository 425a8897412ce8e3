"""Marks of erasure on end users, and the receipts of erasures."""

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models

import apps.pipeline.core.identifiers


class Migration(migrations.Migration):
    dependencies = [("tenants", "0004_quotas")]

    operations = [
        migrations.AlterField(
            model_name="enduser",
            name="external_id",
            field=models.CharField(
                help_text="user_id in the API, chosen by the client; empty once erased", max_length=255
            ),
        ),
        migrations.AddField(
            model_name="enduser",
            name="erasing_since",
            field=models.DateTimeField(blank=True, editable=False, help_text="nothing may be written since", null=True),
        ),
        migrations.AddField(
            model_name="enduser",
            name="erased_at",
            field=models.DateTimeField(
                blank=True, editable=False, help_text="empty again when the user returns", null=True
            ),
        ),
        migrations.CreateModel(
            name="Erasure",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=apps.pipeline.core.identifiers.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "user_hash",
                    models.CharField(help_text="HMAC-SHA256 of user_id, to prove that it was this one", max_length=64),
                ),
                (
                    "actor",
                    models.CharField(help_text="key or person that asked for it", max_length=160),
                ),
                ("counts", models.JSONField(default=dict, help_text="deleted rows by table")),
                ("requested_at", models.DateTimeField(default=django.utils.timezone.now)),
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
                    "project",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="erasures",
                        to="tenants.project",
                    ),
                ),
            ],
            options={
                "ordering": ("-id",),
                "indexes": [models.Index(fields=["project", "-id"], name="erasure_of_project")],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("finished_at__isnull", True)),
                        fields=("end_user",),
                        name="erasure_one_at_a_time",
                    )
                ],
            },
        ),
        migrations.RunSQL("create sequence tenants_erasure_number", "drop sequence tenants_erasure_number"),
    ]
