"""The pages to observe and run a project: access, contents and buttons."""

import re
from datetime import timedelta
from urllib.parse import urlencode
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from apps.actions.keys.create_key import create_key
from apps.actions.keys.restore_key import UNDO_PERIOD
from apps.outbox.models import ModelPause, OutboxRow, UserLease
from apps.pipeline.core.enums import MemberRole, Scope, WorkState
from apps.tenants.models import ApiKey, Membership, Project
from apps.traces.models import HourlyTally, PreFilterRule, Trace, Turn
from tests.console.conftest import HOSTILE

pytestmark = pytest.mark.django_db
HOME = "/console/test/"
OPEN_TO_ALL = (
    "dashboard/",
    "traces/",
    "why-not/?q=lisbon",
    "patterns/",
    "configuration/",
    "configuration/1/",
    "queue/",
    "alerts/",
)
FOR_ADMINS = ("patterns/new/", "patterns/rules/thanks_en/", "keys/", "members/", "alerts/recipients/")
NOBODY = UUID(int=7)
BUTTONS = (
    "patterns/preview/",
    "patterns/rules/thanks_en/switch/",
    "patterns/rules/thanks_en/delete/",
    "configuration/change/",
    "configuration/1/restore/",
    "queue/retry/",
    "queue/try-model/",
    "queue/1/retry/",
    "queue/1/discard/",
    f"alerts/{NOBODY}/acknowledge/",
    f"keys/{NOBODY}/revoke/",
    f"keys/{NOBODY}/restore/",
    f"members/{NOBODY}/remove/",
    "members/1/viewer/restore/",
)


def member(name: str, project: Project, role: MemberRole) -> Client:
    user = User.objects.create_user(name)
    Membership.objects.create(user=user, project=project, role=role)
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def viewer(full_project: Project) -> Client:
    return member("vic", full_project, MemberRole.VIEWER)


@pytest.fixture
def tuner(full_project: Project) -> Client:
    return member("tess", full_project, MemberRole.ADMIN)


def text_of(client: Client, path: str, status: int = 200) -> str:
    answer = client.get(HOME + path)
    assert answer.status_code == status, path
    return answer.content.decode()


@pytest.mark.parametrize("path", [*OPEN_TO_ALL, *FOR_ADMINS])
def test_pages_ask_the_database_little_and_show_hostile_text_as_text(
    tuner: Client, path: str, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_max_num_queries(25):
        page = text_of(tuner, path)
    assert HOSTILE not in page


@pytest.mark.parametrize("path", OPEN_TO_ALL)
def test_viewers_look_but_have_no_buttons(viewer: Client, path: str) -> None:
    page = text_of(viewer, path)
    for action in ("/switch/", "/restore/", "/discard/", "Save as new version", "New rule"):
        assert action not in page


@pytest.mark.parametrize("path", FOR_ADMINS)
def test_what_is_for_admins_is_kept_from_others(viewer: Client, path: str) -> None:
    text_of(viewer, path, status=403)


@pytest.mark.parametrize("path", BUTTONS)
def test_buttons_are_for_admins_and_take_a_post(viewer: Client, tuner: Client, path: str) -> None:
    assert viewer.post(HOME + path).status_code == 403
    assert tuner.get(HOME + path).status_code == 405


def test_a_project_of_others_does_not_exist(other_project: Project, viewer: Client) -> None:
    for path in (*OPEN_TO_ALL, *FOR_ADMINS):
        assert viewer.get(f"/console/other/{path}").status_code == 404


# --- traces


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({}, 6),
        ({"q": "LIVES porto"}, 1),
        ({"q": "zebra"}, 0),
        ({"user": f"rui {HOSTILE}"}, 6),
        ({"user": "nobody"}, 0),
        ({"status": "rejected"}, 1),
        ({"status": "no such status"}, 6),
        ({"reason": "thanks"}, 1),
        ({"reason": "no_candidate"}, 0),
        ({"since": "2999-01-01"}, 0),
        ({"until": "2001-01-01"}, 0),
        ({"since": "2001-02-31", "until": "long ago"}, 6),
        ({"q": "zebra\x00b\x00" * 90, "reason": "\x00"}, 0),
    ],
)
def test_traces_are_found(viewer: Client, query: dict[str, str], expected: int) -> None:
    assert text_of(viewer, f"traces/?{urlencode(query)}").count("data-open-row") == expected


