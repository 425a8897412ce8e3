from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("tenants", "0001_projects_keys_end_users"),
    ]

    operations = [
        migrations.RemoveField(
            model_name="enduser",
            name="erased_at",
        ),
    ]
