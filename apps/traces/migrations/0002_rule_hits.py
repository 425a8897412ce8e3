from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("tenants", "0001_projects_keys_end_users"),
        ("traces", "0001_what_happened"),
    ]

    operations = [
        migrations.AddField(
            model_name="turn",
            name="hit_counted",
            field=models.BooleanField(
                db_default=False,
                default=False,
                editable=False,
                help_text="whether the hits of its rule include this turn",
            ),
        ),
        migrations.AddIndex(
            model_name="turn",
            index=models.Index(
                condition=models.Q(("hit_counted", False), models.Q(("rejected_by", ""), _negated=True)),
                fields=["received_at"],
                name="turn_hit_uncounted",
            ),
        ),
    ]
