"""Triggers, and what the models can't say: see rules.sql."""

from pathlib import Path

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("memories", "0001_initial")]

    operations = [migrations.RunSQL(Path(__file__).with_name("rules.sql").read_text(encoding="utf-8"))]