def test_a_trace_opens_by_its_identifier(viewer: Client, full_project: Project) -> None:
    trace = Trace.objects.filter(project=full_project).latest("created_at")
    answer = viewer.get(f"{HOME}traces/?q={trace.shown_id}")
    assert answer["Location"] == f"{HOME}traces/{trace.pk}/"


def test_each_trace_shows_its_funnel_stages_and_plan(viewer: Client, full_project: Project) -> None:
    for trace in Trace.objects.filter(project=full_project):
        page = text_of(viewer, f"traces/{trace.pk}/")
        assert trace.shown_id in page
        assert "pre-filter" in page
        assert ("AddMemory" in page) == bool(trace.counts["stored"])
        assert HOSTILE not in page


def test_a_trace_of_another_project_does_not_exist(viewer: Client, other_project: Project) -> None:
    text_of(viewer, f"traces/{NOBODY}/", status=404)


# --- why was it not remembered?


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        ("thanks", "it only says thanks"),
        ("porto", "It was stored, and agents can use it."),
        ("live lisbon", "has since been superseded by a newer memory"),
        ("live braga", "it was retracted"),
        ("zebra", "No matching turn"),
    ],
)
def test_a_turn_says_what_became_of_it(viewer: Client, words: str, answer: str) -> None:
    assert answer in text_of(viewer, f"why-not/?{urlencode({'q': words})}")


def test_an_unfinished_turn_says_so(viewer: Client, full_project: Project) -> None:
    trace = Turn.objects.get(content__contains="Porto").trace
    for status, error, answer in (("queued", "", "waiting for a worker"), ("dead", "out of luck", "out of luck")):
        Trace.objects.filter(pk=trace.pk).update(status=status, error=error)
        assert answer in text_of(viewer, "why-not/?q=porto")


def test_a_turn_whose_processing_fails_says_so(viewer: Client, full_project: Project) -> None:
    trace = Turn.objects.get(content__contains="Porto").trace
    Trace.objects.filter(pk=trace.pk).update(status="queued")
    row = OutboxRow.objects.filter(subject_id=trace.pk)
    row.update(state=WorkState.PENDING, attempts=2, last_error="out of luck")
    page = text_of(viewer, "why-not/?q=porto")
    assert "2 attempts failed" in page
    assert "out of luck" in page
    assert "waiting for a worker" not in page


@pytest.mark.parametrize("page", ["why-not/?q=thanks", "trace"])
def test_a_rule_is_found_from_what_it_dropped_although_it_was_deleted(
    viewer: Client, full_project: Project, page: str
) -> None:
    turn = Turn.objects.get(content="thanks!")
    shown = text_of(viewer, page.replace("trace", f"traces/{turn.trace_id}/"))
    link = f"patterns/?q={turn.rejected_by}"
    assert f'href="{HOME}{link}"' in shown
    assert str(turn.rejected_by) in text_of(viewer, link)
    PreFilterRule.objects.filter(project=full_project, name=turn.rejected_by).delete()
    assert "A deleted rule" in text_of(viewer, link)


def test_a_search_for_a_user_leaves_the_person_who_is_signed_in(viewer: Client) -> None:
    assert "Sign out vic" in text_of(viewer, "why-not/?q=porto&user=someone")


def test_answers_are_of_the_user_that_was_named(viewer: Client) -> None:
    assert "No matching turn" in text_of(viewer, "why-not/?q=porto&user=someone")


# --- dashboard


