"""Items: JSON that callers keep by namespace and key."""

import django.contrib.postgres.fields
import django.contrib.postgres.search
import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models

import apps.pipeline.core.identifiers


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("tenants", "0011_invitations"),
    ]

    operations = [
        migrations.CreateModel(
            name="StoredItem",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=apps.pipeline.core.identifiers.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "namespace",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(db_collation="C", max_length=255), size=None
                    ),
                ),
                ("key", models.CharField(db_collation="C", max_length=255)),
                ("value", models.JSONField()),
                ("words", models.TextField(blank=True, help_text="by which a query finds it")),
                (
                    "terms",
                    models.GeneratedField(
                        db_persist=True,
                        expression=django.contrib.postgres.search.SearchVector("words", config="english"),
                        output_field=django.contrib.postgres.search.SearchVectorField(),
                    ),
                ),
                ("version", models.PositiveIntegerField(default=1)),
                (
                    "ttl_minutes",
                    models.FloatField(
                        help_text="minutes after the last access until it expires; empty: never", null=True
                    ),
                ),
                ("expires_at", models.DateTimeField(null=True)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ("updated_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                (
                    "end_user",
                    models.ForeignKey(
                        db_index=False,
                        help_text="whose data it is, with whom it is erased; empty: nobody's",
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="tenants.enduser",
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
                "ordering": ("-id",),
                "indexes": [
                    models.Index(
                        condition=models.Q(("end_user__isnull", False)), fields=["end_user"], name="item_of_user"
                    ),
                    models.Index(
                        condition=models.Q(("expires_at__isnull", False)), fields=["expires_at"], name="item_by_expiry"
                    ),
                ],
                "constraints": [models.UniqueConstraint(fields=("project", "namespace", "key"), name="item_once")],
            },
        ),
    ]
