"""The review page."""

import json
from datetime import UTC, datetime
from uuid import uuid4

import pytest
from django.test import Client
from django.utils.html import escape

from apps.memories.models import Memory, MemoryComment, MemoryLink, MemoryOrigin, MemoryVector
from apps.pipeline.core.enums import CONSTRAINT, LinkKind, SpeechAct, Stage, Status
from apps.pipeline.core.policy import Policy
from apps.tenants.enums import MemberRole
from apps.tenants.models import Project
from apps.traces.models import Span
from tests.console.members import htmx_member, seen, status_of, undo_in
from tests.console.operation_rows import HOSTILE
from tests.console.pending import pending

pytestmark = pytest.mark.django_db
PAGE = "/console/test/review/"


@pytest.fixture
def waiting(full_project: Project) -> list[Memory]:
    """Memories that wait, oldest first."""
    Memory.objects.filter(project=full_project, status=Status.ACTIVE).update(
        status=Status.PENDING_REVIEW, review_reasons=["low_confidence"]
    )
    return list(Memory.objects.filter(project=full_project, status=Status.PENDING_REVIEW).order_by("created_at"))


@pytest.fixture
def reviewer(full_project: Project) -> Client:
    return htmx_member("ana", full_project, MemberRole.REVIEWER)


def test_the_list_shows_what_waits_with_its_quote(admin: Client, waiting: list[Memory]) -> None:
    page = admin.get(PAGE).content.decode()
    for memory in waiting:
        assert escape(memory.content) in page
    assert "<mark>" in page
    assert HOSTILE not in page


def test_filters_narrow_the_list(admin: Client, waiting: list[Memory]) -> None:
    tea = next(memory for memory in waiting if "tea" in memory.content)
    page = admin.get(PAGE, {"q": "green tea", "reason": "low_confidence", "type": tea.type}).content.decode()
    assert page.count("data-open-row") == 1
    assert "No matches" in admin.get(PAGE, {"user": "nobody of that name"}).content.decode()


def test_an_empty_queue_says_so_kindly(admin: Client, project: Project) -> None:
    assert "All caught up" in admin.get(PAGE).content.decode()


def test_approve_and_undo(reviewer: Client, waiting: list[Memory]) -> None:
    memory = waiting[0]
    answer = reviewer.post(f"{PAGE}approve/", {"memory": seen(memory)})
    assert status_of(memory) == Status.ACTIVE
    assert answer["X-Gone-Rows"] == f"row-{memory.pk}"
    undone = reviewer.post("/console/test/undo/", undo_in(answer.content.decode()))
    assert json.loads(undone["HX-Trigger"]) == {"undone": {"opens": str(memory.pk)}}
    assert status_of(memory) == Status.PENDING_REVIEW


@pytest.mark.parametrize("way", ["review/approve", "review/reject", "skip"])
def test_the_next_case_comes_with_the_answer(reviewer: Client, waiting: list[Memory], way: str) -> None:
    first, second = waiting[:2]
    given = {"memory": seen(first), "row": str(first.pk), "reason": "not_true"}
    answer = reviewer.post(f"/console/test/{way}/?q={second.content.split()[-1]}", given | {"next": str(second.pk)})
    assert answer["X-Next-Row"] == f"row-{second.pk}"
    case = answer.content.decode().partition('hx-swap-oob="innerHTML:#detail"')[2]
    assert f'data-case="row-{second.pk}"' in case
    assert escape(second.content) in case
    assert 'data-key="s"' in case  # as it is shown beside the list
    for nothing in ("", str(uuid4()), "x"):
        answer = reviewer.post("/console/test/skip/", given | {"next": nothing})
        assert "X-Next-Row" not in answer
        assert "#detail" not in answer.content.decode()


