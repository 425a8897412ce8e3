"""The review queue: groups of memories with the same words, its pages, skipping, and what an address names."""

import re

import pytest
from django.test import Client

from apps.console import paging as paging
from apps.memories.models import Memory
from apps.pipeline.core.enums import Status
from apps.pipeline.core.identifiers import new_id
from apps.review.forms import MOST_AT_ONCE
from apps.tenants.enums import MemberRole
from apps.tenants.models import Project
from tests.console.members import htmx_member, seen, status_of, undo_in
from tests.console.pending import pending, queue_of

pytestmark = pytest.mark.django_db
PAGE = "/console/test/review/"
DETAIL = {"HX-Request": "true", "HX-Target": "detail"}


@pytest.fixture
def same(project: Project) -> list[Memory]:
    """Three memories with the same words, of three users."""
    said = {"Likes  tea": ("rui", "likes"), "likes tea!": ("mia", "likes"), "LIKES Tea.": ("zoe", "likes")}
    return [pending(project, content, user=user, predicate=verb) for content, (user, verb) in said.items()]


def rows(client: Client, query: str = "") -> list[str]:
    """Return the identifiers of the listed rows."""
    return re.findall(r'<li class="row" id="row-([^"]+)"', client.get(f"{PAGE}{query}").content.decode())


def open_case(client: Client, query: str) -> str:
    found = re.search(r'data-case="row-([^"]+)"', client.get(f"{PAGE}{query}").content.decode())
    return found[1] if found else ""


# --- groups


def test_memories_with_the_same_words_are_one_row(rita: Client, project: Project, same: list[Memory]) -> None:
    other = pending(project, "Likes tea with milk")
    assert rows(rita) == [str(same[0].pk), str(other.pk)]
    page = rita.get(PAGE).content.decode()
    assert "3 × the same" in page
    assert "<span>3 users</span>" in page


def test_a_group_opens_to_its_members(rita: Client, same: list[Memory]) -> None:
    case = rita.get(f"/console/test/memories/{same[0].pk}/", headers=DETAIL).content.decode()
    ticked = re.findall(r'value="([^"]+)" form="group" checked', case)
    assert ticked == [seen(each) for each in same]
    assert case.count("<strong>Approve</strong> →") == 3
    assert 'data-key="e"' not in case  # one wording would replace several


def test_filters_narrow_a_group_to_what_they_show(rita: Client, same: list[Memory]) -> None:
    page = rita.get(f"{PAGE}?user=mia").content.decode()
    assert f'value="{seen(same[1])}" form="many"' in page
    assert "× the same" not in page


def test_a_decision_about_a_group_takes_each_member_and_is_undone_at_once(rita: Client, same: list[Memory]) -> None:
    together = " ".join(seen(each) for each in same)
    answer = rita.post(f"{PAGE}approve/", {"memory": together, "grouped": "1"})
    assert "3 memories approved." in answer.content.decode()
    assert {status_of(each) for each in same} == {Status.ACTIVE}
    assert "queue-changed" not in str(answer.headers)
    rita.post("/console/test/undo/", undo_in(answer.content.decode()))
    assert {status_of(each) for each in same} == {Status.PENDING_REVIEW}


def test_members_without_a_tick_stay(rita: Client, same: list[Memory]) -> None:
    given = {"memory": [seen(each) for each in same[:2]], "reason": "private", "grouped": "1"}
    answer = rita.post(f"{PAGE}reject/", given)
    assert [status_of(each) for each in same] == [Status.REJECTED, Status.REJECTED, Status.PENDING_REVIEW]
    assert answer["HX-Trigger-After-Swap"] == '{"queue-changed": {}}'


def test_each_member_is_decided_in_the_version_that_was_shown(rita: Client, same: list[Memory]) -> None:
    shown = " ".join(seen(each) for each in same)
    Memory.objects.filter(pk=same[1].pk).update(version=2, content="Likes tea no more")
    answer = rita.post(f"{PAGE}approve/", {"memory": shown})
    assert [status_of(each) for each in same] == [Status.ACTIVE, Status.PENDING_REVIEW, Status.ACTIVE]
    assert "Not changed" in answer.content.decode()


def test_nothing_and_too_much_is_refused(rita: Client, project: Project) -> None:
    for count in (0, MOST_AT_ONCE + 1):
        given = {"memory": " ".join(f"{new_id()}:1" for _ in range(count))}
        assert rita.post(f"{PAGE}approve/", given).status_code == 422, count


# --- pages


@pytest.fixture
def two_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paging.paginate, "__kwdefaults__", {"size": 2})


