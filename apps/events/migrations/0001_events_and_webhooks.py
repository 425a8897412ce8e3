"""Events of projects, webhooks and their deliveries."""

import django.contrib.postgres.fields
import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models

import apps.events.models
import apps.pipeline.core.identifiers
import apps.tenants.encrypted_text


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("tenants", "0011_invitations"),
    ]

    operations = [
        migrations.CreateModel(
            name="EventLog",
            fields=[
                (
                    "project",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="+",
                        serialize=False,
                        to="tenants.project",
                    ),
                ),
                ("is_on", models.BooleanField(default=True)),
                ("last_number", models.BigIntegerField(default=0)),
                ("changed_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
            ],
        ),
        migrations.CreateModel(
            name="ProjectEvent",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                (
                    "event_id",
                    models.UUIDField(
                        default=apps.pipeline.core.identifiers.new_id,
                        editable=False,
                        help_text="the same in every delivery",
                    ),
                ),
                ("type", models.CharField(choices=apps.events.models.event_type_choices, max_length=32)),
                ("trace_id", models.UUIDField(blank=True, null=True)),
                ("memory_id", models.UUIDField(blank=True, null=True)),
                (
                    "details",
                    models.JSONField(
                        blank=True, default=dict, help_text="identifiers, states and numbers, never content"
                    ),
                ),
                ("number", models.BigIntegerField(blank=True, help_text="within the project, from 1", null=True)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "end_user",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
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
            name="Webhook",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=apps.pipeline.core.identifiers.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("name", models.CharField(max_length=120)),
                ("url", models.CharField(max_length=500)),
                (
                    "event_types",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(choices=apps.events.models.event_type_choices, max_length=32),
                        size=None,
                    ),
                ),
                (
                    "includes_content",
                    models.BooleanField(default=False, help_text="send the sentences of active, shared memories"),
                ),
                (
                    "secret",
                    apps.tenants.encrypted_text.EncryptedTextField(
                        editable=False, help_text="shared with the receiver, which checks signatures with it"
                    ),
                ),
                (
                    "former_secret",
                    apps.tenants.encrypted_text.EncryptedTextField(blank=True, default="", editable=False),
                ),
                (
                    "former_secret_until",
                    models.DateTimeField(
                        blank=True,
                        editable=False,
                        help_text="until then deliveries are signed with both secrets",
                        null=True,
                    ),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ("created_by", models.CharField(help_text="person or key", max_length=160)),
                ("paused_at", models.DateTimeField(blank=True, null=True)),
                ("paused_by", models.CharField(blank=True, help_text="person or key, or system", max_length=160)),
                ("pause_reason", models.CharField(blank=True, max_length=300)),
                (
                    "failing_since",
                    models.DateTimeField(blank=True, help_text="empty once something is delivered", null=True),
                ),
                ("failures", models.PositiveIntegerField(default=0, help_text="in a row")),
                (
                    "resume_at",
                    models.DateTimeField(
                        default=django.utils.timezone.now, help_text="the receiver is left alone until then"
                    ),
                ),
                (
                    "leased_until",
                    models.DateTimeField(blank=True, help_text="one process delivers at a time", null=True),
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
                "ordering": ("name",),
            },
        ),
        migrations.CreateModel(
            name="WebhookDelivery",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=apps.pipeline.core.identifiers.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("event_type", models.CharField(max_length=32)),
                ("number", models.BigIntegerField(default=0, help_text="that of the event")),
                (
                    "state",
                    models.CharField(
                        choices=[("waiting", "waiting"), ("delivered", "delivered"), ("failed", "failed")],
                        default="waiting",
                        max_length=16,
                    ),
                ),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("next_try_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("give_up_at", models.DateTimeField()),
                (
                    "response_status",
                    models.PositiveSmallIntegerField(blank=True, help_text="HTTP status of the last answer", null=True),
                ),
                ("duration_ms", models.PositiveIntegerField(blank=True, help_text="of the last attempt", null=True)),
                ("last_error", models.CharField(blank=True, max_length=300)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                (
                    "end_user",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="tenants.enduser",
                    ),
                ),
                (
                    "event",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="events.projectevent",
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
                (
                    "webhook",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="deliveries",
                        to="events.webhook",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "webhook deliveries",
                "ordering": ("-id",),
            },
        ),
        migrations.AddIndex(
            model_name="projectevent",
            index=models.Index(
                condition=models.Q(("number__isnull", True)), fields=["project", "id"], name="event_unnumbered"
            ),
        ),
        migrations.AddIndex(
            model_name="projectevent",
            index=models.Index(
                condition=models.Q(("end_user__isnull", False)), fields=["end_user"], name="event_of_user"
            ),
        ),
        migrations.AddIndex(
            model_name="projectevent",
            index=models.Index(fields=["created_at"], name="event_by_time"),
        ),
        migrations.AddConstraint(
            model_name="projectevent",
            constraint=models.UniqueConstraint(fields=("project", "number"), name="event_number_once"),
        ),
        migrations.AddConstraint(
            model_name="webhook",
            constraint=models.UniqueConstraint(fields=("project", "name"), name="webhook_name_once"),
        ),
        migrations.AddIndex(
            model_name="webhookdelivery",
            index=models.Index(
                condition=models.Q(("state", "waiting")), fields=["webhook", "number"], name="delivery_by_number"
            ),
        ),
        migrations.AddIndex(
            model_name="webhookdelivery",
            index=models.Index(
                condition=models.Q(("state", "waiting")),
                fields=["webhook", "end_user", "number"],
                name="delivery_of_user_waiting",
            ),
        ),
        migrations.AddIndex(
            model_name="webhookdelivery",
            index=models.Index(fields=["webhook", "-id"], name="delivery_of_webhook"),
        ),
        migrations.AddIndex(
            model_name="webhookdelivery",
            index=models.Index(fields=["created_at"], name="delivery_by_time"),
        ),
        migrations.AddIndex(
            model_name="webhookdelivery",
            index=models.Index(condition=models.Q(("state", "waiting")), fields=["give_up_at"], name="delivery_by_end"),
        ),
        migrations.AddIndex(
            model_name="webhookdelivery",
            index=models.Index(
                condition=models.Q(("event__isnull", False)), fields=["event"], name="delivery_of_event"
            ),
        ),
        migrations.AddIndex(
            model_name="webhookdelivery",
            index=models.Index(
                condition=models.Q(("end_user__isnull", False)), fields=["end_user"], name="delivery_of_user"
            ),
        ),
        migrations.AddConstraint(
            model_name="webhookdelivery",
            constraint=models.UniqueConstraint(fields=("webhook", "event"), name="event_told_once"),
        ),
        migrations.AddConstraint(
            model_name="webhookdelivery",
            constraint=models.CheckConstraint(
                condition=models.Q(("state__in", ["delivered", "failed", "waiting"])), name="event_delivery_state_known"
            ),
        ),
    ]
