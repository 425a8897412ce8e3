"""Numbers of erasures, which caches compare."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("tenants", "0001_initial")]

    operations = [migrations.RunSQL("create sequence tenants_erasure_number", "drop sequence tenants_erasure_number")]
