"""The palette finds what a person may open, by a part of its name, with few queries."""

import re
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from apps.console import palette
from apps.memories.models import Entity, Memory
from apps.tenants.enums import MemberRole
from apps.tenants.models import EndUser, Project
from apps.traces.models import Trace
from tests.console.members import HOME, member, text_of
from tests.console.operation_rows import HOSTILE

pytestmark = pytest.mark.django_db
MOST_STATEMENTS = 10


def found(browser: Client, text: str) -> str:
    return browser.get(f"{HOME}palette/", {"q": text}, headers={"HX-Request": "true"}).content.decode()


FOUND = [
    ("aud", "Pages", "/audit/"),
    ("is it rem", "Pages", "/ask/"),
    ("rui", "Users", "/users/"),
    ("green tea", "Memories", "/memories/"),
    ("tea green", "Memories", "/memories/"),
    ("GREEN TEA", "Traces", "/traces/"),
    ("marta", "Entities", "/entities/"),
    ("greeting", "Rules", "/patterns/rules/"),
    ("max turns", "Settings", "/configuration/?section=extraction#extraction.max_turns"),
]


def test_what_is_found(tuner: Client, full_project: Project, subtests: pytest.Subtests) -> None:
    for text, kind, leads_to in FOUND:
        with subtests.test(text=text, kind=kind, leads_to=leads_to):
            page = found(tuner, text)
            assert f">{kind}</div>" in page
            assert leads_to in page


def test_every_destination_opens(tuner: Client, full_project: Project) -> None:
    pages = [found(tuner, text) for text in ("new r", "recip", "what if", "lisbon", "max", "marta", "rui")]
    addresses = {part.partition('"')[0] for page in pages for part in page.split('href="')[1:]}
    assert len(addresses) > 10
    for address in addresses:
        assert tuner.get(address.replace("&amp;", "&")).status_code == 200, address


def test_few_statements(tuner: Client, full_project: Project) -> None:
    for text in ("", "r", "li", "lisbon", "green tea", "mem_"):
        with CaptureQueriesContext(connection) as queries:
            found(tuner, text)
        assert len(queries) <= MOST_STATEMENTS, (text, [query["sql"][:80] for query in queries.captured_queries])


def test_a_viewer_is_offered_what_viewers_may_open(full_project: Project, viewer: Client) -> None:
    page = found(viewer, "")
    assert "What if" in page
    for hidden in ("Being processed", "Audit", "Members", "New replay", "Recipients of alerts"):
        assert hidden not in page
    assert "/patterns/?q=" in found(viewer, "greeting")
    assert "/patterns/rules/" not in found(viewer, "greeting")


def test_nothing_of_another_project_is_found(full_project: Project, other_project: Project) -> None:
    theo = member("theo", other_project, MemberRole.ADMIN)
    rows: list[Any] = [Memory.objects.first(), Trace.objects.first(), EndUser.objects.first(), Entity.objects.first()]
    for text in ("rui", "green tea", "marta", "lisbon", *(row.shown_id for row in rows)):
        page = theo.get("/console/other/palette/", {"q": text}).content.decode()
        assert "0 found" in page, text


def test_what_the_palette_does_not_read_is_found_in_the_list(
    tuner: Client, full_project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(palette, "LATEST_MEMORIES", 0)
    page = found(tuner, "green tea")
    assert ">Memories</div>" not in page
    address = page.split('id="palette-further" href="')[1].split('"')[0]
    assert "green tea" in tuner.get(address.replace("&amp;", "&")).content.decode().split("<main")[1]


def test_an_identifier_leads_straight_to_its_object(tuner: Client, full_project: Project) -> None:
    memory = Memory.objects.filter(project=full_project).latest("id")
    page = found(tuner, memory.shown_id)
    assert f'href="{HOME}memories/{memory.pk}/"' in page
    assert "1 found" in page


def test_hostile_texts_are_text(tuner: Client, full_project: Project) -> None:
    for text in (HOSTILE, "%", "_", "\\", "'; drop", "a" * 5_000, "\x00", "mem_zzz", "\u202e"):
        assert "<script>" not in found(tuner, text)
    assert "&lt;script&gt;" in found(tuner, "rui")


def test_a_setting_is_shown_in_its_open_section(tuner: Client, full_project: Project) -> None:
    page = text_of(tuner, "configuration/?section=retrieval")
    opened = [part for part in page.split("<details")[1:] if part.partition(">")[0].endswith(" open")]
    assert [re.findall("<strong>(.+?)</strong>", part)[0] for part in opened] == ["Everyday", "Expert", "Retrieval"]
