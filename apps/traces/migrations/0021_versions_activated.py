"""Say of the versions that exist that they were active when they were made: there were no drafts."""

from django.db import migrations
from django.db.models import F


def activate(apps, schema_editor):
    versions = apps.get_model("traces", "ConfigurationVersion")
    versions.objects.filter(activated_at__isnull=True).update(activated_at=F("created_at"))


class Migration(migrations.Migration):
    dependencies = [("traces", "0020_versions_by_author")]

    operations = [migrations.RunPython(activate, migrations.RunPython.noop, elidable=True)]
