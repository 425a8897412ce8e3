"""Alerts, who is told about them, and the messages sent."""

import django.contrib.postgres.fields
import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models

import apps.alerts.models
import apps.pipeline.core.identifiers
import apps.tenants.encrypted_text


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("tenants", "0007_second_factor"),
    ]

    operations = [
        migrations.CreateModel(
            name="AlertRecipients",
            fields=[
                (
                    "project",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="alert_recipients",
                        serialize=False,
                        to="tenants.project",
                    ),
                ),
                ("webhook_url", models.CharField(blank=True, help_text="empty: no webhook", max_length=500)),
                (
                    "webhook_secret",
                    apps.tenants.encrypted_text.EncryptedTextField(
                        blank=True,
                        editable=False,
                        help_text="shared with the receiver, which checks signatures with it",
                    ),
                ),
                (
                    "mail_addresses",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.EmailField(max_length=254), blank=True, default=list, size=None
                    ),
                ),
                ("changed_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
            ],
            options={
                "verbose_name_plural": "alert recipients",
            },
        ),
        migrations.CreateModel(
            name="Alert",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=apps.pipeline.core.identifiers.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("kind", models.CharField(choices=apps.alerts.models.alert_kind_choices, max_length=32)),
                ("subject", models.CharField(blank=True, help_text="the model, stage or ratio", max_length=200)),
                (
                    "state",
                    models.CharField(
                        choices=[("open", "open"), ("acknowledged", "acknowledged"), ("resolved", "resolved")],
                        default="open",
                        max_length=16,
                    ),
                ),
                ("cause", models.TextField(help_text="what is wrong, when it was last seen")),
                ("cost", models.TextField(help_text="what it costs while it lasts")),
                ("figures", models.JSONField(default=dict)),
                ("consequences", models.JSONField(blank=True, default=list)),
                (
                    "window_hours",
                    models.PositiveSmallIntegerField(
                        blank=True, help_text="the hours that the figures are of; empty: one moment", null=True
                    ),
                ),
                ("opened_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "last_seen_at",
                    models.DateTimeField(default=django.utils.timezone.now, help_text="when its condition last held"),
                ),
                ("acknowledged_at", models.DateTimeField(blank=True, null=True)),
                ("acknowledged_by", models.CharField(blank=True, help_text="person or key", max_length=160)),
                ("note", models.CharField(blank=True, help_text="of whoever has acknowledged it", max_length=500)),
                ("resolved_at", models.DateTimeField(blank=True, null=True)),
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
            name="AlertDelivery",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=apps.pipeline.core.identifiers.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("event", models.CharField(choices=[("opened", "opened"), ("resolved", "resolved")], max_length=16)),
                ("channel", models.CharField(choices=[("webhook", "webhook"), ("mail", "mail")], max_length=16)),
                (
                    "recipient",
                    models.CharField(help_text="the address of the webhook, or a mail address", max_length=500),
                ),
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
                ("last_error", models.CharField(blank=True, max_length=300)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                (
                    "alert",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="deliveries",
                        to="alerts.alert",
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
                "verbose_name_plural": "alert deliveries",
                "ordering": ("-id",),
            },
        ),
        migrations.AddIndex(
            model_name="alert",
            index=models.Index(fields=["project", "-id"], name="alert_of_project"),
        ),
        migrations.AddConstraint(
            model_name="alert",
            constraint=models.UniqueConstraint(
                condition=models.Q(("resolved_at__isnull", True)),
                fields=("project", "kind", "subject"),
                name="alert_once",
            ),
        ),
        migrations.AddConstraint(
            model_name="alert",
            constraint=models.CheckConstraint(
                condition=models.Q(("state__in", ["acknowledged", "open", "resolved"])), name="alert_state_known"
            ),
        ),
        migrations.AddConstraint(
            model_name="alert",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("resolved_at__isnull", False), ("state", "resolved")),
                    models.Q(models.Q(("state", "resolved"), _negated=True), ("resolved_at__isnull", True)),
                    _connector="OR",
                ),
                name="alert_resolved_at_set",
            ),
        ),
        migrations.AddIndex(
            model_name="alertdelivery",
            index=models.Index(
                condition=models.Q(("state", "waiting")), fields=["next_try_at"], name="delivery_waiting"
            ),
        ),
        migrations.AddIndex(
            model_name="alertdelivery",
            index=models.Index(fields=["project", "-id"], name="delivery_of_project"),
        ),
        migrations.AddConstraint(
            model_name="alertdelivery",
            constraint=models.UniqueConstraint(
                fields=("alert", "event", "channel", "recipient"), name="alert_told_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="alertdelivery",
            constraint=models.CheckConstraint(
                condition=models.Q(("state__in", ["delivered", "failed", "waiting"])), name="delivery_state_known"
            ),
        ),
    ]
