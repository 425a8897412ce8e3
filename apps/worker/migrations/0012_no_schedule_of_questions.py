"""Questions are asked soon after each batch of memories, so no schedule looks for memories that wait."""

import importlib

from django.db import migrations

_asked = importlib.import_module("apps.worker.migrations.0004_ask_waiting_questions")


class Migration(migrations.Migration):
    dependencies = [("worker", "0011_forget_import_files")]

    operations = [migrations.RunPython(_asked.remove, _asked.add)]