def test_the_message_names_what_an_approval_has_closed(reviewer: Client, waiting: list[Memory]) -> None:
    first = waiting[0]
    other = next(each for each in waiting[1:] if each.end_user_id == first.end_user_id)
    Memory.objects.filter(pk=other.pk).update(status=Status.ACTIVE)
    page = reviewer.post(f"{PAGE}approve/", {"memory": seen(first), "replaces": seen(other)}).content.decode()
    assert status_of(other) == Status.SUPERSEDED
    assert f"Replaced: “{escape(other.content)}”" in page
    plain = reviewer.post(f"{PAGE}approve/", {"memory": seen(waiting[-1])}).content.decode()
    assert "Replaced" not in plain


def test_one_key_merges_into_what_is_repeated(reviewer: Client, waiting: list[Memory]) -> None:
    one, other = waiting[:2]
    own = MemoryVector.objects.get(memory=one)
    MemoryVector.objects.filter(memory=other).update(embedding=own.embedding)
    for polarity, expected in (("positive", True), ("negative", False)):
        said = {"predicate": one.predicate, "polarity": polarity, "content": "Rui says so, too."}
        Memory.objects.filter(pk=other.pk).update(**said)
        page = reviewer.get(f"/console/test/memories/{one.pk}/").content.decode()
        button = f'name="into" value="{seen(other)}"><button class="wraps" data-key="m">'
        assert (button in page, "Merge</strong> → becomes a source of" in page) == (expected, expected), polarity


def test_long_texts_can_be_edited(reviewer: Client, waiting: list[Memory]) -> None:
    long = " ".join(["Rui sails."] * 1_000)
    page = reviewer.get(f"/console/test/memories/{waiting[0].pk}/").content.decode()
    assert 'name="content" required maxlength="20000"' in page
    reviewer.post(f"{PAGE}approve/", {"memory": seen(waiting[0]), "content": long})
    assert Memory.objects.get(pk=waiting[0].pk).content == long


def test_a_memory_needs_words(reviewer: Client, waiting: list[Memory]) -> None:
    for content in ("", "  "):
        assert reviewer.post(f"{PAGE}approve/", {"memory": seen(waiting[0]), "content": content}).status_code == 422
        assert status_of(waiting[0]) == Status.PENDING_REVIEW


def test_what_approving_many_does_is_shown_before(
    reviewer: Client, full_project: Project, waiting: list[Memory]
) -> None:
    joke, rule = waiting[:2]
    Memory.objects.filter(pk=joke.pk).update(speech_act=SpeechAct.SARCASM)
    Memory.objects.filter(pk=rule.pk).update(tags=[CONSTRAINT])
    MemoryComment.objects.create(end_user_id=rule.end_user_id, memory=rule, author="person:1", text="Since when?")
    chosen = {"memory": [seen(each) for each in waiting] + [f"{uuid4()}:1"]}
    page = " ".join(reviewer.post("/console/test/review/approve/preview/", chosen).content.decode().split())
    assert f"{len(waiting) - 1} memories become active" in page
    for said in (
        "1 of them is a rule for agents",
        "comments, maybe a question",
        "1 more was not said as a fact and stays",
    ):
        assert said in page
    assert "1 more is decided already" in page
    assert {status_of(each) for each in waiting} == {Status.PENDING_REVIEW}
    assert reviewer.post("/console/test/review/approve/preview/", {}).status_code == 422


def test_an_approval_that_becomes_history_says_so(rita: Client, project: Project) -> None:
    old, other, new = (
        pending(project, f"Rui lives in {city}", predicate="lives_in") for city in ("Faro", "Beja", "Porto")
    )
    Memory.objects.filter(pk__in=[old.pk, other.pk, new.pk]).update(stateful=True)
    for memory, day in ((old, 1), (other, 2), (new, 3)):
        moment = datetime(2026, 1, day, tzinfo=UTC)
        Memory.objects.filter(pk=memory.pk).update(said_at=moment, valid_from=moment)
    rita.post(f"{PAGE}approve/", {"memory": seen(new)})
    toast = rita.post(f"{PAGE}approve/", {"memory": seen(old)}).content.decode()
    assert "It became history at once, since “Rui lives in Porto” was said later" in toast
    assert status_of(old) == Status.SUPERSEDED
    several = {"memory": [seen(other), seen(pending(project, "Rui sails"))]}
    toast = rita.post(f"{PAGE}approve/", several).content.decode()
    assert "2 memories approved. 1 of them became history at once, since “Rui lives in Porto”" in toast


