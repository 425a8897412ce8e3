"""What people do in the admin goes through the actions, and leaves its traces."""

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from apps.actions.keys.create_key import CreatedKey
from apps.memories.models import LedgerEntry, Memory, MemoryVersion
from apps.outbox.models import OutboxRow, UserLease
from apps.pipeline.core.enums import Status, TraceStatus, WorkKind, WorkState
from apps.pipeline.core.identifiers import Prefix, show
from apps.tenants.keys import recognise
from apps.tenants.models import ApiKey, Membership, Project
from apps.traces.models import ConfigurationVersion, PreFilterRule, Trace


def act(admin: Client, model: str, action: str, *rows: object) -> str:
    answer = admin.post(
        reverse(f"admin:{model}_changelist"), {"action": action, "_selected_action": list(rows)}, follow=True
    )
    assert answer.status_code == 200
    return str(answer.content.decode())


def waiting(project: Project) -> Memory:
    memory: Memory = Memory.objects.for_project(project.pk).active().first()
    Memory.objects.filter(pk=memory.pk).update(status=Status.PENDING_REVIEW, review_reasons=["low_confidence"])
    return memory


@pytest.mark.parametrize(
    ("action", "status", "verb"),
    [
        ("approve", Status.ACTIVE, "approved"),
        ("reject", Status.REJECTED, "rejected"),
        ("retract", Status.RETRACTED, "retracted"),
    ],
)
def test_review(admin: Client, full_project: Project, action: str, status: Status, verb: str) -> None:
    memory = waiting(full_project)
    person = User.objects.get(username="chief")

    act(admin, "memories_memory", action, memory.pk)

    memory.refresh_from_db()
    assert memory.status == status
    assert LedgerEntry.objects.filter(object_id=memory.pk, verb=verb, actor=f"person:{person.pk}").count() == 1
    assert MemoryVersion.objects.filter(memory=memory, operation=verb, actor=f"person:{person.pk}").count() == 1


def test_an_impossible_change_of_status_is_refused_and_changes_nothing(admin: Client, full_project: Project) -> None:
    memory = Memory.objects.for_project(full_project.pk).filter(status=Status.RETRACTED).first()

    text = act(admin, "memories_memory", "approve", memory.pk)

    assert "the memory is retracted" in text
    assert Memory.objects.get(pk=memory.pk).version == memory.version


def test_who_may_only_look_is_offered_no_action(full_project: Project) -> None:
    viewer = User.objects.create(username="viewer", is_staff=True)
    viewer.user_permissions.add(Permission.objects.get(codename="view_memory"))
    browser = Client()
    browser.force_login(viewer)
    memory = waiting(full_project)

    act(browser, "memories_memory", "approve", memory.pk)

    assert Memory.objects.get(pk=memory.pk).status == Status.PENDING_REVIEW


def test_a_memory_is_found_by_its_shown_identifier(admin: Client, full_project: Project) -> None:
    memory, other = Memory.objects.for_project(full_project.pk)[:2]
    address = reverse("admin:memories_memory_changelist")

    text = admin.get(address, {"q": show(Prefix.MEMORY, memory.pk)}).content.decode()

    assert str(memory.pk) in text
    assert str(other.pk) not in text


def row_of_a_trace(project: Project, state: WorkState) -> OutboxRow:
    row = OutboxRow.objects.filter(project=project, kind=WorkKind.RUN_PIPELINE).latest("id")
    OutboxRow.objects.filter(pk=row.pk).update(state=state, attempts=5, last_error="model down")
    UserLease.objects.filter(pk=row.end_user_id).update(ready_at=None, leased_until=None, lease_token=None)
    return row


