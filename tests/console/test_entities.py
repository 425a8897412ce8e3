"""The pages of entities: finding them, and merging two that are one."""

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import DjangoAssertNumQueries
from rest_framework.test import APIClient

from apps.memories.models import Entity, EntityAlias, LedgerEntry, Memory, MemoryLink, MemoryVersion
from apps.memories.services.entities import preview_merge
from apps.pipeline.core.enums import Status
from apps.tenants.enums import MemberRole
from apps.tenants.models import Project
from tests.api.test_merge_entities import BOTH, put, state, statement
from tests.console.members import member

pytestmark = pytest.mark.django_db


def test_lists_and_finds_by_any_name(admin: Client, full_project: Project) -> None:
    everyone = admin.get("/console/test/entities/").content.decode()
    found = admin.get("/console/test/entities/", {"q": "mart"}).content.decode()
    assert "Marta" in everyone
    assert "Lisbon" in everyone
    assert "Marta" in found
    assert "Lisbon" not in found


def test_one_entity_shows_its_facts(admin: Client, full_project: Project) -> None:
    marta = Entity.objects.get(name="Marta")
    assert "Porto" in admin.get(f"/console/test/entities/{marta.pk}/").content.decode()


# --- merging


@pytest.fixture
def reviewer(project: Project, client: APIClient) -> Client:
    """A reviewer of a project where Bob is Robert."""
    put(client, *BOTH, {**statement("Ana naps.", "x", "naps", "x"), "subject": "User"})
    put(client, statement("Cy naps.", "Cy", "likes", "naps"), user_id="cy")
    return member("rita", project, MemberRole.REVIEWER)


def address(name: str, *, into: str = "") -> str:
    ending = f"{Entity.objects.get(name=into).pk}/" if into else ""
    return f"/console/test/entities/{Entity.objects.get(name=name).pk}/merge/{ending}"


def test_the_other_one_is_picked_among_those_of_the_same_user(reviewer: Client) -> None:
    page = reviewer.get(address("Bob")).content.decode()
    offered = {name for name in Entity.objects.values_list("name", flat=True) if f">{name}</a>" in page}
    assert offered == {"Robert", "Lena", "User"}
    found = reviewer.get(address("Bob"), {"q": "rob"}).content.decode()
    assert ">Robert</a>" in found
    assert ">Lena</a>" not in found


def test_merging_takes_few_statements_however_much_there_is(
    reviewer: Client, client: APIClient, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    put(client, *(statement(f"Bob owns {number} boats.", "Bob", "owns", f"{number} boats") for number in range(60)))
    put(client, *(statement(f"B{number} sails.", f"B{number}", "likes", "sailing") for number in range(60)))
    for path in (address("Bob"), address("Bob", into="Robert")):
        with django_assert_max_num_queries(25):
            assert reviewer.get(path).status_code == 200
    assert "page=2" in reviewer.get(address("Bob")).content.decode()
    assert "63 memories move to Robert" in reviewer.get(address("Bob", into="Robert")).content.decode()


def test_a_preview_says_what_the_merge_then_does(reviewer: Client, project: Project) -> None:
    bob, robert = Entity.objects.get(name="Bob"), Entity.objects.get(name="Robert")
    before, called = state(), set(robert.aliases.values_list("alias", flat=True))
    preview = preview_merge(project_id=project.pk, entity_id=bob.pk, into_id=robert.pk)
    assert "Bob lives in Bonn." in reviewer.get(address("Bob", into="Robert")).content.decode()
    assert state() == before

    reviewer.post(address("Bob", into="Robert"))
    moved = MemoryVersion.objects.filter(operation="entity_merged").values_list("memory_id", flat=True)
    assert {memory.pk for memory in preview["moved"]} == set(moved)
    closed = Memory.objects.filter(status=Status.SUPERSEDED).values_list("pk", "superseded_by")
    assert [(older.pk, newer.pk) for older, newer in preview["closed"]] == list(closed)
    linked = MemoryLink.objects.values_list("from_memory", "to_memory")
    assert [(one.pk, other.pk) for one, other in preview["repeated"]] == list(linked)
    names = EntityAlias.objects.filter(entity=robert).values_list("alias", flat=True)
    assert set(preview["names"]) == set(names) - called
    assert len(preview["moved"]) == 3
    assert len(preview["closed"]) == len(preview["repeated"]) == len(preview["names"]) == 1


def test_a_merge_is_undone_and_both_are_in_the_ledger_with_the_person(reviewer: Client) -> None:
    before = state()
    page = reviewer.post(address("Bob", into="Robert"), follow=True).content.decode()
    assert "Includes <a" in page
    (undo,) = re.findall(r'action="([^"]+)">.{,200}data-undo', page)
    page = reviewer.post(undo, follow=True).content.decode()
    assert state() == before
    (again,) = re.findall(r'action="([^"]+)">.{,200}data-undo', page)
    reviewer.post(again)
    assert Entity.objects.get(name="Bob").merged_into == Entity.objects.get(name="Robert")
    entries = LedgerEntry.objects.filter(object_id=Entity.objects.get(name="Bob").pk, verb__startswith="entity_")
    assert {entry.actor for entry in entries} == {f"person:{User.objects.get(username='rita').pk}"}
    assert entries.count() == 3
