"""The page of contradictions."""

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone
from django.utils.html import escape

from apps.memories.models import Memory, MemoryLink
from apps.pipeline.core.enums import LinkKind, LinkStatus, Status
from apps.tenants.models import Project
from tests.console.members import undo_in

pytestmark = pytest.mark.django_db
PAGE = "/console/test/contradictions/"


@pytest.fixture
def link(full_project: Project) -> MemoryLink:
    told = Memory.objects.filter(project=full_project, status=Status.ACTIVE).exclude(tags__contains=["note"])
    one, other = told.order_by("-created_at")[:2]
    MemoryLink.objects.all().delete()
    return MemoryLink.objects.create(
        end_user=one.end_user, project=full_project, from_memory=one, to_memory=other, kind=LinkKind.CONTRADICTS
    )


def decision(link: MemoryLink, resolution: str, **more: str) -> dict[str, object]:
    both = [f"{memory.pk}:{memory.version}" for memory in (link.from_memory, link.to_memory)]
    return {"memory": both, "resolution": resolution, **more}


def test_both_sides_are_shown(admin: Client, link: MemoryLink) -> None:
    page = admin.get(PAGE).content.decode()
    assert escape(link.from_memory.content) in page
    assert escape(link.to_memory.content) in page
    assert page.count("<mark>") >= 2


@pytest.mark.parametrize("kind", LinkKind)
def test_a_list_without_pairs_says_that_nothing_is_to_be_decided(
    admin: Client, full_project: Project, kind: LinkKind
) -> None:
    MemoryLink.objects.all().delete()
    page = admin.get(PAGE, {"kind": kind}).content.decode()
    assert ("Nothing to decide" in page, "No matches" in page) == (True, False)
    searched = admin.get(PAGE, {"kind": kind, "q": "zebra"}).content.decode()
    assert "No matches" in searched
    assert f'{PAGE}?kind={kind}">Show all open pairs' in searched
    assert "Nothing settled yet" in admin.get(PAGE, {"kind": kind, "settled": "1"}).content.decode()


def test_keep_one_and_undo(admin: Client, link: MemoryLink) -> None:
    answer = admin.post(f"{PAGE}{link.pk}/settle/", decision(link, "kept_from"))
    link.refresh_from_db()
    assert (link.status, link.to_memory.status) == (LinkStatus.SETTLED, Status.REJECTED)
    assert "No contradictions" in admin.get(PAGE).content.decode()
    admin.post("/console/test/undo/", undo_in(answer.content.decode()))
    assert MemoryLink.objects.to_settle().get().to_memory.status == Status.ACTIVE


def test_the_next_pair_comes_with_the_answer(admin: Client, link: MemoryLink) -> None:
    three = Memory.objects.filter(end_user=link.end_user, status=Status.ACTIVE).exclude(pk=link.to_memory_id)
    third = three.exclude(pk=link.from_memory_id).first()
    following = MemoryLink.objects.create(
        end_user=link.end_user, project=link.project, from_memory=link.from_memory, to_memory=third, kind=link.kind
    )
    given = decision(link, "both", next=str(following.pk))
    answer = admin.post(f"{PAGE}{link.pk}/settle/", given)
    assert (answer["X-Gone-Rows"], answer["X-Next-Row"]) == (f"row-{link.pk}", f"row-{following.pk}")
    assert escape(third.content) in answer.content.decode().partition('hx-swap-oob="innerHTML:#detail"')[2]


def test_both_with_dates(admin: Client, link: MemoryLink) -> None:
    dates = {f"from-{link.from_memory_id}": "2024-03-01", f"until-{link.to_memory_id}": "2099-03-01", "dated": "1"}
    admin.post(f"{PAGE}{link.pk}/settle/", decision(link, "both", **dates))
    link.refresh_from_db()
    assert f"{link.from_memory.valid_from:%Y-%m-%d}" == "2024-03-01"
    assert f"{link.to_memory.valid_until:%Y-%m-%d}" == "2099-03-01"


@pytest.mark.parametrize("day", ["2024-13-01", "soon", "2024"])
def test_what_is_no_day_is_refused(admin: Client, link: MemoryLink, day: str) -> None:
    given = decision(link, "both", **{f"from-{link.from_memory_id}": day, "dated": "1"})
    assert admin.post(f"{PAGE}{link.pk}/settle/", given).status_code == 422
    assert MemoryLink.objects.to_settle().count() == 1


@pytest.mark.parametrize(
    ("resolution", "done"), [("kept_from", "kept “"), ("kept_to", "kept “"), ("merged", "merged into “")]
)
def test_a_refusal_names_who_decided_first(admin: Client, link: MemoryLink, resolution: str, done: str) -> None:
    first = decision(link, resolution)
    admin.post(f"{PAGE}{link.pk}/settle/", first)
    answer = admin.post(f"{PAGE}{link.pk}/settle/", first)
    assert answer.status_code == 409
    assert f"chief already {done}" in answer.content.decode()


def test_an_address_that_names_a_settled_or_deleted_pair_says_so(admin: Client, link: MemoryLink) -> None:
    admin.post(f"{PAGE}{link.pk}/settle/", decision(link, "both"))
    page = admin.get(f"{PAGE}?open={link.pk}").content.decode()
    assert "chief already kept both" in page
    assert f'data-case="row-{link.pk}"' in page
    MemoryLink.objects.all().delete()
    assert "does not exist any more" in admin.get(f"{PAGE}?open={link.pk}").content.decode()


def test_a_skipped_pair_waits_at_the_end(admin: Client, link: MemoryLink) -> None:
    pair = {"from_memory": link.to_memory, "to_memory": link.from_memory}
    later = MemoryLink.objects.create(end_user=link.end_user, project=link.project, kind=link.kind, **pair)
    admin.post("/console/test/skip/", {"row": str(link.pk)}, headers={"HX-Request": "true"})
    page = admin.get(PAGE).content.decode()
    assert re.findall(r'<li class="row" id="row-([^"]+)"', page) == [str(later.pk), str(link.pk)]


def test_the_older_memory_is_on_the_left_whatever_the_direction_of_the_link(admin: Client, link: MemoryLink) -> None:
    for older, newer in ((link.from_memory, link.to_memory), (link.to_memory, link.from_memory)):
        Memory.objects.filter(pk=older.pk).update(said_at=timezone.now() - timedelta(days=9))
        Memory.objects.filter(pk=newer.pk).update(said_at=timezone.now())
        page = admin.get(f"{PAGE}{link.pk}/").content.decode()
        shown = re.findall(r'<h2 class="statement said" hx-disable><a href="[^"]+/([^"/]+)/">', page)
        assert shown == [str(older.pk), str(newer.pk)]
        keeps = "kept_from" if older.pk == link.from_memory_id else "kept_to"
        assert f'value="{keeps}" data-key="1"' in page