def test_dead_work_is_retried(admin: Client, full_project: Project) -> None:
    row = row_of_a_trace(full_project, WorkState.DEAD)

    act(admin, "outbox_outboxrow", "retry", row.pk)

    row.refresh_from_db()
    assert (row.state, row.attempts, row.finished_at) == (WorkState.PENDING, 0, None)
    assert UserLease.objects.get(pk=row.end_user_id).ready_at is not None
    assert Trace.objects.get(pk=row.subject_id).status == TraceStatus.QUEUED


def test_waiting_work_is_discarded_with_the_name_of_the_person(admin: Client, full_project: Project) -> None:
    row = row_of_a_trace(full_project, WorkState.PENDING)

    act(admin, "outbox_outboxrow", "discard", row.pk)

    row.refresh_from_db()
    assert row.state == WorkState.DEAD
    assert "discarded by person:" in row.last_error
    assert "model down" in row.last_error
    assert Trace.objects.get(pk=row.subject_id).status == TraceStatus.DEAD


@pytest.mark.parametrize("action", ["retry", "discard"])
def test_done_work_stays_done(admin: Client, full_project: Project, action: str) -> None:
    row = row_of_a_trace(full_project, WorkState.DONE)

    text = act(admin, "outbox_outboxrow", action, row.pk)

    assert "only" in text
    assert OutboxRow.objects.get(pk=row.pk).state == WorkState.DONE


def rule_values(project: Project, **changes: object) -> dict[str, object]:
    return {
        "project": str(project.pk),
        "name": "weather",
        "reason": "meta_talk",
        "pattern": "weather forecast",
        "roles": ["user"],
        "languages": "en",
        "enabled": "on",
        "order": "5",
        **changes,
    }


def test_saving_a_rule_makes_a_version(admin: Client, project: Project) -> None:
    admin.post(reverse("admin:traces_prefilterrule_add"), rule_values(project))

    active = ConfigurationVersion.objects.get(project=project, is_active=True)
    assert active.number == 2
    assert "weather" in {rule.name for rule in active.as_policy().pre_filter.rules}
    assert PreFilterRule.objects.get(project=project, name="weather").pattern == "weather forecast"


def test_changing_a_rule_keeps_its_hit_count(admin: Client, project: Project) -> None:
    admin.post(reverse("admin:traces_prefilterrule_add"), rule_values(project))
    PreFilterRule.objects.filter(project=project, name="weather").update(hit_count=7)
    rule = PreFilterRule.objects.get(project=project, name="weather")

    admin.post(reverse("admin:traces_prefilterrule_change", args=[rule.pk]), rule_values(project, pattern="rain"))

    rule.refresh_from_db()
    assert (rule.pattern, rule.hit_count) == ("rain", 7)
    assert ConfigurationVersion.objects.get(project=project, is_active=True).number == 3


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("pattern", "(", "missing"),
        ("pattern", "a*", "empty text"),
        ("name", "Big-Name", "pattern"),
        ("roles", [], "required"),
    ],
)
def test_a_bad_rule_is_refused_at_its_field(
    admin: Client, project: Project, field: str, value: object, said: str
) -> None:
    answer = admin.post(reverse("admin:traces_prefilterrule_add"), rule_values(project, **{field: value}))

    assert answer.status_code == 200
    errors = answer.context["adminform"].form.errors
    assert said in str(errors[field])
    assert ConfigurationVersion.objects.filter(project=project).count() == 1


def test_deleting_a_rule_makes_a_version(admin: Client, project: Project) -> None:
    rule = PreFilterRule.objects.filter(project=project).first()
    assert rule is not None

    admin.post(reverse("admin:traces_prefilterrule_delete", args=[rule.pk]), {"post": "yes"})

    active = ConfigurationVersion.objects.get(project=project, is_active=True)
    assert active.number == 2
    assert rule.name not in {each.name for each in active.as_policy().pre_filter.rules}


