"""Caches of texts are cleared by time, so erasures need no numbers."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("tenants", "0002_erasure_number")]

    operations = [
        migrations.RunSQL(
            "drop sequence if exists tenants_erasure_number", "create sequence if not exists tenants_erasure_number"
        )
    ]
