"""Columns and tables for erasures and for the chain of the ledger; the triggers follow in the next migration."""

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models

import apps.pipeline.core.identifiers


class Migration(migrations.Migration):
    dependencies = [("memories", "0015_questions_by_a_model"), ("tenants", "0005_erasures")]

    operations = [
        migrations.AddField(
            model_name="memoryrevision",
            name="cleared_at",
            field=models.BigIntegerField(
                db_default=0,
                default=0,
                help_text="the number at which the end user was erased; earlier caches are void",
            ),
        ),
        migrations.AlterField(
            model_name="ledgerentry",
            name="end_user",
            field=models.ForeignKey(
                blank=True,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="tenants.enduser",
            ),
        ),
        migrations.AlterField(
            model_name="ledgerentry",
            name="created_at",
            field=models.DateTimeField(
                default=django.utils.timezone.now, editable=False, help_text="set by the database"
            ),
        ),
        migrations.AddField(
            model_name="ledgerentry",
            name="number",
            field=models.BigIntegerField(editable=False, help_text="within the project, from 1", null=True),
        ),
        migrations.AddField(
            model_name="ledgerentry",
            name="hash",
            field=models.CharField(
                db_default="",
                default="",
                editable=False,
                help_text="SHA-256 of the previous hash and the entry",
                max_length=64,
            ),
        ),
        migrations.CreateModel(
            name="LedgerCheckpoint",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=apps.pipeline.core.identifiers.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("number", models.BigIntegerField(help_text="of the last removed entry")),
                ("hash", models.CharField(help_text="of the last removed entry", max_length=64)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                (
                    "project",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="tenants.project",
                    ),
                ),
            ],
            options={
                "ordering": ("project", "-number"),
                "constraints": [models.UniqueConstraint(fields=("project", "number"), name="ledger_checkpoint_once")],
            },
        ),
    ]
