"""The page of the ledger links what an entry names."""

import pytest
from django.test import Client
from django.urls import reverse

from apps.memories.models import LedgerEntry
from apps.tenants.models import Project

pytestmark = pytest.mark.django_db


def test_entries_lead_to_their_memories_and_traces(admin_client: Client, full_project: Project) -> None:
    entry = LedgerEntry.objects.filter(project=full_project, object_kind="memory", actor__startswith="trace:").latest(
        "id"
    )
    trace_id = entry.actor.removeprefix("trace:")
    page = admin_client.get(reverse("console:audit", args=[full_project.slug]), {"actor": entry.actor}).content.decode()
    for name, object_id in (("memory", entry.object_id), ("trace", trace_id)):
        link = reverse(f"console:{name}", args=[full_project.slug, object_id])
        assert f'href="{link}"' in page
        assert admin_client.get(link).status_code == 200


def test_other_actors_are_shown_as_they_are(admin_client: Client, full_project: Project) -> None:
    actors = set(LedgerEntry.objects.exclude(actor__startswith="trace:").values_list("actor", flat=True))
    page = admin_client.get(reverse("console:audit", args=[full_project.slug])).content.decode()
    assert actors
    assert all(f"<code>{actor}</code>" in page for actor in actors)
