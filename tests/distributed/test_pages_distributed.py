"""Every page of the console and of the admin, and every request that reads, is answered by a distributed database."""

import json

import pytest

from tests.access_rows import CONSOLE, POSTS
from tests.distributed.citus_database import run

# Pages of a person, not of a project.
OF_PERSONS = {"home", "login", "login-code", "account", "password", "join", "projects"}


@pytest.fixture(scope="module")
def filled(distributed: dict[str, str]) -> dict[str, str]:
    """The environment of processes, with a project that has a row in every table."""
    run({**distributed, "DATABASE_URL": distributed["DATABASE_OWNER_URL"]}, "-m", "tests.distributed.filled_project")
    return distributed


def test_every_page_opens_with_each_of_its_choices(filled: dict[str, str]) -> None:
    told = json.loads(run(filled, "-m", "tests.distributed.pages").splitlines()[-1])

    assert told["failed"] == {}
    pages = {f"console:{name}" for name, (_, methods) in CONSOLE.items() if methods != POSTS and name not in OF_PERSONS}
    assert pages - told["opened"].keys() == set()


def test_every_request_that_reads_is_answered_with_each_of_its_filters(filled: dict[str, str]) -> None:
    told = json.loads(run(filled, "-m", "tests.distributed.api_reads").splitlines()[-1])

    assert told["opened"] > 70
    assert told["failed"] == {}
