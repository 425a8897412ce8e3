"""What people and callers read names things by words, or by identifiers with a prefix, never by a bare UUID."""

import re
from collections.abc import Callable, Iterator
from html import unescape
from typing import Any
from urllib.parse import quote

from django.contrib.auth.models import User
from django.test import Client

from apps.memories.models import Memory
from apps.pipeline.core.enums import Scope
from apps.tenants.models import Project
from tests.conftest import MakeClient
from tests.console.conftest import _kept_project as _kept_project
from tests.console.conftest import full_project as full_project
from tests.console.conftest import project as project

_UUID = r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"
BARE = re.compile(rf"{_UUID}|\b(?:person|key|trace):\w+")
LINK = re.compile(r'href="(/console/test/[^"?#]+)')
OF_A_KIND = 2
LISTS = (
    *("memories?user_id={user}", "traces?user_id={user}", "entities?user_id={user}", "links?user_id={user}"),
    *("users", "keys", "keys/current", "events", "webhooks", "alerts", "alert-recipients", "replays", "rollbacks"),
    *("imports", "evaluation", "evaluation/samples"),
)
BELOW = {
    "memories": ("", "/history"),
    "traces": ("",),
    "entities": ("",),
    "replays": ("", "/traces"),
    "webhooks": ("",),
}


def text_of(page: str) -> str:
    """Return what is read on a page, without scripts, tags and their attributes."""
    return unescape(re.sub(r"(?s)<(script|style)\b.*?</\1>|<[^>]*>", " ", page.partition("<main")[2]))


def pages_behind(address: str, ask: Callable[[str], Any]) -> Iterator[tuple[str, str]]:
    """Yield the pages that links lead to, two of each kind."""
    waiting, kinds = [address], dict[str, set[str]]()
    while waiting:
        here = waiting.pop()
        answer = ask(here)
        if answer.headers.get("Content-Type", "").startswith("text/html"):
            page = answer.content.decode()
            yield here, page
            for link in LINK.findall(page):
                known = kinds.setdefault(re.sub(rf"{_UUID}|\d+", "*", link), set())
                if link not in known and len(known) < OF_A_KIND:
                    known.add(link)
                    waiting.append(link)


def test_pages(full_project: Project) -> None:
    browser = Client()
    browser.force_login(User.objects.create_superuser("chief"))
    read = {
        address: BARE.findall(text_of(page)) for address, page in pages_behind("/console/test/review/", browser.get)
    }
    assert len(read) > 30, "the walk found the pages"
    assert not {address: bare for address, bare in read.items() if bare}


def test_answers(full_project: Project, client_of: MakeClient) -> None:
    caller = client_of(full_project, Scope.ADMIN)
    user = quote(Memory.objects.latest("created_at").end_user.external_id, safe="")
    memory = Memory.objects.filter(status="active").latest("created_at").shown_id
    assert caller.patch(f"/v1/memories/{memory}", {"importance": 0.9}).status_code == 200
    read: dict[str, list[str]] = {}
    for name in LISTS:
        answer = caller.get(f"/v1/{name.format(user=user)}")
        assert answer.status_code == 200, name
        read[name] = BARE.findall(answer.content.decode())
        kind = name.partition("?")[0]
        for each in answer.json().get("results", ()):
            for rest in BELOW.get(kind, ()):
                shown = caller.get(f"/v1/{kind}/{each['id']}{rest}")
                assert shown.status_code == 200, (kind, rest)
                read[f"{kind}/{each['id']}{rest}"] = BARE.findall(shown.content.decode())
    assert not {address: bare for address, bare in read.items() if bare}
