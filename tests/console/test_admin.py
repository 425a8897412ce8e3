"""Every page of the admin opens with few queries, escapes text of callers, and can't change the history."""

import re
from uuid import uuid5

import pytest
from django.apps import apps
from django.contrib import admin as django_admin
from django.db import connection
from django.db.models import Model
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from apps.console.admin import LABELS
from apps.events.models import Webhook
from apps.memories.ledger.record import record
from apps.memories.models import Entity, LedgerEntry, Memory, Rollback
from apps.pipeline.core.identifiers import Prefix, show
from apps.projects.api_keys import CreatedKey
from apps.tenants.models import EndUser, Project
from apps.traces.models import Trace
from tests.console.operation_rows import HOSTILE

MODELS = [model for label in LABELS for model in apps.get_app_config(label).get_models()]
MOST_QUERIES = 25


def name_of(model: type[Model]) -> str:
    return model._meta.model_name or ""


def page(model: type[Model], kind: str, *args: object) -> str:
    return reverse(f"admin:{model._meta.app_label}_{name_of(model)}_{kind}", args=args)


def open_page(admin: Client, address: str) -> str:
    with CaptureQueriesContext(
        connection,
    ) as queries:
        answer = admin.get(address)
    assert answer.status_code == 200
    assert len(queries) <= MOST_QUERIES, [query["sql"][:120] for query in queries]
    text = answer.content.decode()
    assert HOSTILE not in text
    return text


def test_the_tables_of_the_task_runner_are_not_shown() -> None:
    """Who may add a task could run any code on the server."""
    assert not [
        model for model in apps.get_app_config("django_q").get_models() if django_admin.site.is_registered(model)
    ]


def test_every_list_and_detail_opens(
    admin: Client, full_project: Project, api_key: CreatedKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With few queries, no more for a longer list, and details without an inline style of ours."""
    taken: dict[str, list[int]] = {}
    for model in MODELS:
        name = name_of(model)
        row = model._default_manager.first()
        assert row is not None, f"the fixture has no {name}"
        for rows in (1, 100):
            monkeypatch.setattr(django_admin.site.get_model_admin(model), "list_per_page", rows)
            with CaptureQueriesContext(connection) as queries:
                open_page(admin, page(model, "changelist"))
            taken.setdefault(name, []).append(len(queries))
        open_page(admin, page(model, "changelist") + "?q=lisbon")
        assert " style=" not in open_page(admin, page(model, "change", row.pk)), name
    assert {name: longer - short for name, (short, longer) in taken.items() if longer != short} == {}


def test_a_long_list_is_not_counted_in_full(
    admin: Client, full_project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns = apps.get_model("traces.Turn")
    assert turns._default_manager.count() > 3

    monkeypatch.setattr("apps.console.admin.MAX_COUNT", 3)

    assert "3 or more" in open_page(admin, page(turns, "changelist"))


def test_history_is_read_only(admin: Client, full_project: Project, api_key: CreatedKey) -> None:
    for model in MODELS:
        row = model._default_manager.first()
        assert row is not None
        assert admin.post(page(model, "change", row.pk), {"content": "changed"}).status_code == 403, model
        assert admin.get(page(model, "add")).status_code == 403, model
        assert admin.post(page(model, "delete", row.pk), {"post": "yes"}).status_code == 403, model
        assert model._default_manager.filter(pk=row.pk).exists()


def test_the_index_names_the_apps(admin: Client, db: None) -> None:
    text = open_page(admin, reverse("admin:index"))

    for name in ("Projects and end users", "Traces", "Outbox", "What we keep"):
        assert name in text


def test_hostile_text_is_shown_as_text(admin: Client, full_project: Project) -> None:
    for model in (apps.get_model("tenants.EndUser"), apps.get_model("traces.Turn"), apps.get_model("traces.Session")):
        assert "&lt;script&gt;alert(1)" in open_page(admin, page(model, "changelist"))


def test_strangers_are_sent_to_the_login(client: Client, db: None) -> None:
    answer = Client().get(reverse("admin:memories_memory_changelist"))

    assert answer.status_code == 302
    assert answer["Location"].startswith(reverse("admin:login"))


def link(page: str, text: str) -> str:
    """Return where the link with a text leads."""
    found = re.search(rf'href="([^"]+)"[^>]*>{text}</a>', page)
    assert found, text
    return found[1]


def test_pages_of_the_console_and_the_admin_lead_to_each_other(admin: Client, full_project: Project) -> None:
    rows = [
        ("memories", Memory.objects.filter(project=full_project).latest("pk").pk),
        ("traces", Trace.objects.latest("pk").pk),
        ("users", EndUser.objects.latest("pk").pk),
        ("entities", Entity.objects.latest("pk").pk),
        ("rollbacks", Rollback.objects.latest("pk").pk),
        ("configuration", 1),
    ]
    for name, key in rows:
        address = f"/console/test/{name}/{key}/"
        there = link(admin.get(address).content.decode(), "Show in the admin")
        page = admin.get(there).content.decode()
        assert link(page, "Show in the console") == address
        assert link(page, "Console") == "/console/"
    there = link(admin.get("/console/test/project/").content.decode(), "Show in the admin")
    assert link(admin.get(there).content.decode(), "Show in the console") == "/console/test/"


def test_members_are_not_led_to_the_admin(tuner: Client, full_project: Project) -> None:
    memory = Memory.objects.filter(project=full_project).latest("pk")
    for path in (f"memories/{memory.pk}/", "project/", "queue/"):
        assert "/admin/" not in tuner.get(f"/console/test/{path}").content.decode()


FOUND = {
    "ana": {"one", "other"},
    "person:7 ana": {"one"},
    "maria person:7": {"one", "third"},
    "ana bruno": set(),
    "'ana maria' trace:9": {"other"},
    "'maria ana'": set(),
}


def test_each_word_is_in_a_column_of_the_ledger_or_names_the_user(admin: Client, project: Project) -> None:
    entries = [
        ("one", "ana maria", "person:7"),
        ("other", "ana maria", "trace:9"),
        ("third", "bruno maria", "person:7"),
        ("fourth", "bruno", "trace:9"),
    ]
    for verb, name, actor in entries:
        user, _ = EndUser.objects.get_or_create(
            project=project, external_id=name, defaults={"id": uuid5(project.pk, name)}
        )
        record(
            project_id=project.pk, verb=verb, object_kind="memory", object_id=user.pk, end_user_id=user.pk, actor=actor
        )

    for words, found in FOUND.items():
        answer = admin.get(page(LedgerEntry, "changelist"), {"q": words})
        assert {entry.verb for entry in answer.context["cl"].result_list} == found, words


def test_a_row_is_found_by_its_shown_identifier(admin: Client, full_project: Project) -> None:
    memory, other = Memory.objects.for_project(full_project.pk)[:2]
    text = open_page(admin, f"{page(Memory, 'changelist')}?q={show(Prefix.MEMORY, memory.pk)}")
    assert str(memory.pk) in text
    assert str(other.pk) not in text


def test_secrets_and_their_hashes_are_not_shown(admin: Client, full_project: Project, api_key: CreatedKey) -> None:
    key = api_key.key
    assert key.hash not in open_page(admin, page(type(key), "change", key.pk))
    hook = Webhook.objects.create(project=full_project, name="h", event_types=[], secret="whsec_SECRET")
    assert hook.secret not in open_page(admin, page(Webhook, "change", hook.pk))
    assert not any(django_admin.site.is_registered(model) for model in apps.get_app_config("mfa").get_models())