def test_the_inbox_tells_how_far_one_is_today(reviewer: Client, waiting: list[Memory]) -> None:
    reviewer.post("/console/test/review/reject/", {"memory": [seen(waiting[0])], "reason": "not_true"})
    page = reviewer.get(PAGE, headers={"HX-Request": ""}).content.decode()
    assert f"1 of {len(waiting)} decided by you today" in page


def test_what_was_undone_does_not_count_as_decided(reviewer: Client, waiting: list[Memory]) -> None:
    kept, taken_back = waiting[:2]
    reviewer.post("/console/test/review/reject/", {"memory": [seen(kept)], "reason": "not_true"})
    rejected = reviewer.post("/console/test/review/reject/", {"memory": [seen(taken_back)], "reason": "private"})
    assert f"2 of {len(waiting)} decided by you today" in reviewer.get(PAGE).content.decode()
    reviewer.post("/console/test/undo/", undo_in(rejected.content.decode()))
    for reason in ("", *taken_back.review_reasons):
        page = reviewer.get(PAGE, {"reason": reason}).content.decode()
        assert f"1 of {len(waiting)} decided by you today" in page


def test_reviewers_see_the_guideline_that_an_admin_writes(reviewer: Client, admin: Client, project: Project) -> None:
    assert "passing moods" in admin.get(PAGE).content.decode()
    form = {"name": "Test", "review_guideline": "Only allergies. <b>"}
    assert admin.post("/console/test/project/", form).status_code == 302
    for path in ("review/", "contradictions/"):
        page = reviewer.get(f"/console/test/{path}", headers={"HX-Request": ""}).content.decode()
        assert "Only allergies. &lt;b&gt;" in page
        assert "passing moods" not in page


def test_reject_many_for_a_reason(reviewer: Client, waiting: list[Memory]) -> None:
    given = {"memory": [seen(memory) for memory in waiting], "reason": "private"}
    answer = reviewer.post(f"{PAGE}reject/", given)
    assert f"{len(waiting)} memories rejected." in answer.content.decode()
    assert {status_of(memory) for memory in waiting} == {Status.REJECTED}
    reviewer.post("/console/test/undo/", undo_in(answer.content.decode()))
    assert {status_of(memory) for memory in waiting} == {Status.PENDING_REVIEW}


def test_what_does_not_fit_is_refused(reviewer: Client, waiting: list[Memory]) -> None:
    unfit: list[dict[str, str]] = [{"reason": "because"}, {}, {"reason": "private", "memory": "1:x"}]
    for given in unfit:
        assert reviewer.post(f"{PAGE}reject/", {"memory": seen(waiting[0])} | given).status_code == 422, given
        assert status_of(waiting[0]) == Status.PENDING_REVIEW


def test_the_second_reviewer_sees_who_was_faster(
    reviewer: Client, full_project: Project, waiting: list[Memory]
) -> None:
    htmx_member("ben", full_project, MemberRole.REVIEWER).post(f"{PAGE}approve/", {"memory": seen(waiting[0])})
    answer = reviewer.post(f"{PAGE}reject/", {"memory": seen(waiting[0]), "reason": "private"})
    assert answer.status_code == 409
    assert "ben already approved it" in answer.content.decode()
    assert answer["X-Gone-Rows"] == f"row-{waiting[0].pk}"
    assert status_of(waiting[0]) == Status.ACTIVE


def test_merge_into_another(reviewer: Client, waiting: list[Memory]) -> None:
    answer = reviewer.post(f"{PAGE}merge/", {"memory": seen(waiting[0]), "into": seen(waiting[1])})
    assert (status_of(waiting[0]), status_of(waiting[1])) == (Status.MERGED, Status.ACTIVE)
    reviewer.post("/console/test/undo/", undo_in(answer.content.decode()))
    assert (status_of(waiting[0]), status_of(waiting[1])) == (Status.PENDING_REVIEW, Status.PENDING_REVIEW)