def test_a_new_key_is_shown_once(admin: Client, project: Project) -> None:
    answer = admin.post(
        reverse("admin:tenants_apikey_add"), {"project": str(project.pk), "name": "agent", "scopes": ["read"]}
    )

    key = ApiKey.objects.get(project=project, name="agent")
    text = answer.context["created"].text
    assert text in answer.content.decode()
    assert "no-store" in answer["Cache-Control"]
    known = recognise(text)
    assert known is not None
    assert known.id == key.id
    again = admin.get(reverse("admin:tenants_apikey_change", args=[key.pk])).content.decode()
    assert text not in again
    assert key.hash not in again


def test_a_key_whose_expiry_is_past_is_refused(admin: Client, project: Project) -> None:
    values = {
        "project": str(project.pk),
        "name": "agent",
        "scopes": ["read"],
        "expires_at_0": "2020-01-01",
        "expires_at_1": "00:00",
    }

    answer = admin.post(reverse("admin:tenants_apikey_add"), values)

    assert answer.status_code == 200
    assert "expires_at" in answer.context["adminform"].form.errors
    assert not ApiKey.objects.filter(project=project).exists()


def test_keys_are_revoked(admin: Client, api_key: CreatedKey) -> None:
    act(admin, "tenants_apikey", "revoke", api_key.key.pk)

    assert recognise(api_key.text) is None


def test_a_new_project_has_its_first_configuration(admin: Client, db: None) -> None:
    admin.post(reverse("admin:tenants_project_add"), {"name": "Fresh", "slug": "fresh"})

    project = Project.objects.get(slug="fresh")
    assert ConfigurationVersion.objects.get(project=project).is_active


def changed(admin: Client, row: Project | Membership, **fields: str) -> str:
    """Change a row in the admin as its form is shown, with other values."""
    url = reverse(f"admin:tenants_{row._meta.model_name}_change", args=[row.pk])
    form = admin.get(url).context["adminform"].form
    shown = {name: form[name].value() for name in form.fields}
    given = {name: value for name, value in {**shown, **fields}.items() if value is not None}
    return str(admin.post(url, given, follow=True).content.decode())


def test_a_changed_project_is_in_the_ledger(admin: Client, project: Project) -> None:
    changed(admin, project, name="Renamed", max_memories="500", queue_limit="20")
    project.refresh_from_db()
    assert (project.name, project.max_memories, project.queue_limit) == ("Renamed", 500, 20)
    entry = LedgerEntry.objects.get(verb="project_changed")
    assert entry.actor == f"person:{User.objects.get(username='chief').pk}"
    assert entry.details == {
        "fields": ["max_memories", "name", "queue_limit"],
        "limits": {"max_memories": [None, 500.0], "queue_limit": [10_000.0, 20.0]},
    }
    changed(admin, project)
    assert LedgerEntry.objects.filter(verb="project_changed").count() == 1


def test_members_that_the_admin_sets_and_removes_are_in_the_ledger(admin: Client, project: Project) -> None:
    rita, tess = (User.objects.create_user(name) for name in ("rita", "tess"))
    for person, role in ((tess, "admin"), (rita, "viewer")):
        form = {"user": person.pk, "project": project.pk, "role": role}
        admin.post(reverse("admin:tenants_membership_add"), form)
    member, last = Membership.objects.get(user=rita), Membership.objects.get(user=tess)
    changed(admin, member, role="reviewer")
    assert "keeps at least one admin" in changed(admin, last, role="viewer")
    delete = {row.pk: reverse("admin:tenants_membership_delete", args=[row.pk]) for row in (member, last)}
    assert admin.post(delete[last.pk], {"post": "yes"}).status_code == 403
    admin.post(delete[member.pk], {"post": "yes"})
    entries = LedgerEntry.objects.filter(object_kind="member", object_id=member.pk).order_by("created_at", "id")
    assert [(each.verb, each.details["role"]) for each in entries] == [
        ("member_set", "viewer"),
        ("member_set", "reviewer"),
        ("member_removed", "reviewer"),
    ]
    assert Membership.objects.get().role == "admin"