@pytest.mark.parametrize("step", ["hour", "day", "week", "no such step"])
def test_the_dashboard_counts_what_was_said(viewer: Client, step: str) -> None:
    page = text_of(viewer, f"dashboard/?by={step}")
    assert "<dt>Turns</dt><dd>6</dd>" in page
    assert "reason=thanks" in page


def test_an_empty_period_says_so_kindly(viewer: Client) -> None:
    HourlyTally.objects.all().delete()
    assert "No turns in the last 30 days" in text_of(viewer, "dashboard/")


def test_a_trace_of_one_turn_says_one_turn(viewer: Client, full_project: Project) -> None:
    trace = Trace.objects.filter(project=full_project).latest("created_at")
    page = text_of(viewer, f"traces/{trace.pk}/")
    assert "<strong>1</strong> turn<" in page
    assert "<strong>1</strong> turns" not in page


def test_the_configuration_names_no_files_or_libraries(viewer: Client) -> None:
    page = text_of(viewer, "configuration/")
    assert not any(word in page for word in ("rapidfuzz", "(design:", ".py"))


# --- queue


def test_work_is_discarded_and_retried(tuner: Client, full_project: Project) -> None:
    OutboxRow.objects.filter(project=full_project).update(state=WorkState.PENDING)
    row = OutboxRow.objects.filter(project=full_project).earliest("id")
    page = tuner.post(f"{HOME}queue/{row.pk}/discard/", follow=True).content.decode()
    assert OutboxRow.objects.get(pk=row.pk).state == WorkState.DEAD
    undo = f"{HOME}queue/{row.pk}/retry/"
    assert f'action="{undo}"' in page
    assert str(row.pk) in text_of(tuner, "queue/?state=dead")
    tuner.post(undo)
    assert OutboxRow.objects.get(pk=row.pk).state == WorkState.PENDING


def test_finished_work_can_not_be_discarded(tuner: Client, full_project: Project) -> None:
    OutboxRow.objects.filter(project=full_project).update(state=WorkState.DONE)
    row = OutboxRow.objects.filter(project=full_project).earliest("id")
    page = tuner.post(f"{HOME}queue/{row.pk}/discard/", follow=True).content.decode()
    assert "Nothing was changed" in page
    assert OutboxRow.objects.get(pk=row.pk).state == WorkState.DONE


def test_the_list_stays_filtered_after_a_button(tuner: Client, full_project: Project) -> None:
    OutboxRow.objects.filter(project=full_project).update(state=WorkState.DEAD)
    row = OutboxRow.objects.filter(project=full_project).earliest("id")
    button = f"{HOME}queue/{row.pk}/retry/?state=dead"
    assert f'action="{button}"' in text_of(tuner, "queue/?state=dead")
    answer = tuner.post(button, follow=True)
    assert answer.redirect_chain[-1][0] == f"{HOME}queue/?state=dead"
    assert f'action="{HOME}queue/{row.pk}/discard/?state=dead"' in answer.content.decode()


def test_an_empty_queue_mentions_failed_work(viewer: Client, full_project: Project) -> None:
    rows = OutboxRow.objects.filter(project=full_project)
    rows.update(state=WorkState.DONE)
    assert "All accepted turns are processed." in text_of(viewer, "queue/")
    failed = rows.earliest("id")
    rows.filter(pk=failed.pk).update(state=WorkState.DEAD)
    page = text_of(viewer, "queue/")
    assert "All accepted turns are processed." not in page
    assert "1 entry failed" in page
    assert "?state=dead" in page


# --- keys


def test_a_key_is_shown_once(tuner: Client, full_project: Project) -> None:
    given = {"name": "agent", "scopes": ["read"], "expires_at": "2999-01-01"}
    answer = tuner.post(f"{HOME}keys/", given)
    key = ApiKey.objects.get(project=full_project, name="agent")
    assert f"mp_{key.prefix}_" in answer.content.decode()
    assert "no-store" in answer["Cache-Control"]
    assert f"mp_{key.prefix}_" not in text_of(tuner, "keys/")