def test_viewers_only_look(full_project: Project, waiting: list[Memory]) -> None:
    viewer = htmx_member("eva", full_project, MemberRole.VIEWER)
    given = {"memory": seen(waiting[0]), "reason": "private", "into": seen(waiting[1])}
    for what in ("review/approve", "review/reject", "review/merge", "undo"):
        assert viewer.post(f"/console/test/{what}/", given).status_code == 403, what
        assert status_of(waiting[0]) == Status.PENDING_REVIEW
    assert "data-key" not in viewer.get(PAGE).content.decode()


def test_a_memory_of_another_project_is_not_found(admin: Client, other_project: Project, waiting: list[Memory]) -> None:
    assert admin.get(f"/console/other/memories/{waiting[0].pk}/").status_code == 404
    answer = admin.post("/console/other/review/approve/", {"memory": seen(waiting[0])})
    assert answer.status_code == 409
    assert status_of(waiting[0]) == Status.PENDING_REVIEW


def test_a_link_shows_how_alike_the_two_were_and_the_band(admin: Client, full_project: Project) -> None:
    memory, other = Memory.objects.filter(project=full_project, trace__isnull=False)[:2]
    near = {"memory": str(other.pk), "verdict": "unsure", "tier": "judge", "cosine": 0.8125, "rest": None}
    notes = {"compared": {str(memory.candidate_index): {"rule": "new", "near": [{**near, "guards": ["order"]}]}}}
    Span.objects.filter(trace=memory.trace, stage=Stage.DEDUPE).update(details=notes)
    band = Policy().dedupe.band(embedder=memory.vectors.get().embedder)
    link = {"end_user": memory.end_user, "project": full_project, "from_memory": memory, "to_memory": other}
    made = MemoryLink.objects.create(**link, kind=LinkKind.POSSIBLE_DUPLICATE, trace=memory.trace)
    for path in (f"memories/{memory.pk}/", f"memories/{other.pk}/", f"contradictions/{made.pk}/"):
        page = admin.get(f"/console/test/{path}").content.decode()
        assert f"Similarity 0.81 when it was written (undecided from {band.unsure:.2f})" in page
        assert "<strong>unsure</strong>, decided by a model; they differ in order" in page
    for nothing in ({}, {"compared": {}}):
        Span.objects.filter(trace=memory.trace, stage=Stage.DEDUPE).update(details=nothing)
        assert "when it was written" not in admin.get(f"/console/test/memories/{memory.pk}/").content.decode()


def test_a_memory_links_what_it_rests_on_and_what_it_replaced(admin: Client, full_project: Project) -> None:
    lisbon = Memory.objects.get(project=full_project, content__contains="Lisbon")
    braga = Memory.objects.get(pk=lisbon.superseded_by_id)
    old, new = (f"/console/test/memories/{each.pk}/" for each in (lisbon, braga))
    page = admin.get(new).content.decode()
    assert f'<dt>replaced</dt><dd><a class="said" hx-disable href="{old}">' in page
    origin = MemoryOrigin.objects.select_related("turn").get(memory=braga)
    assert page.count(f'href="/console/test/traces/{origin.turn.trace_id}/"') == 2
    page = admin.get(old).content.decode()
    assert f'<dt>replaced by</dt><dd><a class="said" hx-disable href="{new}">' in page


def test_a_memory_names_what_was_merged_into_it(reviewer: Client, waiting: list[Memory]) -> None:
    one, other = waiting[:2]
    reviewer.post(f"{PAGE}merge/", {"memory": seen(one), "into": seen(other)})
    assert f'<dt>also said as</dt><dd><a class="said" hx-disable href="/console/test/memories/{one.pk}/' in (
        reviewer.get(f"/console/test/memories/{other.pk}/").content.decode()
    )
    assert "<dt>merged into</dt>" in reviewer.get(f"/console/test/memories/{one.pk}/").content.decode()
