"""Access: each URL and method with each kind of caller. A URL without a row fails."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.http import HttpResponse
from django.template.backends.django import Template
from django.test import Client
from django.urls import NoReverseMatch, URLPattern, URLResolver, get_resolver, reverse
from rest_framework.test import APIClient

from apps.memories.models import Memory
from apps.pipeline.core.enums import Scope
from apps.projects.services import set_member
from apps.tenants.enums import MemberRole
from apps.tenants.models import ApiKey, Project
from apps.traces.models import Trace
from tests.access_rows import ACCOUNT, ADMIN, API, CONSOLE, EVERYBODY
from tests.conftest import MakeClient

ROLES = [each.value for each in MemberRole]  # each includes those before it
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
SOME = {"str": "mem_x", "path": "s", "uuid": uuid4(), "int": 10**8, "slug": "nothing", "role": "viewer"}


def patterns(of: Any = None, prefix: str = "") -> Iterator[tuple[str, URLPattern]]:
    """Yield namespace and pattern of each URL."""
    for each in (of or get_resolver()).url_patterns:
        if isinstance(each, URLResolver):
            yield from patterns(each, each.namespace or prefix)
        else:
            yield prefix, each


URLS = list(patterns())


def url_of(pattern: URLPattern, *, namespace: str = "", **known: Any) -> str:
    """Return the URL of a pattern in the project test, with identifiers of nothing unless known ones are given."""
    kinds = {name: type(each).__name__ for name, each in pattern.pattern.converters.items()}
    made = {
        name: SOME[kind.removesuffix("Converter").replace("String", "str").replace("MemberRole", "role").lower()]
        for name, kind in kinds.items()
    }
    kwargs = {**made, **({"slug": "test"} if "slug" in kinds else {}), **known}
    return reverse(f"{namespace}:{pattern.name}" if namespace else str(pattern.name), kwargs=kwargs)


def api_patterns() -> dict[str, URLPattern]:
    return {
        str(each.name): each for namespace, each in URLS if not namespace and each.name and each.name not in ACCOUNT
    }


def console_patterns() -> dict[str, URLPattern]:
    return {str(each.name): each for namespace, each in URLS if namespace == "console"}


def test_every_url_has_a_row() -> None:
    assert api_patterns().keys() == API.keys()
    assert console_patterns().keys() == CONSOLE.keys()
    assert {each.name for _, each in URLS} >= ACCOUNT
    assert {namespace for namespace, _ in URLS} == {"", "console", "admin"}


@pytest.fixture
def callers(project: Project, client_of: MakeClient) -> dict[Scope | None, APIClient]:
    anonymous = APIClient()
    anonymous.default_format = "json"
    return {None: anonymous, **{scope: client_of(project, scope) for scope in Scope}}


@contextmanager
def undone() -> Iterator[None]:
    """Roll back what the block writes."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def test_keys(callers: dict[Scope | None, APIClient], monkeypatch: pytest.MonkeyPatch) -> None:
    """What all requests have been counted is not written out: the status says who may read it."""
    monkeypatch.setattr("apps.health.api.generate_latest", lambda _: b"")
    for name, pattern in api_patterns().items():
        with undone():
            assert_row_holds(name, url_of(pattern), callers)


def assert_row_holds(name: str, url: str, callers: dict[Scope | None, APIClient]) -> None:
    """Try all callers on each method of the row; on the others one who may do everything, whom only 405 can refuse."""
    row = API[name]
    for method in METHODS:
        trying = callers if method in row else {Scope.ADMIN: callers[Scope.ADMIN]}
        for scope, caller in trying.items():
            status = caller.generic(method, url, "{}", content_type="application/json").status_code
            case = (name, method, scope, status)
            if method not in row:
                assert status == 405, case
            elif row[method] is EVERYBODY or scope in (row[method], Scope.ADMIN):
                assert status not in (401, 403, 405), case
            else:
                assert status == (401 if scope is None else 403), case