@pytest.mark.parametrize(
    "given",
    [
        {"name": "", "scopes": ["read"]},
        {"name": "agent"},
        {"name": "agent", "scopes": ["root"]},
        {"name": "agent", "scopes": ["read"], "expires_at": "2001-01-01"},
    ],
)
def test_a_key_that_makes_no_sense_is_refused(tuner: Client, full_project: Project, given: dict[str, object]) -> None:
    assert tuner.post(f"{HOME}keys/", given).status_code == 422
    assert not ApiKey.objects.filter(project=full_project).exists()


def test_a_key_is_revoked_but_not_that_of_another_project(
    tuner: Client, full_project: Project, other_project: Project
) -> None:
    mine = create_key(project_id=full_project.pk, name="mine", scopes=[Scope.READ]).key
    theirs = create_key(project_id=other_project.pk, name="theirs", scopes=[Scope.READ]).key
    for key in (mine, theirs):
        tuner.post(f"{HOME}keys/{key.pk}/revoke/")
    assert [key.name for key in ApiKey.objects.filter(revoked_at=None)] == ["theirs"]


def test_a_revoked_key_comes_back_for_a_short_while(
    tuner: Client, full_project: Project, other_project: Project
) -> None:
    mine = create_key(project_id=full_project.pk, name="mine", scopes=[Scope.READ]).key
    theirs = create_key(project_id=other_project.pk, name="theirs", scopes=[Scope.READ]).key
    page = tuner.post(f"{HOME}keys/{mine.pk}/revoke/", follow=True).content.decode()
    assert f"{HOME}keys/{mine.pk}/restore/" in page
    tuner.post(f"{HOME}keys/{mine.pk}/restore/")
    assert ApiKey.objects.filter(revoked_at=None, pk=mine.pk).exists()

    ApiKey.objects.update(revoked_at=timezone.now() - UNDO_PERIOD)
    for key in (mine, theirs):
        assert "Nothing was changed" in tuner.post(f"{HOME}keys/{key.pk}/restore/", follow=True).content.decode()
    assert not ApiKey.objects.filter(revoked_at=None).exists()


# --- members


def test_members_come_change_and_go(tuner: Client, full_project: Project) -> None:
    User.objects.create_user("rita")
    tuner.post(f"{HOME}members/", {"username": "rita", "role": "viewer"})
    tuner.post(f"{HOME}members/", {"username": "rita", "role": "reviewer"})
    rita = Membership.objects.get(project=full_project, user__username="rita")
    assert rita.role == MemberRole.REVIEWER
    tuner.post(f"{HOME}members/{rita.pk}/remove/")
    assert not Membership.objects.filter(pk=rita.pk).exists()


def test_a_role_that_was_changed_or_taken_is_given_back(tuner: Client, full_project: Project) -> None:
    def role() -> str | None:
        return Membership.objects.filter(project=full_project, user=rita).values_list("role", flat=True).first()

    def done(address: str, **form: str) -> str:
        """Do it, and return the address of its undo."""
        page = tuner.post(address, form, follow=True).content.decode()
        return re.findall(rf'action="({HOME}members/[^"]+)">.{{,200}}data-undo', page)[-1]

    rita = User.objects.create_user("rita")
    back = done(f"{HOME}members/", username="rita", role="viewer")
    tuner.post(back)
    assert role() is None
    done(f"{HOME}members/", username="rita", role="viewer")
    tuner.post(done(f"{HOME}members/", username="rita", role="reviewer"))
    assert role() == MemberRole.VIEWER
    member = Membership.objects.get(project=full_project, user=rita)
    back = done(f"{HOME}members/{member.pk}/remove/")
    assert role() is None
    tuner.post(back)
    assert role() == MemberRole.VIEWER


