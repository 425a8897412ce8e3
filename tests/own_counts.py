"""Count in a folder of this process: loaded before Django is set up, which opens the files of the counts.

Those of the checkout hold what all runs before have counted, and adding them up takes a second for each page of alerts.
"""

import os
import tempfile

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memplatform.settings")

from django.conf import settings

_counts = tempfile.TemporaryDirectory(prefix="memplatform-metrics-")
settings.METRICS_DIR = _counts.name  # each process that runs tests counts by itself
