"""Open every page of the console and of the admin that leads from the first ones, and print what failed as JSON.

Run by test_pages_distributed.py in a process of its own, whose DATABASE_URL names a database with a filled project.
"""

import json
import os
from collections.abc import Iterator

import django

# Below the project: what scripts load, a search whose fields are filled by hand, and what is shown while others work.
FURTHER = (
    *("palette/?q=Lisbon", "palette/?q=ben", "recall/?user=ben&q=Where+does+Ben+live%3F", "counts/?banner=1"),
    *("first-steps/", "evaluation/comparison/"),
)


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memplatform.settings")
    django.setup()
    from django.contrib.auth.models import User
    from django.test import Client

    from tests.distributed.filled_project import SLUG
    from tests.distributed.walk import Walk

    client = Client()
    client.force_login(User.objects.get(username="chief"))
    home = f"/console/{SLUG}/"
    console, admin = Walk(client, below=home, similar=2), Walk(client, below="/admin/", similar=1)
    console.run([home, *(home + each for each in (*FURTHER, *of_rows()))])
    admin.run(["/admin/"])
    print(json.dumps({"opened": {**console.opened, **admin.opened}, "failed": {**console.failed, **admin.failed}}))


def of_rows() -> Iterator[str]:
    """Yield the addresses of parts of pages that are shown while a preview, a replay or an import runs."""
    from apps.imports.models import FileImport
    from apps.tenants.system_scope import SystemWork, system_scope
    from apps.traces.models import Replay, RulePreview
    from tests.distributed.filled_project import SLUG

    with system_scope(SystemWork.ADMIN):
        replay, file_import, preview = (
            model.objects.filter(project__slug=SLUG).earliest("created_at")
            for model in (Replay, FileImport, RulePreview)
        )
    yield from (f"replays/{replay.pk}/{each}/" for each in ("progress", "export"))
    yield f"imports/{file_import.pk}/progress/"
    yield f"patterns/preview/{preview.pk}/"


if __name__ == "__main__":
    main()
