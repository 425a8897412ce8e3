"""Access: each URL and method with each kind of caller. A URL without a row fails."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.http import HttpResponse
from django.test import Client
from django.urls import NoReverseMatch, URLPattern, URLResolver, get_resolver, reverse
from rest_framework.test import APIClient

from apps.actions.projects.set_member import set_member
from apps.memories.models import Memory
from apps.pipeline.core.enums import MemberRole, Scope
from apps.tenants.models import ApiKey, Project
from apps.traces.models import Trace
from tests.conftest import MakeClient

EVERYBODY = None
MEM0_REFUSED = ("mem0-profile-jobs", "mem0-exports", "mem0-export", "mem0-user", "mem0-projects")

# URL name -> method -> required scope of the key.
API: dict[str, dict[str, Scope | None]] = {
    "turns": {"POST": Scope.WRITE},
    "traces": {"GET": Scope.READ},
    "trace": {"GET": Scope.READ},
    "memories": {"GET": Scope.READ, "POST": Scope.WRITE, "PATCH": Scope.WRITE, "DELETE": Scope.WRITE},
    "memory-batch": {"POST": Scope.WRITE},
    "search": {"POST": Scope.READ},
    "context": {"POST": Scope.READ},
    "memory": {"GET": Scope.READ, "PATCH": Scope.WRITE, "DELETE": Scope.WRITE},
    "history": {"GET": Scope.READ},
    "entities": {"GET": Scope.READ},
    "entity": {"GET": Scope.READ},
    "entity-merge": {"POST": Scope.ADMIN, "DELETE": Scope.ADMIN},
    "item": {"GET": Scope.READ, "PUT": Scope.WRITE, "DELETE": Scope.WRITE},
    "item-search": {"POST": Scope.READ},
    "item-namespaces": {"POST": Scope.READ},
    "item-operations": {"POST": Scope.READ},  # its puts and deletions need more: tests/api/test_items.py
    "keys": {"GET": Scope.ADMIN, "POST": Scope.ADMIN},
    "current-key": {"GET": Scope.READ},
    "key": {"DELETE": Scope.ADMIN},
    "session-end": {"POST": Scope.WRITE},
    "session": {"DELETE": Scope.ADMIN},
    "turn": {"DELETE": Scope.ADMIN},
    "users": {"GET": Scope.ADMIN},
    "user": {"DELETE": Scope.ADMIN},
    "user-stats": {"GET": Scope.READ},
    "user-export": {"GET": Scope.ADMIN},
    "erasure": {"GET": Scope.ADMIN},
    "links": {"GET": Scope.READ},
    "link-settle": {"POST": Scope.ADMIN},
    "rollbacks": {"GET": Scope.ADMIN, "POST": Scope.ADMIN},
    "rollback": {"GET": Scope.ADMIN},
    "rollback-undo": {"POST": Scope.ADMIN},
    "replays": {"GET": Scope.ADMIN, "POST": Scope.ADMIN},
    "replay": {"GET": Scope.ADMIN},
    "replay-start": {"POST": Scope.ADMIN},
    "replay-cancel": {"POST": Scope.ADMIN},
    "replayed-traces": {"GET": Scope.ADMIN},
    "replay-json": {"GET": Scope.ADMIN},
    "replay-csv": {"GET": Scope.ADMIN},
    "imports": {"GET": Scope.ADMIN, "POST": Scope.ADMIN},
    "import": {"GET": Scope.ADMIN},
    "import-part": {"PUT": Scope.ADMIN},
    "import-check": {"POST": Scope.ADMIN},
    "import-start": {"POST": Scope.ADMIN},
    "import-cancel": {"POST": Scope.ADMIN},
    "import-file": {"DELETE": Scope.ADMIN},
    "project-export": {"GET": Scope.ADMIN},
    "evaluation": {"GET": Scope.ADMIN},
    "samples": {"GET": Scope.ADMIN, "POST": Scope.ADMIN},
    "sample-items": {"GET": Scope.ADMIN},
    "item-labels": {"POST": Scope.ADMIN},
    "labels": {"GET": Scope.ADMIN},
    "stats": {"GET": Scope.READ},
    "alerts": {"GET": Scope.READ},
    "alert-acknowledge": {"POST": Scope.ADMIN},
    "alert-recipients": {"GET": Scope.ADMIN, "PUT": Scope.ADMIN},
    "events": {"GET": Scope.ADMIN},
    "event-stream": {"GET": Scope.ADMIN},
    "event-log": {"GET": Scope.ADMIN, "PUT": Scope.ADMIN},
    "webhooks": {"GET": Scope.ADMIN, "POST": Scope.ADMIN},
    "webhook": {"GET": Scope.ADMIN, "PATCH": Scope.ADMIN, "DELETE": Scope.ADMIN},
    "webhook-rotate": {"POST": Scope.ADMIN},
    "webhook-test": {"POST": Scope.ADMIN},
    "webhook-deliveries": {"GET": Scope.ADMIN},
    "webhook-send-again": {"POST": Scope.ADMIN},
    "retry-work": {"POST": Scope.ADMIN},
    "mcp": {"POST": Scope.READ},  # its tools call the other addresses with the same key
    "mem0-ping": {"GET": Scope.READ},
    "mem0-add": {"POST": Scope.WRITE},
    "mem0-search": {"POST": Scope.READ},
    "mem0-list": {"POST": Scope.READ},
    "mem0-memories": {"DELETE": Scope.WRITE},
    "mem0-memory": {"GET": Scope.READ, "PUT": Scope.WRITE, "DELETE": Scope.WRITE},
    "mem0-history": {"GET": Scope.READ},
    "mem0-entities": {"GET": Scope.ADMIN},
    "mem0-event": {"GET": Scope.READ},
    "mem0-batch": {"PUT": Scope.WRITE, "DELETE": Scope.WRITE},
    "mem0-summary": {"POST": Scope.READ},
    "mem0-feedback": {"POST": Scope.WRITE},
    "mem0-profile": {"GET": Scope.READ},
    "mem0-entity": {"DELETE": Scope.ADMIN},
    "mem0-profile-settings": {"GET": Scope.READ, "POST": Scope.READ},
    **{name: dict.fromkeys(("GET", "POST", "PUT", "PATCH", "DELETE"), Scope.READ) for name in MEM0_REFUSED},
    "schema": {"GET": EVERYBODY},
    "docs": {"GET": EVERYBODY},
    "healthz": {"GET": EVERYBODY},
    "readyz": {"GET": EVERYBODY},
    "documentation": {"GET": EVERYBODY},  # tests/memplatform/test_documentation.py
    "metrics": {"GET": EVERYBODY},  # of the own network, or with a token: tests/api/test_metrics_access.py
}

VIEWER, REVIEWER, ADMIN = MemberRole
READS, POSTS, BOTH = ("GET",), ("POST",), ("GET", "POST")

# URL name -> required role of the member, and the methods. Pages that only read treat POST like GET.
CONSOLE: dict[str, tuple[MemberRole | None, tuple[str, ...]]] = {
    "home": (EVERYBODY, BOTH),  # leads to a project of the person, anonymous ones to the login
    "login": (EVERYBODY, BOTH),
    "login-code": (EVERYBODY, BOTH),  # leads back to the login without a password
    "account": (EVERYBODY, BOTH),  # one's own: tests/console/test_second_factor.py
    "password": (EVERYBODY, BOTH),
    "enroll-second-factor": (EVERYBODY, POSTS),
    "confirm-second-factor": (EVERYBODY, POSTS),
    "remove-second-factor": (EVERYBODY, POSTS),
    "join": (EVERYBODY, BOTH),  # who has the link of an invitation: tests/console/test_invitations.py
    "projects": (EVERYBODY, BOTH),  # those of the person; only superusers create: tests/console/test_projects.py
    "logout": (EVERYBODY, POSTS),
    "project": (VIEWER, BOTH),
    "first-steps": (VIEWER, BOTH),
    "review": (VIEWER, BOTH),
    "counts": (VIEWER, BOTH),
    "palette": (VIEWER, BOTH),
    "approve": (REVIEWER, POSTS),
    "reject": (REVIEWER, POSTS),
    "merge": (REVIEWER, POSTS),
    "contradictions": (VIEWER, BOTH),
    "contradiction": (VIEWER, BOTH),
    "settle": (REVIEWER, POSTS),
    "decisions": (REVIEWER, BOTH),
    "skip": (REVIEWER, POSTS),
    "presence": (REVIEWER, POSTS),
    "assign": (REVIEWER, POSTS),
    "comment": (REVIEWER, POSTS),
    "undo": (REVIEWER, POSTS),
    "memory": (VIEWER, BOTH),
    "memories": (VIEWER, BOTH),
    "export-memories": (ADMIN, BOTH),
    "change-memories": (REVIEWER, POSTS),
    "reword-memory": (REVIEWER, POSTS),
    "close-memory": (REVIEWER, POSTS),
    "users": (VIEWER, BOTH),
    "user": (VIEWER, BOTH),
    "recall": (VIEWER, BOTH),
    "entities": (VIEWER, BOTH),
    "entity": (VIEWER, BOTH),
    "choose-entity": (REVIEWER, BOTH),
    "merge-entity": (REVIEWER, BOTH),
    "split-entity": (REVIEWER, POSTS),
    "dashboard": (VIEWER, BOTH),
    "traces": (VIEWER, BOTH),
    "trace": (VIEWER, BOTH),
    "why-not": (VIEWER, BOTH),
    "patterns": (VIEWER, BOTH),
    "trial": (VIEWER, POSTS),
    "preview": (ADMIN, POSTS),
    "previewed": (ADMIN, BOTH),
    "new-rule": (ADMIN, BOTH),
    "rule": (ADMIN, BOTH),
    "switch-rule": (ADMIN, POSTS),
    "delete-rule": (ADMIN, POSTS),
    "configuration": (VIEWER, BOTH),
    "change": (ADMIN, POSTS),
    "setting-changes": (ADMIN, POSTS),
    "version": (VIEWER, BOTH),
    "restore": (ADMIN, POSTS),
    "rollbacks": (ADMIN, BOTH),
    "new-rollback": (ADMIN, BOTH),
    "rollback": (ADMIN, BOTH),
    "undo-rollback": (ADMIN, POSTS),
    "activate": (ADMIN, POSTS),
    "draft-preset": (ADMIN, POSTS),
    "replays": (VIEWER, BOTH),
    "new-replay": (ADMIN, BOTH),
    "what-if": (VIEWER, BOTH),
    "replay": (VIEWER, BOTH),
    "replay-progress": (VIEWER, BOTH),
    "start-replay": (ADMIN, POSTS),
    "cancel-replay": (ADMIN, POSTS),
    "export-replay": (VIEWER, BOTH),
    "imports": (ADMIN, BOTH),
    "new-import": (ADMIN, BOTH),
    "import": (ADMIN, BOTH),
    "import-progress": (ADMIN, BOTH),
    "import-part": (ADMIN, POSTS),
    "check-import": (ADMIN, POSTS),
    "start-import": (ADMIN, POSTS),
    "cancel-import": (ADMIN, POSTS),
    "delete-import-file": (ADMIN, POSTS),
    "export-project": (ADMIN, BOTH),
    "alerts": (VIEWER, BOTH),
    "acknowledge-alert": (ADMIN, POSTS),
    "alert-recipients": (ADMIN, BOTH),
    "evaluation": (VIEWER, BOTH),
    "draw-samples": (REVIEWER, POSTS),
    "label-items": (REVIEWER, BOTH),
    "export-labels": (VIEWER, BOTH),
    "compare": (ADMIN, POSTS),
    "comparison": (VIEWER, BOTH),
    "label-item": (REVIEWER, POSTS),
    "remember": (REVIEWER, POSTS),
    "unlabel": (REVIEWER, POSTS),
    "queue": (VIEWER, BOTH),
    "retry-all": (ADMIN, POSTS),
    "try-model": (ADMIN, POSTS),
    "test-model": (ADMIN, POSTS),
    "retry": (ADMIN, POSTS),
    "discard": (ADMIN, POSTS),
    "keys": (ADMIN, BOTH),
    "revoke": (ADMIN, POSTS),
    "rotate-key": (ADMIN, POSTS),
    "restore-key": (ADMIN, POSTS),
    "export-user": (ADMIN, BOTH),
    "erase-user": (ADMIN, BOTH),
    "audit": (ADMIN, BOTH),
    "export-ledger": (ADMIN, BOTH),
    "webhooks": (ADMIN, BOTH),
    "webhook": (ADMIN, BOTH),
    "rotate-webhook": (ADMIN, POSTS),
    "switch-webhook": (ADMIN, POSTS),
    "test-webhook": (ADMIN, POSTS),
    "send-again": (ADMIN, POSTS),
    "delete-webhook": (ADMIN, POSTS),
    "members": (ADMIN, BOTH),
    "remove": (ADMIN, POSTS),
    "restore-role": (ADMIN, POSTS),
    "invite": (ADMIN, POSTS),
    "revoke-invitation": (ADMIN, POSTS),
    "project-settings": (ADMIN, BOTH),
    "archive-project": (ADMIN, POSTS),
    "restore-project": (ADMIN, POSTS),
}

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
    return {str(each.name): each for namespace, each in URLS if not namespace and each.name}


def console_patterns() -> dict[str, URLPattern]:
    return {str(each.name): each for namespace, each in URLS if namespace == "console"}


def test_every_url_has_a_row() -> None:
    assert api_patterns().keys() == API.keys()
    assert console_patterns().keys() == CONSOLE.keys()
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


def test_keys(callers: dict[Scope | None, APIClient]) -> None:
    for name, pattern in api_patterns().items():
        with undone():
            assert_row_holds(name, url_of(pattern), callers)


def assert_row_holds(name: str, url: str, callers: dict[Scope | None, APIClient]) -> None:
    row = API[name]
    for method in METHODS:
        for scope, caller in callers.items():
            status = caller.generic(method, url, "{}", content_type="application/json").status_code
            case = (name, method, scope, status)
            if method not in row:
                assert status in (401, 403, 405), case
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


def test_members(project: Project, other_project: Project) -> None:
    browsers = people(project, other_project)
    for name, (role, methods) in CONSOLE.items():
        if role is not EVERYBODY:
            with undone():
                assert_page_is_for(role, methods, name, browsers)


def assert_page_is_for(role: MemberRole, methods: tuple[str, ...], name: str, browsers: dict[str, Client]) -> None:
    url = url_of(console_patterns()[name], namespace="console")
    for person, browser in browsers.items():
        for method in ("GET", "POST"):
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
            answer: HttpResponse = browser.get(url)  # type: ignore[assignment]
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
