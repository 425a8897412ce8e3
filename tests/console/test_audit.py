"""The page of the ledger links what an entry names."""

import re
from html import unescape

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from apps.memories.ledger.record import record
from apps.memories.models import LedgerEntry
from apps.pipeline.core.enums import Scope
from apps.pipeline.core.identifiers import new_id
from apps.projects.api_keys import create_key
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


def test_people_and_keys_are_named_and_found_by_their_names(admin_client: Client, full_project: Project) -> None:
    key = create_key(project_id=full_project.pk, name="support bot", scopes=[Scope.READ]).key
    rita = User.objects.create_user("rita")
    for actor in (f"person:{rita.pk}", f"key:{key.id}", "person:999999"):
        record(
            project_id=full_project.pk, verb="noted", object_kind="memory", object_id=new_id(), actor=actor, details={}
        )
    address = reverse("console:audit", args=[full_project.slug])
    page = admin_client.get(address).content.decode()
    for stored, shown in (
        (f"person:{rita.pk}", "rita"),
        (f"key:{key.id}", "key support bot"),
        ("person:999999", "person:999999"),
    ):
        assert f'<span title="{stored}">{shown}</span>' in page
    found = admin_client.get(address, {"actor": "RIT", "verb": "noted"}).content.decode()
    assert f'title="person:{rita.pk}"' in found
    assert f'title="key:{key.id}"' not in found


def test_details_are_words(admin_client: Client, project: Project) -> None:
    other = new_id()
    details = {"fields": ["status", "tags"], "includes_content": False, "links": [["a", "b"]], "by": str(other)}
    record(
        project_id=project.pk, verb="noted", object_kind="memory", object_id=new_id(), actor="system", details=details
    )
    page = admin_client.get(reverse("console:audit", args=[project.slug]), {"verb": "noted"}).content.decode()
    assert f'title="mem_{other.hex}"' in page
    shown = re.findall(r"<code[^>]*>(.*?)</code>", page.partition("<tbody")[2])
    assert {unescape(each) for each in shown} == {"status, tags", "no", '[["a", "b"]]', f"…{other.hex[-6:]}"}
