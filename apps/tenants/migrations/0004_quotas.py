from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("tenants", "0003_scope_trust"),
    ]

    operations = [
        migrations.AlterField(
            model_name="project",
            name="queue_limit",
            field=models.PositiveIntegerField(default=10000, help_text="waiting turns from which intake answers 429"),
        ),
        migrations.AddField(
            model_name="project",
            name="requests_per_minute",
            field=models.PositiveIntegerField(blank=True, help_text="of all keys; empty: any number", null=True),
        ),
        migrations.AddField(
            model_name="project",
            name="max_memories",
            field=models.PositiveIntegerField(
                blank=True, help_text="live memories from which intake answers 429; empty: any number", null=True
            ),
        ),
        migrations.AddField(
            model_name="project",
            name="max_model_usd_per_day",
            field=models.DecimalField(
                blank=True,
                decimal_places=2,
                help_text="dollars for models per day (UTC) from which intake answers 429; empty: any amount",
                max_digits=10,
                null=True,
            ),
        ),
        migrations.AddField(
            model_name="apikey",
            name="requests_per_minute",
            field=models.PositiveIntegerField(blank=True, help_text="empty: any number", null=True),
        ),
        migrations.CreateModel(
            name="RateCounter",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("subject", models.CharField(max_length=300)),
                ("window_start", models.DateTimeField()),
                ("ends_at", models.DateTimeField()),
                ("count", models.PositiveBigIntegerField()),
            ],
            options={
                "indexes": [models.Index(fields=["ends_at"], name="rate_counter_by_end")],
                "constraints": [models.UniqueConstraint(fields=("subject", "window_start"), name="rate_counter_once")],
            },
        ),
    ]
