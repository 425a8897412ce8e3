from django.db import migrations
from pgvector.django import VectorExtension


class Migration(migrations.Migration):
    """Vectors need the extension; creating it is a no-op where an administrator already has."""

    initial = True
    dependencies = []
    operations = [VectorExtension()]