# Page, what is asked for beside which row, and the row that is opened.
BESIDE = [
    (1, "after", 0, 1),
    (1, "after", 1, 2),  # the first one of the next page
    (2, "after", 2, 3),
    (3, "after", 4, 4),  # the last one of all
    (2, "before", 2, 1),  # the last one of the page before
    (1, "before", 0, 0),
]


def test_beyond_the_end_of_a_page_is_the_next_page(rita: Client, project: Project, two_a_page: None) -> None:
    queue = queue_of(project, 5)
    for page, beside, at, opened in BESIDE:
        case = open_case(rita, f"?page={page}&{beside}={queue[at].pk}")
        assert case == str(queue[opened].pk), (page, beside, at)


def test_what_was_decided_meanwhile_does_not_hide_what_follows(
    rita: Client, project: Project, two_a_page: None
) -> None:
    queue = queue_of(project, 5)
    rita.post(f"{PAGE}approve/", {"memory": seen(queue[1])})
    assert open_case(rita, f"?page=1&after={queue[0].pk}") == str(queue[2].pk)


# --- skipping


def test_what_is_skipped_waits_at_the_end_for_this_reviewer(rita: Client, project: Project) -> None:
    queue = [str(each.pk) for each in queue_of(project, 4)]
    answer = rita.post("/console/test/skip/", {"row": queue[0]})
    assert answer["X-Skipped-Rows"] == f"row-{queue[0]}"
    rita.post("/console/test/skip/", {"row": queue[2]})
    assert rows(rita) == [queue[1], queue[3], queue[0], queue[2]]
    assert rows(htmx_member("ben", project, MemberRole.REVIEWER)) == queue
    rita.post("/console/test/skip/", undo_in(answer.content.decode()))
    assert rows(rita) == [queue[0], queue[1], queue[3], queue[2]]


def test_only_rows_are_skipped(rita: Client, project: Project) -> None:
    for row in ("", "x", "1 2"):
        assert rita.post("/console/test/skip/", {"row": row}).status_code == 422, row


# --- what an address names


def test_an_address_that_names_a_decided_memory_says_who_decided(rita: Client, project: Project) -> None:
    queue = queue_of(project, 2)
    htmx_member("ben", project, MemberRole.REVIEWER).post(f"{PAGE}approve/", {"memory": seen(queue[0])})
    page = rita.get(f"{PAGE}?open={queue[0].pk}").content.decode()
    assert "ben already approved it" in page
    assert open_case(rita, f"?open={queue[0].pk}") == str(queue[0].pk)
    assert 'data-key="a"' not in page.split('id="detail"')[1]  # neither to approve nor to archive it
    assert rows(rita, f"?open={queue[0].pk}") == [str(queue[1].pk)]


def test_an_address_that_names_nothing_says_so_and_opens_the_first(rita: Client, project: Project) -> None:
    queue = queue_of(project, 2)
    page = rita.get(f"{PAGE}?open={new_id()}").content.decode()
    assert "does not exist any more" in page
    assert open_case(rita, f"?open={new_id()}") == str(queue[0].pk)
    assert "does not exist" not in rita.get(f"{PAGE}?open=nonsense").content.decode()


def test_a_copied_address_opens_a_memory_of_another_page(rita: Client, project: Project, two_a_page: None) -> None:
    queue = queue_of(project, 5)
    address = f"?open={queue[4].pk}"
    assert open_case(rita, address) == str(queue[4].pk)
    assert "not on this page" in rita.get(f"{PAGE}{address}").content.decode()


# --- words


@pytest.mark.parametrize("words", ["pork", "pork eats", "PORK marta", "marta no"])
def test_words_are_found_in_any_order_also_in_the_name_of_the_user(rita: Client, project: Project, words: str) -> None:
    memory = pending(project, "Eats no pork", user="marta")
    pending(project, "Eats pork", user="rui")
    assert str(memory.pk) in rows(rita, f"?q={words}")
    assert rows(rita, "?q=pork+zoe") == []
    listed = rita.get(f"/console/test/memories/?q={words}").content.decode()
    assert "Eats no pork" in listed


def test_after_an_undo_nobody_has_approved(rita: Client, project: Project) -> None:
    memory = pending(project, "Eats no pork")
    answer = rita.post(f"{PAGE}approve/", {"memory": seen(memory)})
    assert "approved by rita" in rita.get(f"/console/test/memories/{memory.pk}/").content.decode()
    rita.post("/console/test/undo/", undo_in(answer.content.decode()))
    assert "approved by" not in rita.get(f"/console/test/memories/{memory.pk}/").content.decode()
