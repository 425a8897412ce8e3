"""Fixtures of all tests: a running database, a test database per run, a project and an API key."""

import asyncio
import gc
import os
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import nullcontext
from itertools import groupby
from typing import Any
from uuid import uuid4

import pytest
from django.conf import settings
from django.core.cache import BaseCache, caches
from django.core.management.base import BaseCommand
from django.db import connections
from rest_framework.test import APIClient

from apps.pipeline.core.enums import Scope
from apps.projects.api_keys import CreatedKey, create_key
from apps.projects.services import create_project
from apps.providers import registry
from apps.tenants.models import Project
from apps.tenants.scope import OWNER, no_tenant, set_default_scope
from benchmarks.model_server import ModelServer, running
from memplatform.database import ensure_database
from tests import distribution, emptied, kept_rows, migrated, soak
from tests.kept_rows import Kept
from tests.promises import promises_of

soak.load_profile()

MakeClient = Callable[..., APIClient]


def pytest_configure() -> None:
    """Keep compiled modules, whatever the environment says: every worker and process of a test imports the same."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False


def pytest_collection() -> None:
    """Import and collect without looking for garbage: nearly all of it stays until `pytest_collection_finish`."""
    gc.disable()


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    return distribution.Distribution(config, log)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark each test with its promises, and with `longer` if `make soak` does more of it."""
    for file, tests in groupby(items, key=lambda item: item.path):
        names = promises_of(file)
        is_longer = "tests.soak" in file.read_text() or "hostile_cases" in file.read_text()
        for test in tests:
            for name in names:
                test.add_marker(pytest.mark.promise(name=name))
            if is_longer:
                test.add_marker(pytest.mark.longer)
    if hasattr(config, "workerinput"):  # one of several workers
        distribution.order(items)


def pytest_collection_finish() -> None:
    """Leave modules and collected tests, which stay to the end, out of all further garbage collections.

    They are also rarer than usual: a test leaves much that is short-lived and little that is cyclic.
    """
    gc.enable()
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