def test_nobody_unknown_joins_and_the_last_admin_stays(tuner: Client, full_project: Project) -> None:
    answer = tuner.post(f"{HOME}members/", {"username": "nobody", "role": "viewer"})
    assert (answer.status_code, "This name can&#x27;t be added." in answer.content.decode()) == (422, True)
    tess = Membership.objects.get(project=full_project, user__username="tess")
    page = tuner.post(f"{HOME}members/{tess.pk}/remove/", follow=True).content.decode()
    assert "at least one admin" in page
    assert Membership.objects.filter(pk=tess.pk).exists()


def test_names_that_can_not_be_added_are_not_tried_without_end(tuner: Client, full_project: Project) -> None:
    def page(name: str) -> str:
        return tuner.post(f"{HOME}members/", {"username": name, "role": "viewer"}).content.decode()

    User.objects.create_user("gone", is_active=False)
    tries = [page(f"name {number}") for number in range(19)] + [page("gone")]
    assert all("This name can&#x27;t be added." in each for each in tries)
    assert "Too many names" in page("another")


# --- a model that does not answer, and failed work


def pause_model(project: Project, *, error: str = "connection refused") -> None:
    now = timezone.now()
    ModelPause.objects.all().delete()
    ModelPause.objects.create(
        project=project, model="openai:down", kind="model", since=now, until=now + timedelta(seconds=41), error=error
    )
    user = UserLease.objects.filter(project=project).first()
    UserLease.objects.filter(pk=user.pk).update(waits_for="openai:down", ready_at=now)
    row = OutboxRow.objects.filter(end_user_id=user.pk, kind="run_pipeline").first()
    OutboxRow.objects.filter(pk=row.pk).update(state=WorkState.PENDING)
    Trace.objects.filter(pk=row.subject_id).update(status="queued")


@pytest.mark.parametrize("path", ["dashboard/", "queue/"])
def test_a_model_that_does_not_answer_is_announced(tuner: Client, full_project: Project, path: str) -> None:
    pause_model(full_project, error=HOSTILE)
    page = text_of(tuner, path)
    assert "The model openai:down has not answered since" in page
    assert re.search(r"1 request waits; next try in (40|41) s\.", page)
    assert "Try now" in page
    assert HOSTILE not in page


def test_viewers_see_the_pause_without_its_button(viewer: Client, full_project: Project) -> None:
    pause_model(full_project)
    page = text_of(viewer, "queue/")
    assert "connection refused" in page
    assert "Try now" not in page


def test_a_try_is_due_at_once_where_somebody_asks_for_it(tuner: Client, full_project: Project) -> None:
    pause_model(full_project)
    tuner.post(HOME + "queue/try-model/")
    assert ModelPause.objects.get().until <= timezone.now()


def test_a_waiting_trace_says_why(tuner: Client, full_project: Project) -> None:
    pause_model(full_project)
    waiting = Trace.objects.get(status="queued")
    page = text_of(tuner, f"traces/{waiting.pk}/")
    assert "openai:down has not answered since" in page
    assert "next try at" in page


def test_failed_work_is_retried_by_error_by_user_and_all_of_it(tuner: Client, full_project: Project) -> None:
    rows = list(OutboxRow.objects.filter(project=full_project, kind="run_pipeline").order_by("id")[:3])
    for row, error in zip(rows, ("first line\nsecond", "other", "other"), strict=True):
        OutboxRow.objects.filter(pk=row.pk).update(state=WorkState.DEAD, last_error=error)
    page = text_of(tuner, "queue/")
    assert "3 failed" in page
    tuner.post(HOME + "queue/retry/", {"error": "first line\r\nsecond"})
    assert OutboxRow.objects.filter(state=WorkState.DEAD).count() == 2
    tuner.post(HOME + "queue/retry/", {"user": "nobody"})
    assert OutboxRow.objects.filter(state=WorkState.DEAD).count() == 2
    tuner.post(HOME + "queue/retry/")
    assert not OutboxRow.objects.filter(state=WorkState.DEAD).exists()