def people(project: Project, other_project: Project) -> dict[str, Client]:
    """Return a client for each kind of person."""
    made = {"anonymous": Client()}
    for name, role, of in [*((each.value, each, project) for each in MemberRole), ("stranger", ADMIN, other_project)]:
        user = User.objects.create_user(name)
        set_member(project_id=of.pk, username=name, role=role)
        made[name] = Client()
        made[name].force_login(user)
    return made


def is_refused(answer: Any, person: str) -> bool:
    """Return True if a person was refused in the expected way."""
    if person == "anonymous":
        return bool(answer.status_code == 302 and answer["Location"].startswith("/console/login/"))
    return bool(answer.status_code == (404 if person == "stranger" else 403))


def test_members(project: Project, other_project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Views run, but no page is rendered: the status says who may, and other tests read the pages."""
    monkeypatch.setattr(Template, "render", lambda *_, **__: "")
    browsers = people(project, other_project)
    for name, (role, methods) in CONSOLE.items():
        if role is not EVERYBODY:
            with undone():
                assert_page_is_for(role, methods, name, browsers)


def assert_page_is_for(role: MemberRole, methods: tuple[str, ...], name: str, browsers: dict[str, Client]) -> None:
    """Try everybody on each method of the page; on the other one an administrator, whom only 405 can refuse."""
    url = url_of(console_patterns()[name], namespace="console")
    for method in ("GET", "POST"):
        trying = browsers if method in methods else {ADMIN.value: browsers[ADMIN.value]}
        for person, browser in trying.items():
            answer: Any = browser.generic(method, url, content_type="application/x-www-form-urlencoded")
            case = (name, method, person, answer.status_code)
            if method not in methods:
                assert answer.status_code == 405, case
            elif person in ROLES and ROLES.index(person) >= ROLES.index(role):
                assert not is_refused(answer, person), case
                assert answer.status_code < 500, case
            else:
                assert is_refused(answer, person), case


def test_the_admin_is_for_staff(project: Project, other_project: Project) -> None:
    """Each URL of the admin redirects members of projects to the admin's login; it knows no roles, so one is tried."""
    everybody = people(project, other_project)
    for person in ("anonymous", ADMIN.value):
        browser = everybody[person]
        for namespace, pattern in URLS:
            if namespace != "admin" or pattern.name in {"login", "logout", "jsi18n"}:
                continue
            try:
                url = url_of(pattern, namespace="admin")
            except (KeyError, NoReverseMatch):  # of a catch-all, or without a name
                continue
            answer: HttpResponse = browser.get(url)  # type: ignore[assignment]  # the stubs name a private class
            assert (answer.status_code, "login" in answer.get("Location", "")) == (302, True), (person, url)


def test_an_admin_of_another_project_finds_nothing(
    project: Project, other_project: Project, client: APIClient, client_of: MakeClient
) -> None:
    """With real identifiers, the URLs of single objects answer as if the objects did not exist."""
    turns = [{"role": "user", "content": "I live in Lisbon."}]
    client.post("/v1/turns", {"user_id": "ana", "session_id": "s", "mode": "sync", "turns": turns})
    memory, stranger = Memory.objects.get(), client_of(other_project, Scope.ADMIN)
    known = {
        "memory_id": memory.shown_id,
        "entity_id": memory.subject.shown_id if memory.subject else "",
        "trace_id": Trace.objects.get().shown_id,
        "key_id": f"key_{ApiKey.objects.filter(project=project).earliest('created_at').pk.hex}",
    }
    bodies = {"PATCH": {"importance": 1}, "POST": {"into": known["entity_id"]}}
    for name, row in API.items():
        names = api_patterns()[name].pattern.converters.keys() & known.keys()
        for method in row if names else ():
            url = url_of(api_patterns()[name], **{each: known[each] for each in names})
            answer = getattr(stranger, method.lower())(url, bodies.get(method))
            assert (answer.status_code, answer.json()["code"]) == (404, "not_found"), (method, url)
    memory.refresh_from_db()
    assert (memory.version, memory.status) == (1, "active")
    assert not ApiKey.objects.filter(revoked_at__isnull=False).exists()