_loop_of_browsers: asyncio.AbstractEventLoop | None = None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Show the event loop that Playwright keeps in this thread to tests of the browser alone.

    It would keep test clients from running asynchronous views. While it is there, Django uses another connection, so
    it is there for the whole of a test or not at all.
    """
    global _loop_of_browsers
    if "browser" not in getattr(item, "fixturenames", ()):
        return (yield)
    asyncio._set_running_loop(_loop_of_browsers)
    try:
        return (yield)
    finally:
        connections.close_all()
        _loop_of_browsers = asyncio._get_running_loop()
        asyncio._set_running_loop(None)


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_blocker: Any) -> None:
    """Start the database for runs that use one; concurrent runs and workers have databases of their own."""
    ensure_database()
    default = connections["default"].settings_dict
    default |= settings.DATABASE_OWNER  # makes the database and what tests need; see set_default_scope below
    # A pool would keep connections open when the test database is dropped, and test databases need no durability.
    usual = {name: value for name, value in default["OPTIONS"].items() if name != "pool"}
    default["OPTIONS"] = usual | {"options": "-c synchronous_commit=off"}
    with django_db_blocker.unblock():
        template = migrated.template_database(server=server_of(default), make=make_database)
    default["TEST"] |= {"TEMPLATE": template, "NAME": f"test_{default['NAME']}_{os.getpid()}"}


def server_of(database: dict[str, Any]) -> dict[str, Any]:
    """Return how psycopg reaches the server of a database."""
    named = {"host": "HOST", "port": "PORT", "user": "USER", "password": "PASSWORD"}
    return {name: database[key] for name, key in named.items() if database[key]}


def make_database(name: str) -> None:
    """Create a database with all tables."""
    connection = connections["default"]
    usual = connection.settings_dict["NAME"]
    connection.settings_dict["TEST"]["NAME"] = name
    connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
    connection.close()
    connection.settings_dict["NAME"] = settings.DATABASES["default"]["NAME"] = usual


@pytest.fixture(scope="session", autouse=True)
def _scopes() -> None:
    """Let tests arrange and look as the owner of the tables; requests, tasks and commands begin without a tenant.

    Requests and tasks do so by themselves, commands when their process starts: here, when they are executed.
    """
    set_default_scope(OWNER)
    execute = BaseCommand.execute

    def executed(command: BaseCommand, *args: Any, **options: Any) -> Any:
        name = type(command).__module__  # that of migrate enters the scope of the owner itself
        is_ours = name.startswith(("apps.", "memplatform.")) and not name.endswith(".migrate")
        with no_tenant() if is_ours else nullcontext():
            return execute(command, *args, **options)

    BaseCommand.execute = executed  # type: ignore[method-assign]  # for all commands of the run


@pytest.fixture(scope="session", autouse=True)
def _nothing_is_counted_aside() -> None:
    """Disable threads that count, which would use databases that are about to be dropped, and see what is committed."""
    settings.ACCESS_FLUSH_SECONDS = 0
    settings.CACHES["limits"]["BACKEND"] = "django.core.cache.backends.dummy.DummyCache"
    settings.ERASED_CACHE_SECONDS = 0


@pytest.fixture(scope="session", autouse=True)
def _static_files_are_looked_for() -> None:
    """Let the middleware look for a static file when it is requested: each test client would read all of them."""
    settings.WHITENOISE_AUTOREFRESH = True


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> None:
    """Let the database be emptied after tests that commit, and keep the rows of a new project."""
    with django_db_blocker.unblock():
        emptied.allow()
        create_project(name="Test", slug="test")
        kept_rows.keep(Kept.NEW_PROJECT)
        emptied.empty()


@pytest.fixture
def project(db: None) -> Project:
    return kept_rows.new_project()


@pytest.fixture
def other_project(db: None) -> Project:
    return create_project(name="Other", slug="other")


@pytest.fixture
def api_key(project: Project) -> CreatedKey:
    return create_key(project_id=project.id, name="agent", scopes=[Scope.READ, Scope.WRITE])


@pytest.fixture
def client(api_key: CreatedKey) -> APIClient:
    """A caller with the scopes read and write, like most agents."""
    return calling_with(api_key.text)


@pytest.fixture
def client_of(db: None) -> MakeClient:
    """Create a caller of a project with scopes."""

    def make(project: Project, *scopes: Scope) -> APIClient:
        return calling_with(create_key(project_id=project.id, name="made", scopes=scopes).text)

    return make


@pytest.fixture
def trusted(client_of: MakeClient, project: Project) -> APIClient:
    """A caller with the scope trust, which may set confidence and tags that bind agents."""
    return client_of(project, Scope.READ, Scope.WRITE, Scope.TRUST)


class OrderCheckingClient(APIClient):
    """A caller of which every search, also one of mem0, is checked: its results are in the order of their scores."""

    def request(self, **kwargs: Any) -> Any:
        response = super().request(**kwargs)
        if kwargs.get("PATH_INFO", "").rstrip("/").endswith("/memories/search") and response.status_code == 200:
            scores = [hit["score"] for hit in response.json()["results"]]
            assert scores == sorted(scores, reverse=True)
        return response


def calling_with(key: str) -> APIClient:
    client = OrderCheckingClient(HTTP_AUTHORIZATION=f"Bearer {key}")
    client.default_format = "json"
    return client


@pytest.fixture
def model_server(settings: Any) -> Iterator[ModelServer]:
    """A model server on loopback, configured as the model; the product's own clients call it."""
    with running(ModelServer()) as server:
        settings.MODEL = "anthropic:claude-haiku-4-5"
        settings.ANTHROPIC_API_KEY = settings.OPENAI_API_KEY = "sk-secret-of-this-test"
        settings.ANTHROPIC_BASE_URL, settings.OPENAI_BASE_URL = server.url, f"{server.url}/v1"
        registry.forget_models()
        yield server
    registry.forget_models()


@pytest.fixture
def counted_limits(settings: Any) -> BaseCache:
    """The cache of what limits are compared with, as it is outside of tests."""
    limits = {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "LOCATION": uuid4().hex}
    settings.CACHES = {**settings.CACHES, "limits": limits}
    return caches["limits"]


@pytest.fixture
def conversation() -> dict[str, Any]:
    """A body of POST /v1/turns."""
    return {
        "user_id": "ana",
        "session_id": "monday",
        "turns": [{"role": "user", "content": "I live in Lisbon and I work as a nurse.", "turn_id": "t1"}],
    }
