"""Open every page of the console and of the admin that leads from the first ones, and print what failed as JSON.

Run by test_pages_distributed.py in a process of its own, whose DATABASE_URL names a database with a filled project.
"""

import json
import os

import django

# Below the project: what scripts load, and a search whose fields are filled by hand.
FURTHER = ("palette/?q=Lisbon", "palette/?q=ben", "recall/?user=ben&q=Where+does+Ben+live%3F", "counts/?banner=1")


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
    console.run([home, *(home + each for each in FURTHER)])
    admin.run(["/admin/"])
    print(json.dumps({"opened": {**console.opened, **admin.opened}, "failed": {**console.failed, **admin.failed}}))


if __name__ == "__main__":
    main()
